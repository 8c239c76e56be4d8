"""Measure the gateway with a real model, and in comparison with other proxies."""
