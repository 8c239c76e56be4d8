"""Plain text files: lines with labels, lines without, and WikiText."""

from collections.abc import Collection, Iterator

from textveil_training.data.examples import Document, LabeledText
from textveil_training.data.rows import FilePath, file_name, label_field, read_lines, read_rows, text_field
from textveil_training.errors import EmptyData, FileLocation


def read_labeled(path: FilePath, labels: Collection[str] | None = None) -> Iterator[LabeledText]:
    """Streams ``label<TAB>text`` without a header.

    Args:
        path: A UTF-8 text file.
        labels: The labels there are, or None to accept any.

    Raises:
        DataError: The file cannot be read or is empty, or a row has another number of columns, no text, no
            label, or one that is not in ``labels``.
    """
    for location, (label, text) in read_rows(path, 2):
        yield LabeledText(text_field(text, location), label_field(label, labels, location))


def read_text(path: FilePath) -> Iterator[Document]:
    """Streams plain text, one document per line. Blank lines hold no document and are passed over.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or holds no document.
    """
    found = False
    for _, line in read_lines(path):
        if line.strip():
            found = True
            yield Document(line)
    if not found:
        raise EmptyData("there is no document", FileLocation(file_name(path)))


def read_wikitext(
    path: FilePath,
    *,
    skip_headings: bool = False,
    skip_empty: bool = True,
) -> Iterator[Document]:
    """Streams WikiText (Merity et al. 2016, "Pointer Sentinel Mixture Models"), one paragraph per line.

    The blanks the published files put around every line are dropped; ``<unk>`` and ``@-@`` are left as they
    are.

    Args:
        path: A file of WikiText-2 or WikiText-103, raw or tokenized.
        skip_headings: Pass over lines such as `` = Heading = `` and `` = = Subheading = = ``.
        skip_empty: Pass over blank lines; if False they are documents with an empty text.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or holds no document.
    """
    found = False
    for _, line in read_lines(path):
        text = line.strip()
        if (skip_empty and not text) or (skip_headings and is_heading(text)):
            continue
        found = True
        yield Document(text)
    if not found:
        raise EmptyData("there is no document", FileLocation(file_name(path)))


def is_heading(line: str) -> bool:
    """Tells whether a line of WikiText is a heading: words between equally many free-standing equals signs."""
    words = line.split()
    before = next((index for index, word in enumerate(words) if word != "="), len(words))
    after = next((index for index, word in enumerate(reversed(words)) if word != "="), len(words))
    return 0 < before == after < len(words)
