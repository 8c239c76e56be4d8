"""Guess the replaced words of a text that was sanitized in the mode 'names', 'words' or 'all'.

The attacker sees the unchanged parts of the text (the *template*) and the replacements of all hidden words.

**Most frequent word.** The trivial baseline. For each type (``person``, ``city``, ``word`` for a randomized word) the
attacker counts the hidden words of raw texts of the same kind, and guesses the most frequent one for every hidden word
of that type. Without such texts the counts come from the attacked texts themselves, which is more than a real attacker
knows.

**Mask inference** (Yue et al. 2021, section 5.3). [MASK] replaces the output of one hidden word, and a masked language
model predicts the word from the rest of the sanitized text. The model's likeliest WordPiece is compared with the
original, as in ``masked_lm_attacks``. In the mode 'names' a replacement depends on the type and form of the word alone,
so masking the output costs the attacker little. In the modes 'words' and 'all' the output also depends on the original
word. The attack ``words`` (package ``attacks.words``) uses this dependence.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from torch import Tensor

from textveil_training.attacks.rates import compute_rates
from textveil_training.attacks.text.masked_lm_reader import MaskedLMReader, MaskedText
from textveil_training.attacks.text.template_release import TemplateRelease, TemplateText
from textveil_training.token_randomizer import Ids


def count_hidden_words(texts: Iterable[TemplateText]) -> dict[str, Counter[str]]:
    """Count how often each word is hidden (replaced in the output), separately for each entity type."""
    counts: dict[str, Counter[str]] = {}
    for text in texts:
        for entity_type, word in zip(text.entity_types, text.originals, strict=True):
            counts.setdefault(entity_type, Counter())[word] += 1
    return counts


def attack_frequent(released: TemplateRelease, counts: Mapping[str, Counter[str]], *, of_known: bool) -> dict[str, Any]:
    """Measure an attacker who always guesses the most frequent word of the entity type, such as ``person``.

    Args:
        released: The texts.
        counts: Counts of hidden (replaced) words by entity type, from ``count_hidden_words``.
        of_known: Whether ``counts`` come from the attacker's own texts; otherwise they come from the attacked texts.

    Returns:
        ``top1``, the rate of right guesses, and ``unchanged``, the rate of outputs that equal the original, with
        standard errors; ``by_type``, the same for each entity type with the number of its words; and ``counted_from``,
        the source of the counts.
    """
    guesses = {entity_type: members.most_common(1)[0][0] for entity_type, members in counts.items()}
    types, originals, outputs = map(np.array, zip(*released.list_hidden_words(), strict=True))
    guessed = np.array([guesses.get(entity_type) == word for entity_type, word in zip(types, originals, strict=True)])
    values = {"top1": guessed, "unchanged": originals == outputs}
    found = compute_rates(values, released.example)
    found["by_type"] = _compute_by_type(values, types, released.example)
    return found | {"counted_from": "known texts" if of_known else "the attacked texts"}


class HiddenWordInference:
    """Attack that guesses some of the hidden (replaced) words of sanitized texts with a masked language model.

    Args:
        reader: The masked language model.
        released: Raw texts with one sanitized output each.
        sample: Indices of the attacked words.
    """

    def __init__(self, reader: MaskedLMReader, released: TemplateRelease, sample: Ids) -> None:
        self._reader, self._released, self._sample = reader, released, sample
        self._unknown = reader.tokenizer.ids["[UNK]"]
        self._guesses = {clean: np.full(len(sample), -1) for clean in (False, True)}

    def make_variants(self, *, clean: bool) -> list[MaskedText]:
        """Return one text for each sampled word, in which [MASK] replaces this word.

        Args:
            clean: Whether to use the raw texts; otherwise the sanitized ones.
        """
        released, reader = self._released, self._reader
        found: list[MaskedText] = []
        places = zip(released.text[self._sample].tolist(), released.position[self._sample].tolist(), strict=True)
        for number, position in places:
            text = released.texts[number]
            words = text.originals if clean else released.outputs[number]
            found.append(reader.mask_token(text, [reader.get_pieces(word) for word in words], position))
        return found

    def add_guesses(self, numbers: Tensor, logits: Tensor, *, clean: bool) -> None:
        """Store the likeliest WordPiece for each word.

        Args:
            numbers: Positions of the words in ``sample``.
            logits: Logits of all WordPieces for each word.
            clean: Whether the model predicted them from the raw texts; otherwise from the sanitized ones.
        """
        self._guesses[clean][numbers.numpy()] = logits.argmax(dim=1).numpy()

    def compute_result(self) -> dict[str, Any]:
        """Return the rates of right guesses as a dictionary for JSON.

        The rates are ``defense`` (words that are not guessed), ``top1`` (the whole word) and ``first_piece`` (its first
        WordPiece). The names with ``clean_`` are for guesses from the raw texts. ``by_type`` has the rates of each
        entity type.
        """
        words = [*self._released.list_hidden_words()]
        chosen = [words[number] for number in self._sample.tolist()]
        pieces = [self._reader.get_pieces(original) for _, original, _ in chosen]
        first = np.array([found[0] if found else self._unknown for found in pieces])
        single = np.array([len(found) == 1 for found in pieces])
        values = {}
        for clean, name in ((False, ""), (True, "clean_")):
            right = (self._guesses[clean] == first) & (first != self._unknown)
            values |= {f"{name}top1": right & single, f"{name}first_piece": right}
        values = {"defense": ~values["top1"]} | values
        example = self._released.example[self._sample]
        types = np.array([entity_type for entity_type, _, _ in chosen])
        return compute_rates(values, example) | {"by_type": _compute_by_type(values, types, example)}


def _compute_by_type(values: Mapping[str, Any], types: Any, example: Ids) -> dict[str, Any]:
    return {
        entity_type: compute_rates({name: of_words[mask] for name, of_words in values.items()}, example[mask])
        for entity_type in sorted(set(types.tolist()))
        for mask in [types == entity_type]
    }
