"""The epsilon of a finished table, proven over all pairs of words."""

from textveil_export.certify.all_scores import AllScores
from textveil_export.certify.capped import worst_ratios
from textveil_export.certify.certificate import Attained, Certificates, LevelCertificate, certify, false_labels
from textveil_export.certify.exact import worst_exact_ratios
from textveil_export.certify.staircase import certify_staircase
from textveil_export.certify.worst_pair import sensitive_inputs

__all__ = [
    "AllScores",
    "Attained",
    "Certificates",
    "LevelCertificate",
    "certify",
    "certify_staircase",
    "false_labels",
    "sensitive_inputs",
    "worst_exact_ratios",
    "worst_ratios",
]
