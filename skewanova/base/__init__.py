"""What everything stands on: checks, frames, text, folders, the system.

- checks: Errors, and checks that return the cleaned value or raise, naming argument, rule and value.
- folders: Folders written whole or not at all; only an earlier output of ours is replaced.
- frames: What results and frames share: to_polars, records, distinct values.
- operating_system: What differs between systems: closed pipes and free memory.
- progress: Stages of a long computation, for whoever listens.
- rounding: Numbers that differ by rounding only count as equal, so that no result depends on the processor.
- text: Tables of finished text and their four renderings; escapes, and numbers in words.
"""
