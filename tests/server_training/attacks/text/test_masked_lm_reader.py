"""Attacks with a masked language model give the known results on models with known answers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from attacked_texts import COUNT, WORDS
from neighbor_models import SPECIAL, NeighborModel, strength_of, write_vocabulary
from textveil_export.leakage import make_zipf_prior
from textveil_training.attacks.text import TextAttackSettings, attack_texts, masked_lm_reader
from textveil_training.attacks.text.masked_lm_attacks import WordPrior
from textveil_training.attacks.text.masked_lm_reader import MaskedLMReader
from textveil_training.attacks.text.released import release_texts
from textveil_training.errors import CheckpointError, EncoderMismatch, SettingError
from textveil_training.pretrain.masked_lm import LoadedMaskedLM
from textveil_training.token_randomizer import TokenRandomizer

MARKS = [",", "!", "##x"]
#: krr keeps a word with this probability, beside the share that comes back by chance.
RIGHT = 0.8
EPSILON = str(strength_of(RIGHT, COUNT))
LM = ("mask", "contextual")

Plant = Callable[..., NeighborModel]


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Replace the loaded model by another one."""

    def planted(
        words: Sequence[str] = (*WORDS, *MARKS), strength: float = 5.0, *, head: bool = True, lowercase: bool = True
    ) -> NeighborModel:
        vocabulary = write_vocabulary(tmp_path, words)
        model = NeighborModel(len(SPECIAL) + len(words), strength)
        loaded = LoadedMaskedLM(model=model, vocabulary=vocabulary, lowercase=lowercase, new_head=not head)  # type: ignore[arg-type]
        monkeypatch.setattr(masked_lm_reader, "load_masked_lm", lambda source: loaded)
        return model

    return planted


def run(channel: TokenRandomizer, rows: Sequence[str], **settings: Any) -> dict[str, Any]:
    chosen = TextAttackSettings(
        **{"attacks": LM, "model": "planted", "max_tokens": 16, "precision": "float32"} | settings
    )
    subject: Any = SimpleNamespace(randomizer=channel, terms=channel.plan.terms, bundle=channel.bundle)
    return attack_texts(subject, [(text,) for text in rows], chosen, lambda stage, done, total: None)


def copies(count: int, seed: int = 0) -> list[str]:
    """Texts of one word three times."""
    return [" ".join([word] * 3) for word in np.random.default_rng(seed).choice(WORDS, count)]


def test_where_context_decides_it_is_better_than_its_parts(folders: dict[str, Path], plant: Plant) -> None:
    """Two neighbors and the output vote, each right .8 of the time: two in three are right .896 of the time."""
    plant(strength=strength_of(RIGHT, COUNT))
    result = run(TokenRandomizer(folders["all"], mechanism="krr", epsilon=EPSILON), copies(500), tokens=1500)
    found = result["contextual"]
    others = (1 - RIGHT) / (COUNT - 1)
    both, one = RIGHT**2, 2 * RIGHT * (1 - RIGHT)
    prior = both + one / 2
    majority = RIGHT**3 + 3 * RIGHT**2 * (1 - RIGHT) + one / 2 * (1 - RIGHT)
    for name, truth in (("prior_top1", prior), ("context_free_top1", RIGHT)):
        assert abs(found[name] - truth) < 5 * found["standard_errors"][name] + others
    assert found["top1"] > max(found["prior_top1"], found["context_free_top1"]) + 0.05
    assert abs(found["top1"] - majority) < 5 * found["standard_error"] + 0.05  # ties are the model's to break
    assert abs(found["tuned_top1"] - found["top1"]) < 0.05
    assert found["text_prior"]["tokens"] == 1500
    mask = result["mask"]
    assert abs(mask["top1"] - prior) < 5 * mask["standard_errors"]["top1"] + others
    assert mask["defense"] == pytest.approx(1 - mask["top1"], abs=1e-6)
    assert mask["clean_top1"] == 1


def test_a_context_that_misleads_is_weighed_down(folders: dict[str, Path], plant: Plant) -> None:
    """A model that is sure of the neighbor, and every neighbor is another word: tuned, it is not listened to."""
    plant(strength=50)
    pairs = [" ".join(np.random.default_rng(n).choice(WORDS, 2, replace=False)) for n in range(200)]
    found = run(TokenRandomizer(folders["all"], mechanism="krr", epsilon=EPSILON), pairs)["contextual"]
    assert found["top1"] < 0.2
    assert found["tuned_weights"] == found["text_prior"]["tuned_weights"] == [0, 0]
    assert found["tuned_top1"] == found["context_free_top1"] > 0.7
    # With one example there is nothing to tune on.
    found = run(TokenRandomizer(folders["all"], mechanism="krr", epsilon=EPSILON), pairs[:1])["contextual"]
    assert found["tuned_weights"] == [1, 1]
    assert found["tuned_top1"] == found["top1"]


def test_who_is_after_words_that_are_never_kept_guesses_among_them(folders: dict[str, Path], plant: Plant) -> None:
    """A model that is sure of a common word everywhere: who wants sensitive ones passes over it."""
    channel = TokenRandomizer(folders["all"], mechanism="santext+", epsilon="18")
    keepable = channel.keepable_ids[:-1]
    common, sensitive = WORDS[int(np.flatnonzero(keepable)[0])], WORDS[int(np.flatnonzero(~keepable)[0])]
    plant(strength=5)
    texts = [f"{common} {sensitive} {common}"] * 150
    found = run(channel, texts, attacks=("contextual",))["contextual"]
    assert not {"targeted_top1", "targeted_context_free_top1"} & set(found)
    rates = found["sensitive"]
    assert rates["tokens"] == 150
    assert rates["targeted_top1"] > rates["top1"] + 0.15
    assert rates["targeted_context_free_top1"] >= rates["context_free_top1"]
    drawn = TokenRandomizer(folders["all"], mechanism="santext", epsilon="18")
    assert "sensitive" not in run(drawn, texts, attacks=("contextual",))["contextual"], "all words are"


def test_nothing_is_defended_by_the_identity_and_chance_leaves_the_prior(
    folders: dict[str, Path], plant: Plant
) -> None:
    plant()
    texts = copies(150)
    result = run(TokenRandomizer(folders["all"], mechanism="krr", epsilon="30"), texts)
    assert (result["mask"]["defense"], result["mask"]["top1"], result["mask"]["clean_top1"]) == (0, 1, 1)
    names = ("top1", "top10", "prior_top1", "context_free_top1")
    assert [result["contextual"][name] for name in names] == [1, 1, 1, 1]
    assert result["unchanged"] == 1
    result = run(TokenRandomizer(folders["all"], mechanism="random"), texts)
    assert result["mask"]["defense"] > 0.85
    assert result["mask"]["clean_top1"] == 1
    assert result["contextual"]["top1"] == result["contextual"]["prior_top1"] < 0.15
    first = np.mean([text.split()[0] == WORDS[0] for text in texts])
    assert result["contextual"]["context_free_top1"] == pytest.approx(first, abs=1e-6)


def test_a_model_that_sees_the_answer_is_noticed(
    folders: dict[str, Path], plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted fault: the token is left where [MASK] should be. Under chance only the clean rate may be high."""
    plant()
    channel = TokenRandomizer(folders["all"], mechanism="random")
    singles = [str(word) for word in np.random.default_rng(1).choice(WORDS, 200)]
    assert run(channel, singles)["mask"]["clean_top1"] < 0.2, "a text of one word has no context"
    masked = MaskedLMReader.mask_token

    def unmasked(self: MaskedLMReader, text: Any, tokens: Any, place: int) -> Any:
        found = masked(self, text, tokens, place)
        found.pieces[found.at] = tokens[place][0]
        return found

    monkeypatch.setattr(MaskedLMReader, "mask_token", unmasked)
    assert run(channel, singles)["mask"]["clean_top1"] == 1


def test_the_mask_stands_for_one_token_between_its_gaps(folders: dict[str, Path], plant: Plant) -> None:
    model = plant([*WORDS[:30], "b", "##abe", *MARKS])
    channel = TokenRandomizer(folders["all"], mechanism="krr", epsilon="30")
    reader = MaskedLMReader(channel, "planted", 16)
    ids = reader.tokenizer.ids
    text = channel.tokenize(f"{WORDS[2]}, {WORDS[3]} {WORDS[4]}!")
    tokens = reader.get_original_pieces(text)
    around = [ids[piece] for piece in (WORDS[2], ",", WORDS[3], WORDS[4], "!")]
    for place, at in ((0, 1), (1, 3), (2, 4)):
        masked = reader.mask_token(text, tokens, place)
        wanted = [ids["[CLS]"], *around, ids["[SEP]"]]
        wanted[at] = ids["[MASK]"]
        assert (masked.pieces.tolist(), masked.at) == (wanted, at)
    # However many pieces a token has, one [MASK] stands for it.
    two = (ids["b"], ids["##abe"])
    masked = reader.mask_token(text, [tokens[0], two, tokens[2]], 1)
    assert masked.pieces.tolist()[3] == ids["[MASK]"]
    assert len(masked.pieces) == 7
    assert len(reader.mask_token(text, [tokens[0], two, tokens[2]], 0).pieces) == 8
    assert model.seen == []


@pytest.mark.parametrize("length", [13, 14, 15, 40])
def test_long_texts_are_cut_around_the_mask(folders: dict[str, Path], plant: Plant, length: int) -> None:
    plant()
    channel = TokenRandomizer(folders["all"], mechanism="krr", epsilon="30")
    reader = MaskedLMReader(channel, "planted", 16)
    words = [WORDS[number % COUNT] for number in range(length)]
    text = channel.tokenize(" ".join(words))
    tokens = reader.get_original_pieces(text)
    for place in range(length):
        masked = reader.mask_token(text, tokens, place)
        inside = masked.pieces.tolist()
        assert len(inside) == min(length, 14) + 2
        assert inside[masked.at] == reader.tokenizer.mask
        assert inside.count(reader.tokenizer.mask) == 1
        before, after = inside[1 : masked.at], inside[masked.at + 1 : -1]
        flat = [piece for (piece,) in tokens]
        assert before == flat[place - len(before) : place]
        assert after == flat[place + 1 : place + 1 + len(after)]
    assert run(channel, [" ".join(words)])["mask"]["tokens"] == length


def test_a_word_of_several_pieces_never_matches_but_its_first_piece_may(folders: dict[str, Path], plant: Plant) -> None:
    """``bixabe`` is two pieces of this model; its neighbors are the first of them."""
    plant([*WORDS, *MARKS, "bix", "##abe"])
    channel = TokenRandomizer(folders["all"], mechanism="krr", epsilon="30")
    reader = MaskedLMReader(channel, "planted", 16)
    text = channel.tokenize("bix bixabe bix")
    assert text.inputs.tolist() == [channel.unknown_id] * 3
    ids = reader.tokenizer.ids
    assert reader.get_original_pieces(text) == [(ids["bix"],), (ids["bix"], ids["##abe"]), (ids["bix"],)]
    found = run(channel, ["bix bixabe bix"] * 3)["mask"]
    assert (found["clean_top1"], found["clean_first_piece"]) == (pytest.approx(2 / 3, abs=1e-6), 1)
    assert found["tokens"] == 9
    # A word that the model cannot spell is unknown to it and is never matched, even by [UNK].
    found = run(channel, ["qqq qqq qqq"])["mask"]
    assert (found["clean_top1"], found["clean_first_piece"]) == (0, 0)


def test_tokens_of_a_sample_keep_their_places(folders: dict[str, Path], plant: Plant) -> None:
    """The clean rate is 1 only if every answer is compared with the right original, whatever the batches."""
    plant()
    generator = np.random.default_rng(4)
    texts = [f"{' '.join([word] * int(generator.integers(2, 7)))}!" for word in generator.choice(WORDS, 80)]
    channel = TokenRandomizer(folders["all"], mechanism="random")
    for settings in ({"tokens": 57, "batch_size": 5}, {"tokens": 999, "batch_size": 7}, {"texts": 9, "tokens": 20}):
        found = run(channel, texts, attacks=("mask",), seed=3, **settings)
        assert found["mask"]["clean_top1"] == 1
        assert found["mask"]["tokens"] == found["sampled_tokens"] <= settings["tokens"]
        assert found["texts"] == settings.get("texts", 80)


def test_the_prior_is_the_models_shared_among_words_of_a_first_piece(folders: dict[str, Path], plant: Plant) -> None:
    short = [*(word[:2] for word in WORDS[:6]), *WORDS[6:]]  # the first six words are cut; five begin alike
    plant(list(dict.fromkeys([*short, *(f"##{word[2:]}" for word in WORDS[:6]), *MARKS])))
    channel = TokenRandomizer(folders["all"], mechanism="random")
    reader = MaskedLMReader(channel, "planted", 16)
    ids = reader.tokenizer.ids
    unigram = make_zipf_prior(COUNT + 1)
    logits = torch.randn(3, len(ids), generator=torch.Generator().manual_seed(0))
    found = WordPrior(channel, reader, unigram)(logits).numpy()
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    assert found[:, -1] == pytest.approx(unigram[-1])
    pieces = logits.softmax(1).numpy()
    firsts = [reader.get_pieces(word)[0] for word in WORDS]
    assert len(set(firsts)) < COUNT
    for row, of_piece in zip(found, pieces, strict=True):
        share = [
            of_piece[f] * unigram[x] / sum(unigram[o] for o in range(COUNT) if firsts[o] == f)
            for x, f in enumerate(firsts)
        ]
        truth = np.array(share) / sum(share) * (1 - unigram[-1])
        np.testing.assert_allclose(row[:-1], truth, rtol=1e-5)
    # Words that the text lacks have no prior, and no division by nothing.
    few = np.zeros(COUNT + 1)
    few[[3, 20, COUNT]] = 0.5, 0.25, 0.25
    found = WordPrior(channel, reader, few)(logits).numpy()
    assert (found > 0).sum(axis=1).tolist() == [3, 3, 3]
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)


def test_models_that_cannot_attack_are_refused(folders: dict[str, Path], plant: Plant) -> None:
    channel = TokenRandomizer(folders["all"], mechanism="random")
    plant(head=False)
    with pytest.raises(
        CheckpointError, match="no trained head that predicts words: train it with textveil-train pretrain first"
    ):
        MaskedLMReader(channel, "planted", 16)
    plant()
    with pytest.raises(SettingError):
        MaskedLMReader(channel, "planted", 65)
    plant(lowercase=False)
    with pytest.raises(EncoderMismatch, match="cased"):
        MaskedLMReader(channel, "planted", 16)
    assert len(release_texts(channel, [("",), (WORDS[0],)])) == 1
