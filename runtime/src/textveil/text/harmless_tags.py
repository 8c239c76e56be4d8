"""Tell tags of markup that change nothing behind them from those that may act, by their names."""

import re

#: Elements of which a reader of HTML takes the content for something else than text of the page.
_TAKING = frozenset(
    "script style iframe textarea title xmp noembed noframes noscript plaintext pre listing svg math template select "
    "frameset object applet".split()
)
#: Elements that act without attributes, show code, or may hold an address.
_ACTING = _TAKING | frozenset(
    "code samp tt option datalist optgroup frame embed param form input button isindex base basefont bgsound link meta "
    "html head body a area map img image picture source track audio video canvas portal keygen command dialog slot "
    "marquee layer ilayer".split()
)
#: Parts of names that programs read as the call of a tool.
_CALLING = re.compile(
    "tool|func|call|search|quer|invok|action|exec|fetch|brows|ur[il]|link|im(?:g|age)|command|param|arg|cod|json|xml|"
    "file|run"
)
#: Elements of which Python-Markdown takes everything for HTML until they end.
_BLOCKS = frozenset(
    "address article aside blockquote center colgroup dd details div dl dt fieldset figcaption figure footer group h1 "
    "h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol output p progress section summary table tbody td tfoot "
    "th thead tr ul".split()
)
_NAME = re.compile(r"/?([a-z][a-z0-9_]*)/?")
#: Words in the tag of a placeholder, such as ``<first name>``.
_WORDS = re.compile(r"/?([a-z][a-z0-9_]*)(?: +[a-z0-9_]+)* */?")
LONGEST_TAG = 64


def is_harmless_tag(tag: str) -> bool:
    """Return whether a tag, without its angle brackets, changes nothing behind it for any reader.

    Words behind the name are attributes without values: harmless too.
    """
    match = _WORDS.fullmatch(tag.lower()) if len(tag) <= LONGEST_TAG else None
    return match is not None and match[1] not in _ACTING and _CALLING.search(match[1]) is None


def is_bare_tag(tag: str) -> bool:
    """Return whether a tag is harmless and has nothing but its name."""
    return is_harmless_tag(tag) and _NAME.fullmatch(tag.lower()) is not None


def takes_in_text(name: str) -> bool:
    """Return whether the text behind a tag of this name may be read as something else than text."""
    return name.lower().strip("/") in _TAKING


def begins_block(tag: str) -> bool:
    """Return whether some readers take everything behind a tag for HTML, also beyond its paragraph."""
    match = _WORDS.fullmatch(tag.lower())
    return match is None or match[1] in _BLOCKS
