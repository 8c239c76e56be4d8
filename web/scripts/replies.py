"""Replies of all sorts to a rewritten text, and the options for restoring them.

Surrogates occur in running text, links, code, JSON, math, markup, tables and lists, in chunks of many shapes, and among
random marks.
"""

import json
import random

from textveil import Result

OPTION_SETS: list[dict[str, list[str] | str]] = [
    {},
    {"restore_places": ["code"]},
    {"restore_places": ["json"]},
    {"restore_places": ["math"]},
    {"restore_places": ["code", "json", "math"], "restore_hosts": ["ok.example", "localhost:8080"]},
    {"restore_hosts": ["ok.example"]},
    {"restore_places": "all"},
]
#: Places of a reply; ``{}`` is a text, or a surrogate of it.
PLACES = """{} `{}` ``{}`` $ {} $ $x{}$ ${}$ $$ {} $$ \\( {} \\) \\[ {} \\] \\text{{{}}} \\href{{ {} }}{{x}} ({}) "{}"
“{}” '{}' **{}** _{}_ {}. {}: {}, {}'s {}… «{}» #{} {}/x x/{} {}.example k={} {}=k {}@e.example @{} [{}]
[{}](x) [x]({}) [x](https://ok.example/{}) [x](https://e.example/{}) ![x](<https://ok.example/?q={}>)
<https://ok.example/{}> <https://e.example/{}> https://ok.example/{} (https://ok.example/a?b={})
http://localhost:8080/{} https://e.example/{} <b>{}</b> <img|src='{}'> <{}> <p|x>{} &{}; {}&#46;e
{{"{}":|"{}"}} ["{}"] [[{}]] {{"a":|"`{}`|k={}|[x]({})"}} {{"a":|"\\n{}\\t\\u0041{}"}} | {} | \u200b{}
{}\u00a0x {}\ufe0f- {},\u0e33 javascript:{} onload={} <script>{} data:{} \\def\\a#1;{{{}}} [x]:|{} [{}]:|x
<name>|{} <first|name>|{} x<y|{} <details>{} [^1]:|note|{} [n]:|see|{} **To:**{} {}[1] {}/{} →{}
⚠️{} {}~~ {}\\ {}<br|/>{} 「{}」，{} JavaScript:|{} onset=1|{} {{|{}|}} {{\n{}\n}}
d'{} D’{} l'{} qu'{} dell'{} de|{} De|{} la|{} di|{} {}s {}es {}en {}' {}'|x '{}'|x
(x|{}) x_{}_x {}-{} {}|{} {}\n{} {}>{} url({}) f(|{}|) curl|-d|{} see|//e.example|{} x\n\n{}
[img]//e.example|{}|[/img] image:x|{}|[] ..|x::|{} &lt;x|a={}|&gt; :x:|{}
{{{{\n\n{}\n}}}} #{{|{}}} [%|{}|%] {{%|{}|%}}""".split()
#: Marks that open and close places, in any order.
MARKS = [
    "```", "~~~", "`", "``", "$", "$$", "\\(", "\\)", "\\[", "\\]", "\\href{", "\\text{", "\\begin{a}", "\\end{a}",
    "\\", "{", "}", '{"', '"', "'", "[", "]", "](", "(", ")", "]:", "[x]:", "<", "<b>", "</b>", "<p>", "<img src='",
    "<a@", "<https://ok.example/", "https://ok.example/?a=", "https://e.example/", ">", "\n", "\n", "\n\n", "> ", "- ",
    "    ", " ", " ", " ", " ", "1. ", "2) ", "|", "\\n", "\\u0060", "\\\"", "&", "#", ";", ":", ".", "/", "=",
    "@", "*", "_", "\u200b", "\u00a0", "\u2028", "\x0b", "\0", "\u0301", "\ufe0f", "\U0001f600", "\U00020000",
    "<name>", "<first name>", "<y ", "<div class=\"a\">", "</p>", "   ```\n", "````\n", "```x y\n",
    "<!--", "->", "~", "=",
    "[1]", "[^1]: ", "[n]: word ", " \"t", "\n\"t", "**To:**", "\u2192", "\u2011", "\uff0c", "\uff1a", "\u3010",
    "\\\n", "\\*",
    "f(", "curl ", " -d ", "/msg ", "$ cat", "x.example/ ", "{{", "{%", "#{", "[%", "\n\n    ", "\n\n\t", "-     ", '"',
    "<https://e.example/[city 1]", "[person 99]", "[Person 98", "/b=", "\"/b=",
    "javascript: ", "onset=", "onclick=", "//", "www.", "{\n", "/>",
    "\u0416", "\u4e2d", ",\U00011f04,", "5", "a", "x" * 1030, "onload", "\t", "\r\n", "%", "。", "\u061f",
    "&lt;", "&gt;", "&lt;b&gt;", "&#60", "%3C", "\\u003c", "=3c", "+ADw-", "\uff1c", "[img]", "[/img]", "[url=",
    "[url]", "[/url]", "image:", "image::", "link:", "\n.. ", "\n.. image:: ", "\n__ ", "\n:x: ", "\n:x:\n ", "\n#+x ",
    "\n#+begin_x\n", "\n#+end_x\n", "\nBEGIN:VCARD\n", "\nEND:VCARD\n", "\n@startuml\n", "\n@enduml\n", "\n!x",
    "\n=for ", " +\n", "\n ",
]  # fmt: skip
LINES = ["", "", "- ", "* ", "1. ", "> ", "> > ", "    ", "  ", "# ", "| ", "\t", "```\n", "- ```\n  ", "~~~\n", "<p>"]


def make_reply(result: Result, number: int) -> str:
    """Return one reply; `number` selects its sort and seeds its random parts."""
    chance, text = random.Random(number), result.text
    if number % 3 == 0:
        return _make_plain(text, number // 3)
    assert result.mapping is not None
    surrogates = [*json.loads(result.mapping.to_json())["originals"]][:12] or ["Anna"]
    if number % 3 == 1:
        lines = (chance.choice(LINES) + _fill(chance, text, surrogates) for _ in range(chance.randint(1, 4)))
        reply = "".join(line + chance.choice((" ", "\n", "\n", "\n\n")) for line in lines)
    else:
        parts = (
            chance.choice(surrogates) if chance.random() < 0.35 else chance.choice(MARKS)
            for _ in range(chance.randint(2, 24))
        )
        reply = "".join(parts)
    # What JavaScript would read as one character must be one here.
    return reply.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def _make_plain(text: str, number: int) -> str:
    """Return the text as a model may repeat it: in another case, in the plural, as JSON, or fenced."""
    plural = text.replace(" ", "s ").replace("-", "/")
    as_json = json.dumps({"text": f"{text}\n{text}"}, ensure_ascii=False)
    fenced = f'Here:\n```json\n["{text}\\t{text}"]\n```\n{text}'
    return (text, text.lower(), f"{text.upper()}\n> {text.title()}", plural, as_json, fenced)[number % 6]


def _fill(chance: random.Random, text: str, surrogates: list[str]) -> str:
    """Return one to five random places, filled with surrogates or with the text."""
    places = chance.choices(PLACES, k=chance.randint(1, 5))
    of_text = chance.random() < 0.1
    filled = (
        place.replace("|", " ")
        .replace("{{", "\1")
        .replace("}}", "\2")
        .replace("{}", text if of_text else chance.choice(surrogates))
        for place in places
    )
    return " ".join(filled).replace("\1", "{").replace("\2", "}")
