"""Audits the sampler that is installed, by what it draws."""

from textveil_export.sampler.audit import Finding, audit_sampler

__all__ = ["Finding", "audit_sampler"]
