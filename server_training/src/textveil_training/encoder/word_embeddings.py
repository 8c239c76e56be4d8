"""Compute embeddings of words and word pairs without labels; the vector of a text is their mean.

    v(text) = mean over words of E[word] + mean over pairs of neighbors of D[pair]

``E`` and ``D`` are the two tables of embeddings. The words, and a public vector for each, are those of the English
bundle with vectors. ``weight_by_rarity`` weights the public vectors by the rarity of a word among the texts.
``fit_to_teacher`` fits the tables to the vectors of a language model. A device computes text vectors from the result of
either function in the same way, with numpy alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from textveil.bundle import TextBundle, find_artifact, open_bundle
from textveil.vector import compute_pair_buckets, find_word_rows

from textveil_training.encoder.k_means import find_main_directions, normalize_vectors

#: Number of coordinates of a public vector, all that the bundle's vectors have.
PUBLIC_NUMBERS = 384


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicWords:
    """The public word list with a vector for each word.

    Attributes:
        words: Row index of each word.
        rows: Vectors, float32, shape ``(words + 2, dimension)``; the last two rows, for numbers and unknown words, are
            0.
        content_hash: Hash of the bundle (folder with word lists) from which words and vectors were read.
        license: License of that bundle.
        attribution: Attribution of its sources in that bundle.
    """

    words: dict[str, int]
    rows: NDArray[np.float32]
    content_hash: str
    license: str
    attribution: str


@lru_cache(maxsize=2)  # loading takes a second
def load_public_words(dimension: int) -> PublicWords:
    """Load words and their vectors from the bundle ``artifacts/english-santext``.

    The vectors are projected onto their principal components and scaled to root mean square 1.

    Args:
        dimension: Number of coordinates of a row. Coordinates beyond those of the bundle's vectors are 0.
    """
    bundle = open_bundle(find_artifact("english-santext"), TextBundle)
    assert bundle.metric is not None
    words = {word: number for number, word in enumerate(bundle.vocabulary)}
    vectors = bundle.metric.rows[: len(words)].astype(np.float64)
    vectors -= vectors.mean(axis=0)
    values, directions = np.linalg.eigh(vectors.T @ vectors)
    directions = directions[:, np.argsort(-values)[:dimension]]
    directions *= np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(directions.shape[1])])
    rows = np.zeros((len(words) + 2, dimension))
    found = vectors @ directions
    rows[: len(words), : found.shape[1]] = found / np.sqrt((found**2).mean())
    manifest = bundle.manifest
    return PublicWords(
        words=words,
        rows=rows.astype(np.float32),
        content_hash=bundle.content_hash,
        license=manifest["license"],
        attribution=manifest["attribution"],
    )


Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
#: Number of coordinates of a public vector that are used without a teacher.
RARE_NUMBERS = 180
#: Number of coordinates of a row that is fitted to a teacher: main directions of the teacher's vectors.
DIRECTIONS = 32
#: Weight of the ridge penalty, for features whose mean square is 1.
DECAY = 6e-3
#: Weight of the inner products of pair shares, relative to those of word rows.
PAIR_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class WordEmbeddings:
    """Embedding tables of words and word pairs, from which the vector of a text is computed.

    Attributes:
        words: One row for each word, shape ``(words + 2, numbers)``; the last two rows are for numbers and unknown
            words.
        pairs: One row for each bucket of word pairs, shape ``(buckets, numbers)``; no rows if pairs are not used.
    """

    words: Floats
    pairs: Floats

    def embed_texts(self, ids: Sequence[Ids]) -> Floats:
        """Compute the vectors of texts from the embeddings of their words and word pairs.

        Args:
            ids: Row index of each word of each text.

        Returns:
            Vectors, shape ``(texts, numbers)``; 0 for a text without words.
        """
        found = compute_word_shares(ids, len(self.words)) @ self.words
        if len(self.pairs):
            found = (
                found
                + compute_word_shares([compute_pair_buckets(one, len(self.pairs)) for one in ids], len(self.pairs))
                @ self.pairs
            )
        return found


def weight_by_rarity(ids: Sequence[Ids], public: PublicWords, min_texts: int) -> WordEmbeddings:
    """Compute word embeddings without training: public word vectors, weighted by the rarity of each word.

    The weight of a word that occurs in ``d`` of ``n`` texts is ``ln(n / d)``.

    Args:
        ids: Row index of each word of each text.
        public: Public words and their vectors.
        min_texts: ``d`` of words that occur in fewer texts than this number.
    """
    rarity = np.log(
        len(ids) / np.maximum(count_texts(compute_word_shares(ids, len(public.rows)), len(public.rows)), min_texts)
    )
    return WordEmbeddings(public.rows.astype(np.float64) * rarity[:, None], np.zeros((0, public.rows.shape[1])))


def fit_to_teacher(
    ids: Sequence[Ids], vectors: NDArray[np.float32], public: PublicWords, min_texts: int, buckets: int
) -> WordEmbeddings:
    """Fit vectors of words and word pairs so that the vectors of texts approximate those of a teacher model.

    The vector of a text is the mean of the vectors of its words plus the mean of those of its word pairs. A pair of
    neighboring words has the vector of its bucket (hash value), which other pairs share.

    The method is kernel ridge regression on two kinds of features of a text: the mean of the public vectors of its
    words, and the share of each bucket among its pairs. The steps for ``n`` texts are:

    1. ``T``, shape ``(n, DIRECTIONS)``: the teacher's vectors of the texts, projected onto the directions in which they
       vary most.
    2. ``K``, shape ``(n, n)``: the similarity of each two texts, which is the inner product of their public means plus
       ``PAIR_WEIGHT`` times that of their bucket shares. Before this, both features are centered and scaled to a mean
       square of 1.
    3. ``a = (K + DECAY n I)^-1 T``, where ``I`` is the identity matrix and ``DECAY`` the weight of the penalty on large
       vectors. Then the mean over texts is subtracted from ``a``.
    4. The vectors of words are ``rows M' a``, and those of buckets ``P' a``, each times the scale of its feature.
       ``rows`` are the public vectors of all words, ``M'`` the transposed public means of the texts, and ``P'`` the
       transposed bucket shares.

    So one linear map converts all public vectors to the new ones, and the vector of a word that is in only a few texts
    is not fitted to these texts.

    Args:
        ids: Row index of each word of each text.
        vectors: The teacher's vector of each text, shape ``(texts, width)``.
        public: Public words and their vectors.
        min_texts: Smallest number of texts with a bucket; the vector of a rarer bucket is 0.
        buckets: Number of buckets, a power of two.
    """
    wished = normalize_vectors(vectors - vectors.mean(axis=0, dtype=np.float64))
    wished = normalize_vectors(wished @ find_main_directions(wished, DIRECTIONS))
    means = compute_word_shares(ids, len(public.rows)) @ public.rows.astype(np.float64)
    pairs = compute_word_shares([compute_pair_buckets(one, buckets) for one in ids], buckets)
    pairs = pairs * (count_texts(pairs, buckets) >= min_texts)
    kernels = [_center_kernel(means @ means.T), _center_kernel((pairs @ pairs.T).toarray())]
    scales = [1 / max(float(np.trace(kernel)) / len(ids), 1e-12) for kernel in kernels]
    scales[1] *= PAIR_WEIGHT
    kernel = scales[0] * kernels[0] + scales[1] * kernels[1]
    answer = np.linalg.solve(kernel + DECAY * len(ids) * np.eye(len(ids)), wished)
    answer -= answer.mean(axis=0)
    return WordEmbeddings(scales[0] * (public.rows @ (means.T @ answer)), scales[1] * (pairs.T @ answer))


def find_word_ids(texts: Sequence[str], public: PublicWords, max_characters: int) -> list[Ids]:
    """Return the row index of each word of each text, with the tokenizer that devices use.

    Args:
        texts: The texts.
        public: The public word list.
        max_characters: Number of characters to which longer texts are cut.
    """
    return [find_word_rows(text[:max_characters], public.words) for text in texts]


def compute_word_shares(ids: Sequence[Ids], rows: int) -> csr_array:
    """Compute the fraction of a text's words that have each row index, as a sparse matrix ``(texts, rows)``.

    Args:
        ids: Row index of each word of each text.
        rows: Number of rows of the embedding table.
    """
    lengths = np.array([len(one) for one in ids])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    weights = np.repeat(1 / np.maximum(1, lengths), lengths)
    found = csr_array((weights, np.concatenate([*ids, np.zeros(0, np.int64)]), starts), shape=(len(ids), rows))
    found.sum_duplicates()
    return found


def count_texts(found: csr_array, rows: int) -> Ids:
    """Count for each word, or bucket of word pairs, the texts that contain it (document frequency).

    Args:
        found: Result of ``compute_word_shares``: one row for each text, one column for each row of the embedding table.
        rows: Number of rows of the embedding table.
    """
    return np.bincount(np.asarray(found.indices), minlength=rows)


def _center_kernel(kernel: Floats) -> Floats:
    """Convert inner products of vectors to those of the vectors minus their mean."""
    means = kernel.mean(axis=0)
    return kernel - means - means[:, None] + means.mean()
