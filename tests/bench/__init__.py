"""Benchmarks as ratios to the least work that must be done: `python -m tests.bench NAME --json`."""
