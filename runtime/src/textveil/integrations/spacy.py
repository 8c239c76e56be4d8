"""A component for spaCy: ``nlp.add_pipe("textveil")`` gives every document its sanitized text in ``doc._.sanitized``.

It needs no trained pipeline. The ``Doc`` still has the text as it was: send ``doc._.sanitized`` and never the ``Doc``,
its ``to_bytes`` or a ``DocBin``.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from textveil.errors import ExtraMissing
from textveil.integrations.rewriter import Rewriter

try:
    from spacy.language import Language
    from spacy.tokens import Doc
    from spacy.util import minibatch
except ImportError as error:
    raise ExtraMissing.of("spacy", "spacy") from error

if not Doc.has_extension("sanitized"):
    Doc.set_extension("sanitized", default=None)


class SanitizeDoc:
    """Sets ``doc._.sanitized``; everything else of a document stays as it is.

    Args:
        rewriter: What rewrites.

    Privacy:
        A document is a document: see ``Sanitizer.sanitize``. No token, tag or entity is looked at, so what other
        components found changes nothing.
    """

    def __init__(self, rewriter: Rewriter) -> None:
        self.rewriter = rewriter

    def __call__(self, doc: Doc) -> Doc:
        """Sanitizes one document."""
        doc._.sanitized = self.rewriter(doc.text)
        return doc

    def pipe(self, stream: Iterable[Doc], batch_size: int = 256) -> Iterator[Doc]:
        """Sanitizes documents as they come, a batch at a time."""
        for batch in minibatch(stream, size=batch_size):
            results = self.rewriter.results([doc.text for doc in batch])
            for doc, result in zip(batch, results, strict=True):
                doc._.sanitized = result.text
                yield doc


@Language.factory("textveil", assigns=["doc._.sanitized"], default_config={"bundle": None, "options": {}})
def make_component(nlp: Language, name: str, bundle: str | None, options: dict[str, Any]) -> SanitizeDoc:
    """Makes the component of a pipeline.

    Args:
        nlp: The pipeline.
        name: Name of the component.
        bundle: Folder of a bundle; the built-in English one if left out.
        options: The other arguments of ``Rewriter``, pins among them. spaCy saves them with the pipeline.

    Raises:
        BundleError, OptionError: As ``Rewriter``.
    """
    return SanitizeDoc(Rewriter(bundle, **options))
