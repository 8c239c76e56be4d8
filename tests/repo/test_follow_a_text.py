"""The stops on the page about the path of a text are functions of the code, and the script meets all of them."""

import re
import subprocess
import sys

import pytest
from scripts import ROOT, load_script

follow = load_script("docs/follow_a_text.py")
PAGE = (ROOT / "docs/how-a-text-becomes-a-result.md").read_text("utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("path", follow.STOPS)
def test_every_stop_is_called(path: str) -> None:
    """In a process of its own: coverage and debuggers are profilers too."""
    done = subprocess.run(
        [sys.executable, ROOT / "docs/follow_a_text.py", path], capture_output=True, text=True, check=True
    )
    assert re.findall(r"^\d+\. (\S+) \(textveil\.", done.stdout, re.M) == follow.STOPS[path].split()
    assert all(f"   {what} " in done.stdout for what in ("in:", "out:"))


def test_the_page_explains_every_stop() -> None:
    sections = re.split(r"^## ", PAGE, flags=re.M)
    for path, stops in follow.STOPS.items():
        (section,) = (each for each in sections if f"follow_a_text.py {path}\n" in each)
        assert re.findall(r"^\| `([^`]+)` \|", section, re.M) == stops.split()


def test_a_stop_that_is_not_called_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(follow.STOPS, "names", "Sanitizer.sanitize Sanitizer.gone")
    with pytest.raises(LookupError, match=r"^not called: Sanitizer\.gone$"):
        list(follow.find_stops("names"))
