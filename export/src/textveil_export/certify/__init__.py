"""The epsilon of a finished table, proven over all pairs of words."""

from textveil_export.certify.all_scores import AllScores
from textveil_export.certify.certificate import Attained, Certificates, LevelCertificate, certify, false_labels
from textveil_export.certify.losses import Losses, pure_ldp_levels
from textveil_export.certify.search import worst_ratios
from textveil_export.certify.staircase import certify_staircase

__all__ = [
    "AllScores",
    "Attained",
    "Certificates",
    "LevelCertificate",
    "Losses",
    "certify",
    "certify_staircase",
    "false_labels",
    "pure_ldp_levels",
    "worst_ratios",
]
