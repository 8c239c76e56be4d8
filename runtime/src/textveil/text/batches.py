"""How many texts are drawn together, which bounds memory."""

from collections.abc import Iterator, Sequence

from textveil.errors import InputError

#: Texts are drawn in batches of about this many characters, and a long text in chunks.
BATCH_CHARACTERS, LONG_CHARACTERS = 1 << 20, 1 << 17


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


def of_documents(documents: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    """Yields documents of several texts in batches of about ``BATCH_CHARACTERS``."""
    batch: list[Sequence[str]] = []
    characters = 0
    for texts in documents:
        size = sum(map(len, texts))
        if batch and characters + size > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
        batch.append(texts)
        characters += size
    if batch:
        yield batch
