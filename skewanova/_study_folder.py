"""What a study writes: a folder with its numbers, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skewanova._curve_result import CurveStudy
from skewanova._decision_runner import DecisionStudy
from skewanova._folder import provenance_of, whole_folder
from skewanova._study_figures import FORMATS, picture, study_figures
from skewanova.simulation import StudyResult

Study = CurveStudy | DecisionStudy | StudyResult


def write_study(result: Study, directory: Path, settings: Mapping[str, Any] | None = None) -> None:
    """Write a study: the frame as ``<study>.csv``, the tables as ``<study>.md``, each figure as PNG and SVG.

    Parameters
    ----------
    result : CurveStudy, DecisionStudy or StudyResult
        A finished study.
    directory : Path
        The folder, written whole or not at all; an earlier output there is replaced.
    settings : mapping, optional
        What was asked for, for the provenance.

    Raises
    ------
    ValueError
        If the folder holds anything but an earlier output.
    OSError
        If the place cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewanova._curve_studies import estimators_study
    >>> from skewanova._study_folder import write_study
    >>> study = estimators_study(settings=["binormal"], sizes=[20, 50], replicates=5, progress=False)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_study(study, Path(place) / "out")
    ...     sorted(path.name for path in (Path(place) / "out").iterdir())
    ['bias.png', 'bias.svg', 'estimators.csv', 'estimators.md', 'provenance.json']
    """
    provenance = provenance_of(f"study {result.study}", settings or {}, seed=result.rng)
    with whole_folder(directory, provenance) as output:
        output.write_csv(f"{result.study}.csv", result.to_frame(), float_format="%.6g")
        tables = "\n\n".join(table.to_markdown() for table in result.to_tables())
        output.write(f"{result.study}.md", tables + "\n")
        for name, figure in study_figures(result.study, result.to_frame(), seed=result.rng):
            for kind in FORMATS:
                output.write(f"{name}.{kind}", picture(figure, kind))
