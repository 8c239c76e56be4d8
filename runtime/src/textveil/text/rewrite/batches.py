"""How many texts are drawn together, which bounds memory.

It depends on hidden words. So neither what comes out nor what is charged may depend on it, but for the order in which
random words are taken.
"""

from collections.abc import Iterable, Iterator, Sequence

from textveil.errors import InputError
from textveil.sequences import in_order

#: Texts are drawn in batches of about this many characters, and a long text in chunks of so many segments.
BATCH_CHARACTERS, LONG_CHARACTERS, CHUNK_SEGMENTS = 1 << 20, 1 << 17, 1 << 15


def texts_of(texts: Iterable[str]) -> list[list[str]]:
    """Returns texts as documents of one text each.

    Raises:
        InputError: They are one string or no sequence, or one is not a string.
    """
    found = in_order(texts)
    for number, text in enumerate(found, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} of {len(found)} is not a string")
    return [[text] for text in found]


def lists_of_texts(documents: Sequence[Sequence[str]]) -> list[Sequence[str]]:
    """Returns documents of several texts, each text a string.

    Raises:
        InputError: A document is one string or no sequence, or one of its texts is not a string.
    """
    documents = in_order(documents, "documents")
    found = []
    for number, document in enumerate(documents, 1):
        texts = in_order(document, "the texts of a document")
        if not all(isinstance(text, str) for text in texts):
            raise InputError(f"document {number} of {len(documents)} has a text that is not a string")
        found.append(texts)
    return found


def of_documents(documents: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Yields documents of several texts in batches of about ``BATCH_CHARACTERS``; a long one is a batch of its own."""
    batch: list[Sequence[str]] = []
    characters = 0
    for texts in documents:
        size = len(texts[0]) if len(texts) == 1 else sum(map(len, texts))
        if batch and (characters + size > BATCH_CHARACTERS or size > LONG_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(texts)
        characters += size
        if size > LONG_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def is_long(texts: Sequence[str]) -> bool:
    """Tells whether the texts of a document are drawn in chunks."""
    return sum(map(len, texts)) > LONG_CHARACTERS


def joined(parts: Iterable[str], blank: str = "") -> str:
    """Returns parts of a long text as one, with a blank between two of them.

    ``str.join`` would hold the parts and all of them together. In a ``for`` loop a string that nothing else refers to
    grows where it is.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
