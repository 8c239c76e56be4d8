"""HTML overview of one run of a command without any text, for persons who may not read the originals.

The overview has counts, the options of the run and its privacy statement (what the output reveals). It has no text of
the input or the output, no word of the user's lists, and no name of a file or of a type of the user's own. It names a
column only if the heading consists of common words or words of published APIs, as ``FieldNames`` decides for JSON keys.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from textveil import Sanitizer, __version__
from textveil.conversation import FieldNames
from textveil.errors import UnknownMechanism
from textveil.formatting import format_count
from textveil.storage import open_atomic_text
from textveil.text import Options
from textveil.text.marked_html import escape_html, iterate_page
from textveil.text.segmentation import fold_word

from textveil_cli.changes.explain import describe_reason_class
from textveil_cli.changes.report import ReportFacts, iterate_missing_parts, iterate_table
from textveil_cli.changes.run_review import RunReview
from textveil_cli.columns import find_personal_columns

#: First line of an overview.
OVERVIEW_NOTICE = "contains counts of private texts and no text: give it to persons in charge, do not publish it"
#: Options whose values are entity types.
_TYPE_OPTIONS = ("keep", "tag", "drop")
#: Options whose values are words or persons of the user, of which an overview has the number.
_LIST_OPTIONS = ("patterns", "known", "deny", "allow", "randomize")
#: Options whose values are numbers, switches, or names from a fixed list.
_PLAIN_OPTIONS = ("protect", "style", "facts", "mechanism", "epsilon", "replacement_probability", "consistent")
_PLAIN_OPTIONS += ("consistent_cap", "sanitize_punctuation")


def write_overview(path: Path, review: RunReview, facts: ReportFacts, sanitizer: Sanitizer, options: Options) -> None:
    """Write the overview to a file that only its owner may read, completely or not at all.

    Args:
        path: The file.
        review: Counts of words, reasons and rows of the run.
        facts: The privacy statement of the run, and the words for its columns and rows.
        sanitizer: The sanitizer of the run.
        options: Options of ``Sanitizer.sanitize``.

    Raises:
        OutputError: The file cannot be written.

    Privacy:
        The overview has counts of the originals, which reveal more than the output: for example, how many words are on
        the user's lists.
    """
    with open_atomic_text(path, private=True) as write:
        sections = _Overview(review, facts, sanitizer, options).iterate_sections()
        for part in iterate_page("What textveil replaced", sections, OVERVIEW_NOTICE):
            write(part)


class _Overview:
    """Content of one overview. For the arguments see ``write_overview``."""

    def __init__(self, review: RunReview, facts: ReportFacts, sanitizer: Sanitizer, options: Options) -> None:
        self._review, self._facts, self._sanitizer = review, facts, sanitizer
        self._own_types = {name: f"own-type-{number}" for number, name in enumerate(options.get("patterns") or (), 1)}
        self._options = self._rename_own_types(options)
        self._terms = sanitizer.terms(**self._options)
        self._fields = self._find_fields(options)

    def _rename_own_types(self, options: Options) -> Options:
        """Return the options with numbered types in place of the user's own types, whose names may be private."""
        if not self._own_types:
            return options
        renamed: dict[str, Any] = {**options}
        renamed["patterns"] = {self._own_types[name]: regex for name, regex in renamed["patterns"].items()}
        for option in _TYPE_OPTIONS:
            if option in options:
                renamed[option] = [self._own_types.get(name, name) for name in renamed[option]]
        return Options(**renamed)

    def _find_fields(self, options: Options) -> Collection[str]:
        """Return the names of columns that an overview may show, because they are public names of fields."""
        hidden = {fold_word(word) for word in options.get("deny") or ()}
        if self._terms.mechanism == "names":
            plan = self._sanitizer.names_plan(**options)
            hidden |= plan.denied | plan.known_words
        try:
            lists = self._sanitizer.bundle.get_names_lists()
        except UnknownMechanism:
            return ()
        names = {name: name.replace("[]", "") for name in (*self._review.columns, *self._review.copied)}
        members = lists.members_by_type
        detector = FieldNames(lists.common_words, members["given"], members["family"], denied=hidden)
        fields = detector.find_fields([*names.values()])
        return {name for name, plain in names.items() if plain in fields}

    def _name_columns(self, names: Sequence[str], kind: str) -> list[str]:
        """Return the names of columns; a number in place of each name that may be private.

        Args:
            names: The columns.
            kind: Words before a number, such as ``copied column``.
        """
        return [name if name in self._fields else f"{kind} {number:,}" for number, name in enumerate(names, 1)]

    def iterate_sections(self) -> Iterator[str]:
        """Yield the HTML of the overview."""
        review, facts, columns = self._review, self._facts, self._review.columns
        texts, changed = (sum(getattr(counts, name) for counts in columns.values()) for name in ("texts", "changed"))
        size = f" in {format_count(review.total_rows, facts.unit)}" if facts.column_option else ""
        counted = f"{format_count(len(facts.inputs), 'input')}: {format_count(texts, 'text')}{size}"
        yield f'<p class="soft">{counted}, {changed:,} of them changed</p>\n'
        yield f'<p class="soft">{facts.written}, textveil {__version__}, bundle {facts.bundle}</p>\n'
        yield f'<p class="soft">{escape_html(", ".join(self._list_options()))}</p>\n'
        if facts.notes:
            yield f'<p class="soft">{escape_html("; ".join(facts.notes))}</p>\n'
        yield from iterate_missing_parts(review, facts)
        yield from self._iterate_copied_columns()
        yield f"<h2>Privacy statement</h2>\n<p>{escape_html(self._format_statement())}</p>\n"
        yield "<p>The output still reveals:</p>\n<ul>"
        yield "".join(f"<li>{escape_html(item)}</li>" for item in self._terms.not_protected)
        yield "</ul>\n"
        if facts.column_option:
            yield from self._iterate_columns()
        yield from self._iterate_parts()

    def _format_statement(self) -> str:
        if not self._own_types:
            return self._facts.statement
        randomized_words = sum(counts.replaced["randomized"] for counts in self._review.columns.values())
        return self._terms.statement(0, randomized_words).format_line()

    def _list_options(self) -> list[str]:
        """Return the options of the run, with numbers in place of the user's lists."""
        values: dict[str, Any] = {**self._options}
        values.setdefault("protect", "names" if self._terms.mechanism == "names" else self._terms.protect)
        if self._terms.mechanism == "names":
            values.setdefault("style", "surrogate")
            values["facts"] = self._sanitizer.names_plan(**self._options).facts_level
        shown = [f"{name.replace('_', '-')} {values[name]}" for name in _PLAIN_OPTIONS if values.get(name) is not None]
        shown += [f"{name} {' '.join(sorted(values[name]))}" for name in _TYPE_OPTIONS if values.get(name)]
        return shown + [f"{name}: {len(values[name]):,}" for name in _LIST_OPTIONS if values.get(name)]

    def _iterate_copied_columns(self) -> Iterator[str]:
        copied = [*self._review.copied]
        if not copied:
            return
        shown = dict(zip(copied, self._name_columns(copied, "copied column"), strict=True))
        personal = find_personal_columns(copied)
        if personal:
            are = "look personal and were" if len(personal) > 1 else "looks personal and was"
            listed = escape_html(", ".join(shown[name] for name in personal))
            yield f'<p class="warning" role="note"><strong>Warning:</strong> {listed} {are} copied unchanged</p>\n'
        others = [shown[name] for name in copied if name not in personal]
        if others:
            yield f'<p class="soft">Also copied unchanged: {escape_html(", ".join(others))}</p>\n'

    def _iterate_columns(self) -> Iterator[str]:
        columns = self._review.columns
        names = self._name_columns([*columns], "rewritten column")
        rows = [
            (
                name,
                *(f"{count:,}" for count in (each.texts, each.changed, each.kept_total, each.replaced.total())),
                ", ".join(f"{kind} \u00d7{count}" for kind, count in self._list_types(each.replaced)),
            )
            for name, each in zip(names, columns.values(), strict=True)
        ]
        yield "<h2>Rewritten columns</h2>\n"
        yield from iterate_table(("column", "texts", "changed", "kept words", "replaced", "types"), rows, range(1, 5))

    def _list_types(self, replaced: Counter[str]) -> list[tuple[str, str]]:
        """Return the types of replaced parts with their counts, the most frequent first."""
        return [(self._own_types.get(name, name), f"{count:,}") for name, count in replaced.most_common()]

    def _iterate_parts(self) -> Iterator[str]:
        """Yield counts of kept words by reason, and of replaced parts by type and by reason, as HTML."""
        replaced = Counter[str]()
        reasons: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
        for counts in self._review.columns.values():
            replaced.update(counts.replaced)
            for (is_kept, reason), count in counts.reasons.items():
                reasons[is_kept][describe_reason_class(reason)] += count
        for is_kept, heading, part in ((True, "Kept", "word"), (False, "Replaced", "part")):
            yield f"<h2>{heading}</h2>\n<p>{format_count(reasons[is_kept].total(), part)}</p>\n"
            tables = [] if is_kept else [("type", self._list_types(replaced))]
            tables.append(("reason", [(reason, f"{count:,}") for reason, count in reasons[is_kept].most_common()]))
            for head, rows in tables:
                if rows:
                    yield from iterate_table((head, "times"), rows, range(1, 2))
