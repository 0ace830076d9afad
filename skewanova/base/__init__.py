"""Foundations: checks of arguments, frames, text, output folders.

- checks: Error classes, and checks that return the cleaned argument or raise an error that names it.
- folders: Output folders, written to a hidden folder and renamed when complete; closed pipes and free memory.
- frames: Base class of results with frames, and rows and distinct values of frames.
- rounding: Comparisons that treat numbers as equal if they differ only by rounding error.
- text: Tables of formatted text, formats of numbers, escapes of names, and stages of a run.
"""
