"""Build the mechanism (*release*) of each row of the table (``benchmarks/report/frontier_rows.py``)."""

import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from names.tools import lists
from numpy.typing import NDArray
from report.frontier_rows import Row
from textveil import Sanitizer, TextLabelEncoder
from textveil.bundle import LabelBundle, TextBundle, layout, open_bundle
from textveil.mechanisms import SlotlessMechanism, random_uint64
from textveil.mechanisms.baselines import SanText
from textveil.mechanisms.staircase import SlotStaircases, Staircase, StaircaseLevel, StaircaseTable, compute_output_role
from textveil.text import EntityTypes, make_plan, split_text
from textveil.text.rewrite import DocumentRewriter
from textveil_export.text import LevelSetting, make_level_parameters
from textveil_training.attacks.words import (
    NOTHING,
    ReadElements,
    SegmentedTexts,
    WordIds,
    WordRelease,
    make_constant_release,
    make_raw_release,
    make_word_release,
)

ROOT = Path(__file__).resolve().parents[2]

#: Epsilon of the textbook row, by SanText's own analysis, and of the certified rows.
SANTEXT_EPSILON = 10
_CONSTANT = ("raw", "delete", "blank")
#: Bundles whose public sentences replace the texts of a task.
ENCODERS = {"ag": ROOT / "artifacts/ag-static", "sst2-whole": ROOT / "artifacts/sst2-static"}


class Releases:
    """Builder of the mechanism of each table row, in the form that the attacks on words need.

    Args:
        bundle: A bundle with a staircase; the built-in one for ``None``.
        santext: A certified bundle with SanText and word vectors; the built-in one for ``None``.
        trec: A bundle with sentences for TREC's classes; there is no built-in one.
    """

    def __init__(self, bundle: Path | None, santext: Path | None, trec: Path | None = None) -> None:
        self.words = WordIds()
        self._encoders = ENCODERS | ({"trec": trec} if trec else {})
        self._codes: dict[tuple[str, str], NDArray[Any]] = {}
        self.staircase = Sanitizer.load(bundle)
        self._santext = santext

    @cached_property
    def santext(self) -> Sanitizer:
        """Load the SanText bundle once."""
        return Sanitizer.load(self._santext)

    def identity(self, row: Row) -> str:
        """Return the content hash of a row's bundle."""
        return (self.santext if row.name.startswith("santext") else self.staircase).bundle.content_hash

    def source(self, row: Row) -> str:
        """Return the SHA-256 of the bundle parts that affect a row; a record with another SHA-256 is outdated.

        A change of the lists of entity types does not affect rows without entity types. A change of neighbors or base
        weights does not affect rows that the staircase mechanism does not randomize: the mode ``names``, k-ary
        randomized response, and words that are kept, deleted or replaced uniformly. Rows without entity types need a
        bundle with all neighbors: english-v4 leaves out those that are no output with entity types.
        """
        if row.name.startswith("santext"):
            return _santext_source(self.santext.bundle)
        if row.name.startswith("names"):
            return lists(self.staircase.bundle)
        if row.name.startswith("index"):
            return _digest([self.encoder(task).bundle.content_hash for task in sorted(ENCODERS)])
        even, kinds = row.law == "k-RR" or row.name == "uniform", "kinds" in row.visible
        source = _staircase_source(self.staircase.bundle, kinds=kinds, drawn=not even and row.name not in _CONSTANT)
        return _digest([source, "outputs by the case of the slot"]) if even and kinds else source

    def encoder(self, task: str) -> TextLabelEncoder:
        """Return the encoder of a task."""
        bundle = self._encoders[task]
        return TextLabelEncoder.load(bundle, expect_id=open_bundle(bundle, LabelBundle).content_hash)

    def has(self, row: Row, task: str) -> bool:
        """Return whether a row can be measured on a task; class labels need a bundle with the classes of the task."""
        return not row.name.startswith("index") or task in self._encoders

    def find_kept(self, row: Row, cut: SegmentedTexts) -> list[list[bool]]:
        """Return for each token and gap of some documents whether the mode ``names`` keeps it."""
        found = []
        for pieces in cut:
            out = [not hides for piece, what in self.staircase.preview("".join(pieces), **self._names(row))
                   for hides in [what not in ("kept", "gap")] * len(piece)]  # fmt: skip
            ends = np.cumsum([0, *map(len, pieces)]).tolist()
            found.append([all(out[start:end]) for start, end in pairwise(ends)])
        return found

    def rewrite_documents(
        self, row: Row, task: str, part: str, cut: SegmentedTexts
    ) -> tuple[ReadElements, NDArray[Any]]:
        """Release documents as text, and return the elements of the new text.

        Args:
            row: A row of the mode ``names``, or of class labels.
            task: The task of the documents.
            part: Part of the task that contains the documents.
            cut: The documents.
        """
        texts = ["".join(pieces) for pieces in cut]
        if row.name.startswith("names"):
            new = [result.text for result in self.staircase.sanitize_batch(texts, **self._names(row))]
        else:
            encoder = self.encoder(task)
            if (task, part) not in self._codes:
                self._codes[task, part] = np.array([encoder.compute_true_label(text) for text in texts])
            level = encoder.bundle.get_randomizer("counts", row.nats.split()[0])
            new = [
                encoder._draw_sentence(int(index))
                for index in level.draw_symbols(self._codes[task, part], random_uint64)
            ]
        reading = make_raw_release(make_word_release(self.words, self._plan(True, True, "10"))).read(
            [split_text(text) for text in new]
        )
        return reading, reading.word

    @staticmethod
    def _names(row: Row) -> Any:
        return {"protect": "names", "facts": "none"} | ({"style": "tag"} if row.name == "names-tags" else {})

    @cached_property
    def function_words(self) -> frozenset[str]:
        """Return the function words of the template."""
        return frozenset(self._plan(True, True, "10").rule.function_words)

    def of(self, row: Row) -> WordRelease:
        """Return the mechanism of a row, in the form that the attacks on words need."""
        if row.name.startswith("santext"):
            return self._of_words(row.name)
        return self._of_plan(row)

    def sample(self, row: Row, texts: list[str]) -> list[str]:
        """Sanitize whole texts once by the mechanism of a row, and return the outputs."""
        if row.name in ("santext-certified", "santext-plus"):
            name = "santext" if row.name == "santext-certified" else "santext+"
            found = self.santext.sanitize_batch(texts, mechanism=name, epsilon=str(SANTEXT_EPSILON))
            return [result.text for result in found]
        if row.name.startswith("names"):
            return [result.text for result in self.staircase.sanitize_batch(texts, **self._names(row))]
        if row.name not in (*_CONSTANT, "santext-textbook"):
            documents = DocumentRewriter(self.plan(row)).rewrite([[text] for text in texts])
            return [released for (released,), *_ in documents]
        made = self.of(row)
        reading = made.read([split_text(text) for text in texts])
        outputs = made.draw(reading)
        return [self._join_words(outputs[reading.document == number]) for number in range(len(texts))]

    def _join_words(self, outputs: NDArray[Any]) -> str:
        """Join folded words by blanks, for rows whose mechanism writes no text."""
        return " ".join(self.words.spellings[word] for word in outputs.tolist() if word != NOTHING)

    def plan(self, row: Row) -> Any:
        """Return the sanitizing plan (rules and mechanism) of a row, with the template of the staircase mechanism."""
        visible = "function words" in row.visible
        kinds = "kinds" in row.visible
        epsilon = row.nats if row.nats in ("4", "6", "8", "10", "12") else "10"
        plan = self._plan(visible, kinds, epsilon, consistent=row.name.startswith("consistent"))
        if row.name == "uniform" or row.law == "k-RR":
            slots, epsilon = plan.mechanism, "0.000001" if row.name == "uniform" else epsilon
            return replace(
                plan, mechanism=SlotStaircases(k_rr(slots.any_case, epsilon), k_rr(slots.lower_case, epsilon))
            )
        return plan

    def _plan(self, visible: bool, kinds: bool, epsilon: str, consistent: bool = False) -> Any:
        options: dict[str, Any] = {"mechanism": "staircase", "epsilon": epsilon, "consistent": consistent}
        plan: Any = self.staircase._get_plan(options | {"protect": "words" if visible else "all"})  # type: ignore[arg-type]
        if kinds:
            return plan
        strict = plan.mechanism.any_case
        law = Staircase.from_table(strict.table, strict.level, self._without_kinds(strict.table, visible))
        return replace(plan, rule=replace(plan.rule, listed_types=EntityTypes([])), mechanism=SlotStaircases(law, law))

    def _without_kinds(self, table: StaircaseTable, visible: bool) -> NDArray[np.bool_]:
        """Return the possible outputs without entity types, as booleans: every symbol except kept words."""
        ids = self.staircase.bundle.symbol_ids
        outputs = np.ones(table.symbol_count, np.bool_)
        if visible:
            outputs[[ids[word] for word in self.function_words if word in ids]] = False
        return outputs

    def _of_plan(self, row: Row) -> WordRelease:
        made = make_word_release(self.words, self.plan(row))
        if row.name == "raw":
            return make_raw_release(made)
        if row.name in ("delete", "blank"):
            return make_constant_release(made, NOTHING if row.name == "delete" else self.words.get_id("_"))
        return made

    def _of_words(self, name: str) -> WordRelease:
        bundle = self.santext.bundle
        mechanism = "santext+" if name == "santext-plus" else "santext"
        plan = make_plan(bundle, mechanism=mechanism, epsilon=str(SANTEXT_EPSILON))
        if name == "santext-textbook":
            assert isinstance(plan.mechanism, SlotlessMechanism)
            setting = LevelSetting(Decimal(SANTEXT_EPSILON) / 2)
            parameters = make_level_parameters(bundle.table, setting, _largest_score(plan.mechanism.sampler))
            law = SanText.from_table(bundle.table, bundle.metric, "santext", parameters)
            plan = replace(plan, mechanism=SlotlessMechanism(law, lambda: law.randomizer))
        return make_word_release(self.words, plan)


def k_rr(staircase: Staircase, epsilon: str) -> Staircase:
    """Build k-ary randomized response on a staircase's outputs: uniform base weights, all budget for the input word."""
    symbols, outputs = staircase.table.symbol_count, staircase.base > 0
    neighbors = np.arange(symbols, dtype=np.uint32)[:, None]
    table = StaircaseTable(neighbors, np.ones(symbols, dtype=np.uint32), staircase.table.roles)
    level = StaircaseLevel(name="k-RR", epsilon=Decimal(epsilon), share=Fraction(1, int(outputs.sum())))
    return Staircase.from_table(table, level, outputs)


def _santext_source(bundle: TextBundle) -> str:
    law = json.loads((bundle.path / layout.MECHANISM_FILE).read_text("utf-8"))
    hashes = [law["files"].get(name, "") for name in (layout.VOCABULARY, layout.TABLE, layout.EMBEDDINGS)]
    return _digest([hashes, law["santext"]])


def _digest(decided: Any) -> str:
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()


def _staircase_source(bundle: TextBundle, *, kinds: bool, drawn: bool) -> str:
    law = json.loads((bundle.path / layout.MECHANISM_FILE).read_text("utf-8"))
    table = bundle.staircase_table
    assert table is not None
    roles = 12  # roles without entity types: bits of tables before english-v4, which identify the records
    if kinds:
        roles = sum(
            compute_output_role(function_words_kept=visible, lower=lower)
            for visible in (True, False)
            for lower in (False, True)
        )
    arrays = [*((table.neighbors, table.base) if drawn else ()), table.roles & roles]
    template = law["template"]
    files = [file for entity_type in template["entity_types"] for file in entity_type["files"]]
    named = [template["function_words"], *(files if kinds else [])]
    decided = [[law["files"][name] for name in (layout.VOCABULARY, *named)], law["staircase"]]
    digest = hashlib.sha256(json.dumps(decided, sort_keys=True).encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _largest_score(mechanism: Any) -> int:
    """Return the largest score in SanText's weights, which is the distance of the farthest pair."""
    return len(mechanism.weights) - 1
