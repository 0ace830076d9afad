"""Foundations: checks, frames, text, folders, the system.

- checks: Errors, and checks that return the cleaned value or raise, naming argument, rule and value.
- folders: Folders written whole or not at all, and closed pipes and free memory.
- frames: Shared behaviour of results and frames: to_polars, records, distinct values.
- rounding: Numbers that differ by rounding only count as equal, so that no result depends on the processor.
- text: Tables of finished text and their four renderings; escapes, numbers in words, and stages of a run.
"""
