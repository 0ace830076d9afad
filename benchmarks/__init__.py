"""Benchmarks: us, the peers and the limits side by side in one process, as ratios.

Run ``python -m benchmarks``; every module lists rows (`measuring.Row`) through a function ``rows(reduced)``.
"""
