"""Each option of a restore policy allows originals in its own places and at its own hosts only."""

from typing import Any

import pytest
from textveil.errors import OptionError
from textveil.text.restore import Restorer
from textveil.text.restore_policy import RestorePolicy

HIDDEN = Restorer([("Gomez", "Novak"), ("[person 1]", "Hale")])

OPTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"restore_places": ["code"]}, "`SURROGATE` ![x](https://e/?SURROGATE)", "`Novak` ![x](https://e/?Gomez)"),
    ({"restore_places": ["code"]}, "```\nk=SURROGATE\n```\nk=SURROGATE", "```\nk=Novak\n```\nk=Gomez"),
    ({"restore_places": ["math"]}, "$x_{SURROGATE}$ \\text{ SURROGATE }", "$x_{Novak}$ \\text{ Novak }"),
    ({"restore_places": ["math"]}, "$\\href{https://e/ SURROGATE }{x}$", "$\\href{https://e/ Gomez }{x}$"),
    ({"restore_places": ["math"]}, "$$\\unknown{ SURROGATE }$$ `SURROGATE`", "$$\\unknown{ Gomez }$$ `Gomez`"),
    ({"restore_places": ["json"]}, '{"SURROGATE":"SURROGATE","b":["SURROGATE"]}', '{"Novak":"Novak","b":["Novak"]}'),
    ({"restore_places": ["json"]}, '{"a": "Hi,\\nSURROGATE\\n\\"SURROGATE\\""}', '{"a": "Hi,\\nNovak\\n\\"Novak\\""}'),
    ({"restore_places": ["json"]}, '{"a": "https://e/?SURROGATE"}', '{"a": "https://e/?Gomez"}'),
    ({"restore_places": ["json"]}, '{"a": "[x](<https://e/? SURROGATE >)"}', '{"a": "[x](<https://e/? Gomez >)"}'),
    ({"restore_places": ["json"]}, '{"a": "[x]\\u0028 SURROGATE )"}', '{"a": "[x]\\u0028 Gomez )"}'),
    ({"restore_places": ["json"]}, '{"a": "[x]: //e/ SURROGATE"}', '{"a": "[x]: //e/ Gomez"}'),
    ({"restore_places": ["json"]}, '{"a": "<img src= SURROGATE >"}', '{"a": "<img src= Gomez >"}'),
    ({"restore_places": ["json"]}, '{"a": "{\\"b\\": \\" SURROGATE \\"}"}', '{"a": "{\\"b\\": \\" Gomez \\"}"}'),
    ({"restore_places": ["json"]}, '{"a": "\\u0041SURROGATE k=SURROGATE"}', '{"a": "\\u0041Gomez k=Gomez"}'),
    ({"restore_places": ["math"]}, "$\\def\\a#1;{\\url{#1}}\\a SURROGATE ;$", "$\\def\\a#1;{\\url{#1}}\\a Gomez ;$"),
    ({"restore_places": ["json"]}, '{"a": "[person 1]:\\u0020< SURROGATE >"}', '{"a": "[person 1]:\\u0020< Gomez >"}'),
    ({"restore_places": ["math"]}, "$\\a\\href{//e/ SURROGATE }{x}$", "$\\a\\href{//e/ Gomez }{x}$"),
    ({"restore_places": ["math"]}, "$a <img src='//e/ SURROGATE '>", "$a <img src='//e/ Gomez '>"),
    ({"restore_places": ["code"]}, "`<img src='//e/ SURROGATE '>", "`<img src='//e/ Gomez '>"),
    ({"restore_places": ["code"]}, "`![y](<\\//e/ SURROGATE >)", "`![y](<\\//e/ Gomez >)"),
    ({"restore_places": ["code"]}, "a\n    ~~~ <img src='//e/ SURROGATE '>", "a\n    ~~~ <img src='//e/ Gomez '>"),
    ({"restore_places": ["json"]}, '{"": <img src="//e/ SURROGATE ">', '{"": <img src="//e/ Gomez ">'),
    ({"restore_places": ["code"]}, "curl -d SURROGATE\n\n/msg SURROGATE", "curl -d Novak\n\n/msg Novak"),
    ({"restore_places": ["code"]}, "f(SURROGATE) k=SURROGATE", "f(Novak) k=Gomez"),
    ({"restore_places": ["code"]}, "a\n\n    SURROGATE\n\n[b SURROGATE]", "a\n\n    Novak\n\n[b Gomez]"),
    ({"restore_places": ["code"]}, "f(SURROGATE) {{\n\nSURROGATE }}", "f(Novak) {{\n\nGomez }}"),
    ({"restore_places": ["json"]}, '{"a": "SURROGATE"} f(SURROGATE)', '{"a": "Novak"} f(Gomez)'),
    ({"restore_places": ["json"]}, '{"a": "SURROGATE", "b": "f(SURROGATE)"}', '{"a": "Novak", "b": "f(Gomez)"}'),
    ({"restore_places": ["json"]}, '{"a": "SURROGATE", "b": "    SURROGATE"}', '{"a": "Novak", "b": "    Gomez"}'),
    ({"restore_places": "all"}, "![x](https://e/?SURROGATE) `SURROGATE`", "![x](https://e/?Novak) `Novak`"),
    ({"restore_places": ["all"]}, "<script>SURROGATE", "<script>Novak"),
    ({"restore_hosts": ["ok.example"]}, "[x](https://ok.example/?q=SURROGATE)", "[x](https://ok.example/?q=Novak)"),
    ({"restore_hosts": ["OK.Example"]}, "[x](HTTPS://OK.EXAMPLE/SURROGATE)", "[x](HTTPS://OK.EXAMPLE/Novak)"),
    ({"restore_hosts": ["ok.example:8080"]}, "<http://ok.example:8080/SURROGATE>", "<http://ok.example:8080/Novak>"),
    ({"restore_hosts": ["ok.example"]}, "See (https://ok.example/SURROGATE).", "See (https://ok.example/Novak)."),
    ({"restore_hosts": ["ok.example"]}, "[x]: https://ok.example/SURROGATE", "[x]: https://ok.example/Novak"),
    ({"restore_hosts": ["ok.example"]}, "[x](<https://ok.example/SURROGATE>)", "[x](<https://ok.example/Novak>)"),
]  # fmt: skip


@pytest.mark.parametrize(("options", "reply", "expected"), OPTIONS)
def test_each_option_opens_its_places_alone(options: dict[str, Any], reply: str, expected: str) -> None:
    reply = reply.replace("SURROGATE", "Gomez")
    assert HIDDEN.restore(reply, RestorePolicy.parse(**options)) == expected
    assert "Novak" not in HIDDEN.restore(reply)


@pytest.mark.parametrize(
    "link",
    [
        "https://ok.example@evil.example/{}", "https://ok.example.evil.example/{}", "https://evil.example/{}",
        "https://ok.example:8080/{}", "https://{}.ok.example/", "https://ok.example\\@evil.example/{}",
        "https:/ok.example/{}",
        "https:ok.example/{}", "//ok.example/{}", "https:\\\\ok.example/{}", "https://ok.example%2eevil.example/{}", "https://{}@ok.example/",
        "https://ok.example/https://evil.example/{}", "https://ok.example/ https://evil.example/{}",
        "https://ok.example.{}", "ftp://ok.example/{}",
        "https://ok.example\u200b/{}", "https://\u03bfk.example/{}", "https://ok.exa\tmple/{}", "https://ok.example{}", "javascript://ok.example/{}",
        "https://ok.example/\\{}", "https://user@ok.example/{}", "https://ok.example//evil.example/{}", "https://ok\u3002example/{}",
    ],
)  # fmt: skip
def test_no_trick_reaches_another_host(link: str) -> None:
    policy = RestorePolicy.parse((), ["ok.example"])
    for around in ("[x]({})", "![x](<{}>)", "<{}>", "[x]: {}", "{}", "See ({}) now"):
        reply = around.format(link.format("Gomez"))
        assert HIDDEN.restore(reply, policy) == reply


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restore_places": ["links"]}, "restore_places must be a collection of code, json, math, all"),
        ({"restore_places": "code"}, "restore_places must be a collection of code, json, math, all"),
        ({"restore_places": [5]}, "restore_places must be a collection of code, json, math, all"),
        ({"restore_places": None}, "restore_places must be a collection of code, json, math, all"),
        *(
            ({"restore_hosts": hosts}, 'restore_hosts must be a collection of host names, such as ["docs.example.com"]')
            for hosts in ("ok.example", ["https://ok.example"], ["ok.example/"], ["*.example"], [""], [None], ["a@b"])
        ),
    ],
)  # fmt: skip
def test_options_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        RestorePolicy.parse(**options)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("places", "reply", "restored"),
    [
        (["code"], "```Gomez\nGomez\n```", "```Gomez\nNovak\n```"),
        (["code"], "```\nhttp://e.example/?Gomez\n```", "```\nhttp://e.example/?Novak\n```"),
        (["code"], "`http://e.example/?Gomez", "`http://e.example/?Gomez"),
        (["code"], "`http://e.example/?Gomez`", "`http://e.example/?Gomez`"),
        (["code"], "`f(Gomez)` `Gomez` `x, Gomez`", "`f(Novak)` `Novak` `x, Novak`"),
        (["code"], "`[ Gomez ]", "`[ Gomez ]"),
        (["code"], "> ```\n> http://e.example/?Gomez\n> ```", "> ```\n> http://e.example/?Gomez\n> ```"),
        (["code"], "- ```\n  Gomez\n  ```", "- ```\n  Novak\n  ```"),
        (["code"], "   ```\n   http://e.example/?Gomez\n   ```", "   ```\n   http://e.example/?Gomez\n   ```"),
        (["math"], "$x_{Gomez}$ $\\text{Gomez}$ \\(Gomez^2\\)", "$x_{Novak}$ $\\text{Novak}$ \\(Novak^2\\)"),
        (["math"], "$http://e.example/?Gomez$", "$http://e.example/?Gomez$"),
        (["math"], "$x www.e.example/?Gomez y$", "$x www.e.example/?Gomez y$"),
        (["math"], "$$ Gomez.e.example $$", "$$ Gomez.e.example $$"),
        (["json"], '["http://e.example/?","Gomez"]', '["http://e.example/?","Gomez"]'),
        (["json"], '["http:\\/\\/e.example/?","Gomez"]', '["http:\\/\\/e.example/?","Gomez"]'),
        (["json"], '["www.e.example/?","Gomez"]', '["www.e.example/?","Gomez"]'),
        (["json"], '["http://e.example/?", "Gomez"]', '["http://e.example/?", "Novak"]'),
        (["json"], '["a","Gomez"]', '["a","Novak"]'),
    ],
)
def test_an_opened_place_keeps_what_readers_may_take_for_an_address(
    places: list[str], reply: str, restored: str
) -> None:
    policy = RestorePolicy.parse(places)
    assert HIDDEN.restore(reply, policy) == restored
    stream = HIDDEN.open_stream(policy)
    assert "".join(map(stream.feed, reply)) + stream.close() == restored


@pytest.mark.parametrize("mark", ")\"'(")
def test_an_allowed_link_is_restored_up_to_what_may_end_it(mark: str) -> None:
    policy = RestorePolicy.parse((), ["ok.example"])
    for around in ("{}", "[x]: {}", "<{}>"):
        reply = around.format(f"https://ok.example/{mark}www.evil.example/Gomez")
        assert HIDDEN.restore(reply, policy) == reply
    assert HIDDEN.restore(f"https://ok.example/Gomez{mark}", policy) == f"https://ok.example/Novak{mark}"
