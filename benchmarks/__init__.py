"""Measurements of time and accuracy. ``python -m benchmarks.record`` runs all."""
