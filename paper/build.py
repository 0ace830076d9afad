"""Compile paper.md to a PDF, an error for any citation that is missing: ``python paper/build.py FOLDER``.

Needs the dependency group paper.
"""

import sys
from pathlib import Path

import pypandoc
import typst

HERE = Path(__file__).resolve().parent


def main(out: Path) -> None:
    """Write paper.pdf to the folder."""
    out.mkdir(parents=True, exist_ok=True)
    source = out / "paper.typ"
    options = ["--standalone", "--citeproc", "--fail-if-warnings", f"--bibliography={HERE / 'paper.bib'}"]
    pypandoc.convert_file(str(HERE / "paper.md"), "typst", outputfile=str(source), extra_args=options)
    typst.compile(str(source), output=str(out / "paper.pdf"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
