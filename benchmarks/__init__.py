"""Benchmarks: us and the peer side by side in one process, as ratios."""
