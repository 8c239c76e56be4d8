from collections import Counter
from pathlib import Path

import pytest
from marked_texts import FOLDER, KINDS, TYPES, MarkedText, choose_half, find_problems, read_marks, read_texts
from marking_agreement import compare_markings, compute_kappa, draw_texts, locate_marks, read_second, write_row

LANGUAGES = ["es", "nl", "fr", "it", "pt", "de"]
README = (FOLDER / "README.md").read_text("utf-8")


def make_text(marked: str, identity: str = "es-mail-001") -> MarkedText:
    text, spans = read_marks(marked)
    language, kind, _ = identity.split("-")
    return MarkedText(id=identity, language=language, kind=kind, half=choose_half(identity), text=text, spans=spans)


def test_no_file_is_unread() -> None:
    read = {f"{language}-{kind}.txt" for language in LANGUAGES for kind in (*KINDS, "second")}
    assert {path.name for path in FOLDER.glob("*.txt")} == read


def test_a_language_without_a_file_of_each_kind_is_refused(tmp_path: Path) -> None:
    (tmp_path / "xx-mail.txt").write_text("Zoran [PER:Zelk]", "utf-8")
    with pytest.raises(SystemExit, match=r"^xx-chat\.txt is missing: "):
        read_texts("xx", folder=tmp_path)


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_kind_has_150_texts_and_two_thirds_of_all_are_private(language: str) -> None:
    texts = read_texts(language)
    assert Counter(text.kind for text in texts) == dict.fromkeys(KINDS, 150)
    assert 0.6 <= sum(text.is_private for text in texts) / len(texts) <= 0.72
    assert {kind for text in texts for *_, kind in text.spans} == set(TYPES)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_halves_are_apart_and_neither_is_small(language: str) -> None:
    held, both = read_texts(language, "held"), read_texts(language, "open")
    assert {text.id for text in held} & {text.id for text in both} == set()
    assert min(len(held), len(both)) >= 200
    assert len(held) + len(both) == len(read_texts(language))


@pytest.mark.slow
def test_no_text_breaks_a_rule() -> None:
    assert find_problems(text for language in LANGUAGES for text in read_texts(language)) == []


@pytest.mark.parametrize(
    ("marked", "problem"),
    [
        ("Soy [PER:Marta y vivo en [LOC:Soria].", "a mark without its end"),
        ("Soy[PER: Marta].", "a span outside the text, with outer blanks or of no type"),
        ("Escribe a [EMAIL:marta@gmail.com].", "a domain that is not reserved"),
        ("Escribe a [EMAIL:marta@notexample.com].", "a domain that is not reserved"),
        ("Escribe a [EMAIL:marta].", "an address without a domain"),
        ("Llama al [PHONE:612 34 56 78].", "a phone number that is not reserved"),
        ("Llama al 555 12 34 56.", "a long number without a mark"),
        ("Mi cuenta es [ID:ES91 2100 0418 4502 0005 1332].", "an id or IBAN that may be valid"),
        ("Mi matrícula es [ID:4821 BCD].", "an id or IBAN that may be valid"),
        ("Hola,  [PER:Marta].", "blanks"),
    ],
)
def test_a_planted_fault_is_found(marked: str, problem: str) -> None:
    assert find_problems([make_text(marked)]) == [f"es-mail-001: {problem}"]


def test_overlapping_spans_are_found() -> None:
    text = MarkedText(
        id="es-chat-001", language="es", kind="chat", half="open", text="Ana Paz", spans=((0, 7, "PER"), (4, 7, "LOC"))
    )
    assert find_problems([text]) == ["es-chat-001: spans overlap"]


def test_repeats_and_templates_are_found() -> None:
    first = make_text("Hola, [PER:Ana], nos vemos mañana en la puerta del teatro.")
    again = make_text("hola [PER:ana] nos vemos mañana en la puerta del teatro", "es-mail-002")
    filled = make_text("Hola, [PER:Luz], nos vemos mañana en la puerta del teatro.", "es-mail-003")
    other = make_text("Nos vemos el martes donde siempre, trae paraguas y algo de pan.", "es-mail-004")
    assert find_problems([first, again]) == ["es-mail-002: repeated", "es-mail-002: of one template with es-mail-001"]
    assert find_problems([first, filled]) == ["es-mail-003: of one template with es-mail-001"]
    assert find_problems([first, other]) == []
    assert "es-mail-001: repeated" in find_problems([first, make_text("Otro texto muy distinto.")])


def test_a_mark_becomes_a_span_at_its_characters() -> None:
    text, spans = read_marks("¿Vive [PER:Ana] en [LOC:Lugo]? x = [1, 2]")
    assert text == "¿Vive Ana en Lugo? x = [1, 2]"
    assert [(text[start:end], kind) for start, end, kind in spans] == [("Ana", "PER"), ("Lugo", "LOC")]


def test_public_names_are_not_private() -> None:
    assert not make_text("¿Quién pintó [PUB:Las meninas]?").is_private
    assert make_text("[PER:Ana] pintó [PUB:Las meninas].").is_private


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_readme_reports_the_measured_agreement(language: str) -> None:
    pairs = read_second(language)
    assert write_row(language, compare_markings(pairs)) in README.splitlines()
    assert [text.id for text, _ in pairs] == [text.id for text in draw_texts(language)]


def test_equal_markings_agree_wholly_and_a_missed_span_lowers_all_figures() -> None:
    text = make_text("Soy [PER:Ana] de [LOC:Lugo] y leo a [PUB:Lorca].")
    whole = compare_markings([(text, text.spans)])
    assert (whole.typed_f1, whole.private_f1, whole.kappa) == (1, 1, 1)
    less = compare_markings([(text, text.spans[1:])])
    assert (less.typed_f1, less.private_f1) == pytest.approx((4 / 5, 2 / 3))
    assert less.kappa < 1
    retyped = compare_markings([(text, [(4, 7, "ORG"), *text.spans[1:]])])
    assert retyped.typed_f1 < retyped.private_f1 == 1


def test_kappa_takes_chance_off() -> None:
    assert compute_kappa([("PER", "PER"), ("", ""), ("", ""), ("PER", "")]) == pytest.approx(0.5)


def test_a_second_mark_that_is_not_in_the_text_is_refused() -> None:
    text = make_text("Ana y Luz.")
    assert locate_marks(text, "PER Ana | PER Luz") == [(0, 3, "PER"), (6, 9, "PER")]
    for marks in ("PER Luz | PER Ana", "PER Eva", "PER"):
        with pytest.raises(ValueError, match="es-mail-001"):
            locate_marks(text, marks)


def test_a_second_marking_of_other_texts_is_refused(tmp_path: Path) -> None:
    for path in FOLDER.glob("es-*.txt"):
        (tmp_path / path.name).write_text(path.read_text("utf-8"), "utf-8")
    second = tmp_path / "es-second.txt"
    lines = second.read_text("utf-8").splitlines(keepends=True)
    for changed, problem in (
        (lines[1:], "without a second marking"),
        ([*lines, lines[0]], "not drawn, or is there twice"),
    ):
        second.write_text("".join(changed), "utf-8")
        with pytest.raises(ValueError, match=problem):
            read_second("es", tmp_path)
