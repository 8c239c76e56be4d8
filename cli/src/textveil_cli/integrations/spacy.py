"""Component for spaCy that replaces the text of every ``Doc`` by its sanitized text.

Add the component with ``nlp.add_pipe("textveil", first=True)``. The text, the tokens and all serialized forms of the
``Doc`` then contain only the sanitized text, and later components of the pipeline receive nothing else. The component
needs no trained pipeline.

Privacy:
    spaCy's vocabulary stores the words of every text that it tokenizes, including texts before sanitizing, and
    ``nlp.to_disk`` and pickles contain the vocabulary. Process texts inside ``with nlp.memory_zone():``, at whose end
    spaCy drops their words.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from textveil.bundle import MAX_BUNDLE_BYTES, ExpectedBundle
from textveil.errors import InputError
from textveil.text import Options

from textveil_cli.errors import ExtraMissing
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import minibatch
except ImportError as error:
    raise ExtraMissing.from_extra("spacy", "spacy") from error

if not Doc.has_extension("sanitized"):
    Doc.set_extension("sanitized", default=None)

#: Annotations of tokens by other components.
_TOKEN_ANNOTATIONS = ("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "DEP", "ENT_IOB")


class SanitizeDoc:
    """spaCy component that returns a new document with the sanitized text, and sets ``doc._.sanitized``.

    Attributes of the whole document, such as ``doc._.id``, are copied to the new document.

    >>> import spacy
    >>> import textveil_cli.integrations.spacy
    >>> nlp = spacy.blank("en")
    >>> component = nlp.add_pipe("textveil", config={"protect": "names", "style": "tag"}, first=True)
    >>> nlp("Anna Novak called.").text
    '[person 1] called.'

    Args:
        nlp: The pipeline, whose tokenizer splits the sanitized text.
        sanitizer: The sanitizer of texts.

    Privacy:
        Each spaCy document is a separate document; see ``Sanitizer.sanitize``. The new document contains no tokens of
        the original. Annotations by an earlier component would reveal the original, so the component raises an error
        unless it is first.
    """

    def __init__(self, nlp: Language, sanitizer: ConfiguredSanitizer) -> None:
        self._nlp = nlp
        self.sanitizer = sanitizer

    def __call__(self, doc: Doc) -> Doc:
        """Return a new document with the sanitized text of ``doc``.

        Raises:
            InputError: Another component ran before this one.
        """
        _refuse_annotated(doc)
        return self._make_document(doc, self.sanitizer(doc.text))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """Sanitize the texts of documents in batches, and yield the sanitized documents in order.

        Raises:
            InputError: Another component ran before this one.
        """
        for batch in minibatch(stream, size=batch_size):
            for doc in batch:
                _refuse_annotated(doc)
            results = self.sanitizer.sanitize_texts([doc.text for doc in batch])
            for doc, result in zip(batch, results, strict=True):
                yield self._make_document(doc, result.text)

    def _make_document(self, doc: Doc, text: str) -> Doc:
        new = self._nlp.tokenizer(text)
        new.user_data.update({key: value for key, value in doc.user_data.items() if _is_document_entry(key)})
        new._.sanitized = text
        new._context = doc._context  # the context that ``as_tuples`` returns beside the document
        return new


def _refuse_annotated(doc: Doc) -> None:
    has_token_annotations = len(doc) > 1 and any(
        map(doc.has_annotation, _TOKEN_ANNOTATIONS)
    )  # spaCy reports all of them without tokens
    if has_token_annotations or doc.cats or doc.spans or doc.tensor.size:
        raise InputError('textveil must be first in the pipeline: nlp.add_pipe("textveil", first=True)')


def _is_document_entry(key: Any) -> bool:
    """Return whether an entry of ``Doc.user_data`` belongs to the whole document.

    Entries of a token or a span do not apply to the new document.
    """
    return not (isinstance(key, tuple) and key[:1] == ("._.",)) or key[2:] == (None, None)


@Language.factory("textveil", assigns=["doc._.sanitized"], retokenizes=True)
def make_component(
    nlp: Language,
    name: str,
    bundle: str | None = None,
    expect_id: str | None = None,
    signer: str | None = None,
    max_bytes: int = MAX_BUNDLE_BYTES,
    language: str | None = None,
    mechanism: str | None = None,
    epsilon: Any = None,
    replacement_probability: Any = None,
    protect: str | None = None,
    consistent: bool | None = None,
    consistent_cap: int | None = None,
    deny: Any = None,
    style: str | None = None,
    facts: str | None = None,
    keep: Any = None,
    tag: Any = None,
    drop: Any = None,
    allow: Any = None,
    randomize: Any = None,
    patterns: Any = None,
    known: Any = None,
    sanitize_punctuation: bool | None = None,
) -> SanitizeDoc:
    """Return the component ``textveil`` of a pipeline; spaCy calls this function in ``nlp.add_pipe``.

    Example: ``nlp.add_pipe("textveil", config={"epsilon": 6}, first=True)``. spaCy saves the options with the pipeline,
    including the words and persons in them.

    Args:
        nlp: The pipeline.
        name: Name of the component.
        bundle: Folder of a bundle (word lists and settings); default: the built-in English bundle.
        expect_id: Required content hash of the bundle.
        signer: Public key of the required signer of the bundle.
        max_bytes: Maximum total bytes of the bundle's files.
        language: Language of the texts; its language pack must be installed.
        mechanism: The mechanism that randomizes words; default: that of the bundle. This and all further options are
            those of ``Sanitizer.sanitize``.
        epsilon: Epsilon per randomized word.
        replacement_probability: The parameter ``p`` of SanText+.
        protect: The protection mode, ``"names"``, ``"words"`` or ``"all"``.
        consistent: Whether equal words of a document get equal replacements.
        consistent_cap: Maximum number of randomized words of a document with ``consistent``.
        deny: Words that are treated as unknown.
        style: How the mode ``"names"`` writes replacements, ``"surrogate"`` or ``"tag"``.
        facts: Public facts that the mode ``"names"`` leaves unchanged, such as prices: ``"none"``, ``"plain"``,
            ``"useful"`` or ``"public"``.
        keep: Entity types (such as ``city``) that the mode ``"names"`` leaves unchanged.
        tag: Entity types that the mode ``"names"`` replaces by tags.
        drop: Entity types that the mode ``"names"`` removes.
        allow: Words that the mode ``"names"`` leaves unchanged everywhere.
        randomize: Words that the mode ``"names"`` randomizes among each other where they are in lower case.
        patterns: Entity types of your own, each with a regular expression (mode ``"names"``).
        known: Persons whose names the mode ``"names"`` always replaces: one string per person, with commas between
            spellings.
        sanitize_punctuation: Whether punctuation marks are randomized, too.

    Raises:
        BundleError, OptionError: See ``ConfiguredSanitizer``.
    """
    arguments = locals()
    options: Any = {name: arguments[name] for name in Options.__annotations__ if arguments.get(name) is not None}
    expected = ExpectedBundle(expect_id=expect_id, signer=signer, max_bytes=max_bytes, language=language)
    return SanitizeDoc(nlp, ConfiguredSanitizer(bundle, **expected, **options))
