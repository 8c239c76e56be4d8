"""Every command and class that opens a bundle can require its content hash, its signer and its size."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_trees import APPS, commands
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from scripts import ROOT
from small_encoders import write_encoder
from small_label_bundle import write_index
from small_staircase import small_staircase
from textveil import Encoder, Sanitizer, TextLabelEncoder
from textveil.bundle import TextBundle, open_bundle
from textveil.bundle.files import ExpectedBundle
from textveil.errors import BundleTooLarge, ContentHashMismatch, OptionError, WrongSigner
from textveil.text import Options
from textveil_cli import console
from textveil_cli.aggregation import LabelServer, VectorClassifier
from textveil_cli.files import ColumnSelection
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer
from textveil_export.signing import sign_bundle
from textveil_training.corpus import sanitize_corpus
from textveil_training.corpus.on_ray import sanitize_corpus_on_ray
from textveil_training.token_randomizer import TokenRandomizer

WRONG = {
    "bundle-content-hash": ("expect-id", "0" * 64),
    "bundle-signer": ("signer", "0" * 64),
    "bundle-too-large": ("max-bundle-bytes", "100"),
}
#: Every command that opens a bundle, with what else it needs before it does; {} is a bundle and [] an encoder.
COMMANDS = {
    "textveil sanitize": "--text hello -b {}",
    "textveil preview": "--text hello -b {}",
    "textveil compare": "--text hello -b {} -b []",
    "textveil inspect": "hello -b {}",
    "textveil info": "{}",
    "textveil levels": "-b {}",
    "textveil doctor": "-b {}",
    "textveil verify": "-b {}",
    "textveil encode": "--text hello -b []",
    "textveil classify": "-b [] nowhere",
    "textveil serve": "-b {}",
    "textveil gateway": "--upstream https://a.example -b {}",
    "textveil serve encoder": "--encoder []",
    "textveil-export certify": "{}",
    "textveil-export statistics": "{}",
    "textveil-export sign": "{} --key KEY",
    "textveil-export sentences": "[] nowhere -o nothing",
    "textveil-export staircase": "{} -o nowhere",
    "textveil-train sanitize-corpus": "nowhere -o nothing --format jsonl -b {}",
    "textveil-train attack text": "nowhere --format jsonl -b {} --mechanism krr --epsilon 4",
    "textveil-train audit": "-b {}",
    "textveil-train pretrain": "--data ROWS -o nothing -b {}",
}


def openers() -> Iterator[tuple[str, str, set[str]]]:
    """Commands with a parameter for a bundle, what it is called, and all options of the command."""
    for name in APPS:
        for words, command in commands(name):
            options = {option for parameter in command.params for option in parameter.opts}
            for parameter in command.params:
                said = getattr(parameter, "help", None) or ""
                if parameter.name in ("bundle", "folder") or re.match("Folder of an? .*bundle", said):
                    yield " ".join([name, *words]), str(parameter.name), options


def test_every_command_that_opens_a_bundle_takes_all_pins() -> None:
    found = set()
    for words, name, options in openers():
        encoder = name == "encoder"
        wanted = ["--encoder-expect-id", "--encoder-signer", "--max-encoder-bytes"] if encoder else []
        assert {"--expect-id", "--signer", "--max-bundle-bytes", *wanted} <= options, words
        found.add(f"{words} encoder" if encoder else words)
    assert found == set(COMMANDS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pins")
    key = folder / "key.pem"
    key.write_bytes(Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    key.chmod(0o600)
    (folder / "rows.jsonl").write_text('{"text": "one two"}\n')
    return {
        "{}": small_staircase(folder / "bundle"),
        "[]": write_index(folder / "index"),
        "()": write_encoder(folder / "encoder"),
        "KEY": key,
        "ROWS": folder / "rows.jsonl:jsonl",
    }


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_refuses_another_bundle(
    folders: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: str,
    wrong: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    option, value = WRONG[wrong]
    if command == "textveil serve encoder":
        option = option.replace("bundle", "encoder") if "bundle" in option else f"encoder-{option}"
    name, *words = command.removesuffix(" encoder").split()
    needed = [str(folders.get(word, word)) for word in COMMANDS[command].split()]
    assert console.run(APPS[name], name, [*words, *needed, f"--{option}", value]) == 1
    said = capsys.readouterr()
    assert said.err.startswith(f"{name}: {wrong}: "), said.err
    assert said.out == ""
    assert not list(tmp_path.iterdir())


DOORS: dict[str, tuple[str, Callable[..., object]]] = {
    "open_bundle": ("{}", open_bundle),
    "Sanitizer.load": ("{}", Sanitizer.load),
    "TextLabelEncoder.load": ("[]", TextLabelEncoder.load),
    "Encoder.load": ("()", Encoder.load),
    "LabelServer": ("[]", LabelServer.load),
    "VectorClassifier": ("()", VectorClassifier.load),
    "ConfiguredSanitizer": ("{}", ConfiguredSanitizer),
    "TokenRandomizer": ("{}", lambda folder, **pins: TokenRandomizer(folder, pins=ExpectedBundle(**pins))),
    "sign_bundle": ("{}", lambda folder, **pins: sign_bundle(folder, folder.parent / "key.pem", **pins)),
    "sanitize_corpus": (
        "{}",
        lambda folder, **pins: sanitize_corpus([], folder / "no", "jsonl", options=Options(), bundle=folder, **pins),
    ),
    "sanitize_corpus_on_ray": (
        "{}",
        lambda folder, **pins: sanitize_corpus_on_ray(
            [], folder / "no", ColumnSelection(format="csv", columns=("a",)), options=Options(), bundle=folder, **pins
        ),
    ),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_another_bundle(folders: dict[str, Path], door: str) -> None:
    kind, opens = DOORS[door]
    with pytest.raises(ContentHashMismatch):
        opens(folders[kind], expect_id="0" * 64)
    with pytest.raises(WrongSigner):
        opens(folders[kind], signer="0" * 64)
    with pytest.raises(BundleTooLarge):
        opens(folders[kind], max_bytes=100)
    with pytest.raises((TypeError, OptionError)):
        opens(folders[kind], expected_id="0" * 64)  # a pin that is misspelled must not pass for none


def test_every_integration_hands_them_on() -> None:
    """Their libraries are not all installed here, so this reads the code."""
    pins, opening = {"expect_id", "signer", "max_bytes"}, {"ConfiguredSanitizer", "SanitizeColumns", "Sanitizer.load"}
    found = set()
    for file in (ROOT / "cli/src/textveil_cli/integrations").glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef):
                names = {argument.arg for argument in node.args.kwonlyargs}
                assert pins <= names or not pins & names, f"{file.name}: {node.name}"
            elif isinstance(node, ast.Call) and ast.unparse(node.func) in opening:
                given = {keyword.arg for keyword in node.keywords}
                assert pins <= given or None in given, f"{file.name}: {ast.unparse(node)}"
                found.add(file.stem)
    assert found >= {"configured_sanitizer", "datasets", "langchain", "pandas", "presidio", "spacy"}


def test_another_process_opens_the_same_bundle_under_the_same_cap(folders: dict[str, Path]) -> None:
    bundle = open_bundle(folders["{}"], TextBundle, max_bytes=10**9)
    assert bundle.expected_bundle == {"expect_id": bundle.content_hash, "max_bytes": 10**9}
    again, (folder, pins, pinned, options) = ConfiguredSanitizer(folders["{}"], max_bytes=10**9).__reduce__()
    assert (folder, pins, pinned, options) == (str(folders["{}"]), bundle.expected_bundle, False, {})
    assert again(folder, pins, pinned, options).terms.bundle == bundle.content_hash
