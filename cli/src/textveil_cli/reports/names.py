"""Describe the public word lists of a bundle for the mode 'names'."""

from typing import Any

from textveil.bundle import TextBundle


def describe_names_lists(bundle: TextBundle) -> dict[str, Any]:
    """Return the sizes of the lists of the mode 'names' as a dictionary for JSON.

    The keys are ``common_words`` and ``kept_names`` (numbers of entries), and ``entity_types``, a list with one object
    for each type: ``name``, ``listed_words``, ``surrogates`` (number of possible replacements) and
    ``unchanged_probability`` (that a replacement happens to equal its original). A number is ``None`` if the type has
    no such list.
    """
    lists = bundle.get_names_lists()
    list_sizes = {kind: len(found) for kind, found in lists.members_by_type.items()}
    pool_sizes = {kind: len(found) for kind, found in lists.surrogate_pools.items()}
    return {
        "common_words": len(lists.common_words),
        "kept_names": len(lists.kept_names),
        "entity_types": [
            {
                "name": kind,
                "listed_words": list_sizes.get(kind),
                "surrogates": pool_sizes.get(kind),
                "unchanged_probability": 1 / pool_sizes[kind] if kind in pool_sizes else None,
            }
            for kind in sorted(list_sizes.keys() | pool_sizes.keys())
        ],
    }


def format_names_table(bundle: TextBundle) -> list[str]:
    """Return the lines of a table about the word lists for the mode 'names', with an explanation of its columns."""
    facts = describe_names_lists(bundle)
    return [
        f"names: {facts['common_words']:,} common words can be kept, {facts['kept_names']:,} of them also names",
        f"{'type':<18}{'listed':>9}{'surrogates':>12}{'unchanged':>12}",
        *(_format_type(entity_type) for entity_type in facts["entity_types"]),
        "",
        "listed: words on the list of the type; words of other types are recognized by form or context. unchanged:",
        "probability that the surrogate equals the original; surrogates are sampled independently of the original.",
        "Kept words are not protected.",
    ]


def _format_type(entity_type: dict[str, Any]) -> str:
    listed, surrogates = _format_count(entity_type["listed_words"]), entity_type["surrogates"]
    unchanged = "-" if surrogates is None else f"1 in {surrogates:,}"
    return f"{entity_type['name']:<18}{listed:>9}{_format_count(surrogates):>12}{unchanged:>12}"


def _format_count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
