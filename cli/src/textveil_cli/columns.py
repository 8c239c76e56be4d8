"""Columns of a table that the user selected, and checks of column names for errors and warnings.

An error about a misspelled column suggests the closest column; a warning lists columns whose headings suggest personal
data.

Privacy:
    The functions print a name only if it looks like the heading of a column. This keeps most private text out of
    messages: text that a user typed in place of a column name, and the first row of a file without a header.
"""

import codecs
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache

from textveil.errors import OptionError
from textveil.lazy import load_data

#: Formats with the endings of their files, without the endings of compressed files.
FORMATS = {
    "lines": (".txt",),
    "csv": (".csv",),
    "tsv": (".tsv",),
    "jsonl": (".jsonl", ".ndjson"),
    "parquet": (".parquet", ".pq"),
}
#: In these encodings a byte below 128 is always its ASCII character, so cells can be split without decoding.
_ENCODINGS = {"utf-8": "utf-8", "iso8859-1": "latin-1", "cp1252": "cp1252"}
MAX_FIELD = 16_000_000
#: Maximum number of cells in a row and of values in a JSON line: each is an object in memory.
MAX_CELLS = 1 << 16


@dataclass(frozen=True, kw_only=True)
class ColumnSelection:
    """The columns or JSON keys whose texts a run sanitizes, and the format of the files.

    Attributes:
        format: A key of ``FORMATS``.
        columns: Names of columns, or keys of JSON lines such as ``messages[].content``; empty for plain text.
        document: Which texts form one document. Within a document, equal words get equal replacements if the user chose
            consistent replacement. Plain text: ``"cell"`` for a line, or ``"file"``. Tables: ``"cell"``; ``"row"`` for
            all selected cells of a row; ``"key"`` for all selected cells of the rows with the same ``document_key``; or
            ``"file"`` for all selected cells of the file.
        document_key: The column or key whose value the rows of one document share; these rows must be adjacent.
        header: Whether the first row of a delimited file has the column names. Otherwise the user selects columns by
            their numbers, from 1.
        delimiter: Character between cells; ``None`` for the usual character of the format.
        encoding: Encoding of a delimited file: ``utf-8``, ``latin-1`` or ``cp1252``.
        allow_missing: Whether a row of JSON lines may lack a key.
        max_field: Maximum bytes of a field. The maximum bytes of a row are four times this number.
        privacy_unit_column: The column or key with the privacy unit of a row: the person or group for whom the privacy
            ledger (record of spent epsilon) adds up epsilon.
        without: Columns that the output omits.
        only: Whether the output omits all columns except the sanitized ones.

    Raises:
        OptionError: The values contradict each other.
    """

    format: str
    columns: tuple[str, ...] = ()
    document: str = "cell"
    document_key: str | None = None
    header: bool = True
    delimiter: str | None = None
    encoding: str = "utf-8"
    allow_missing: bool = False
    max_field: int = MAX_FIELD
    privacy_unit_column: str | None = None
    without: tuple[str, ...] = ()
    only: bool = False

    def __post_init__(self) -> None:
        option = "--key" if self.format == "jsonl" else "--column"
        if self.format == "lines" and self.columns:
            raise OptionError("--column and --key need a table: use --csv, --tsv, --jsonl or --parquet")
        if self.format != "lines" and not self.columns:
            raise OptionError(f"a table needs {option} NAME to select the texts; use --plain if it is plain text")
        if len(set(self.columns)) < len(self.columns):
            raise OptionError(f"{option}: a name appears twice")
        if self.document not in (("cell", "file") if self.format == "lines" else ("cell", "row", "key", "file")):
            raise OptionError(
                "--document must be 'line' or 'file' for plain text, and 'cell', 'row' or 'file' for tables"
            )
        if (self.without or self.only) and self.format == "lines":
            raise OptionError(
                "--drop-column and --drop-other-columns need a table: use --csv, --tsv, --jsonl or --parquet"
            )
        if self.without and self.only:
            raise OptionError("use either --drop-column or --drop-other-columns")
        if set(self.without) & set(self.columns) or len(set(self.without)) < len(self.without):
            raise OptionError("--drop-column: a column appears twice or is also rewritten")
        if self.format == "lines" and self.privacy_unit_column is not None:
            raise OptionError("--privacy-unit-column needs a table")
        if self.format == "parquet" and self.document == "key":
            raise OptionError("--document-key needs CSV, TSV or JSON lines")
        if self.format not in ("csv", "tsv") and not (self.header and self.delimiter is None):
            raise OptionError("--no-header and --delimiter need --csv or --tsv")
        if self.delimiter is not None and (
            len(self.delimiter) != 1 or self.delimiter in '"\r\n' or not self.delimiter.isascii()
        ):
            raise OptionError(
                "--delimiter must be one ASCII character other than a quote or line end; use --tsv for tabs"
            )
        if self.format not in ("csv", "tsv") and self.encoding != "utf-8":
            raise OptionError("--encoding needs --csv or --tsv")
        if self.allow_missing and self.format != "jsonl":
            raise OptionError("--allow-missing needs --jsonl")
        self.codec  # noqa: B018 - it is known now whether there is such an encoding

    @property
    def codec(self) -> str:
        """Return the name of the Python codec for ``encoding``.

        Raises:
            OptionError: The encoding is not UTF-8, Latin-1 or Windows-1252.
        """
        try:
            return _ENCODINGS[codecs.lookup(self.encoding).name]
        except (LookupError, ValueError):
            raise OptionError("--encoding must be utf-8, latin-1 or cp1252") from None

    def list_output_columns(
        self, rewritten: Collection[int], left_out: Collection[int], count: int
    ) -> list[int] | None:
        """Return the positions of the input columns that the output contains.

        Args:
            rewritten: Positions of the sanitized columns, from 0.
            left_out: Positions of the columns in ``without``.
            count: Number of columns of the input.

        Returns:
            The positions in order; ``None`` if the output contains every column.
        """
        positions = [place for place in range(count) if place in rewritten or not (self.only or place in left_out)]
        return None if len(positions) == count else positions

    @property
    def max_row(self) -> int:
        """Return the limit on the size of a row in bytes; a larger row is refused."""
        return 4 * self.max_field

    @property
    def receipt_description(self) -> dict[str, object] | None:
        """Return the keys ``format`` (of the files) and ``rewritten_columns`` for the receipt; ``None`` for plain text.

        The receipt of a run is a signed statement with a hash of the output.
        """
        return None if self.format == "lines" else {"format": self.format, "rewritten_columns": list(self.columns)}


#: Shape of a column heading: at most 40 characters, of which the first is a letter.
HEADING_PATTERN = re.compile(r"[^\W\d][\w \-./()#%:]{0,39}")
#: A personal number has five digits in a row; a heading does not.
_FIVE_DIGITS = re.compile(r"\d{5}")
_MAX_WORDS, _MAX_NAMES, _MAX_NAME_LENGTH = 4, 20, 30
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
#: Words in the headings of columns that name or number a person.
_PERSONAL_WORDS = frozenset(
    "account accountholder address agent applicant assignee attendee author beneficiary birth birthdate birthday "
    "borrower buyer caller card citizen client contact customer debtor dob doctor email employee employer family "
    "father firstname forename fullname guardian handle holder iban imei insured ip lastname lawyer "
    "license login mail manager member mobile mother name names nhs nickname nurse owner participant passport "
    "patient payee payer person phone physician postcode recipient reporter requester respondent seller sender "
    "signature ssn street student subscriber supervisor surname tax teacher telephone tenant therapist user "
    "userid username visitor voter witness zip zipcode".split()
)
#: Words in the headings of columns whose values identify a person together with others: institutions and towns of a
#: person, and dates in the life of a person (HIPAA's list of identifiers has all of these places and dates).
_LIFE_WORDS = frozenset(
    "admission admitted appointment birthplace city clinic college death died discharge discharged hired hometown "
    "hospital kindergarten latitude longitude nationality nursery parish school surgery town university village visit "
    "ward workplace".split()
)
#: Headings of one word whose values are mostly numbers of what belongs to one person; ``amount`` and ``date`` are none.
_RECORDS = frozenset("booking claim invoice order policy prescription reservation".split())
#: Roles of the rules that are no persons in the heading of a column.
_OTHER_ROLES = frozenset("character host model operator reader speaker".split())
#: Words in the headings of columns that number what belongs to one person, as in ``policy_id`` and ``claim no``.
_NUMBER_WORDS = frozenset("id ids key no nr num number ref reference uid uuid".split())
#: Words next to which a number does not belong to one person.
_COMMON_THINGS = frozenset(
    "article batch block branch brand build category chapter class column commit country course department dept "
    "document entry event experiment field file group item job language line lot message model module page part post "
    "product project question region row run sample sentence serial series shop sku source split stage step store "
    "table tag task team test text thread ticket topic track type unit version week year".split()
)
#: Words in the headings of columns that count or describe persons.
_SUMMARY_WORDS = frozenset(
    "amount average avg category class count counts group kind max mean min percent rate rating ratio score segment "
    "share status sum total type".split()
)
#: Words in the headings of columns whose cells contain a name and no sentence.
_NAME_WORDS = frozenset(
    "birthplace city firstname forename fullname hometown lastname name names nickname surname town village".split()
)
#: Words next to which ``name`` is not the name of a person.
_IMPERSONAL_WORDS = frozenset(
    "file column product item brand project event table field sheet host domain display model".split()
)


def describe_column_option(option: str, typed: str, number: int = 1, total: int = 1) -> str:
    """Return an option with its column for an error message, such as ``--column notes``.

    Args:
        option: The option, such as ``--column``.
        typed: The column that the user typed. It may be private text, so the message contains it only if it looks like
            a heading.
        number: Position of this column among the columns of the option, from 1. The message contains the position in
            place of a column that does not look like a heading.
        total: Number of columns that the user gave with this option.
    """
    if _is_heading(typed):
        return f"{option} {_shorten_name(typed)}"
    return f"{option} {number} of {total}" if total > 1 else option


def list_columns(names: Sequence[str]) -> str:
    """Return the first 20 column names of a header, shortened, and the number of the other columns.

    The result is an empty string if one of the names may be data rather than a heading.
    """
    if not names or not all(map(_is_heading, names)):
        return ""
    more = len(names) - _MAX_NAMES
    return ", ".join(map(_shorten_name, names[:_MAX_NAMES])) + (f" and {more:,} more" if more > 0 else "")


def suggest_column(typed: str, names: Sequence[str]) -> str:
    """Return the end of an error message that suggests the column closest to ``typed``.

    The result starts with a semicolon, such as ``; did you mean notes?``. The result is empty if no column is similar.
    """
    if "," in typed and {*typed.split(",")} <= {*names}:
        return "; repeat the option for each column"
    folded = {name.strip().casefold(): name for name in reversed(names)}
    folded_typed = typed.strip().casefold()
    with_same_start = [
        each
        for each in folded
        if len(folded_typed) > 2 and (each.startswith(folded_typed) or folded_typed in re.split(r"\W|_", each))
    ]
    closest = get_close_matches(folded_typed, folded, 1) or with_same_start[:1]
    return "".join(f"; did you mean {folded[each]}?" for each in closest if folded[each].isprintable())


def find_personal_columns(names: Iterable[str]) -> list[str]:
    """Return the columns whose headings suggest a person, an address, or a number that belongs to one person.

    Examples of such headings are ``customer``, ``school`` and ``appointment``. Words for persons include the
    occupations and relatives in the built-in English word lists. A heading for a number counts if the number belongs to
    one person, such as ``policy_id`` and ``order``. The heading ``product_id`` does not count, since many persons share
    a product. The headings ``id`` and ``date`` alone do not count, since most tables have such columns. Headings for
    amounts do not count.
    """
    return [name for name in names if _is_personal([word.lower() for word in _WORD.findall(name)])]


def find_name_columns(names: Iterable[str]) -> list[str]:
    """Return the columns whose headings suggest a name in each cell, such as ``city`` or ``customer_name``."""
    found = []
    for name in names:
        words = {word.lower() for word in _WORD.findall(name)}
        if words & _NAME_WORDS and words.isdisjoint(_IMPERSONAL_WORDS | _SUMMARY_WORDS | _NUMBER_WORDS):
            found.append(name)
    return found


@cache
def _list_person_words() -> frozenset[str]:
    facts = load_data("rules.json")["optional"]["facts"]
    singular = (word for word in (*facts["roles"], *facts["kin"]) if not word.endswith("s") or word.endswith("ss"))
    return _PERSONAL_WORDS.union(singular, _LIFE_WORDS) - _OTHER_ROLES


def _is_heading(name: str) -> bool:
    fits = HEADING_PATTERN.fullmatch(name) is not None and name.isprintable() and len(name.split()) <= _MAX_WORDS
    return fits and _FIVE_DIGITS.search(name) is None


def _shorten_name(name: str) -> str:
    return name if len(name) <= _MAX_NAME_LENGTH else name[: _MAX_NAME_LENGTH - 1] + "…"


def _is_personal(words: list[str]) -> bool:
    if len(words) == 1 and words[0] in _RECORDS:
        return True
    others = [word for word in words if word not in _NUMBER_WORDS]
    if 0 < len(others) < len(words) and _COMMON_THINGS.isdisjoint(others) and _SUMMARY_WORDS.isdisjoint(others):
        return True
    personal = _list_person_words().intersection(words)
    if personal <= {"name", "names"}:
        return bool(personal) and _IMPERSONAL_WORDS.isdisjoint(words)
    return _SUMMARY_WORDS.isdisjoint(words)
