"""Define ``textveil-train attack text``, which measures what an attacker recovers from sanitized text."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from textveil_cli.console import print_message
from textveil_cli.options import BundleOptions, MechanismOptions, ProtectionOptions, combine_options

from textveil_training.attacks.settings import ATTACKS, TextAttackSettings
from textveil_training.cli.options import (
    FormatOption,
    JsonOption,
    MachineOptions,
    TextKeyOption,
    get_given_options,
    make_setting_options,
)
from textveil_training.cli.progress_lines import report_progress
from textveil_training.errors import DataOptionError, MissingSplit

if TYPE_CHECKING:
    from textveil_training.data import ReadOptions


@dataclass(frozen=True, kw_only=True)
class RawTextOptions:
    """Options that name the raw texts to sanitize and attack."""

    heading: ClassVar[str] = "Data"
    data: Annotated[Path, typer.Argument(metavar="PATH", help="RAW text: a file, or a folder of published files.")]
    format_name: FormatOption
    split: Annotated[
        str | None, typer.Option("--split", help="Split of a folder; default: dev if there is one, else all.")
    ] = None
    text_key: TextKeyOption = "text"

    known_texts: Annotated[
        Path | None,
        typer.Option(
            "--known-texts",
            metavar="PATH",
            help="RAW texts known to the attacks 'words' and 'frequent'; default: the folder's train split.",
        ),
    ] = None

    prior: Annotated[
        list[Path] | None,
        typer.Option(
            "--prior",
            metavar="FILE",
            help="Public texts of the same kind, for the attack 'words', one per line; repeatable.",
        ),
    ] = None

    def read_texts(self) -> tuple[list[Any], str | None, "ReadOptions"]:
        """Read the texts to attack.

        Returns:
            The texts of each row, the name of their split (``None`` for data without splits), and the column options.

        Raises:
            DataOptionError: A key is given for a format without keys, or the texts are already sanitized.
            MissingSplit: The data have no such split.
        """
        from textveil_training.data import ReadOptions, get_format, list_splits, load_examples

        self._refuse_sanitized(self.data)
        keyed = get_format(self.format_name).has_named_columns
        options = ReadOptions(self.text_key, None) if keyed else ReadOptions(self.text_key)
        split = self.split
        if split is None and "dev" in list_splits(self.format_name, self.data):
            split = "dev"
        examples = [example.texts for example in load_examples(self.format_name, self.data, split, options)]
        if not examples:
            raise MissingSplit("there is no text to attack: pass another file, or another --split")
        return examples, split, options

    def _refuse_sanitized(self, path: Path) -> None:
        from textveil_training.data import read_release_terms
        from textveil_training.release_terms import format_release_terms

        if (terms := read_release_terms(self.format_name, path)) is not None:
            raise DataOptionError(
                f"these texts are sanitized already ({format_release_terms(terms)}), and a guess can only be compared "
                "with the original: name the raw texts; the command sanitizes them with the options of the mode"
            )

    def read_prior(self) -> list[str]:
        """Read the public texts of ``--prior``, which the attacker knows besides those of ``--known-texts``."""
        from textveil_training.data import load_examples

        return [text for path in self.prior or () for example in load_examples("text", path) for text in example.texts]

    def read_known(self, split: str | None, options: "ReadOptions") -> list[str]:
        """Read the raw texts that the attacker knows: ``--known-texts``, or else the data's train split.

        The result is empty without ``--known-texts`` if the data have no train split, or if the attack is on all splits
        or on the train split.
        """
        from textveil_training.data import list_splits, load_examples

        source = self.known_texts or self.data
        self._refuse_sanitized(source)
        chosen = "train" if "train" in list_splits(self.format_name, source) else None
        if self.known_texts is None and (chosen is None or split in (None, chosen)):
            return []
        return [text for example in load_examples(self.format_name, source, chosen, options) for text in example.texts]


@dataclass(frozen=True, kw_only=True)
class TextAttackOptions(make_setting_options(TextAttackSettings, "attacks", "vectors")):
    """Options that select the attacks, and the numbers of texts and tokens."""

    heading: ClassVar[str] = "Attacks"
    attacks: Annotated[
        str, typer.Option("--attacks", help=f"all, or a comma-separated list of {', '.join(ATTACKS)}.")
    ] = "all"
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors", metavar="FILE", help="Word vectors for the attack 'words'; the bundle's if left out."
        ),
    ] = None

    def make_settings(self) -> TextAttackSettings:
        """Convert the options to ``TextAttackSettings``."""
        listed = tuple(dict.fromkeys(part.strip() for part in self.attacks.split(",")))
        chosen: dict[str, Any] = get_given_options(self) | {"attacks": ATTACKS if self.attacks == "all" else listed}
        chosen["vectors"] = None if self.vectors is None else str(self.vectors)
        return TextAttackSettings(**chosen)


def text(
    raw: RawTextOptions,
    bundle: BundleOptions,
    level: MechanismOptions,
    mode: ProtectionOptions,
    attack: TextAttackOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a run record, after each attack.")
    ] = None,
    as_json: JsonOption = False,
    *,
    machine: MachineOptions,
) -> None:
    """Sanitize raw text and try to recover it; the attacker has the bundle, the mechanism and its options.

    With --protect words or all the attacks are 'words' (the strongest), 'frequent' and 'mask'; with --protect names
    they are 'frequent' and 'mask'; for a mechanism without a mode they are all except 'frequent'. Without --attacks the
    command runs all of these for which it has the input, and prints why it skips the others.

    \b
    frequent    guess the most frequent word of its type (person, city) for every replaced word: the baseline
    words       learn from raw texts of the same kind (--known-texts) and public ones (--prior): the best guess,
                trigrams over the whole text, a network, and the sum of both; +- is the deviation over repeated outputs
    nearest     guess the word nearest to the output, and the ten nearest
    bayes       guess the most probable word for one output without context: in closed form, and checked on samples
    repeated    guess as 'bayes' does, from 1, 2, 5, 10 and 20 independent outputs of the text
    mask        predict each original word from the sanitized words around it, with a masked language model
    contextual  multiply the prediction of 'mask' by the probability of the output; also without context, and for
                an attacker interested only in the words that are never left unchanged

    Every rate is per token, with its standard error by text. After Ctrl-C the results of finished attacks are saved;
    run the others with --attacks.
    """
    from textveil_training.attacks.text import AttackedMechanism, run_and_record
    from textveil_training.cli.attack_text_table import format_attack_table

    settings = attack.make_settings()
    device = machine.apply()
    subject = AttackedMechanism(bundle.bundle, pins=bundle.expected_bundle, **combine_options(level, mode))
    examples, split, options = raw.read_texts()
    known = raw.read_known(split, options) if {"words", "frequent"} & set(settings.attacks) else []
    how: dict[str, Any] = {"known": known, "prior": raw.read_prior(), "output": output, "device": device}
    try:
        with report_progress() as report:
            record = run_and_record(subject, examples, settings, (raw.format_name, split), report, **how)
    except KeyboardInterrupt as interrupt:
        if output is not None:
            interrupt.add_note("the results of finished attacks are saved; run the others with --attacks")
        raise
    print(json.dumps(record) if as_json else format_attack_table(record["result"]))
    for name, reason in record["result"]["skipped"].items():
        print_message(f"textveil-train: skipped the attack {name}: {reason}")
