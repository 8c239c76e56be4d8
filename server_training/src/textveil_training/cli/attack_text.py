"""``textveil-train attack text``: what an attacker recovers from sanitized text."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from textveil.bundle import Pins
from textveil_cli import (
    BundleOption,
    EpsilonOption,
    LevelOption,
    MechanismOption,
    ReplacementOption,
    TailOption,
    pinned,
    say,
)

from textveil_training.cli.options import (
    DeviceOption,
    FormatOption,
    JsonOption,
    TextKeyOption,
    ThreadsOption,
    renamed,
    use_threads,
)
from textveil_training.data import FormatName
from textveil_training.errors import MissingSplit, SettingError

if TYPE_CHECKING:
    from textveil_training.data import ReadOptions

NAMES = "nearest, bayes, repeated, mask, contextual, words"


@pinned()
def text(
    data: Annotated[Path, typer.Argument(metavar="PATH", help="RAW text: a file, or a folder of published files.")],
    format_name: FormatOption,
    split: Annotated[
        str | None, typer.Option("--split", help="Of a folder; dev if left out and there is one, else everything.")
    ] = None,
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", help="A masked language model, for mask and contextual: a folder (of pretrain), or a hub id."
        ),
    ] = None,
    attacks: Annotated[str, typer.Option("--attacks", help=f"all, or some of {NAMES}, with commas.")] = "all",
    known: Annotated[
        Path | None,
        typer.Option(
            "--known", metavar="PATH", help="RAW texts that the attacker of words has; else the folder's train split."
        ),
    ] = None,
    vectors: Annotated[
        Path | None,
        typer.Option("--vectors", metavar="FILE", help="Word vectors for words; the bundle's if left out."),
    ] = None,
    with_minilm: Annotated[
        bool, typer.Option("--with-minilm", help="words: also tune MiniLM as an attacker, which takes hours.")
    ] = False,
    with_statistics: Annotated[
        bool, typer.Option("--statistics", help="Also how far the mechanism spreads words: medians of N, S and S*.")
    ] = False,
    texts: Annotated[
        int, typer.Option("--texts", min=0, help="At most this many texts, chosen by the seed; 0: all.")
    ] = 0,
    tokens: Annotated[
        int, typer.Option("--tokens", min=1, help="At most this many tokens for mask, contextual and repeated.")
    ] = 4000,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the choice of texts and tokens.")] = 0,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Texts at a time through the model.")] = 64,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=5, help="Longer texts are cut around the mask.")] = 128,
    precision: Annotated[str, typer.Option("--precision", help="Model precision: float32 or bfloat16.")] = "bfloat16",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a run record, after each attack.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Leave out the attacks that are in the record.")] = False,
    text_key: TextKeyOption = "text",
    label_key: Annotated[
        str | None, typer.Option("--label", "--label-key", help="Key or column of the label (jsonl, table).")
    ] = None,
    device: DeviceOption = "cpu",
    threads: ThreadsOption = 0,
    as_json: JsonOption = False,
    _batch: Annotated[str | None, renamed("--batch", "--batch-size")] = None,
    *,
    pins: Pins,
) -> None:
    """Sanitize raw text and try to recover it, knowing the bundle, the mechanism and its options.

    The staircase is attacked by words alone, the strongest of all: the others work token by token.

    \b
    words       from raw texts of the same kind: the best guess, bigrams over the whole text, counts over sanitized
                copies, and a network; --known names the texts
    nearest     the symbol nearest to what came out, and the ten nearest
    bayes       the best guess from one output without context: in closed form, and checked on draws
    repeated    the same from 1, 2, 5, 10 and 20 independent outputs of the text
    mask        a masked language model predicts each original word from the sanitized words around it
    contextual  that model's prior times the likelihood of the output; beside it the same without context, and an
                attacker who wants only the words that are never kept

    Every rate is of tokens, with its standard error by text. Ctrl-C keeps the attacks that are done; --resume does the
    others on fresh draws.
    """
    from textveil_training.attacks.text import ATTACKS, Settings, Subject, run_and_record
    from textveil_training.cli.attack_text_table import table
    from textveil_training.data import ReadOptions, available_splits, load
    from textveil_training.progress import bars

    names = ATTACKS if attacks == "all" else tuple(dict.fromkeys(part.strip() for part in attacks.split(",")))
    settings = Settings(
        attacks=names,
        model=model,
        vectors=None if vectors is None else str(vectors),
        with_minilm=with_minilm,
        texts=texts,
        tokens=tokens,
        statistics=with_statistics,
        seed=seed,
        batch_size=batch_size,
        max_tokens=max_tokens,
        precision=precision,
    )
    if resume and output is None:
        raise SettingError("--resume needs the record: --output")
    use_threads(threads)
    subject = Subject(
        bundle,
        pins=pins,
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
    )
    if split is None and "dev" in available_splits(format_name, data):
        split = "dev"
    keyed = format_name in ("jsonl", "table")
    keys: dict[str, Any] = {"text_key": text_key, "label_key": label_key} if keyed else {}
    if not keyed and (text_key != "text" or label_key is not None):
        raise SettingError("this format has no keys")
    options = ReadOptions(**keys)
    examples = [example.texts for example in load(format_name, data, split, options)]
    if not examples:
        raise MissingSplit("a split is empty")
    theirs = _known(known, data, format_name, split, options) if "words" in names else []
    try:
        with bars() as report:
            record = run_and_record(
                subject,
                examples,
                settings,
                (format_name, split),
                report,
                known=theirs,
                output=output,
                resume=resume,
                device=device,
            )
    except KeyboardInterrupt:
        if output is not None:
            say("textveil-train: interrupted; the attacks that are done are kept, and --resume does the others")
        raise
    print(json.dumps(record) if as_json else table(record["result"]))
    for name, reason in record["result"]["skipped"].items():
        say(f"textveil-train: {name} was left out: {reason}")


def _known(
    path: Path | None, data: Path, format_name: FormatName, split: str | None, options: "ReadOptions"
) -> list[str]:
    """Returns the raw texts of the attacker: those that are named, or train texts beside another split."""
    from textveil_training.data import available_splits, load

    source = path or data
    chosen = "train" if "train" in available_splits(format_name, source) else None
    if path is None and (chosen is None or split in (None, chosen)):
        return []
    return [text for example in load(format_name, source, chosen, options) for text in example.texts]
