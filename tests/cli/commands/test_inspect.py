"""``textveil info`` and ``textveil inspect`` describe a bundle, and the possible outputs of a word."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textveil import Sanitizer
from textveil.bundle import TextBundle, find_artifact, open_bundle
from textveil_cli.reports.text import describe_text_bundle

SANTEXT = find_artifact("english-santext")


@pytest.mark.slow
def test_info(here: Callable, english: Sanitizer) -> None:
    plain = here("info").text
    assert f"content hash  {english.bundle.content_hash}" in plain
    assert [line.split()[0] for line in plain.splitlines() if line[:1].isdigit()] == [
        level.name for level in english.bundle.staircase_levels
    ]
    ran = here("info", "--bundle", SANTEXT)
    assert (ran.code, ran.err) == (0, b"")
    assert f"content hash  {open_bundle(SANTEXT, TextBundle).content_hash}" in ran.text
    _, _, of_santext = ran.text.partition("\nsantext+ (the default); ")
    of_santext, _, _ = of_santext.partition("\nsantext; ")
    for level in english.bundle.santext_levels:
        epsilon = english.bundle.get_certified_epsilon(level, "santext+")
        (line,) = (line for line in of_santext.splitlines() if line.startswith(f"{epsilon:g} "))
        assert f"{float(2 * level.parameters['santext+'].exponent):.4g}" in line
        assert line.split()[1] == "certified"
        assert ("default" in line) == (level.name == english.bundle.default_level)
    assert "Not protected" in ran.text
    assert max(map(len, ran.text.splitlines()[3:])) <= 120


def test_info_as_json(here: Callable, english: Sanitizer) -> None:
    plain = json.loads(here("info", "--json").text)
    assert (plain["content_hash"], plain["default_mechanism"]) == (english.bundle.content_hash, "staircase")
    facts = json.loads(here("info", "--json", "--bundle", SANTEXT).text)
    assert facts["vocabulary_size"] == len(english.bundle.vocabulary)
    assert (facts["default_mechanism"], facts["default_table_mechanism"]) == ("santext+", "santext+")
    assert facts["license"]
    (default,) = (level for level in facts["epsilons"] if level["default"])
    assert default["santext+"]["epsilon"] == 10
    epsilons = [level["santext+"]["epsilon"] for level in facts["epsilons"]]
    assert epsilons == sorted(epsilons)  # strictest first


@pytest.mark.parametrize(
    ("license", "attribution", "line"),
    [
        ("PDDL-1.0", "", "PDDL-1.0"),
        ("MIT", "By us.", "MIT. By us."),
        ("", "", "not stated"),
        (None, None, "not stated"),
    ],
)
def test_a_license_without_attribution_ends_its_line(
    tiny: Sanitizer, license: str | None, attribution: str | None, line: str
) -> None:
    manifest = tiny.bundle.manifest | {"license": license, "attribution": attribution}
    described = describe_text_bundle(replace(tiny.bundle, manifest=manifest))
    assert f"\nlicense       {line}\n" in described


def test_info_path(here: Callable, english: Sanitizer, tiny_path: Path) -> None:
    assert here("info", "--path").text == f"{english.bundle.path}\n"
    assert (Path(here("info", "--path").text.strip()) / "manifest.json").is_file()
    assert here("info", "--path", "--bundle", tiny_path).text == f"{tiny_path}\n"


def test_the_identity_that_info_prints_is_the_one_to_expect(here: Callable, tiny_path: Path) -> None:
    identity = json.loads(here("info", "--json", "-b", tiny_path).text)["content_hash"]
    for arguments in (["info"], ["inspect", "the"], ["sanitize", "--text", "the"]):
        assert here(*arguments, "--bundle", tiny_path, "--expect-id", identity).code == 0
        ran = here(*arguments, "--bundle", tiny_path, "--expect-id", identity.replace(identity[0], "x"))
        assert ran.code == 1
        assert ran.message.startswith(f"textveil: bundle-content-hash: the bundle has the content hash {identity}, ")
        assert here(*arguments, "--expect-id", identity).code == 1  # the built-in one is another


@pytest.mark.slow
def test_inspect(here: Callable, english: Sanitizer) -> None:
    ran = here("inspect", "Doctor", "--count", "5", "--bundle", SANTEXT)
    assert (ran.code, ran.err) == (0, b"")
    lines = ran.text.splitlines()
    assert lines[0] == "doctor"
    assert lines[1].startswith("Kept: punctuation, common words chosen at random. Randomized: 1 token, epsilon ")
    assert "Probability" not in lines[3]
    law = english.distribution("doctor", mechanism="santext+")
    for line, (word, share) in zip(lines[4:9], law.list_likeliest(5), strict=True):
        assert line.split()[0] == word
        assert line.split()[1] == f"{share:.4%}"
    assert lines[9] == f"and {len(law.words) - 5:,} other words with " + lines[9].partition("with ")[2]
    assert len(lines) == 10
    assert " Randomized: 1 other word, epsilon 10 per word, possibly " in here("inspect", "Doctor").text.splitlines()[1]
    assert here("inspect", "zzyzzx").text.startswith("<unk> (this word is not in the vocabulary)\n")


def test_inspect_as_json(here: Callable, tiny_path: Path, tiny: Sanitizer) -> None:
    ran = here("inspect", "doctor", "--json", "-n", "3", "-b", tiny_path, "-m", "santext", "-e", "16")
    told = json.loads(ran.text)
    law = tiny.distribution("doctor", mechanism="santext", epsilon=16)
    assert told["token"] == "doctor"
    assert [(row["word"], row["probability"]) for row in told["replacements"]] == law.list_likeliest(3)
    assert [row["distance"] for row in told["replacements"]] == [
        tiny.distance("doctor", word) for word, _ in law.list_likeliest(3)
    ]
    assert told["other_replacements"]["count"] == len(law.words) - 3
    assert sum(row["probability"] for row in told["replacements"]) + told["other_replacements"][
        "probability"
    ] == pytest.approx(1)
    assert told["statement"]["tokens"] == 1


def test_inspect_lists_all_there_is(here: Callable, tiny_path: Path) -> None:
    ran = here("inspect", "the", "-b", tiny_path, "-n", "1000", "-m", "random")
    assert len(ran.text.splitlines()) == 4 + 40
    assert "other words" not in ran.text


@pytest.mark.parametrize("word", ["my secret", "", "Jean-Luc", "secret's secret"])
def test_inspect_takes_one_word(here: Callable, tiny_path: Path, word: str) -> None:
    ran = here("inspect", "-b", tiny_path, word)
    assert ran.code == 1
    assert re.fullmatch(
        r"textveil: option: expected one word, got \d tokens: write a single word \(see textveil inspect --help\)\n",
        ran.message,
    )
