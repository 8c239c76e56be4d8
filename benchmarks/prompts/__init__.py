"""Measure what rewritten prompts leave of private data, and how many of them a model can still answer."""
