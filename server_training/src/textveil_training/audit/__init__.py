"""Audit mechanisms of differential privacy: compute a lower bound on epsilon from samples of outputs.

``audit_mechanism`` runs the procedure, ``CommandMechanism`` and ``FunctionMechanism`` wrap the mechanisms under test,
``format_report`` formats the result of the procedure, and ``audit_sampler`` compares the sampler of a bundle with its
exact probabilities.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_training.audit.betting import BettingTest
    from textveil_training.audit.bundles import audit_bundle_samplers, make_bundle_audits
    from textveil_training.audit.claims import Claim, parse_claim
    from textveil_training.audit.inputs import (
        InputPair,
        InputSet,
        collect_metric_set,
        list_sample_texts,
        propose_pairs,
        propose_sets,
        propose_vector_pairs,
        read_pairs,
        read_texts,
    )
    from textveil_training.audit.procedure import AuditReport, AuditSettings, TestResult, audit_mechanism
    from textveil_training.audit.report import format_report
    from textveil_training.audit.sampler import audit_sampler
    from textveil_training.audit.statistics import (
        bound_identification_epsilon,
        bound_pair_epsilon,
        find_half_power,
    )
    from textveil_training.audit.subjects import CommandMechanism, FunctionMechanism

__all__ = [
    "AuditReport",
    "AuditSettings",
    "BettingTest",
    "Claim",
    "CommandMechanism",
    "FunctionMechanism",
    "InputPair",
    "InputSet",
    "TestResult",
    "audit_bundle_samplers",
    "audit_mechanism",
    "audit_sampler",
    "bound_identification_epsilon",
    "bound_pair_epsilon",
    "collect_metric_set",
    "find_half_power",
    "format_report",
    "list_sample_texts",
    "make_bundle_audits",
    "parse_claim",
    "propose_pairs",
    "propose_sets",
    "propose_vector_pairs",
    "read_pairs",
    "read_texts",
]

__getattr__ = make_lazy_getattr(
    __name__,
    __all__,
    "claims",
    "inputs",
    "statistics",
    "betting",
    "subjects",
    "procedure",
    "report",
    "sampler",
    "bundles",
)
