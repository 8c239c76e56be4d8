"""``VectorClassifier`` and ``textveil classify`` classify released vectors."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import small_encoders
from safetensors.numpy import save_file
from textveil.errors import BundleDamaged, BundleNotFound
from textveil_cli.aggregation import VectorClassifier
from textveil_cli.errors import ReleaseError

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def canary() -> str:
    """Return a string that no message may repeat."""
    return "Zorblax7391"


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Return an encoder bundle of at least two coordinates, whose classifier uses the sign of the first."""
    folder = small_encoders.write_encoder(tmp_path / "bundle")
    weight = np.zeros((2, small_encoders.DIMENSION + 1), dtype=np.float32)
    weight[:, 0] = -1, 1
    save_file({"out.weight": weight, "out.bias": np.zeros(2, dtype=np.float32)}, folder / "classifier.safetensors")
    return small_encoders.sign_encoder(folder)


def line(folder: Path, first: float = 0.5, **statement: object) -> str:
    said = {"bundle": VectorClassifier.load(folder).bundle.content_hash, "epsilon_text": "4"} | statement
    return json.dumps({"vector": [first] + [0.0] * (small_encoders.DIMENSION - 1), "statement": said})


def test_what_the_device_writes_the_server_reads(bundle: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "texts.txt").write_text("a b\nb a\n\n")
    released = tmp_path / "released.jsonl"
    arguments = (tmp_path / "texts.txt", "-e", "8", "--json", "-o", released, "--quiet")
    assert run("encode", *small_encoders.pinned(bundle), *arguments)[0] == 0
    vectors = [json.loads(row)["vector"] for row in released.read_text().splitlines()]
    code, out, _ = run("classify", "-b", bundle, released)
    assert code == 0
    rows = [row.split("\t") for row in out.splitlines()]
    assert [label for label, _ in rows] == ["second" if vector[0] > 0 else "first" for vector in vectors]
    code, out, _ = run("classify", "-b", bundle, released, "--json")
    for row, vector in zip(map(json.loads, out.splitlines()), vectors, strict=True):
        assert sum(row["scores"].values()) == pytest.approx(1.0, abs=1e-5)
        assert row["scores"]["second"] == pytest.approx(1 / (1 + np.exp(-2 * vector[0])), abs=1e-5)


def test_classify_reads_standard_input(bundle: Path, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "input").write_text(line(bundle) + "\n")
    with (tmp_path / "input").open() as file:
        monkeypatch.setattr("sys.stdin", file)
        assert run("classify", "-b", bundle)[:2] == (0, f"second\t{1 / (1 + np.exp(-1)):.4f}\n")


def test_the_classifier_is_the_one_that_was_trained(bundle: Path) -> None:
    torch = pytest.importorskip("torch")
    from textveil_training.dpnr.networks import RepresentationClassifier

    torch.manual_seed(0)
    width = small_encoders.DIMENSION
    trained = RepresentationClassifier(width + 1, 6, 2)
    save_file(
        {name: tensor.detach().numpy() for name, tensor in trained.state_dict().items()},
        bundle / "classifier.safetensors",
    )
    small_encoders.sign_encoder(bundle)
    vectors = torch.randn(7, width)
    with torch.inference_mode():
        wanted = trained(vectors, torch.full((7, 1), 4.0).log()).softmax(-1).numpy()
    assert VectorClassifier.load(bundle).compute_scores(vectors.numpy(), [4.0] * 7) == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("CANARY", "is not a released vector"),
        ("", "is not a released vector"),
        ("[" * 100_000, "is not a released vector"),
        ('{"vector": [0.5]}', "is not a released vector"),
        (lambda b: line(b).replace('{"vector"', '{"vector": [], "vector"', 1), "is not a released vector"),
        (lambda b: line(b, bundle="0" * 64), "with another bundle"),
        (lambda b: line(b, epsilon_text="3"), "an epsilon that the bundle does not have"),
        (lambda b: line(b, epsilon_text="CANARY"), "is not a released vector"),
        (lambda b: line(b, float("nan")), "finite numbers"),
        (lambda b: line(b).replace("0.5", "1" + "0" * 400), "finite numbers"),
        (lambda b: line(b, 1e300), "finite numbers"),
        (lambda b: line(b, epsilon_text="sNaN"), "an epsilon that the bundle does not have"),
        (lambda b: line(b).replace("0.5", '"CANARY"'), "finite numbers"),
        (lambda b: line(b).replace("0.5", "true"), "finite numbers"),
        (lambda b: line(b).replace("[0.5, ", "["), "finite numbers"),
    ],
)
def test_what_is_no_released_vector(
    bundle: Path, run: Run, canary: str, tmp_path: Path, content: str | Callable[[Path], str], reason: str
) -> None:
    text = content if isinstance(content, str) else content(bundle)
    (tmp_path / "input").write_text(line(bundle) + "\n" + text.replace("CANARY", canary) + "\n")
    code, out, err = run("classify", "-b", bundle, tmp_path / "input")
    assert (code, out.count("\n"), err.count("\n")) == (1, 1, 1)
    assert err.startswith("textveil: release: line 2: ")
    assert reason in err
    assert canary not in err


@pytest.mark.parametrize(
    ("vectors", "epsilons"),
    [
        (np.zeros(small_encoders.DIMENSION), [4.0]),  # one vector, where rows are wanted
        (np.zeros((1, small_encoders.DIMENSION)), 4.0),
        (np.zeros((2, small_encoders.DIMENSION)), "44"),
        (np.zeros((2, small_encoders.DIMENSION)), [4.0]),
        (np.zeros((1, small_encoders.DIMENSION + 1)), [4.0]),
    ],
)
def test_scores_are_of_rows(bundle: Path, vectors: object, epsilons: object) -> None:
    with pytest.raises(ReleaseError, match=r"^compute_scores needs rows of \d+ numbers"):
        VectorClassifier.load(bundle).compute_scores(vectors, epsilons)  # type: ignore[arg-type]


def test_a_bundle_without_a_classifier_or_with_one_that_does_not_fit(bundle: Path, tmp_path: Path) -> None:
    save_file({"out.weight": np.zeros((2, 99), dtype=np.float32)}, bundle / "classifier.safetensors")
    with pytest.raises(BundleDamaged, match=r"classifier\.safetensors: "):
        VectorClassifier.load(bundle)
    small_encoders.sign_encoder(bundle)
    with pytest.raises(BundleDamaged, match="a required array is missing"):
        VectorClassifier.load(bundle)
    tensors = {"out.weight": np.zeros((2, 99), dtype=np.float32), "out.bias": np.zeros(2, dtype=np.float32)}
    save_file(tensors, bundle / "classifier.safetensors")
    small_encoders.sign_encoder(bundle)
    with pytest.raises(BundleDamaged, match="does not fit"):
        VectorClassifier.load(bundle)
    (bundle / "classifier.safetensors").unlink()
    small_encoders.sign_encoder(bundle)
    with pytest.raises(ReleaseError, match="no classifier"):
        VectorClassifier.load(bundle)
    with pytest.raises(BundleNotFound):
        VectorClassifier.load(tmp_path / "nowhere")
