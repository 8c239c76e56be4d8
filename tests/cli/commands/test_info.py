"""``textveil info`` and ``textveil verify`` describe and check an encoder bundle."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_encoders import sign_encoder, write_encoder
from textveil.bundle import open_bundle
from textveil.bundle.vector_bundle import VectorBundle
from textveil.mechanisms.noise import vector as representation
from textveil.mechanisms.noise.discrete import make_discrete_laplace
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.vector import statement as accounting


def test_info(here: Callable, tiny_encoder: Path) -> None:
    ran = here("info", "--bundle", tiny_encoder)
    assert ran.code == 0
    identity = open_bundle(tiny_encoder, VectorBundle).content_hash
    for part in (
        "tiny: an encoder, l1, vectors of length 4",
        identity,
        "Apache-2.0",
        "first, second",
        "accuracy 4  0.75",
    ):
        assert part in ran.text
    levels = [line.split() for line in ran.text.splitlines() if "discrete Laplace" in line]
    assert [level[0] for level in levels] == ["1", "4", "8"]
    assert [level[-1] == "default" for level in levels] == [False, True, False]
    assert levels[1][2:5] == ["3.897", "3.652", "3.326"]  # ln((1 - mu) e^4 + mu), rounded up
    assert here("info", "--bundle", tiny_encoder, "--path").text == f"{tiny_encoder}\n"
    assert here("info", "--bundle", tiny_encoder, "--expect-id", "x").code == 1


def test_info_as_json(here: Callable, tiny_encoder: Path) -> None:
    told = json.loads(here("info", "--json", "--bundle", tiny_encoder).text)
    assert (told["noise_mode"], told["dimension"], told["max_tokens"], told["vocabulary_size"]) == ("l1", 4, 16, 22)
    assert [(level["epsilon_text"], level["default"]) for level in told["epsilons"]] == [
        (1, False),
        (4, True),
        (8, False),
    ]
    assert told["measurements"] == {"accuracy": {"4": 0.75}}


@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
def test_info_and_verify_of_every_mode(here: Callable, tmp_path: Path, mode: str, delta: str | None) -> None:
    folder = write_encoder(tmp_path / mode, noise_mode=mode, delta=delta)
    assert here("info", "--bundle", folder).code == 0
    ran = here("verify", folder)
    assert ran.code == 0
    assert ran.text.startswith("3 files with the right size and hash, structure sound\nmodel: ")
    assert "finished noise of 3 levels audited" in ran.text


def test_a_manifest_with_odd_words(here: Callable, tiny_encoder: Path, tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "odd")
    for odd in (
        {"labels": None, "measurements": None},
        {"labels": {"a": 1}, "measurements": [1]},
        {"name": 7, "measurements": "x"},
    ):
        assert here("info", "--bundle", sign_encoder(folder, odd)).code == 0


def test_verify_refuses_noise_that_is_too_small(
    here: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault: a table for a scale 1 % smaller."""
    folder = write_encoder(tmp_path / "encoder", epsilons=["3"], default_epsilon="3")
    assert here("verify", folder).code == 0
    sound = representation.build_noise

    def weaker(parameters: ReleaseParameters) -> representation.ReleaseNoise:
        noise = sound(parameters)
        table = make_discrete_laplace(parameters.scale * 99 / 100, noise.table.reach)
        return representation.ReleaseNoise(table, noise.margin)

    monkeypatch.setattr(accounting, "build_noise", weaker)
    accounting.compute_realized_loss.cache_clear()
    try:
        ran = here("verify", folder)
    finally:
        accounting.compute_realized_loss.cache_clear()
    assert ran.code == 1
    assert ran.message == (
        "textveil: bundle-damaged: epsilon 3: the privacy loss of the noise exceeds the stated epsilon (copy or build "
        "the bundle again)\n"
    )


def test_verify_of_an_encoder_takes_no_number_of_pairs(here: Callable, tiny_encoder: Path) -> None:
    ran = here("verify", tiny_encoder, "--audit-pairs", "10")
    assert ran.code == 1
    assert "--audit-pairs needs a SanText bundle" in ran.message
    assert here("verify", tiny_encoder).code == 0


def test_verify_refuses_a_damaged_bundle(here: Callable, tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "encoder")
    (folder / "README.md").write_text("# other\n")
    for arguments in (["verify", folder], ["info", "--bundle", folder], ["encode", "--bundle", folder, "--text", "x"]):
        ran = here(*arguments)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: bundle-damaged: README.md: ")
