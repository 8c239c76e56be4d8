"""Plain text files: a document a line, and WikiText."""

from collections.abc import Iterator

from textveil_training.data.examples import Example
from textveil_training.data.rows import FilePath, file_name, read_lines
from textveil_training.errors import EmptyData, FileLocation


def read_text(path: FilePath) -> Iterator[Example]:
    """Streams plain text, one document per line. Blank lines hold no document and are passed over.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or holds no document.
    """
    found = False
    for _, line in read_lines(path):
        if line.strip():
            found = True
            yield Example(texts=(line,))
    if not found:
        raise EmptyData("there is no document", FileLocation(file_name(path)))


def read_wikitext(path: FilePath) -> Iterator[Example]:
    """Streams WikiText (Merity et al. 2016, "Pointer Sentinel Mixture Models"), one paragraph or heading per line.

    The blanks the published files put around every line are dropped; ``<unk>`` and ``@-@`` are left as they
    are.

    Args:
        path: A file of WikiText-2 or WikiText-103, raw or tokenized.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or holds no document.
    """
    for document in read_text(path):
        yield Example(texts=(document.text.strip(),))
