"""Code keeps its marks and format strings, and JSON inside a text stays valid JSON (docs/names-rule.md)."""

import json
import random
import re
from typing import Any

import pytest
from textveil import Conversation, Sanitizer
from textveil.text.names.json_blocks import COPIED, JSON_START, split_json, write_escapes


@pytest.mark.parametrize("text", ["[[8 ", "[[1, 2], [3, 4]]", "x[ {", '["8'])
def test_a_reader_splits_json_wherever_the_rule_begins_it(text: str) -> None:
    """JSON may begin at `[` before `[` or `{`, also in a text without any quotation mark."""
    assert JSON_START.search(text)


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("def load_orders(customer_id, limit=20):", ("def ", "(", ", limit=", "):")),
        ("print('%s has %d of %.2f %%' % (user_name, x_1))", ("%s has %d of %.2f %%", "' % (", "))")),
        ("if (x1 == y2 && z_3 != NULL) { free(x1); }", ("if (", " == ", " && ", " != ", ") { free(", "); }")),
        ('`foo_bar(3, x_y)` and <form name="q7">', ("`", "(", ", ", ")` and <form name=", '"', '">')),
        ("SELECT user_id FROM orders WHERE amount>=30;", ("SELECT ", " FROM orders WHERE amount>=", ";")),
        ('logger.info("{} of {:.1f}", a_1)', ('"{} of {:.1f}", ', ")")),
    ],
)
def test_code_keeps_its_marks(sanitizer: Sanitizer, text: str, kept: tuple[str, ...]) -> None:
    out, at = sanitizer.sanitize(text, protect="names").text, 0
    for part in kept:
        assert part in out[at:], out
        at = out.index(part, at) + len(part)


@pytest.mark.parametrize(
    "code",
    [
        'print("%02d:%02d" % (1, 2))', 'printf("%d\\n", total);', 'printf("%5.2f%%\\n", total);', "run 2>&1 | sort",
        "echo no >&2", "echo no 2>/dev/null;", "xs_1.pop(); xs.add(3)",
    ],
)  # fmt: skip
def test_conversions_redirections_and_methods_stay(sanitizer: Sanitizer, code: str) -> None:
    for result in sanitizer.sanitize_batch([code] * 20, protect="names"):
        for kept in re.findall(r"%0?[0-9.]*[df]|\\\\n|[0-9]?>&[0-9]|2>/dev/null|\.add\(", code):
            assert kept in result.text, result.text
        assert result.restore(result.text, restore_places="all") == code


@pytest.mark.parametrize("text", ["%4A%6F%61", "%6F%6E", "%41nna", "2>&kov4cs", "kovacs.novak(3)", "kovacs.rose(3)"])
def test_codes_of_letters_and_names_before_brackets_do_not_stay(sanitizer: Sanitizer, text: str) -> None:
    for result in sanitizer.sanitize_batch([f"See {text}"] * 20, protect="names"):
        for part in re.findall("%[46].|[a-z]+4?[a-z]+", text):
            assert part not in result.text, result.text


CODE = {
    "Python": 'def load_x(a_1, *args, **kw):\n    return f"{a_1!r:>10}" if a_1 != 3 else [x ** 2 for x in args]',
    "JavaScript": "const f_1 = (a_1, b) => a_1 === b ? `${a_1}px` : { ...b, k: [1, 2] };",
    "TypeScript": "function get_1<T extends object>(x_1: T[], k?: string): T | undefined { return x_1?.[0] ?? k!; }",
    "Java": 'List<String> xs_1 = new ArrayList<>(); for (i = 0; i < 10; i++) { xs_1.add(String.format("%s", a_1)); }',
    "C": 'if ((p_1 = malloc(n_1 * sizeof(*p_1))) == NULL) { fprintf(stderr, "%s: %d", argv[0], n_1); return -1; }',
    "C++": 'std::map<std::string, int> m_1; auto it = m_1.find("k"); if (it != m_1.end()) { it->second += 1; }',
    "Rust": 'fn f_1(x: &mut Vec<u8>) -> Res<(), E> { for v in x.iter_mut() { *v += 1; println!("{:?}", v); } Ok(1) }',
    "Go": 'func F(x_1 map[string]int) (int) { if v, ok := x_1["k"]; ok { Printf("%v", v) }; ch <- 1; return nil }',
    "SQL": "SELECT u_1.id, COUNT(*) AS n FROM t_1 u_1 WHERE u_1.a >= 3 AND b <> 'x' GROUP BY 1 HAVING COUNT(*) > 2;",
    "shell": """for f in *.txt; do grep -E "^[a-z]+$" "$f" | sed 's/a/b/g' > out_1 && echo "${f%.txt}"; done""",
}


@pytest.mark.parametrize("language", CODE)
def test_code_of_ten_languages_keeps_its_brackets_and_operators(sanitizer: Sanitizer, language: str) -> None:
    code = CODE[language]
    result = sanitizer.sanitize(code, protect="names", style="tag")
    outside = re.sub(r"\[[a-z-]+ \d+\]", "", result.text)
    assert re.findall(r"[()\[\]{}<>=+!?;|&]", outside) == re.findall(r"[()\[\]{}<>=+!?;|&]", code)
    for conversion in re.findall(r"%[a-z]\b|\{:\?\}", code):
        assert conversion in result.text or language == "shell"
    assert result.restore(result.text, restore_places="all") == code


@pytest.mark.parametrize("name", ["anna_kovacs7", "h4ndle", "sk_live_51H8xYz", "x-kov4cs"])
@pytest.mark.parametrize("code", ["f({0})", "a[{0}]=1", '<a href="{0}">', "x={0};", "`{0}`", "{{{0}}}"])
def test_identifiers_in_code_do_not_stay(sanitizer: Sanitizer, name: str, code: str) -> None:
    assert name not in sanitizer.sanitize("Call " + code.format(name), protect="names").text


def test_addresses_are_no_code(sanitizer: Sanitizer) -> None:
    for text in ("https://x.io/a(b)=c", "o'brien(x)@mail.org", "C:\\users\\a(1)", "/home/anna/x(1).txt"):
        assert len([entry for entry in sanitizer.preview(text, facts="none") if entry[1] not in ("gap",)]) == 1, text


VALUES: list[Any] = [
    {"name": "Anna Kovács", "note": 'line one\nNovak "two"', "age": 31, "id": 1234567, "big": 1712345678901},
    [{"person": "Peter Novak", "card": 4000123456789010}, [1, -2.5, 1e30, True, None], "C:\\Users\\anna"],
    {"emoji": "\U0001f600 Novak", "nested": {"k": ["", "x", {"a": {}}]}},
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
@pytest.mark.parametrize("ascii_only", [True, False])
def test_json_in_a_text_stays_json(sanitizer: Sanitizer, value: Any, ascii_only: bool) -> None:
    for indent in (None, 2):
        written = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
        result = sanitizer.sanitize(f"See {written} please", protect="names", facts="none")
        assert result.text.startswith("See ")
        assert result.text.endswith(" please")
        out = result.text.removeprefix("See ").removesuffix(" please")
        assert _shape(json.loads(out)) == _shape(value)
        for name in ("Kov", "Novak", "1234567", "1712345678901", "anna"):
            assert name not in out
        pieces = sanitizer.preview(written, protect="names")
        assert "".join(piece for piece, _ in pieces) == written


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_tags_of_numbers_are_strings_and_come_back_as_numbers(sanitizer: Sanitizer, value: Any) -> None:
    written = json.dumps([value, -31, "31", 31], ensure_ascii=False)
    result = sanitizer.sanitize(written, protect="names", style="tag")
    first, negative, text, number = json.loads(result.text)
    assert _shape(first) == _shape(value, number=str)
    assert negative == f"-{number}" != f"-{text}"  # the digits of a text are another tag
    assert result.restore(result.text, restore_places="all") == written
    conversation = Conversation(sanitizer, protect="names", style="tag", restore_places="all")
    assert conversation.incoming(conversation.outgoing_text(written)).reply == written


def _shape(value: Any, number: object = "number") -> Any:
    """Return the types and sizes of a JSON value without its keys, some of which are replaced."""
    if isinstance(value, dict):
        return [_shape(entry, number) for entry in value.values()]
    if isinstance(value, list):
        return [len(value), *(_shape(entry, number) for entry in value)]
    return number if type(value) in (int, float) else type(value)


def test_a_dropped_number_is_null(sanitizer: Sanitizer) -> None:
    out = sanitizer.sanitize('{"age": 45, "id": [-1234567, 3]}', protect="names", drop=["number", "account"]).text
    assert [*json.loads(out).values()] == [None, [None, None]]


@pytest.mark.parametrize(
    "text",
    [
        'half {"a": "Anna said \\"hi\\"", "b": [1, 2',
        '{"a": 1, "a": 2, /* twice */ "b": 3,} // end',
        '[see {"a": 1}] {"a": "b" c} ["x" y] {"k": "bad \\q"} {"d": 007}',
        '{"a":"\\ud83d"} {"b":"\\ude00\\ud83d\\ude00"}',
        "[[[[",
        '{"',
        '{"a":',
        '["',
        "]}",
        '{"a"::::}}}}',
    ],
)
def test_broken_json_is_read_too(sanitizer: Sanitizer, text: str) -> None:
    assert "".join(piece for piece, _ in sanitizer.preview(text, protect="names")) == text
    sanitizer.sanitize(text, protect="names")


def test_parts_joined_are_the_text() -> None:
    chance = random.Random(1)
    for _ in range(3_000):
        text = "".join(
            chance.choices(
                [
                    '{"',
                    '":',
                    '"',
                    "\\n",
                    "\\u00e9",
                    "\\ud83d\\ude00",
                    "a",
                    "1",
                    ",",
                    "]",
                    "}",
                    "[",
                    " ",
                    "{",
                    ":",
                    "\\",
                ],
                k=24,
            )
        )
        found = ""
        for part in split_json(text):
            found += part.text if part.kind == COPIED else write_escapes(part.text, part.escapes, 0)
        assert found == text


def test_a_name_with_escapes_is_one_with_its_twin(sanitizer: Sanitizer) -> None:
    result = sanitizer.sanitize('Kovács wrote {"by": "Kov\\u00e1cs"}', protect="names")
    first = result.text.split(" wrote ")[0]
    assert f'"{first}"' in result.text
    assert result.restore(first).text == "Kovács"


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, // Agnes Kovac lives in Boston\n "b": 2}',
        '{"a": 1, /* Agnes Kovac lives in Boston */ "b": [true]}',
        'Hi {"a": // Agnes Kovac lives in Boston',
        '["x" //Agnes Kovac, Boston\n]',
        '{"a": /*Boston*//*Agnes Kovac*/ 1}',
    ],
)
def test_names_in_comments_of_json_are_replaced(sanitizer: Sanitizer, text: str) -> None:
    """Outside their marks, comments are read as any other text, and their marks stay. No pool has these names."""
    for _ in range(5):
        output = sanitizer.sanitize(text, protect="names").text
        assert not any(word in output for word in ("Agnes", "Kovac"))
        assert [mark for mark in ("//", "/*", "*/", "\n") if mark in output] == [
            mark for mark in ("//", "/*", "*/", "\n") if mark in text
        ]
