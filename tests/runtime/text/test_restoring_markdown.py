"""No random reply brings an original into an address, as a Markdown parser finds it."""

import html.parser
import random

import pytest
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, PROSE_POLICY, RestorePolicy

markdown_it = pytest.importorskip("markdown_it")
HIDDEN = Restorer([("Gomez", "Novak")])
#: A tag has brackets, which the displayed original does not have.
TAGGED = Restorer([("[person 1]", "Novak")])
TAG_PIECES = [
    "[person 1](",
    "[person 1]: ",
    "[[person 1]]",
    "![person 1](",
    "[a][person 1]",
    "[person 1][",
    "[person 9]",
]
PIECES = [
    "```", "~~~", "`", "``", "$", "$$", '{"', "}", '"', "'", "[", "](", "(", ")", "]:", "[x]:", "[x]: ", "![a](",
    "[x]", "<b>", "</b>", "<img src=", "<img src='", '<a href="', "<https://e.x/", "https://e.x/?", "//e.x/", ">",
    "\n", "\n", "\n\n", "> ", "- ", "    ", "  ",
    " ", " ", "1. ", "\\", "a", "Gomez", " Gomez ", " Gomez ", "\nGomez\n", "<", ":", "*",
    "@", "<!--", "-->", "\t", "?", "=", "|", "\\(", "\\)", "\\[", "<p", "\n\n Gomez ", "# ", "&lt;", "&#60;",
]  # fmt: skip


class Attributes(html.parser.HTMLParser):
    """Counts originals in attributes, comments and declarations."""

    leaks = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.leaks += sum("novak" in f"{tag} {name} {value}".lower() for name, value in attrs)

    def handle_comment(self, data: str) -> None:
        self.leaks += "Novak" in data

    def handle_decl(self, decl: str) -> None:
        self.handle_comment(decl)

    def handle_pi(self, data: str) -> None:
        self.handle_comment(data)


def count_leaks(policy: RestorePolicy, tag: str | None = None) -> tuple[int, int]:
    """Count replies with an original, and those of them that have one outside the text of a page."""
    restorer = HIDDEN if tag is None else TAGGED
    pieces = PIECES if tag is None else [*(piece.replace("Gomez", tag) for piece in PIECES), *TAG_PIECES]
    reader, chance, restored, leaks = markdown_it.MarkdownIt("commonmark").enable("table"), random.Random(1), 0, 0
    for _ in range(4_000):
        reply = "".join(chance.choice(pieces) for _ in range(chance.randint(3, 22))) + f" {tag or 'Gomez'}"
        found = restorer.restore(reply, policy).text
        if "Novak" not in found:
            continue
        restored += 1
        page = Attributes()
        try:
            page.feed(reader.render(found))
            page.close()
        except AssertionError:  # a declaration that this reader of HTML does not take
            continue
        leaks += page.leaks > 0 or ("<" in page.rawdata and "Novak" in page.rawdata.partition("<")[2])
    return restored, leaks


@pytest.mark.slow
@pytest.mark.parametrize("tag", [None, "[person 1]"])
def test_no_original_comes_into_an_address(tag: str | None) -> None:
    restored, leaks = count_leaks(PROSE_POLICY, tag)
    assert restored > 500
    assert leaks == 0


@pytest.mark.slow
@pytest.mark.parametrize("tag", [None, pytest.param("[person 1]", marks=pytest.mark.full)])
def test_the_reader_sees_originals_in_addresses(tag: str | None) -> None:
    assert count_leaks(EVERYWHERE_POLICY, tag)[1] > 40
