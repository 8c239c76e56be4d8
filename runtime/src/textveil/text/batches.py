"""How many texts are drawn together, which bounds memory."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from textveil.errors import DocumentTooLong, InputError
from textveil.sequences import in_order
from textveil.text import segmentation

#: Texts are drawn in batches of about this many characters, and a long text in chunks.
BATCH_CHARACTERS, LONG_CHARACTERS = 1 << 20, 1 << 17
#: A document of consistent draws is held whole: it may have so many segments, and more where its cap is high.
_WHOLE_SEGMENTS, _SEGMENTS_OF_A_MENTION = 1 << 17, 64


def of_texts(texts: Sequence[str]) -> Iterator[list[str]]:
    """Yields texts in batches of about ``BATCH_CHARACTERS``; a long text is a batch of its own.

    Raises:
        InputError: A text is not a string.
    """
    batch: list[str] = []
    characters = 0
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} of {len(texts)} is not a string")
        if batch and (characters + len(text) > BATCH_CHARACTERS or len(text) > LONG_CHARACTERS):
            yield batch
            batch, characters = [], 0
        batch.append(text)
        characters += len(text)
        if len(text) > LONG_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


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


def of_documents(documents: Sequence[Sequence[str]], cap: int) -> Iterator[list[Sequence[str]]]:
    """Yields documents of several texts in batches of about ``BATCH_CHARACTERS``.

    Args:
        documents: Texts that are drawn consistently.
        cap: How many drawn mentions a document may have.

    Raises:
        DocumentTooLong: See ``refuse_long``.
    """
    batch: list[Sequence[str]] = []
    characters = 0
    for texts in documents:
        size = sum(map(len, texts))
        if batch and characters + size > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
        if size > LONG_CHARACTERS:
            refuse_long(texts, cap)
        batch.append(texts)
        characters += size
    if batch:
        yield batch


def refuse_long(texts: Sequence[str], cap: int) -> None:
    """Raises ``DocumentTooLong`` for a document that would take too much memory: a function of its skeleton alone.

    Args:
        texts: The document.
        cap: How many drawn mentions it may have.
    """
    most = max(_WHOLE_SEGMENTS, _SEGMENTS_OF_A_MENTION * cap)
    segments = chain.from_iterable(map(segmentation.iterate_segments, texts))
    if next(islice(segments, most, None), None) is not None:
        raise DocumentTooLong(
            f"a document has more than {most:,} words and gaps: consistent draws need it split, or a higher cap"
        )


def joined(parts: Iterable[str], blank: str = "") -> str:
    """Returns parts of a long text as one, with a blank between two of them.

    ``str.join`` would hold the parts and all of them together. In a ``for`` loop a string that nothing else refers to
    grows where it is.
    """
    text = ""
    for part in parts:
        text += blank + part if text else part
    return text
