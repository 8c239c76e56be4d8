"""Configuration files: what they may say, where they are looked for, and that what they change is named."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes as POSIX has them")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The configuration file of the user's own folder, which is not there yet."""
    path = tmp_path / "home" / "textveil" / "config.toml"
    path.parent.mkdir(parents=True)
    monkeypatch.setattr("textveil_cli.options.configuration.user_file", lambda: path)
    return path


@pytest.mark.slow
def test_a_file_changes_defaults_and_is_named(here: Callable, tiny_path: Path, tmp_path: Path, own: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(f'[sanitize]\nlevel = "high"\nbundle = "{tiny_path}"\nsanitize-punctuation = true\n')
    ran = here("sanitize", "--config", config, "--text", "the doctor")
    assert ran.code == 0
    statement, changed = ran.message.splitlines()
    assert "drawn at epsilon 16 d" in statement
    assert changed == "textveil: from the configuration file: --bundle, --level, --sanitize-punctuation"
    ran = here("sanitize", "--config", config, "--text", "the doctor", "--level", "low")
    assert "drawn at epsilon 4 d" in ran.message
    assert "file: --bundle, --sanitize-punctuation\n" in ran.message
    ran = here("sanitize", "--config", config, "--text", "the doctor", "--epsilon", "4")
    assert "drawn at epsilon 4 d" in ran.message, "an epsilon of the command line comes before a level of the file"


def test_the_users_own_folder(here: Callable, tiny_path: Path, own: Path) -> None:
    command = ("sanitize", "--bundle", tiny_path, "--text", "the doctor")
    assert "configuration" not in here(*command).message
    own.write_text('[sanitize]\nlevel = "high"\n[inspect]\ncount = 3\n')
    own.chmod(0o600)
    assert here(*command).message.endswith("textveil: from the configuration file: --level\n")
    assert here(*command, "-q").err == b""
    ran = here("inspect", "--bundle", tiny_path, "doctor")
    assert ran.message == "textveil: from the configuration file: --count\n"
    other = own.with_name("other.toml")
    other.write_text("")
    assert "configuration" not in here(*command, "--config", other).message, "one file, not two"


def test_no_other_place_is_looked_at(
    here: Callable, tiny_path: Path, tmp_path: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("config.toml", "textveil.toml", ".textveil.toml", "pyproject.toml"):
        (tmp_path / name).write_text('[sanitize]\nlevel = "high"\n[tool.textveil.sanitize]\nlevel = "high"\n')
    monkeypatch.setenv("TEXTVEIL_SANITIZE_LEVEL", "high")
    monkeypatch.setenv("TEXTVEIL_CONFIG", str(tmp_path / "config.toml"))
    assert "drawn at epsilon 4 d" in here("sanitize", "--bundle", tiny_path, "--text", "the").message


@posix
def test_a_file_that_others_can_write_to_is_refused(here: Callable, tiny_path: Path, own: Path) -> None:
    own.write_text('[sanitize]\nlevel = "high"\n')
    own.chmod(0o620)
    ran = here("sanitize", "--bundle", tiny_path, "--text", "the")
    assert (ran.code, ran.message) == (
        1,
        "textveil: configuration: the configuration file can be written to by others: chmod 600\n",
    )


def test_paths_are_relative_to_the_file(here: Callable, tiny_path: Path, tmp_path: Path, own: Path) -> None:
    (tmp_path / "words.txt").write_text("doctor\n")
    config = tmp_path / "config.toml"
    config.write_text('[sanitize]\ndeny = "words.txt"\n')
    ran = here("sanitize", "--bundle", tiny_path, "--config", config, "--text", "the")
    assert ran.message.endswith("file: --deny\n")


def test_columns_of_a_table(here: Callable, flat_bundle: Path, nearest: None, tmp_path: Path, own: Path) -> None:
    config, table, out = tmp_path / "config.toml", tmp_path / "t.csv", tmp_path / "out.csv"
    config.write_text('[sanitize]\ncsv = true\ncolumn = ["a", "b"]\n')
    table.write_bytes(b"a,b,c\nthe,do,the\n")
    ran = here("sanitize", "--bundle", flat_bundle, "--config", config, table, "-o", out)
    assert out.read_bytes() == b"a,b,c\nzz,zz,the\n"
    assert ran.message.endswith(" From the configuration file: --csv, --column.\n")
    ran = here("sanitize", "--bundle", flat_bundle, "--config", config, table, "-o", out, "--json")
    assert '"from_configuration": ["--csv", "--column"]' in ran.text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('level = "secret"', "has a table for each command"),
        ('[sanitizer]\nlevel = "secret"', "has a table for each command"),
        ('[sanitize]\nsecret = "secret"', "option 1 of the command's table is none that a configuration file can have"),
        ('[sanitize]\nlevel = "low"\ntext = "secret"', "option 2 of the command's table is none"),
        ('[sanitize]\noutput = "secret"', "option 1 of the command's table is none"),
        ("[sanitize]\nlevel = 2020-01-01", "option 1 of the command's table has a value that is none"),
        ("[sanitize]\nlevel = {secret = 1}", "option 1 of the command's table has a value that is none"),
        ("[sanitize", "the configuration file is no TOML"),
        ("[sanitize]\nlevel = '\xff'", "the configuration file is no TOML"),
        ("#" + "x" * 100_000, "the configuration file is no TOML"),
    ],
)
def test_files_that_cannot_be_used(
    here: Callable, tiny_path: Path, tmp_path: Path, own: Path, content: str, said: str
) -> None:
    config = tmp_path / "config.toml"
    config.write_bytes(content.encode("latin-1"))
    ran = here("sanitize", "--bundle", tiny_path, "--config", config, "--text", "the")
    assert ran.code == 1
    assert ran.message.startswith("textveil: configuration: ")
    assert said in ran.message
    assert "secret" not in ran.message


def test_a_file_that_is_not_there(here: Callable, tiny_path: Path, tmp_path: Path, own: Path) -> None:
    ran = here("sanitize", "--bundle", tiny_path, "--config", tmp_path / "secret.toml", "--text", "the")
    assert ran.message == "textveil: configuration: no configuration file there that can be read\n"


def test_a_value_of_the_wrong_type_is_wrong_usage(here: Callable, tiny_path: Path, tmp_path: Path, own: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[sanitize]\nworkers = "secret"\n')
    ran = here("sanitize", "--bundle", tiny_path, "--config", config, "--text", "the")
    assert ran.code == 2
    assert "--workers: a value is not valid" in ran.message
    assert "secret" not in ran.message
