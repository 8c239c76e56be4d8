"""What the package for browsers has of the Python package is what that says today."""

import json
import re
import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).parents[2] / "web"


def test_generated_files_are_those_of_this_package() -> None:
    run = subprocess.run([sys.executable, WEB / "scripts" / "generate.py", "--check"], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr


def test_a_changed_sentence_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "web"
    for name in ("scripts/generate.py", "scripts/sentences.py", "src/generated.ts", "src/errors.ts"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        content = (WEB / name).read_text(encoding="utf-8")
        (folder / name).write_text(content.replace("is not protected", "is protected"), encoding="utf-8")
    (tmp_path / "docs").symlink_to(WEB.parent / "docs")
    command = [sys.executable, folder / "scripts" / "generate.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 1
    assert run.stderr.startswith("web/src/generated.ts differs")


def test_the_package_needs_nothing_and_its_lock_names_no_host() -> None:
    package = json.loads((WEB / "package.json").read_text(encoding="utf-8"))
    assert "dependencies" not in package
    assert all(re.fullmatch(r"[0-9.]+", version) for version in package["devDependencies"].values())
    lock = json.loads((WEB / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, entry in lock["packages"].items() if "resolved" in entry]
