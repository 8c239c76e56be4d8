"""Measure how much private data rewritten prompts contain, and how many of them a model can still answer."""
