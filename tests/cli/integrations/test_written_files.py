"""The server tracks which files of a folder a model may have written."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil.errors import InputError
from textveil_cli.integrations.written_files import LIST_NAME, WrittenFiles


def has(files: WrittenFiles, path: Path) -> bool:
    return files.may_be_by_model(path, path.stat())


def save_anew(path: Path, to: Path) -> None:
    """Save as editors do: a temporary file that takes the name."""
    temporary = path.parent / "temporary"
    temporary.write_bytes(path.read_bytes() + b"!")
    path.unlink()
    temporary.rename(to)


def rename_and_save(root: Path) -> Path:
    (root / "sub/guesses.txt").rename(root / "other.txt")
    save_anew(root / "other.txt", root / "other.txt")
    return root / "other.txt"


def rename_folder_and_save(root: Path) -> Path:
    (root / "sub").rename(root / "other")
    save_anew(root / "other/guesses.txt", root / "other/guesses.txt")
    return root / "other/guesses.txt"


def save_under_a_new_name(root: Path) -> Path:
    save_anew(root / "sub/guesses.txt", root / "new.txt")
    return root / "new.txt"


def copy(root: Path) -> Path:
    (root / "copy.txt").write_bytes((root / "sub/guesses.txt").read_bytes())
    return root / "copy.txt"


def write_into_a_file_of_the_user(root: Path) -> Path:
    (root / "mail.txt").write_bytes((root / "sub/guesses.txt").read_bytes())
    return root / "mail.txt"


WAYS = (rename_and_save, rename_folder_and_save, save_under_a_new_name, copy, write_into_a_file_of_the_user)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "mail.txt").write_text("I am Anna")
    (tmp_path / "notes.txt").write_text("Call Anna")
    return tmp_path


@pytest.mark.parametrize("way", WAYS)
def test_what_became_of_a_written_file_may_be_the_models(root: Path, way: Callable[[Path], Path]) -> None:
    files = WrittenFiles(root)
    assert not has(files, root / "mail.txt")
    files.write_file(root / "sub/guesses.txt", b"Anna Berta", "Anna Berta")
    path = way(root)
    assert has(files, path)
    assert not has(files, root / "notes.txt")
    (root / "notes.txt").rename(root / "renamed.txt")
    assert not has(files, root / "renamed.txt")


@pytest.mark.parametrize("way", WAYS[:3])
def test_a_file_that_moved_while_nothing_ran_is_noticed(root: Path, way: Callable[[Path], Path]) -> None:
    WrittenFiles(root).write_file(root / "sub/guesses.txt", b"Anna Berta", "Anna Berta")
    path = way(root)
    files = WrittenFiles(root)
    assert files.missing_count == 1
    assert has(files, path)
    assert not has(files, root / "notes.txt")
    assert not has(WrittenFiles(root, accept=True), root / "notes.txt")


def test_a_renamed_folder_is_not_missing(root: Path) -> None:
    WrittenFiles(root).write_file(root / "sub/guesses.txt", b"Anna Berta", "Anna Berta")
    (root / "sub").rename(root / "other")
    (root / "new.txt").write_text("I am Anna too")
    files = WrittenFiles(root)
    assert (files.missing_count, has(files, root / "other/guesses.txt"), has(files, root / "new.txt")) == (
        0,
        True,
        False,
    )


@pytest.mark.parametrize("content", ["[]", "{}", '{"written": {"a": [1]}, "users": {}}', "x"])
def test_a_list_that_is_none_is_refused(root: Path, content: str) -> None:
    (root / LIST_NAME).write_text(content)
    with pytest.raises(InputError, match="remove it"):
        WrittenFiles(root)


def test_links_to_nothing_are_no_files(root: Path) -> None:
    os.symlink(root / "none", root / "link")
    assert WrittenFiles(root).missing_count == 0
