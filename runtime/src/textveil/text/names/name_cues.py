"""Names of persons in lower case after words such as *my name is*, which are replaced also if they are common words."""

from collections.abc import Collection, Sequence

from textveil.text.names.tokens import KEPT, KEPT_WITH_CAPITALS, LISTED_PERSON, NAME_ROLE, NamesToken
from textveil.text.segmentation import LOWER

#: Verbs between a word such as *name* and the name. A clitic (``'s``) is a word of its own.
_VERBS = frozenset(("is", "was", "'s", "\u2019s"))


def is_listed_name(token: NamesToken) -> bool:
    """Return whether a lower-case word, unchanged or replaced, is on a list of names of persons."""
    return token.flags & LISTED_PERSON > 0 or token.entity_type == NAME_ROLE


def find_cued_names(
    words: Sequence[NamesToken], gaps: Sequence[str], special: Sequence[int], leads: Collection[str], has_capitals: bool
) -> list[int]:
    """Return the indices of common words that are names because of a phrase before them: *my name is hope price*.

    A name may have several words: after a replaced word the next word is read as a part of the name.

    Args:
        words: Tokens of a text.
        gaps: The gap (blanks and marks) before each token.
        special: Indices of the tokens of a line, without those that always stay unchanged, in order.
        leads: Words before a name, such as *name*.
        has_capitals: Whether the document has a capital letter.
    """
    found, name_end = [], -1
    for index in special:
        token = words[index]
        if (
            token.case != LOWER
            or gaps[index] != " "
            or not (index == name_end or _follows_cue(words, gaps, index, leads))
        ):
            continue
        if token.token_class in (KEPT, KEPT_WITH_CAPITALS) and is_listed_name(token):
            found.append(index)
        elif token.entity_type != "word" or (token.token_class == KEPT_WITH_CAPITALS and has_capitals):
            continue
        name_end = index + 1
    return found


def _follows_cue(words: Sequence[NamesToken], gaps: Sequence[str], index: int, leads: Collection[str]) -> bool:
    """Return whether a word such as *name* and a verb are before ``index``, as in *my name is*.

    No rule may replace these two words. So the result is false after a lower-case name, of which the word *name*
    could be a part.
    """
    if index < 2 or gaps[index - 1] not in ("", " ") or words[index - 1].token_class != KEPT:
        return False
    lead = words[index - 2]
    if words[index - 1].key not in _VERBS or lead.token_class != KEPT or lead.key not in leads:
        return False
    if index == 2 or gaps[index - 2] != " ":
        return True
    before = words[index - 3]
    return before.token_class == KEPT and before.entity_type != NAME_ROLE
