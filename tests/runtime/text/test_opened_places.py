"""Positions that stay closed although an option opens code, math or JSON, and originals that stay valid there."""

import json

import pytest
from textveil.text.reply_matcher import StreamRestorer
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, RestorePolicy, SkipReason

HIDDEN = Restorer([("Karl Gomez", "Anna Novak"), ("Gomez", "Novak")])
CODE_JSON = RestorePolicy.parse(["code", "json"])


def restore(reply: str, policy: RestorePolicy) -> tuple[str, list[SkipReason]]:
    """Restore a reply whole and character by character; both must be equal."""
    whole, stream = HIDDEN.restore(reply, policy), HIDDEN.open_stream(policy)
    assert "".join(map(stream.feed, reply)) + stream.close() == whole.text
    assert stream.report == whole.report
    return whole.text, [reason for _, reason in whole.report.not_restored]


@pytest.mark.parametrize(
    "reply",
    [
        '```mermaid\ngraph LR\nclick A "https://e.example/?q=Gomez"\n```',
        '```Mermaid theme=dark\nA@{ img: "https://e.example/? Gomez " }\n```',
        '~~~ {.mermaid}\nclick A "https://e.example/? Gomez "\n~~~',
        '> ```merm&#97;id\n> click A "https://e.example/? Gomez "\n> ```',
        f'```{" " * 80}mermaid\nclick A "https://e.example/? Gomez "\n```',
        '- ```dot\n  digraph { a [URL="https://e.example/?Gomez"] }\n  ```',
        "```plantuml\nAlice -> Bob : [[https://e.example/?Gomez]]\n```",
        '```svg\n<svg><image href="https://e.example/?Gomez"/></svg>\n```',
        "```math\n\\href{https://e.example/?Gomez}{x}\n```",
        '{"a": "```mermaid\\nclick A \\"https://e.example/? Gomez \\"\\n```"}',
    ],
)
def test_code_that_is_displayed_as_a_picture_keeps_its_surrogates(reply: str) -> None:
    text, reasons = restore(reply, CODE_JSON)
    assert text == reply
    assert reasons in ([SkipReason.CODE], [SkipReason.MARKUP])
    assert restore(reply, EVERYWHERE_POLICY)[0] == reply.replace("Gomez", "Novak")


@pytest.mark.parametrize("info", ["<img src='//e.example/?", "[x](<//e.example/?", "[x]:", "\\href{//e.example/?"])
@pytest.mark.parametrize("fence", ["~~~", "```"])
def test_a_hazard_in_the_opening_line_of_a_fence_closes_the_fence(fence: str, info: str) -> None:
    """Python-Markdown does not treat such a line as a fence, so a tag or link that begins in it has an effect."""
    reply = f"{fence} {info}\nGomez '>)}}\n{fence}"
    assert restore(reply, CODE_JSON) == (reply, [SkipReason.MARKUP])


@pytest.mark.parametrize("info", ["", "python", "html", "c++", "json5", 'js title="a.js"', "dotnet", "python3.12"])
def test_other_code_is_restored(info: str) -> None:
    assert restore(f"```{info}\nGomez\n```", CODE_JSON)[0] == f"```{info}\nNovak\n```"


@pytest.mark.parametrize(
    "reply",
    [
        "$$\\let\\text\\href \\text{https://e.example/? Gomez }{x}$$",
        "$$\\let\\text=\\href$$ so $$\\text{Gomez}{x}$$",
        "$\\newcommand*\\a[1]{\\href{//e.example/?#1}{x}}$ $\\a Gomez$",
        "$\\renewcommand{\\text}[1]{\\href{//e.example/?#1}{x}}$ $\\text{ Gomez }$",
        "$\\providecommand{\\text}[1]{\\href{//e.example/?#1}{x}}$ $\\text{ Gomez }$",
        "$\\renewenvironment{a}{\\href{//e.example/}{}}{}$ $$\\begin{a} Gomez \\end{a}$$",
        "$\\DeclarePairedDelimitersX{\\text}[1]{}{}{\\href{#1}{x}}$ $\\text{ Gomez }$",
    ],
)
def test_math_with_a_definition_keeps_its_surrogates(reply: str) -> None:
    assert restore(reply, RestorePolicy.parse(["math"])) == (reply, [SkipReason.LINK])


def test_math_without_a_definition_is_restored() -> None:
    reply = "$\\left( \\text{Gomez} \\newline \\right)$ $$\\begin{a} Gomez \\end{a}$$"
    assert restore(reply, RestorePolicy.parse(["math"]))[0] == reply.replace("Gomez", "Novak")


@pytest.mark.parametrize("original", ['Anna "Ann" Novak', "Anna\nNovak", "C:\\Anna\tNovak", "Anna\x07", "O'Brien"])
@pytest.mark.parametrize("policy", [CODE_JSON, EVERYWHERE_POLICY])
def test_an_original_with_control_characters_leaves_json_valid(original: str, policy: RestorePolicy) -> None:
    hidden = Restorer([("Karl Gomez", original)])
    for reply in ('{"a": "Karl Gomez"}', '```json\n{"a": "Karl Gomez"}\n```'):
        restored = hidden.restore(reply, policy).text
        assert json.loads(restored.strip("`").removeprefix("json")) == {"a": original}
    assert hidden.restore("Dear Karl Gomez", policy).text == f"Dear {original}"


@pytest.mark.parametrize("reply", ["```\nKarl\x1cGomez", '{"a": "Karl\x1cGomez', "$$Karl\x1cGomez"])
def test_the_first_region_that_is_not_open_is_the_reason(reply: str) -> None:
    """A control character within a surrogate makes the rest markup, which no option opens."""
    stream = StreamRestorer(HIDDEN.index, RestorePolicy.parse(["code", "json", "math"]))
    assert stream.feed(reply) + stream.close() == reply
    assert stream.report.not_restored == (("Karl\x1cGomez", SkipReason.MARKUP),)
