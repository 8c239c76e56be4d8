"""What bundles know of the laws in run records: w, and the pure LDP level."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from textveil.bundle import Bundle

from textveil_training.report.laws import Law
from textveil_training.report.records import Reading, Run


def with_bundles(reading: Reading, folders: Sequence[Path]) -> Reading:
    """The same runs, with w and the pure LDP level of the laws whose bundle is at hand.

    The pure LDP level is the certificate's, of ``santext`` only: an output that SanText+ keeps reveals its input.

    Args:
        reading: What was read.
        folders: Bundles.

    Raises:
        BundleError: One cannot be opened.
    """
    if not folders:
        return reading
    known = {bundle.identity: _facts(bundle) for bundle in map(Bundle, folders)}

    def told(run: Run) -> Run:
        law = run.law
        if law is None or law.bundle not in known:
            return run
        return replace(run, law=_told(law, *known[law.bundle]))

    lists = (reading.runs, reading.unfinished, reading.replaced)
    runs, unfinished, replaced = ([told(run) for run in one] for one in lists)
    return replace(reading, runs=runs, unfinished=unfinished, replaced=replaced)


def _facts(bundle: Bundle) -> tuple[str, Any, dict[str, Any]]:
    share = bundle.manifest.get("provenance", {}).get("sensitive_share")
    return str(bundle.manifest.get("name") or ""), share, (bundle.certificate or {}).get("levels", {})


def _told(law: Law, name: str, share: Any, levels: dict[str, Any]) -> Law:
    proven = levels.get(law.level, {}).get(law.mechanism, {}).get(law.tail, {}).get("epsilon_pure_ldp")
    return replace(
        law,
        bundle_name=law.bundle_name or name,
        share=law.share if law.share is not None else share if law.mechanism == "santext+" else None,
        pure_ldp=law.pure_ldp if law.pure_ldp is not None or law.mechanism != "santext" else proven,
    )
