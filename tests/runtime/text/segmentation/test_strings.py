"""Segments that are strings: where addresses, numbers, emoticons and the like begin and end."""

import pytest
from textveil.text import segmentation

STRINGS = """
doctor@boston.com first.last+tag@mail.example.co.uk почта@пример.рф user%40example.com mary(at)gmail.com
https://example.com/a/b?c=d&e=f#g HTTP://EXAMPLE.COM mailto:doctor@boston.com ftp://user:word@host/path
www.example WWW.example.com/doctor boston.com boston.com/doctor boston.museum?doctor boston.com#doctor
hiv-clinic.org john-doe.github.io пример.рф/доктор @doctor @doctor_boston doctor@boston #1 +1-617-555-0123 12,345.67
1984-06-07T12:30 A4 b2b covid-19 ٣ ٢٠٢٤-٠١ १२ x² ½ ① Ⅷ Ⅳ-b １２３ doc%20tor %E2%80%99 %ff %dog 4️⃣ $5 €5,00
C:/Users/doctor1/x C:\\doctor \\\\host\\share /etc/doctor ~/doctor C++ 👍👍 👩‍🚀 中文 foo.中 カタカナ אב x😀y a​b
foo_bar end.The <3 a=b <b>doctor</b> `doctor` a+b
""".split()


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize(
    "around", ["{}", "the {} the", "“{}”", "«{}»—", "a\u00a0{}\u2003b", "'{}'", "*{}*,", "_{}_", "({}) x"]
)
def test_a_string_is_one_segment(string: str, around: str) -> None:
    assert string in segmentation.split_text(around.format(string))
    assert segmentation.is_string(string)


@pytest.mark.parametrize("string", STRINGS)
@pytest.mark.parametrize("around", ["[{}]…", "{{{}}}", "{};"])
def test_brackets_stay_outside(string: str, around: str) -> None:
    found = segmentation.split_text(around.format(string))
    assert [segment for segment in found if not segmentation.is_gap(segment)] == [string]


@pytest.mark.parametrize(
    "number", ["+1 (555) 123-4567", "555 123 4567", "(555) 123", "12 555 123 4567", "(1) (2) 3", "1 000"]
)
def test_groups_of_digits_are_one_segment(number: str) -> None:
    assert segmentation.split_text(f"call {number}, or") == ["call", " ", number, ", ", "or"]
    assert segmentation.split_text(f"({number}) x")[1] == number


@pytest.mark.parametrize("emoticon", [":)", ";)", ":-)", ":D", ":-/", ":'(", ":cat", ";-P", ":smile:"])
def test_emoticons_between_blanks_are_strings(emoticon: str) -> None:
    for text in (emoticon, f"nice {emoticon}", f"nice {emoticon}!\n"):
        assert emoticon in segmentation.split_text(text)
    assert segmentation.is_string(emoticon)
    assert not segmentation.is_gap(emoticon)
    assert emoticon not in segmentation.split_text(f"a{emoticon}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mail doctor@boston.com.", ["Mail", " ", "doctor@boston.com", "."]),
        ("'@doctor'", ["'", "@doctor", "'"]),
        ("*@doctor*,", ["*", "@doctor", "*,"]),
        ("_1_", ["_", "1", "_"]),
        ("...7!?", ["...", "7", "!?"]),
        ("‘5’", ["‘", "5", "’"]),
        ("see www.example.com, then", ["see", " ", "www.example.com", ", ", "then"]),
        ("go to boston.com/a.b/.", ["go", " ", "to", " ", "boston.com/a.b/", "."]),
        ("@", ["@"]),
        ("@@@", ["@@@"]),
        ("a @ b", ["a", " @ ", "b"]),
        ("://", [":", "//"]),
        ("www.", ["www", "."]),
        ("100%", ["100%"]),
        ("%", ["%"]),
        ("%zz", ["%zz"]),
        ('say "7"', ["say", ' "', "7", '"']),
        ("1 2 3, 4", ["1 2 3", ", ", "4"]),
        ("1\n2", ["1", "\n", "2"]),
        ("a1—b2", ["a1", "—", "b2"]),
        ("a1;b2", ["a1", ";", "b2"]),
        ("http://a.b/(c)d", ["http://a.b/(c)d"]),
        ("(http://a.b)", ["(", "http://a.b", ")"]),
        ("x<http://a.b>y", ["x<http://a.b>y"]),
        ("Dr. Who", ["Dr", ". ", "Who"]),
        ("e.g. this", ["e.g", ". ", "this"]),
        ("either/or", ["either", "/", "or"]),
        ("boston.com", ["boston.com"]),
        ("don't", ["don't"]),
        ("Jean-Luc", ["Jean", "-", "Luc"]),
        ("word(s) and (AP)", ["word", "(", "s", ") ", "and", " (", "AP", ")"]),
        ("5 (6 x", ["5", " (", "6", " ", "x"]),
        ("((5) 6)) 7", ["(", "(5) 6", ")) ", "7"]),
        ("(1) (2)", ["(", "1", ") (", "2", ")"]),
        ("12 34 (56) x", ["12 34", " (", "56", ") ", "x"]),
        ("1 (2 3) (4)", ["1", " (", "2 3", ") (", "4", ")"]),
        ("1 ((2) 3 (4)) x", ["1", " (", "(2) 3", " (", "4", ")) ", "x"]),
        ("1 ((2) 3 (4)) 5", ["1 ((2) 3 (4)) 5"]),
        # A bracket right after a word is not one of a group: a number in its place would touch the word.
        ("cat(1) 2", ["cat", "(", "1", ") ", "2"]),
        ("cat.(1) 2", ["cat", ".(", "1", ") ", "2"]),
        ("cat(at)(1) 2", ["cat", "(", "at", ")(", "1", ") ", "2"]),
        ("x7_(1) 2", ["x7", "_(", "1", ") ", "2"]),
        ("1(2) (3 4", ["1", "(", "2", ") (", "3 4"]),
        ("(x)(030) 12", ["(", "x", ")", "(030) 12"]),
        ("(1 )2", ["(", "1", " )", "2"]),
        ('"mary smith"@x.org', ['"', "mary", " ", "smith", '"', "@x.org"]),
        ('5"a b"@c', ["5", '"', "a", " ", "b", '"', "@c"]),
        ('http://a.b/"c d"@e', ["http://a.b/", '"', "c", " ", "d", '"', "@e"]),
        ("note:) x", ["note", ":", ") ", "x"]),
    ],
)
def test_where_strings_begin_and_end(text: str, expected: list[str]) -> None:
    assert segmentation.split_text(text) == expected
