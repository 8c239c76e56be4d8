"""Measure the gateway before a real model, and beside comparable proxies."""
