"""Classification of HTML tags in a reply by their names: harmless tags such as ``<b>``, and tags with an effect.

A harmless tag has no effect on the text after it in any program that displays the reply.
"""

import re

#: Elements whose content an HTML reader treats as something other than text of the page.
_RAW_TEXT_TAGS = frozenset(
    "script style iframe textarea title xmp noembed noframes noscript plaintext pre listing svg math template select "
    "frameset object applet".split()
)
#: Elements that have an effect even without attributes, display code, or may contain an address.
_ACTIVE_TAGS = _RAW_TEXT_TAGS | frozenset(
    "code samp tt option datalist optgroup frame embed param form input button isindex base basefont bgsound link meta "
    "html head body a area map img image picture source track audio video canvas portal keygen command dialog slot "
    "marquee layer ilayer".split()
)
#: Parts of names that programs may interpret as a tool call.
_TOOL_CALL_NAME = re.compile(
    "tool|func|call|search|quer|invok|action|exec|fetch|brows|ur[il]|link|im(?:g|age)|command|param|arg|cod|json|xml|"
    "file|run"
)
#: Elements whose content Python-Markdown treats as HTML up to the closing tag.
_BLOCK_TAGS = frozenset(
    "address article aside blockquote center colgroup dd details div dl dt fieldset figcaption figure footer group h1 "
    "h2 h3 h4 h5 h6 header hgroup hr legend li main menu nav ol output p progress section summary table tbody td tfoot "
    "th thead tr ul".split()
)
_NAME = re.compile(r"/?([a-z][a-z0-9_]*)/?")
#: Words in a tag that is a placeholder, such as ``<first name>``.
_PLACEHOLDER = re.compile(r"/?([a-z][a-z0-9_]*)(?: +[a-z0-9_]+)* */?")
MAX_TAG_LENGTH = 64


def is_harmless_tag(tag: str) -> bool:
    """Return whether a tag has no effect on the text after it in any program that displays the reply.

    The tag may have attributes without values: ``<first name>`` is harmless.

    Args:
        tag: The tag without angle brackets.
    """
    match = _PLACEHOLDER.fullmatch(tag.lower()) if len(tag) <= MAX_TAG_LENGTH else None
    return match is not None and match[1] not in _ACTIVE_TAGS and _TOOL_CALL_NAME.search(match[1]) is None


def is_bare_tag(tag: str) -> bool:
    """Return whether a tag is harmless and has no attributes.

    Args:
        tag: The tag without angle brackets.
    """
    return is_harmless_tag(tag) and _NAME.fullmatch(tag.lower()) is not None


def consumes_text(name: str) -> bool:
    """Return whether a program may treat the text after a tag as code or as unparsed text, as after ``<script>``.

    Args:
        name: The name of the tag, with or without a slash.
    """
    return name.lower().strip("/") in _RAW_TEXT_TAGS


def begins_block(tag: str) -> bool:
    """Return whether some programs treat the text after a tag as HTML, even beyond the end of the paragraph.

    Args:
        tag: The tag without angle brackets.
    """
    match = _PLACEHOLDER.fullmatch(tag.lower())
    return match is None or match[1] in _BLOCK_TAGS
