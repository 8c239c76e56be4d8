"""One text to one vector on one core: int8 ONNX against float32 PyTorch and float32 ONNX, and what privacy adds.

    python benchmarks/bench_encoder.py BUNDLE CHECKPOINT

BUNDLE is an encoder bundle, CHECKPOINT the folder it was exported from. All ways take turns in one process, so that
whatever else the machine does hits them alike; memory is that of a fresh process of each. The last rows are parts of
``Encoder.encode``: words cut into pieces, and everything after the model (clip, noise, clamp, vector, statement).
"""

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measure import one_core, report

one_core()

LENGTHS = (16, 32, 64, 128)
ROUNDS = 25
WORDS = "the market said on friday that the new price of oil will be high for a year and more".split()


def text_of(tokens: int) -> str:
    """A text that becomes so many tokens, [CLS] and [SEP] included."""
    return " ".join(WORDS[number % len(WORDS)] for number in range(tokens - 2))


def torch_way(checkpoint: str) -> Callable[[Any], Any]:
    """The trained model by PyTorch."""
    import torch
    from textveil_export.encoder import Reference, load_checkpoint

    torch.set_num_threads(1)
    return Reference(load_checkpoint(Path(checkpoint)))


def onnx_way(graph: str) -> Callable[[Any], Any]:
    """A graph by onnxruntime, with the settings of a device."""
    from textveil_export.encoder import Session

    return Session(Path(graph))


def pinned(bundle: str) -> Any:
    """The encoder of a bundle, pinned to the identity that it has."""
    from textveil import Encoder
    from textveil.bundle import open_bundle

    return Encoder.load(bundle, expect_id=open_bundle(Path(bundle)).identity)


def encoder_way(bundle: str) -> Callable[[Any], Any]:
    """All of ``Encoder.encode``; ids are turned into nothing here, the text goes in."""
    encoder = pinned(bundle)
    return lambda ids: encoder.encode(text_of(len(ids)))


WAYS = {"torch": torch_way, "onnx": onnx_way, "encoder": encoder_way}


def resident_mb(way: str, path: str) -> float:
    """Megabytes (10^6 bytes) that a fresh process holds after a few texts."""
    done = subprocess.run([sys.executable, __file__, "--resident", way, path], capture_output=True, check=False)
    if done.returncode:
        sys.exit(f"the process of {way} failed")
    return float(done.stdout)


def show_resident(way: str, path: str) -> None:
    """The child: loads a model, runs it, prints its memory."""
    run = WAYS[way](path)
    for tokens in LENGTHS * 3:
        run([101] * tokens)
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines())
    print(int(lines["VmRSS"].split()[0]) * 1024 / 1e6)


def parts(bundle: str) -> dict[str, Callable[[str], Any]]:
    """Parts of ``Encoder.encode``: all of it, cutting into pieces, and what comes after the model."""
    import numpy as np

    encoder, rest = pinned(bundle), pinned(bundle)
    cut, after = encoder._extractor.ids, rest._extractor
    vectors = encoder._extractor.session.run(cut("the market")[0])
    after.session.run = lambda ids: np.array(vectors)
    after.ids = lambda text, dropped: ([], False)
    return {
        "textveil: Encoder.encode": encoder.encode,
        "  of it: words to pieces": cut,
        "  of it: after the model": rest.encode,
    }


def milliseconds(ways: dict[str, tuple[Callable[[Any], Any], Callable[[int], Any]]]) -> dict[str, list[float]]:
    """Median time of every way at every length; ways take turns."""
    found: dict[str, list[float]] = {name: [] for name in ways}
    for tokens in LENGTHS:
        times: dict[str, list[float]] = {name: [] for name in ways}
        for turn in range(ROUNDS + 2):
            for name, (run, given) in ways.items():
                argument = given(tokens)
                start = time.perf_counter()
                run(argument)
                if turn > 1:
                    times[name].append(1000 * (time.perf_counter() - start))
        for name, seen in times.items():
            found[name].append(statistics.median(seen))
    return found


def main() -> None:
    """Runs the benchmark on the bundle and the checkpoint named on the command line."""
    if len(sys.argv) == 4 and sys.argv[1] == "--resident":
        return show_resident(*sys.argv[2:])
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    bundle, checkpoint = sys.argv[1:]
    int8 = Path(bundle) / "model.onnx"
    with tempfile.TemporaryDirectory() as scratch:
        from textveil_export.encoder import export_graph, load_checkpoint

        float32 = Path(scratch) / "float32.onnx"
        loaded = load_checkpoint(Path(checkpoint))
        export_graph(loaded, float32)
        memory = {
            "float32, PyTorch": resident_mb("torch", checkpoint),
            "float32, ONNX": resident_mb("onnx", str(float32)),
            "textveil: Encoder.encode": resident_mb("encoder", bundle),
        }
        weights = Path(checkpoint) / "extractor" / "model.safetensors"
        sizes = {
            "float32, PyTorch": weights.stat().st_size,
            "float32, ONNX": float32.stat().st_size,
            "int8, ONNX": int8.stat().st_size,
        }
        models = {
            "float32, PyTorch": torch_way(checkpoint),
            "float32, ONNX": onnx_way(str(float32)),
            "int8, ONNX": onnx_way(str(int8)),
        }
        import numpy as np

        numbers = {piece: number for number, piece in enumerate(loaded.vocabulary)}

        def ids_of(tokens: int) -> Any:
            return np.array([numbers[piece] for piece in ("[CLS]", *text_of(tokens).split(), "[SEP]")])

        ways: dict[str, Any] = {name: (run, ids_of) for name, run in models.items()}
        ways |= {name: (run, text_of) for name, run in parts(bundle).items()}
        found = milliseconds(ways)
    rows: list[list[Any]] = [[name, *found[name], sizes.get(name, ""), memory.get(name, "")] for name in found]
    slow, fast = found["float32, PyTorch"], found["int8, ONNX"]
    rows.append(["int8 is faster than PyTorch by", *(a / b for a, b in zip(slow, fast, strict=True)), "", ""])
    columns = ["way", *(f"ms at {tokens} tokens" for tokens in LENGTHS), "model bytes", "resident MB"]
    report("encoder", columns, rows)
    print(json.dumps({"int8_recipe": recipe_of(bundle)}), file=sys.stderr)


def recipe_of(bundle: str) -> str:
    """How the bundle was quantized."""
    manifest = json.loads((Path(bundle) / "manifest.json").read_text("utf-8"))
    return str(manifest["measured"]["int8"]["recipe"])


if __name__ == "__main__":
    main()
