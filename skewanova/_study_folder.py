"""What a study writes: a CSV file, or a folder with its tables, figures and the CSV file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from skewanova._checks import InputError
from skewanova._curve_result import STUDIES, CurveStudy
from skewanova._decision_runner import DECISION_STUDIES, DecisionStudy
from skewanova._folder import whole_folder
from skewanova._study_figures import FORMATS, figure_names, picture, study_figures

#: First line of the tables of a study, by which an earlier output is known.
MARK = "<!-- Written by skewanova study -->"


def check_study_folder(out: Path) -> None:
    """Tell before the work begins that the output could not be written after it.

    Parameters
    ----------
    out : Path
        As for :func:`write_study`.

    Raises
    ------
    ValueError
        As :func:`write_study`.
    """
    if out.suffix != ".csv":
        if out.exists() and not out.is_dir():
            raise InputError(f"`directory` must be a folder, but {out.name!r} is a file; choose another name")
    elif out.is_dir() or not out.parent.is_dir():
        raise InputError(f"`--out` must name a file in a folder that is there, but got {str(out)!r}")


def write_study(result: CurveStudy | DecisionStudy, out: Path) -> None:
    """Write a study.

    Parameters
    ----------
    result : CurveStudy or DecisionStudy
        A finished study.
    out : Path
        A file whose name ends in .csv, or else a folder, written whole or not at all: the frame as
        ``<study>.csv``, the tables as ``<study>.md`` and every figure as PNG and SVG.

    Raises
    ------
    ValueError
        If the folder holds anything but an earlier output, or the place cannot be written.

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
    ['bias.png', 'bias.svg', 'estimators.csv', 'estimators.md']
    """
    if out.suffix == ".csv":
        _write_frame(result, out)
        return
    with whole_folder(out, files=frozenset(_files()), is_ours=_is_ours) as folder:
        _write_frame(result, folder / f"{result.study}.csv")
        tables = [MARK, *(table.to_markdown() for table in result.to_tables())]
        (folder / f"{result.study}.md").write_bytes(("\n\n".join(tables) + "\n").encode())
        for name, figure in study_figures(result.study, result.to_frame(), seed=result.rng):
            for kind in FORMATS:
                (folder / f"{name}.{kind}").write_bytes(picture(figure, kind))


def _write_frame(result: CurveStudy | DecisionStudy, path: Path) -> None:
    result.to_frame().to_csv(path, index=False, float_format="%.6g", lineterminator="\n")


def _files() -> Iterator[str]:
    """All names that a study may have written."""
    for study in (*STUDIES, *DECISION_STUDIES):
        yield from (f"{study}.csv", f"{study}.md")
        yield from (f"{name}.{kind}" for name in figure_names(study) for kind in FORMATS)


def _is_ours(folder: Path) -> bool:
    """Whether the folder holds tables that a study wrote."""
    found = [folder / f"{study}.md" for study in (*STUDIES, *DECISION_STUDIES)]
    return any(path.read_bytes().startswith(MARK.encode()) for path in found if path.is_file())
