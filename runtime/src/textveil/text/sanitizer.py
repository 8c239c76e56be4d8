"""``Sanitizer``: replaces the words of a text by random ones. The one class that applications use."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from textveil.bundle.defaults import DEFAULT_BUNDLE, DEFAULT_BUNDLE_ID
from textveil.bundle.open import open_bundle
from textveil.bundle.pins import Pins
from textveil.bundle.text import TextBundle
from textveil.errors import BundleError, InputError, OptionError
from textveil.mechanisms.distribution import Distribution
from textveil.sequences import in_order
from textveil.text import batches, segmentation
from textveil.text.lexicon import Lexicon
from textveil.text.long_texts import LongDocument
from textveil.text.mention_options import Mentions
from textveil.text.mention_segments import Pieces
from textveil.text.mentions import MentionPlan, preview
from textveil.text.options import Options, Plan, cache_key, make_plan
from textveil.text.restore import Restorer
from textveil.text.result import AnyTerms, Document, Result

_MAX_PLANS = 16


class Sanitizer:
    """Rewrites text under local differential privacy, offline, with the mechanisms of one bundle.

    Safe to share between threads and to use after a fork: it holds no random state.

    Args:
        bundle: An opened bundle.
    """

    def __init__(self, bundle: TextBundle) -> None:
        self.bundle = bundle
        self._lexicon = Lexicon(bundle)
        self._mentions: Mentions | None = Mentions(bundle) if bundle.staircase is not None else None
        self._plans: dict[object, Plan | MentionPlan] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: no options of earlier calls, which may name words that were denied."""
        return {**self.__dict__, "_plans": {}}

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[Pins]) -> "Sanitizer":
        """Opens a bundle: hashes and structure of every file are checked.

        Args:
            path: Folder of a bundle; the built-in English one if left out (its identity is pinned).
            pins: What the bundle must be (``Pins``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge: The bundle cannot be used.
            IdentityMismatch, NotTheMaker: It is not the one expected.
            CryptoUnavailable: A maker is given, and the extra ``crypto`` is not installed.
        """
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_BUNDLE_ID}
        return cls(open_bundle(DEFAULT_BUNDLE if path is None else Path(path), TextBundle, **pins))

    def sanitize(self, text: str, **options: Unpack[Options]) -> Result:
        """Sanitizes one text. The text is one document; its statement covers all of its tokens.

        Args:
            text: Any string.
            options: See ``Options``.

        Returns:
            The sanitized text with its statement.

        Raises:
            OptionError: An option has a value that the bundle or the mechanism does not have.
            InputError: ``text`` is not a string.

        Privacy:
            Every call draws afresh: sanitizing the same text again is a second release and weakens the first.
        """
        return self.sanitize_batch([text], **options)[0]

    def sanitize_batch(self, texts: Iterable[str], **options: Unpack[Options]) -> list[Result]:
        """Sanitizes many texts, each its own document with its own statement.

        All tokens of all texts are drawn together, which is many times faster than one call per text. Arguments,
        errors and privacy are those of ``sanitize``.
        """
        texts = in_order(texts)
        plan = self._plan(options)
        if isinstance(plan, MentionPlan):
            known = Pieces(plan)
            return list(
                chain.from_iterable(self._rewrite_batch(batch, plan, known) for batch in batches.of_texts(texts))
            )
        results: list[Result] = []
        for batch in batches.of_texts(texts):
            if len(batch) == 1 and batches.is_long(batch):
                results.append(self._sanitize_long(batch[0], plan))
                continue
            apart = plan.terms.sanitize_punctuation
            cut = [segmentation.segments(text, marks_apart=apart) for text in batch]
            drawn = self._draw_batch(cut, plan)
            results += [Result(text, tokens, plan.terms) for text, tokens, _ in drawn]
        return results

    def sanitize_documents(self, documents: Sequence[Sequence[str]], **options: Unpack[Options]) -> list[Document]:
        """Sanitizes documents that have several texts each, such as the cells of a row.

        With ``consistent``, equal words of all texts of a document become equal words and are charged once. Otherwise
        the texts are sanitized as ``sanitize_batch`` does, and a document is charged their sum. Arguments, errors and
        privacy are those of ``sanitize``.
        """
        documents = batches.lists_of_texts(documents)
        plan = self._plan(options)
        if isinstance(plan, MentionPlan) and plan.terms.consistent:
            known = Pieces(plan)
            return list(chain.from_iterable(_join(batch, plan, known) for batch in batches.of_documents(documents)))
        results = iter(self.sanitize_batch(list(chain.from_iterable(documents)), **options))
        joined = ([*islice(results, len(texts))] for texts in documents)
        return [Document([one.text for one in all], sum(one.tokens for one in all)) for all in joined]

    def preview(self, text: str, **options: Unpack[Options]) -> list[tuple[str, str]]:
        """Returns what the skeleton of a text shows, piece by piece. Nothing is drawn and nothing is released.

        Returns:
            Each piece of the text with what becomes of it: ``"gap"``, ``"visible"``, the name of a kind, ``"drawn"``,
            or ``"unknown"``. It is as private as the text.

        Raises:
            OptionError: As ``sanitize``, or the mechanism is not the staircase.
            InputError: ``text`` is not a string.
        """
        if not isinstance(text, str):
            raise InputError("the text is not a string")
        plan = self._plan(options)
        if not isinstance(plan, MentionPlan):
            raise OptionError("a preview shows the skeleton that the staircase leaves: choose that mechanism")
        return preview(plan, segmentation.segments(text))

    def unknown_share(self, text: str, **options: Unpack[Options]) -> float:
        """Returns the share of a text's drawn mentions that the vocabulary lacks; 0 without mentions.

        It depends on the text and is for the device alone. Above a half the text may be in another language.
        """
        found = [what for _, what in self.preview(text, **options) if what in ("drawn", "unknown")]
        return found.count("unknown") / max(1, len(found))

    def terms(self, **options: Unpack[Options]) -> AnyTerms:
        """Returns what a call with these options promises per token. Nothing is drawn."""
        return self._plan(options).terms

    def canonical_options(self, **options: Unpack[Options]) -> dict[str, Any]:
        """Returns all that decides how a call with these options draws, the identity of the bundle included.

        Options that were left out have the values they resolve to. Denied words are in it: it is not to be published.
        """
        plan = self._plan(options)
        split = isinstance(plan, MentionPlan) and plan.split
        return {**asdict(plan.terms), "split": split, "deny": sorted(options.get("deny", ()))}

    def distribution(self, word: str, **options: Unpack[Options]) -> Distribution:
        """Returns the exact output distribution of one word: every output with its integer weight. Nothing is drawn.

        Args:
            word: One word; one that is not in the vocabulary has the distribution of ``<unk>``. Under the staircase its
                case counts: in lower case more words may come out.
            options: As in ``sanitize``.

        Raises:
            OptionError: An option is not supported, the mechanism has no weights (``fbdd``), ``word`` is more than
                one token, or the staircase leaves it visible.
        """
        plan = self._plan(options)
        if isinstance(plan, MentionPlan):
            return plan.distribution(word)
        # Punctuation is never kept by a coin: it is sanitized whole, or not at all.
        channel = plan.channel.drawn if segmentation.is_gap(word) else plan.channel
        return Distribution.of(self.bundle.vocabulary, channel, self._single_token(word))

    def distance(self, first: str, second: str) -> float:
        """Returns the distance of two words in the metric of the guarantee; 1 is the median over pairs of words.

        Raises:
            OptionError: A word is more than one token.
            BundleError: The bundle does not carry the embedding rows.
        """
        if self.bundle.metric is None:
            raise BundleError("this bundle has no embedding rows to tell distances: artifacts/english-santext has")
        return self.bundle.metric.distance(self._symbol_or_token(first), self._symbol_or_token(second))

    def _plan(self, options: Options) -> Plan | MentionPlan:
        key = cache_key(options)
        plan = self._plans.get(key)
        if plan is None:
            mechanism = options.get("mechanism")
            if (self.bundle.default_mechanism if mechanism is None else mechanism) != "staircase":
                plan = make_plan(self.bundle, self._lexicon, **options)
            else:
                self.bundle.require("staircase")
                assert self._mentions is not None
                plan = self._mentions.plan(options)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _rewrite_batch(self, batch: list[str], plan: MentionPlan, known: Pieces) -> list[Result]:
        if len(batch) == 1 and batches.is_long(batch):
            long = LongDocument(plan, batch)
            (text,) = long.rewrite()
            return [Result(text, long.mentions, plan.terms, long.mapping if plan.terms.consistent else None)]
        rewritten = plan.rewrite_texts(batch, known)
        mappings = map(Restorer, rewritten.pairs) if plan.terms.consistent else repeat(None)
        return list(map(Result, rewritten.texts, rewritten.mentions, repeat(plan.terms), mappings))

    def _sanitize_long(self, text: str, plan: Plan) -> Result:
        segments = segmentation.iterate_segments(text, marks_apart=plan.terms.sanitize_punctuation)
        tokens, after_token = 0, False

        def parts() -> Iterator[str]:
            nonlocal tokens, after_token
            while chunk := list(islice(segments, batches.CHUNK_SEGMENTS)):
                ((part, part_tokens, after_token),) = self._draw_batch([chunk], plan, after_token)
                tokens += part_tokens
                yield part

        written = batches.joined(parts())
        return Result(written, tokens, plan.terms)

    def _draw_batch(
        self, cut: Sequence[list[str]], plan: Plan, after_token: bool = False
    ) -> list[tuple[str, int, bool]]:
        """Text, number of tokens and whether it ends with one, for the segments of each text."""
        punctuation, carry_case = plan.terms.sanitize_punctuation, plan.terms.case == "carry"
        lexicon = {
            segment: self._lexicon.word(segment, sanitize_punctuation=punctuation, carry_case=carry_case)
            for segment in set(chain.from_iterable(cut))
        }
        words = [[lexicon[segment] for segment in segments] for segments in cut]
        inputs = [token for line in words for word in line for token in word.inputs]
        whole = [word.whole for line in words for word in line for _ in word.inputs]
        outputs = iter(plan.draw(np.array(inputs, np.int64), np.array(whole, bool)).tolist())
        drawn = []
        for segments, line in zip(cut, words, strict=True):
            text, ended = self._lexicon.write(
                segments, line, outputs, sanitize_punctuation=punctuation, after_token=after_token
            )
            drawn.append((text, sum(len(word.inputs) for word in line), ended))
        return drawn

    def _symbol_or_token(self, word: str) -> int:
        """A symbol as it is printed, also one that text cannot look up (a WordPiece with digits), or a word."""
        index = self.bundle.ids.get(word)
        return self._single_token(word) if index is None else index

    def _single_token(self, word: str) -> int:
        segments = segmentation.segments(word)
        index = self.bundle.ids.get(segmentation.key(word))
        if index is not None and not any(segmentation.is_string(segment) for segment in segments):
            return index
        parts = [self._lexicon.word(segment, sanitize_punctuation=True) for segment in segments]
        tokens = [token for part in parts for token in part.inputs]
        if len(tokens) != 1:
            raise OptionError(f"one word is needed, and this is {len(tokens)} tokens")
        return tokens[0]


def _join(documents: list[Sequence[str]], plan: MentionPlan, known: Pieces) -> Iterator[Document]:
    if len(documents) == 1 and batches.is_long(documents[0]):
        long = LongDocument(plan, documents[0])
        yield Document(long.rewrite(), long.mentions)
        return
    rewritten = plan.rewrite_texts(chain.from_iterable(documents), known, list(map(len, documents)))
    texts = iter(rewritten.texts)
    for document, mentions in zip(documents, rewritten.mentions, strict=True):
        yield Document(list(islice(texts, len(document))), mentions)
