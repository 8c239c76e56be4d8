"""A component for spaCy: after ``nlp.add_pipe("textveil", first=True)`` every ``Doc`` has the sanitized text alone.

``doc.text``, its tokens, its ``to_bytes`` and a ``DocBin`` of it say what ``doc._.sanitized`` says. What comes later in
the pipeline sees nothing else. It needs no trained pipeline.

The pipeline's vocabulary keeps words of every text that it has cut, also those before they were sanitized, and
``nlp.to_disk`` and pickles write it. What is cut inside ``with nlp.memory_zone():`` is forgotten.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from textveil.bundle import MAX_BUNDLE_BYTES
from textveil.errors import ExtraMissing, InputError
from textveil.text import Options

from textveil_cli.integrations.rewriter import Rewriter

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import minibatch
except ImportError as error:
    raise ExtraMissing.of("spacy", "spacy") from error

if not Doc.has_extension("sanitized"):
    Doc.set_extension("sanitized", default=None)

#: What other components find of tokens.
_FOUND = ("SENT_START", "TAG", "POS", "MORPH", "LEMMA", "DEP", "ENT_IOB")


class SanitizeDoc:
    """Gives a new document of the sanitized text for every document, and sets its ``doc._.sanitized``.

    Attributes of the whole document, such as ``doc._.id``, stay as they are.

    Args:
        nlp: The pipeline, whose tokenizer cuts the sanitized text.
        rewriter: What rewrites.

    Privacy:
        A document is a document: see ``Sanitizer.sanitize``. No token of it is looked at. What another component has
        found in the text would tell of it, so the component goes first and refuses otherwise.
    """

    def __init__(self, nlp: Language, rewriter: Rewriter) -> None:
        self._nlp = nlp
        self.rewriter = rewriter

    def __call__(self, doc: Doc) -> Doc:
        """Returns the document of one sanitized text.

        Raises:
            InputError: Another component has been at work before this one.
        """
        _refuse_annotated(doc)
        return self._sanitized(doc, self.rewriter(doc.text))

    def pipe(self, stream: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """Sanitizes documents as they come, a batch at a time.

        Raises:
            InputError: Another component has been at work before this one.
        """
        for batch in minibatch(stream, size=batch_size):
            for doc in batch:
                _refuse_annotated(doc)
            results = self.rewriter.results([doc.text for doc in batch])
            for doc, result in zip(batch, results, strict=True):
                yield self._sanitized(doc, result.text)

    def _sanitized(self, doc: Doc, text: str) -> Doc:
        new = self._nlp.tokenizer(text)
        new.user_data.update({key: value for key, value in doc.user_data.items() if _of_the_whole(key)})
        new._.sanitized = text
        new._context = doc._context  # what as_tuples gives back beside the document
        return new


def _refuse_annotated(doc: Doc) -> None:
    of_tokens = len(doc) > 1 and any(map(doc.has_annotation, _FOUND))  # spaCy says that a document of none has all
    if of_tokens or doc.cats or doc.spans or doc.tensor.size:
        raise InputError('textveil is not first in the pipeline: nlp.add_pipe("textveil", first=True)')


def _of_the_whole(key: Any) -> bool:
    """Tells whether an entry of ``user_data`` is not of a token or a span, which are others in the new document."""
    return not (isinstance(key, tuple) and key[:1] == ("._.",)) or key[2:] == (None, None)


@Language.factory("textveil", assigns=["doc._.sanitized"], retokenizes=True)
def make_component(
    nlp: Language,
    name: str,
    bundle: str | None = None,
    expect_id: str | None = None,
    maker: str | None = None,
    max_bytes: int = MAX_BUNDLE_BYTES,
    mechanism: str | None = None,
    epsilon: Any = None,
    replacement_probability: Any = None,
    protect: str | None = None,
    consistent: bool | None = None,
    consistent_cap: int | None = None,
    split: bool | None = None,
    deny: Any = None,
    style: str | None = None,
    keep: Any = None,
    tag: Any = None,
    drop: Any = None,
    allow: Any = None,
    draw: Any = None,
    case: str | None = None,
    sanitize_punctuation: bool | None = None,
) -> SanitizeDoc:
    """Makes the component of a pipeline: ``nlp.add_pipe("textveil", config={"epsilon": 6}, first=True)``.

    spaCy saves the options with the pipeline, denied, allowed and drawn words too.

    Args:
        nlp: The pipeline.
        name: Name of the component.
        bundle: Folder of a bundle; the built-in English one if left out.
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
        mechanism: As in ``Sanitizer.sanitize``, like all below; the bundle's default if left out.
        epsilon: Which level, by its epsilon.
        replacement_probability: SanText+'s ``p``.
        protect: The rung of the ladder, ``"names"``, ``"words"`` or ``"all"``.
        consistent: Whether equal words of a document become equal words.
        consistent_cap: The most drawn words of a document with ``consistent``.
        split: Whether a longer one is released in parts.
        deny: Words that are unknown ones.
        style: How the rung ``"names"`` writes what it replaces, ``"surrogate"`` or ``"tag"``.
        keep: Kinds that it shows.
        tag: Kinds that it writes as tags.
        drop: Kinds for which it writes nothing.
        allow: Words that it shows wherever they stand.
        draw: Words that it draws over each other where they stand in lower case.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation is sanitized too.

    Raises:
        BundleError, OptionError: As ``Rewriter``.
    """
    given = locals()
    options: Any = {name: given[name] for name in Options.__annotations__ if given.get(name) is not None}
    return SanitizeDoc(nlp, Rewriter(bundle, expect_id=expect_id, maker=maker, max_bytes=max_bytes, **options))
