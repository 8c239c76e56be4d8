"""Define ``textveil-train audit``, which computes a lower bound on a mechanism's epsilon."""

import importlib
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer
from textveil_cli.console import print_message, show_progress_bars
from textveil_cli.options import ExpectedBundleOptions

from textveil_training.audit.defaults import CONFIDENCE, DRAWS, SAMPLER_DRAWS
from textveil_training.cli.options import JsonOption
from textveil_training.errors import ClaimRefuted, SamplerFault, SettingError

if TYPE_CHECKING:
    from textveil_training.audit import AuditReport, Claim, InputPair, InputSet
    from textveil_training.audit.subjects import AuditedMechanism
    from textveil_training.progress import ProgressCallback

#: Seconds between two lines that report progress in a pipe.
_SECONDS_PER_LINE = 30.0


@dataclass(frozen=True, kw_only=True)
class SubjectOptions:
    """Options that name the mechanism to audit: a program, a function or a bundle; the user must pass one of them."""

    heading: ClassVar[str] = "Mechanism"
    command: Annotated[
        str | None,
        typer.Option("--command", help="A program: one text per line in, one output per line out. It has no shell."),
    ] = None
    python: Annotated[
        str | None,
        typer.Option("--python", metavar="MODULE:FUNCTION", help="A Python function of one text."),
    ] = None
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", "-b", metavar="FOLDER", help="A bundle of textveil, at all of its levels."),
    ] = None
    timeout_seconds: Annotated[
        float, typer.Option("--timeout-seconds", min=0.1, help="Maximum seconds until the next line of the program.")
    ] = 60.0
    max_line_bytes: Annotated[
        int, typer.Option("--max-line-bytes", min=1, help="Maximum bytes of a line of the program.")
    ] = 65_536
    expected: ExpectedBundleOptions

    def make_mechanism(self) -> "AuditedMechanism | None":
        """Wrap the program or the Python function to audit; return ``None`` if the user named a bundle.

        Raises:
            SettingError: The user named no mechanism or several ones, or the module has no such function.
        """
        from textveil_training.audit import CommandMechanism, FunctionMechanism

        if sum(one is not None for one in (self.command, self.python, self.bundle)) != 1:
            raise SettingError("pass one mechanism: --command, --python or --bundle")
        if self.command is not None:
            return CommandMechanism(self.command, timeout=self.timeout_seconds, max_line_bytes=self.max_line_bytes)
        if self.python is not None:
            return FunctionMechanism(_import_function(self.python))
        return None


def _import_function(name: str) -> Any:
    """Import a Python function named as ``MODULE:FUNCTION``; the module may be in the current folder."""
    module, _, function = name.partition(":")
    sys.path.insert(0, "")
    try:
        found = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError, ValueError):
        found = None
    except (Exception, SystemExit) as error:  # the user's module can raise any error
        raise SettingError(
            f"importing the module of --python raised {type(error).__name__}: import it in Python to see the error"
        ) from None
    finally:
        sys.path.remove("")
    if not callable(found):
        raise SettingError("--python needs MODULE:FUNCTION, with a module in this folder or installed")
    return found


@dataclass(frozen=True, kw_only=True)
class ClaimOptions:
    """Options for the claimed epsilon to test, and for the inputs of the test."""

    heading: ClassVar[str] = "Claim and inputs"
    claims: Annotated[
        str | None,
        typer.Option(
            "--claims",
            metavar="EPSILON",
            help='Claim: an epsilon ("4"), with a delta ("1,1e-6"), or per unit of distance ("3*d").',
        ),
    ] = None
    neighbors: Annotated[
        Literal["text", "word"],
        typer.Option("--neighbors", help="The claim holds for any two texts, or for texts that differ in one word."),
    ] = "text"
    texts: Annotated[
        Path | None, typer.Option("--texts", metavar="FILE", help="Texts, one per line; default: a public sample.")
    ] = None
    pairs: Annotated[
        Path | None,
        typer.Option("--pairs", metavar="FILE", help="File of neighboring texts: a pair per line, with a tab between."),
    ] = None
    distances: Annotated[
        Path | None,
        typer.Option(
            "--distances",
            metavar="FILE",
            help="Like --pairs, with the distance as third column, for claims such as 3*d.",
        ),
    ] = None

    def read_claim(self) -> "Claim":
        """Parse the option with the claimed epsilon.

        Raises:
            SettingError: The user gave no claim; or the claim is per unit of distance, and the input pairs have no
                distances.
        """
        from textveil_training.audit import parse_claim

        if self.claims is None:
            raise SettingError("pass the claim to test: --claims with an epsilon such as 4")
        claim = parse_claim(self.claims)
        if claim.per_distance != (self.distances is not None):
            raise SettingError('--claims "3*d" and --distances FILE need each other: pass both, or an epsilon alone')
        if self.distances is not None and self.pairs is not None:
            raise SettingError("--distances has the pairs already: omit --pairs")
        return claim

    def list_inputs(self, seed: int | None) -> "tuple[list[InputPair], list[InputSet]]":
        """Return the inputs among which the audit chooses: pairs and sets of neighbors.

        Two inputs are neighbors if their outputs must be hard to distinguish under the claim.

        Args:
            seed: Seed of the choice.
        """
        import numpy as np

        from textveil_training import audit

        if self.distances is not None:
            pairs = audit.read_pairs(self.distances, with_distances=True)
            sets = audit.collect_metric_set(pairs)
            if not sets:
                print_message("textveil-train: no three texts have all their distances: no identification test")
            return _limit(pairs), sets
        generator = np.random.default_rng(seed)
        texts = audit.list_sample_texts() if self.texts is None else audit.read_texts(self.texts)
        pairs = audit.propose_pairs(texts, self.neighbors, generator)
        if self.pairs is not None:
            pairs = _limit(audit.read_pairs(self.pairs, with_distances=False))
        if self.pairs is not None and self.texts is None:
            return pairs, []
        return pairs, audit.propose_sets(texts, self.neighbors, generator)


def _limit(pairs: "list[InputPair]") -> "list[InputPair]":
    if len(pairs) > 64:
        print_message("textveil-train: only the first 64 pairs are candidates")
    return pairs[:64]


def audit(
    subject: SubjectOptions,
    claim: ClaimOptions,
    draws: Annotated[
        int | None,
        typer.Option(
            "--draws",
            min=100,
            help=f"Outputs of each of two inputs; default: {DRAWS:,}, for a bundle {SAMPLER_DRAWS:,}.",
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option("--confidence", help="Probability that the bound is right.")
    ] = CONFIDENCE,
    until: Annotated[
        float | None,
        typer.Option(
            "--until",
            metavar="MINUTES",
            help="For slow rewriters: test by betting, until the claim is refuted or this time is over.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Seed of the choice and order of inputs.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report as JSON.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Compute a lower bound on the epsilon of a mechanism from samples, and compare it with its claim.

    The mechanism is a program, a Python function or a bundle. A bound above the claim refutes it: the command ends with
    status 1. A smaller bound proves nothing. The report states the power of the audit: the epsilons that it would
    probably detect. All draws are independent runs of the mechanism on public or given texts, in random order.

    A bundle has its own claims. The samplers of the staircase mechanism and of class labels are also compared with
    their exact probabilities.
    """
    from textveil_training.audit import AuditSettings, audit_mechanism, format_report

    mechanism = subject.make_mechanism()
    if mechanism is None:
        _refuse_claims(claim)
        result = _audit_bundle(subject, draws, confidence, until, seed, as_json)
        _write(output, result["record"])
        if result["faults"]:
            raise SamplerFault("; ".join(result["faults"]))
        return
    stated = claim.read_claim()
    pairs, sets = claim.list_inputs(seed)
    settings = AuditSettings(draws=draws or DRAWS, confidence=confidence, until=until, seed=seed)
    with _show_progress() as progress:
        report = audit_mechanism(mechanism, stated, pairs, sets, settings, progress)
    _write(output, report.to_dict())
    print(json.dumps(report.to_dict()) if as_json else format_report(report))
    _raise_verdict(report)


def _refuse_claims(claim: ClaimOptions) -> None:
    if any(one is not None for one in (claim.claims, claim.texts, claim.pairs, claim.distances)):
        raise SettingError("a bundle has its own claims and words: omit --claims, --texts, --pairs and --distances")


def _raise_verdict(report: "AuditReport") -> None:
    from textveil_training.audit.report import format_bound

    if report.verdict == "refuted":
        raise ClaimRefuted(f"the claim is refuted: {format_bound(report)}")
    if report.verdict == "not tested":
        raise ClaimRefuted("the claim cannot be tested, since draws repeat: see the line randomness of the report")


def _audit_bundle(
    subject: SubjectOptions,
    draws: int | None,
    confidence: float,
    until: float | None,
    seed: int | None,
    as_json: bool,
) -> dict[str, Any]:
    """Audit the mechanisms of a bundle (folder with settings) at each of its epsilons, and print each result.

    Returns:
        The record of the audits, with a list of all faults.
    """
    from textveil_training.audit import (
        AuditSettings,
        audit_bundle_samplers,
        audit_mechanism,
        format_report,
        make_bundle_audits,
    )

    assert subject.bundle is not None
    expected = subject.expected.expected_bundle
    record: dict[str, Any] = {"samplers": [], "santext": []}
    faults: list[str] = []
    for found in audit_bundle_samplers(subject.bundle, draws or SAMPLER_DRAWS, expected):
        record["samplers"].append(asdict(found))
        faults += [f"level {found.level}: {fault}" for fault in found.faults]
        if not as_json:
            print(found, flush=True)
    settings = AuditSettings(draws=min(draws or DRAWS, DRAWS), confidence=confidence, until=until, seed=seed)
    for mechanism, stated, pairs in make_bundle_audits(subject.bundle, settings.draws, expected, seed):
        with _show_progress() as progress:
            report = audit_mechanism(mechanism, stated, pairs, (), settings, progress)
        record["santext"].append(report.to_dict())
        if report.verdict != "not refuted":
            faults.append(f"SanText, {stated}: {report.verdict}")
        if not as_json:
            print(f"SanText\n{format_report(report)}", flush=True)
    if not record["samplers"] and not record["santext"]:
        raise SettingError(
            "an audit cannot sample this bundle: pass one with the staircase mechanism, SanText or class labels"
        )
    if as_json:
        print(json.dumps(record))
    elif not faults:
        print("no fault found")
    return {"record": record, "faults": faults}


def _write(path: Path | None, record: dict[str, Any]) -> None:
    if path is not None:
        from textveil.storage import open_atomic_text

        with open_atomic_text(path) as write:
            write(json.dumps(record, indent=1) + "\n")


@contextmanager
def _show_progress() -> "Iterator[ProgressCallback]":
    """Show progress bars on a terminal; in a pipe write a line at each new stage and every 30 seconds."""
    if sys.stderr is not None and sys.stderr.isatty():
        with show_progress_bars() as report:
            yield report
        return
    last: dict[str, Any] = {"stage": None, "time": 0.0}

    def report_line(stage: str, done: int, total: int) -> None:
        now = time.monotonic()
        if stage != last["stage"] or now - last["time"] >= _SECONDS_PER_LINE:
            print_message(f"textveil-train: {stage}: {done:,} of {total:,} draws")
            last.update(stage=stage, time=now)

    yield report_line
