"""Descriptions of the lists of the mode ``names``, for the command line."""

from typing import Any

from textveil.bundle import TextBundle


def describe_names_lists(bundle: TextBundle) -> dict[str, Any]:
    """Return the JSON description of the lists of a bundle with the mode ``names``."""
    lists = bundle.get_names_lists()
    list_sizes = {kind: len(found) for kind, found in lists.members_by_type.items()}
    pool_sizes = {kind: len(found) for kind, found in lists.surrogate_pools.items()}
    return {
        "common_words": len(lists.common_words),
        "shown_names": len(lists.kept_names),
        "kinds": [
            {
                "name": kind,
                "members": list_sizes.get(kind),
                "outputs": pool_sizes.get(kind),
                "original_drawn": 1 / pool_sizes[kind] if kind in pool_sizes else None,
            }
            for kind in sorted(list_sizes.keys() | pool_sizes.keys())
        ],
    }


def format_names_table(bundle: TextBundle) -> list[str]:
    """Return the lists as a table, with the meaning of its columns."""
    facts = describe_names_lists(bundle)
    return [
        f"names: {facts['common_words']:,} common words may be shown, {facts['shown_names']:,} names among them",
        f"{'kind':<18}{'members':>9}{'outputs':>9}{'itself':>12}",
        *(_format_type(kind) for kind in facts["kinds"]),
        "",
        "members: by list; those of other kinds are told by their form, or by the words around them. itself: how often",
        "an output of the kind comes out as itself; all are drawn without a look at what stood there. What is shown is",
        "not protected.",
    ]


def _format_type(entity_type: dict[str, Any]) -> str:
    outputs = entity_type["outputs"]
    itself = "-" if outputs is None else f"1 in {outputs:,}"
    return f"{entity_type['name']:<18}{_format_count(entity_type['members']):>9}{_format_count(outputs):>9}{itself:>12}"


def _format_count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
