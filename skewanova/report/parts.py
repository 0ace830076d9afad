"""Folder and page of a comparison in several parts: data sets, or classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from skewanova.base.folders import Output, provenance_of, replace_folder
from skewanova.base.text import Table
from skewanova.report.source import ReportSource, Result


class Parts(NamedTuple):
    """What the parts are called, one and several, and the whole in its provenance; the files of all parts.

    `frames` are the names of the frames, each with a file of its own; `files` says for each table which files
    hold its numbers.
    """

    one: str
    several: str
    kind: str
    frames: tuple[str, ...]
    files: Mapping[str, tuple[str, ...]]


class PartsSource(Result):
    """What every comparison in several parts has."""

    comparisons: Mapping[str, ReportSource]
    alpha: float


@contextmanager
def parts_folder(
    source: PartsSource, directory: Path, parts: Parts, *, tables: Sequence[Table], formats: Sequence[str]
) -> Iterator[Output]:
    """Yield a folder, written whole or not at all, that has all but the page."""
    from skewanova.report.folder import write_part  # drawing is heavy: loaded when something is drawn

    results = list(source.comparisons.values())
    shared, path, digest = _shared_provenance(results)
    provenance = provenance_of(parts.kind, shared, seed=shared.get("seed"), source=path, sha256=digest)
    with replace_folder(directory, provenance, inputs=[result.source for result in results]) as output:
        for name in parts.frames:
            output.write_csv(f"{name}.csv", getattr(source, name))
        folders = _folders(source, parts)
        output.write_csv(f"{parts.several}.csv", pd.DataFrame(folders.items(), columns=["folder", parts.one]))
        output.write("tables.md", "\n\n".join(table.to_markdown() for table in tables) + "\n")
        yield output
        for folder, result in zip(folders, results, strict=True):
            write_part(result, output, folder, formats=formats)


def _shared_provenance(results: Sequence[ReportSource]) -> tuple[dict[str, Any], Path | None, str | None]:
    """Settings and input that comparisons have in common; what differs is in the folder of each."""
    first = results[0]
    shared = {
        name: value
        for name, value in first.settings.items()
        if all(result.settings.get(name) == value for result in results)
    }
    path = first.source if len({result.source for result in results}) == 1 else None
    return shared, path, first.sha256 if path else None


def _folders(source: PartsSource, parts: Parts) -> dict[str, str]:
    """Names of parts by their folders: names are data and stay out of paths."""
    return {f"{parts.one}-{index:03d}": name for index, name in enumerate(source.comparisons, start=1)}


def parts_page(
    source: PartsSource, parts: Parts, *, tables: Sequence[Table], said: Mapping[str, Any], **own: Any
) -> str:
    """The page of all parts, in the looks of the report on each; what is said of a part, by its name."""
    from skewanova.report.document import environment, script, view

    context = {
        "version": version("skewanova"),
        "conclusions": source.conclusions,
        "warnings": source.warnings,
        "alpha": f"{source.alpha:g}",
        "views": [view(table, *parts.files[table.name]) for table in tables],
        parts.several: [{"folder": f, "name": n, **said[n]} for f, n in _folders(source, parts).items()],
        "linked": True,
        **own,
        **script(),
    }
    return environment().get_template(f"{parts.several}.html.j2").render(context)
