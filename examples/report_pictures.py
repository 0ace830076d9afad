"""Pictures of the report and of tables set by LaTeX, for the documentation.

Needs Chromium, pdflatex with booktabs and siunitx, and Ghostscript. Run it with::

    python examples/report_pictures.py --out docs/images
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from PIL import Image
from PIL.PngImagePlugin import PngInfo
from scipy import stats

import skewanova as sa
from skewanova.report.screen import build_screen

#: Width and height of the screen, and options of the browser.
SCREENS = {
    "report": (1280, 900, ()),
    "report-dark": (1280, 900, ("--blink-settings=preferredColorScheme=0",)),
    "report-phone": (500, 1100, ()),
}
TABLES = (("performance", {"siunitx": True}), ("ranking", {}))
PREAMBLE = (
    r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{array}\usepackage{booktabs}"
    r"\usepackage{siunitx}\usepackage[paperwidth=15cm,paperheight=11cm,margin=8mm]{geometry}"
    r"\pagestyle{empty}\begin{document}"
)


def compared() -> sa.Comparison:
    """Return what `skewanova demo` compares."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        return sa.compare(sa.load_satellite_scores(), (0.05, 0.20), at_priors=(0.5, 0.1, 0.01), alpha=0.005)


def crossing() -> sa.Comparison:
    """Return the comparison of three simulated fraud models, of which two change places."""
    frauds = {
        "forest": stats.norm(1.9, 0.7),
        "boosting": stats.norm(1.7, 1.0),
        "network": stats.norm(1.85, 1.6),
    }
    parts = []
    for month in range(1, 9):
        for seed, (model, scores) in enumerate(frauds.items()):
            sample = sa.curves.sample_scores(stats.norm(0, 1), scores, 10_000, prior=0.1, rng=[month, seed])
            part = pd.DataFrame(dict(zip(("y_true", "y_score"), sample, strict=True)))
            parts.append(part.assign(model=model, fold=month))
    belief = sa.BetaPrior.from_quantiles({0.05: 0.04, 0.95: 0.16})
    return sa.compare(pd.concat(parts), belief, at_priors=(0.2, 0.05), design="independent")


def latex(result: sa.Comparison) -> str:
    """Return the tables that are shown."""
    return "\n".join(result.to_latex(name, **options) for name, options in TABLES)


def made_from(result: sa.Comparison, name: str) -> str:
    """Fingerprint of what a picture shows: the tables' text, or the words of the page that it begins with."""
    if name == "tables":
        return hashlib.sha256(latex(result).encode()).hexdigest()
    parts = [str(result.verdict), build_screen(result).data, str(result.ranking.round(3).to_dict())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def photographed(page: Path, picture: Path, size: tuple[int, int], options: Sequence[str]) -> None:
    """Return the page in a browser without a window."""
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or "chromium"
    fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--screenshot={picture}"]
    window = f"--window-size={size[0]},{size[1]}"
    subprocess.run(
        [browser, *fixed, window, *options, page.as_uri()], check=True, capture_output=True, timeout=120
    )


def printed(page: Path, picture: Path, place: Path) -> None:
    """Return the first two sheets of the printed page, side by side."""
    browser = shutil.which("chromium") or "chromium"
    sheets = place / "sheets.pdf"
    options = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-pdf-header-footer",
        f"--print-to-pdf={sheets}",
    ]
    subprocess.run([browser, *options, page.as_uri()], check=True, capture_output=True, timeout=120)
    _rasterized(sheets, place / "sheet-%d.png", 70)
    first, second = (Image.open(place / f"sheet-{i}.png").convert("RGB") for i in (1, 2))
    both = Image.new("RGB", (first.width + second.width, first.height), "white")
    both.paste(first, (0, 0))
    both.paste(second, (first.width, 0))
    both.save(picture)


def typeset(result: sa.Comparison, picture: Path, place: Path) -> None:
    """Return the tables as pdflatex sets them."""
    (place / "tables.tex").write_text(PREAMBLE + latex(result) + r"\end{document}")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "tables.tex"]
    subprocess.run(command, cwd=place, check=True, capture_output=True, timeout=120)
    _rasterized(place / "tables.pdf", picture, 110)


def _rasterized(document: Path, picture: Path, dpi: int) -> None:
    smooth = ["-dTextAlphaBits=4", "-dGraphicsAlphaBits=4"]
    command = ["gs", "-q", "-dSAFER", "-dNOPAUSE", "-dBATCH", "-sDEVICE=png16m", f"-r{dpi}", *smooth]
    subprocess.run([*command, f"-sOutputFile={picture}", str(document)], check=True, timeout=120)


def stamped(picture: Path, fingerprint: str) -> None:
    """Write the picture again, with what it was made from."""
    info = PngInfo()
    info.add_text("Drawn", fingerprint)
    with Image.open(picture) as found:
        found.convert("RGB").save(picture, optimize=True, pnginfo=info)


def main(argv: Sequence[str] | None = None) -> None:
    """Make all pictures."""
    parser = argparse.ArgumentParser(description="Pictures of the report and of tables set by LaTeX.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    out = parser.parse_args(argv).out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    result, fraud = compared(), crossing()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        page = fraud.save(place / "fraud") / "report.html"
        photographed(page, out / "fraud.png", (1280, 900), ())
        page = result.save(place / "report") / "report.html"
        for screen, (width, height, options) in SCREENS.items():
            photographed(page, out / f"{screen}.png", (width, height), options)
        printed(page, out / "report-print.png", place)
        typeset(result, out / "tables.png", place)
    for picture in ("fraud", *SCREENS, "report-print", "tables"):
        stamped(out / f"{picture}.png", made_from(fraud if picture == "fraud" else result, picture))
        print(out / f"{picture}.png")


if __name__ == "__main__":
    main()
