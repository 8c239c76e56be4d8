"""Audits the sampler that is installed, by what it draws."""

from textveil_export.sampler.audit import Finding, audit_sampler
from textveil_export.sampler.clopper_pearson import lower, upper

__all__ = ["Finding", "audit_sampler", "lower", "upper"]
