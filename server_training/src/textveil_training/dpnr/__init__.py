"""Representations with noise: recipes, training, release, measurement, tables (Lyu, He and Li 2020)."""
