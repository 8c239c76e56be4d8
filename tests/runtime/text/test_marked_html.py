"""Views of results in notebooks mark replaced parts, and have originals only where the caller asks for them."""

import pickle
from html.parser import HTMLParser

import pytest
import textveil.text.replaced_spans
from hypothesis import given
from planted import planted
from strange_texts import reading, strange_texts
from textveil import Result, Sanitizer
from textveil.bundle.names_files import FUNCTION
from textveil.errors import OptionError
from textveil.text.marked_html import (
    MarkedPiece,
    escape_html,
    get_content_policy,
    iterate_page,
    mark_originals,
    mark_pieces,
)
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.names.reply_pairs import RewrittenElement
from textveil.text.names.rewrite import _SurrogateSpellings

#: In no list and no pool of the built-in bundle.
NAME = "Zorblax Quibblex"
TEXT = f"Please refund {NAME} from Leeds, order 48213."


class _TextCollector(HTMLParser):
    """Collects the tags and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags, self.text = list[str](), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def result(sanitizer: Sanitizer) -> Result:
    return sanitizer.sanitize(TEXT)


def test_a_notebook_shows_the_output_and_its_marks_and_no_original(result: Result) -> None:
    shown = result._repr_html_()
    assert "Zorblax" not in shown
    assert "Quibblex" not in shown
    assert shown.count("<mark") == 3
    for kind in ("person", "city", "number"):
        assert f"<small>{kind}</small>" in shown


def test_originals_are_shown_on_request_alone_below_a_notice(result: Result) -> None:
    view = result.to_html(show_originals=True)
    assert str(view).startswith("<!-- contains your original text: do not send -->\n")
    assert f"<del>{NAME}</del>" in view._repr_html_()
    assert NAME not in repr(view)


def test_spans_are_the_replaced_parts(result: Result) -> None:
    assert result.spans is not None
    restored = result.text
    for start, end, _, original in reversed(result.spans):
        restored = restored[:start] + original + restored[end:]
    assert restored == TEXT


@reading
@given(strange_texts)
def test_spans_of_any_text_lead_back_to_it(sanitizer: Sanitizer, text: str) -> None:
    result = sanitizer.sanitize(text, facts="none")
    restored = result.text
    for start, end, _, original in reversed(result.spans or ()):
        restored = restored[:start] + original + restored[end:]
    if result.spans is not None and "\\" not in text:  # escapes of JSON are read
        assert restored == text


@pytest.mark.parametrize("options", [{"consistent": False}, {"consistent": "corpus", "key": b"k" * 16}])
def test_a_result_without_a_mapping_has_no_originals(sanitizer: Sanitizer, options: dict) -> None:
    result = sanitizer.sanitize(TEXT, **options)
    assert result.spans is not None
    assert [span.original for span in result.spans] == [""] * 3
    with pytest.raises(OptionError, match="no originals"):
        result.to_html(show_originals=True)


def test_a_pickle_has_marks_and_no_originals(result: Result) -> None:
    pickled = pickle.dumps(result)
    assert b"Zorblax" not in pickled
    assert pickle.loads(pickled)._repr_html_().count("<mark") == 3


@pytest.mark.parametrize("options", [{"protect": "words"}, {"protect": "all"}])
def test_other_modes_show_the_text_without_marks(sanitizer: Sanitizer, options: dict) -> None:
    result = sanitizer.sanitize("zorblax called.", **options)
    shown = result._repr_html_()
    assert "<mark" not in shown
    assert "Not marked: replaced words." in shown


def test_marks_do_not_tell_whether_a_word_was_randomized_to_itself() -> None:
    """A view may be shared: a missing mark would tell that the word is the original."""

    def find_spans(record: object, output: str) -> list:
        outline = record([RewrittenElement(output, "fever", parts=(output,))], {})  # type: ignore[operator]
        return [(start, end, kind) for start, end, kind, _ in outline.list_spans()]

    real = textveil.text.replaced_spans.outline_elements
    assert find_spans(real, "fever") == find_spans(real, "cough") == [(0, 5, "randomized")]
    faulty = planted(real, ("elif element.parts:", "elif element.output != element.original:"))
    assert find_spans(faulty, "fever") != find_spans(faulty, "cough")


def test_marks_of_a_text_without_tags_do_not_tell_it_either(sanitizer: Sanitizer) -> None:
    """Texts without tags have a faster path of their own."""
    plan = NamesPlanFactory(sanitizer.bundle).make_plan({})
    ((_, _, mention),) = plan.iterate_pieces("Leeds")
    spellings = _SurrogateSpellings(plan.surrogates, [], keeps_originals=True)

    def find_spans(write: object, output: str) -> list:
        _, outline = write(spellings, ["in ", mention], [None], iter([output]))  # type: ignore[operator]
        return [(start, end, kind) for start, end, kind, _ in outline.list_spans()]

    real = _SurrogateSpellings.write_text
    assert find_spans(real, "Leeds") == find_spans(real, "Derby") == [(3, 8, "randomized")]
    write = "parts.append(next(words) if draw is None else next(outputs))"
    faulty = planted(real, (write, f"{write}; entries = entries[: -(parts[-1] == element.span.text) or None]"))
    assert find_spans(faulty, "Leeds") != find_spans(faulty, "Derby")


def test_randomized_words_are_marked(sanitizer: Sanitizer) -> None:
    lists = sanitizer.bundle.get_names_lists()
    known = frozenset().union(*lists.members_by_type.values())
    plain = [word for word in sorted(lists.common_words) if len(word) > 4 and word.isalpha() and word not in known]
    ids = sanitizer.bundle.symbol_ids
    listed = [word for word in plain if not lists.common_words[word] & FUNCTION and word != "fever" and word in ids]
    result = sanitizer.sanitize("he has fever now", randomize=[*listed[-150:], "fever"], epsilon=10)
    assert result.spans is not None
    assert [kind for *_, kind, _ in result.spans] == ["randomized"]


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&\x1b[31m\u202e\ud800</div>"


@pytest.mark.parametrize("make", [lambda text: mark_pieces([MarkedPiece(text)]), lambda text: escape_html(text)])
def test_texts_are_never_markup(make: object) -> None:
    html = make(HOSTILE)  # type: ignore[operator]
    assert set(_TextCollector(html).tags) <= {"div"}
    html.encode("utf-8")
    for character in "\x1b\u202e\ud800":
        assert character not in html


def test_every_place_of_a_piece_is_escaped() -> None:
    piece = MarkedPiece(output=HOSTILE, treatment=HOSTILE, original=HOSTILE, reason=HOSTILE)
    kept = MarkedPiece(HOSTILE, reason='facts: " onmouseover="alert(1)')
    html = mark_pieces([piece, kept], show_originals=True) + mark_originals([piece, kept])
    assert set(_TextCollector(html).tags) <= {"div", "mark", "del", "small", "span"}
    assert 'onmouseover="' not in html


def test_a_page_begins_with_the_notice_and_forbids_scripts() -> None:
    page = "".join(iterate_page(HOSTILE, ["<p>content</p>"]))
    assert page.splitlines()[0] == "<!-- contains your original text: do not send -->"
    assert f'content="{get_content_policy()}"' in page
    assert "script" not in _TextCollector(page).tags
    assert "'unsafe-inline'" not in get_content_policy()
    assert get_content_policy().startswith("default-src 'none';")


def test_a_long_text_is_cut_with_the_number_of_further_characters() -> None:
    html = mark_pieces([MarkedPiece("a" * 19_000), MarkedPiece("b" * 2_000), MarkedPiece("c" * 500)])
    assert html.count("b") == 1_000
    assert "1,500 more characters" in html
    assert "ccc" not in html
