"""What plain text is looked at for before it is drawn."""

from collections.abc import Callable

from textveil_cli.tables import refusing_tables

#: Longer lines are not looked at as rows of a table: the cells of a row may take twenty times its bytes.
LONGEST_ROW = 1 << 16


def looking(name: str, warn: Callable[[list[str]], None] | None) -> Callable[[list[str]], None]:
    """Returns what looks at the lines of an input, in turn, before they are drawn.

    It refuses those whose first lines look like a table. Very long lines are passed over: they say nothing for a table
    and nothing against it.

    Args:
        name: What errors call the input.
        warn: Shown all lines afterwards.
    """
    refuse = refusing_tables(name, None)

    def look(lines: list[str]) -> None:
        refuse([line for line in lines if len(line) <= LONGEST_ROW])
        if warn is not None:
            warn(lines)

    return look
