"""Mechanism file and vocabulary are checked when a bundle opens, even if all hashes fit."""

from collections.abc import Callable
from pathlib import Path

import pytest
from damaged import JSON, change_json, change_law, read_json, refused, sign, sign_manifest

# --- mechanism.json, signed -----------------------------------------------------------------------------------------


def of_santext(law: JSON, level: int = 0) -> JSON:
    """Return the distributions of a level of SanText."""
    return law["santext"]["levels"][level]["parameters"]


LAW_CHANGES: dict[str, Callable[[JSON], object]] = {
    "an unknown key": lambda law: law.update(later=1),
    "an unknown key of santext": lambda law: law["santext"].update(later=1),
    "an unknown default": lambda law: law["defaults"].update(later=1),
    "no santext": lambda law: law.pop("santext"),
    "no staircase": lambda law: law.pop("staircase"),
    "no skeleton": lambda law: law.pop("template"),
    "no defaults": lambda law: law.pop("defaults"),
    "neither santext nor a staircase": lambda law: law.update(santext=None),
    "santext of nothing": lambda law: law.update(santext={}),
    "santext a list": lambda law: law.update(santext=[law["santext"]]),
    "a staircase of nothing": lambda law: law.update(staircase={}),
    "a staircase without its files": lambda law: law.update(staircase={"levels": []}, template={}),
    "a skeleton without a staircase": lambda law: law.update(
        template={"function_words": "README.md", "entity_types": []}
    ),
    "defaults of a staircase that is not there": lambda law: law["defaults"].update(staircase={}),
    "santext without defaults": lambda law: law["defaults"].pop("santext"),
    "a default mechanism that is not there": lambda law: law["defaults"].update(mechanism="staircase"),
    "no default mechanism": lambda law: law["defaults"].pop("mechanism"),
    "no symbols": lambda law: law.pop("vocabulary_size"),
    "no neighbors": lambda law: law["santext"].pop("neighbors_per_word"),
    "no grid": lambda law: law["santext"].pop("grid"),
    "no median": lambda law: law["santext"].pop("median_squared_distance"),
    "no extra": lambda law: law["santext"].pop("unknown_extra_squared_distance"),
    "no levels": lambda law: law["santext"].pop("levels"),
    "no files": lambda law: law.pop("files"),
    "a type of tokens": lambda law: law.update(token_type="word"),
    "more symbols": lambda law: law.update(vocabulary_size=41),
    "fewer symbols": lambda law: law.update(vocabulary_size=39),
    "no symbol": lambda law: law.update(vocabulary_size=0),
    "negative symbols": lambda law: law.update(vocabulary_size=-1),
    "symbols of text": lambda law: law.update(vocabulary_size="40"),
    "symbols null": lambda law: law.update(vocabulary_size=None),
    "symbols true": lambda law: law.update(vocabulary_size=True),
    "symbols a float": lambda law: law.update(vocabulary_size=40.0),
    "more neighbors": lambda law: law["santext"].update(neighbors_per_word=9),
    "no neighbor": lambda law: law["santext"].update(neighbors_per_word=0),
    "grid 0": lambda law: law["santext"].update(grid=0),
    "grid -1": lambda law: law["santext"].update(grid=-1),
    "grid a float": lambda law: law["santext"].update(grid=8192.0),
    "grid true": lambda law: law["santext"].update(grid=True),
    "median 0": lambda law: law["santext"].update(median_squared_distance=0),
    "median negative": lambda law: law["santext"].update(median_squared_distance=-5),
    "extra negative": lambda law: law["santext"].update(unknown_extra_squared_distance=-1),
    "extra a float": lambda law: law["santext"].update(unknown_extra_squared_distance=0.5),
    "grid beyond integers": lambda law: law["santext"].update(grid=1 << 22),
    "grid beyond all": lambda law: law["santext"].update(grid=10**30),
    "median beyond integers": lambda law: law["santext"].update(median_squared_distance=1 << 62),
    "extra beyond integers": lambda law: law["santext"].update(unknown_extra_squared_distance=1 << 37),
    "extra beyond all": lambda law: law["santext"].update(unknown_extra_squared_distance=10**30),
    "empty levels": lambda law: law["santext"].update(levels=[]),
    "levels an object": lambda law: law["santext"].update(levels={}),
    "levels null": lambda law: law["santext"].update(levels=None),
    "levels of text": lambda law: law["santext"].update(levels=["low"]),
    "a level twice": lambda law: law["santext"]["levels"].append(law["santext"]["levels"][0]),
    "a level without a name": lambda law: law["santext"]["levels"][0].pop("name"),
    "a level with another name": lambda law: law["santext"]["levels"][0].update(name="other"),
    "a level named by a number": lambda law: law["santext"]["levels"][1].update(name=5),
    "a level with a key more": lambda law: law["santext"]["levels"][0].update(later=1),
    "a level without laws": lambda law: law["santext"]["levels"][0].pop("parameters"),
    "a level without santext": lambda law: law["santext"]["levels"][0]["parameters"].pop("santext"),
    "a level without santext+": lambda law: law["santext"]["levels"][0]["parameters"].pop("santext+"),
    "a law more": lambda law: of_santext(law).update(later=of_santext(law)["santext"]),
    "a law of nothing": lambda law: of_santext(law).update(santext=None),
    "a law without weights": lambda law: of_santext(law)["santext"].pop("weights"),
    "a law without a base": lambda law: of_santext(law)["santext"].pop("base"),
    "a law by tail": lambda law: of_santext(law).update(santext={"exact": of_santext(law)["santext"]}),
    "weights of another exponent": lambda law: of_santext(law, 1)["santext"].update(weights="weights.low.santext"),
    **{
        f"{key} {value!r}": (lambda law, pair={key: value}: of_santext(law, 1)["santext+"].update(pair))
        for key, values in {
            "exponent": ["0", "-1", "nan", "inf", "x", "", None, [], {}, "1e999999999"],
            "weights": ["weights.none", None, 5, [], "neighbors", "scores", "roles"],
            "base": ["weights.low.santext", "none", 5, [], "scores", ""],
            "later": [1],
        }.items()
        for value in values
    },
    "files empty": lambda law: law["files"].clear(),
    "files without the table": lambda law: law["files"].pop("table.safetensors"),
    "files without the vocabulary": lambda law: law["files"].pop("vocabulary.tsv"),
    "files a list": lambda law: law.update(files=list(law["files"])),
    "files null": lambda law: law.update(files=None),
    "a file more": lambda law: law["files"].update({"README.md": "0" * 64}),
    "a file that is not there": lambda law: law["files"].update({"later.bin": "0" * 64}),
}  # fmt: skip


@pytest.mark.parametrize("change", LAW_CHANGES.values(), ids=LAW_CHANGES.keys())
def test_a_law_that_is_none(copy: Path, change: Callable[[JSON], object]) -> None:
    change_law(copy, change)
    refused(copy)


def test_a_law_of_other_files(copy: Path) -> None:
    """The manifest fits the files, but ``mechanism.json`` names others."""
    change_json(copy / "mechanism.json", lambda law: law["files"].update({"vocabulary.tsv": "0" * 64}))
    sign_manifest(copy, read_json(copy / "manifest.json"))
    assert "the file hashes differ from the files of this bundle" in refused(copy)


# --- vocabulary.tsv, signed ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda text: b"",
        lambda text: b"\n",
        lambda text: text[:-1],
        lambda text: text + b"zzz",
        lambda text: text + b"zzz\n",
        lambda text: text + b"\n",
        lambda text: text[4:],
        lambda text: text.replace(b"doctor\n", b"\n"),
        lambda text: text.replace(b"doctor\n", b"nurse\n"),
        lambda text: text.replace(b"doctor\n", b"doctor\tnurse\n"),
        lambda text: text.replace(b"doctor\n", b"doctor\tdoctor\n"),
        lambda text: text.replace(b"doctor\n", b"doctor\t\n"),
        lambda text: text.replace(b"doctor\n", b"\tdoctor\n"),
        lambda text: text.replace(b"doctor\n", b"doc\xfftor\n"),
        lambda text: text.replace(b"doctor\n", b"doc\xed\xa0\x80tor\n"),
        lambda text: text.decode().encode("utf-16"),
    ],
)
def test_a_vocabulary_that_does_not_fit(copy: Path, change: Callable[[bytes], bytes]) -> None:
    path = copy / "vocabulary.tsv"
    path.write_bytes(change(path.read_bytes()))
    sign(copy)
    refused(copy)
