"""How many texts are drawn together, which bounds memory."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, islice

from textveil.errors import DocumentTooLong, InputError
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


def of_documents(
    documents: Sequence[Sequence[str]], cap: int, *, marks_apart: bool = False
) -> Iterator[list[Sequence[str]]]:
    """Yields documents of several texts in batches of about ``BATCH_CHARACTERS``.

    Args:
        documents: Texts that are drawn consistently.
        cap: How many drawn mentions a document may have.
        marks_apart: As in ``segmentation.segments``.

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
            refuse_long(texts, cap, marks_apart=marks_apart)
        batch.append(texts)
        characters += size
    if batch:
        yield batch


def refuse_long(texts: Sequence[str], cap: int, *, marks_apart: bool = False) -> None:
    """Raises ``DocumentTooLong`` for a document that would take too much memory: a function of its skeleton alone.

    Args:
        texts: The document.
        cap: How many drawn mentions it may have.
        marks_apart: As in ``segmentation.segments``: marks are drawn, so they are counted one by one.
    """
    most = max(_WHOLE_SEGMENTS, _SEGMENTS_OF_A_MENTION * cap)
    cut = partial(segmentation.iterate_segments, marks_apart=marks_apart)
    if next(islice(chain.from_iterable(map(cut, texts)), most, None), None) is not None:
        what = "words and marks" if marks_apart else "words and gaps"
        raise DocumentTooLong(
            f"a document has more than {most:,} {what}: consistent draws need it split, or a higher cap"
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
