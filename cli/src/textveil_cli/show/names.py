"""Descriptions of the lists of the mode ``names``, for the command line."""

from typing import Any

from textveil.bundle import TextBundle


def names_facts(bundle: TextBundle) -> dict[str, Any]:
    """Return the JSON description of the lists of a bundle with the mode ``names``."""
    lists = bundle.require_names()
    members = {kind: len(found) for kind, found in lists.kinds.items()}
    outputs = {kind: len(found) for kind, found in lists.pools.items()}
    return {
        "common_words": len(lists.common),
        "shown_names": len(lists.shown_names),
        "kinds": [
            {
                "name": kind,
                "members": members.get(kind),
                "outputs": outputs.get(kind),
                "original_drawn": 1 / outputs[kind] if kind in outputs else None,
            }
            for kind in sorted(members.keys() | outputs.keys())
        ],
    }


def names_lines(bundle: TextBundle) -> list[str]:
    """Return the lists as a table, with the meaning of its columns."""
    facts = names_facts(bundle)
    return [
        f"names: {facts['common_words']:,} common words may be shown, {facts['shown_names']:,} names among them",
        f"{'kind':<18}{'members':>9}{'outputs':>9}{'itself':>12}",
        *(_line(kind) for kind in facts["kinds"]),
        "",
        "members: by list; those of other kinds are told by their form, or by the words around them. itself: how often",
        "an output of the kind comes out as itself; all are drawn without a look at what stood there. What is shown is",
        "not protected.",
    ]


def _line(kind: dict[str, Any]) -> str:
    outputs = kind["outputs"]
    itself = "-" if outputs is None else f"1 in {outputs:,}"
    return f"{kind['name']:<18}{_count(kind['members']):>9}{_count(outputs):>9}{itself:>12}"


def _count(number: int | None) -> str:
    return "-" if number is None else f"{number:,}"
