"""LaTeX compiled, where it is installed."""

import os
import shutil
import subprocess

PREAMBLE = (
    r"\documentclass{article}\usepackage[margin=2cm]{geometry}\usepackage[T1]{fontenc}"
    r"\usepackage{array}\usepackage{booktabs}\usepackage{longtable}"
)


def compiled(text, packages, place, *, preamble=PREAMBLE):
    """The log of pdflatex, which must end well."""
    (place / "main.tex").write_text(f"{preamble}{packages}\\begin{{document}}{text}\\end{{document}}")
    run = subprocess.run(
        [shutil.which("pdflatex"), "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape",
         "main.tex"], cwd=place, capture_output=True, check=False, timeout=300,
        env={**os.environ, "TEXMFVAR": str(place / "var")}
    )  # fmt: skip
    log = run.stdout.decode("latin-1")
    assert run.returncode == 0, log[-2000:]
    return log


def has_package(name):
    found = shutil.which("kpsewhich")
    return bool(found and subprocess.run([found, name], capture_output=True, check=False).stdout)
