"""What CI runs, in environments made for it: ``nox -l`` lists the sessions, ``nox -s tests-3.13`` runs one.

``.ci/run`` calls the same sessions, and installs nox by itself.
"""

import tarfile
from pathlib import Path

import nox

nox.needs_version = ">=2025.5.1"
nox.options.default_venv_backend = "uv"

PYTHONS = nox.project.python_versions(nox.project.load_toml())
#: Of the suite: what depends on which files were packed.
PACKED = (
    "project/test_packaging.py",
    "project/test_docs.py",
    "project/test_init.py::test_functions_are_not_shadowed_by_modules_of_the_same_name",
    "scores/test_reading.py::test_every_model_of_a_hold_out_of_the_satellite_data_saw_the_same_cases",
    "report/test_folder.py::test_one_prior_and_one_test_set_have_words_of_their_own",  # reads the templates
)


#: All tiers of the tests.
ALL = ("-m", "not kernels")


def pytest(session: nox.Session, *arguments: str, **environment: str) -> None:
    """Run pytest, its plots drawn to nowhere."""
    session.run("python", "-m", "pytest", *arguments, env={"MPLBACKEND": "Agg", **environment})


@nox.session
def lint(session: nox.Session) -> None:
    """Linters, types, layers, spelling, and the files that other services read."""
    session.install("-e", ".", "--group", "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")
    session.run("codespell")
    session.run("validate-pyproject", "pyproject.toml")
    session.run("repo-review", ".")
    session.run("zizmor", "--offline", "--quiet", ".github")
    for schema, files in {
        "github-workflows": sorted(map(str, Path(".github/workflows").glob("*.yml"))),
        "dependabot": [".github/dependabot.yml"],
        "readthedocs": [".readthedocs.yaml"],
        "citation-file-format": ["CITATION.cff"],
    }.items():
        session.run("check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the site and the paper, warnings being errors: samples, pictures and notebooks are made anew."""
    session.install("-e", ".[all]", "--group", "docs", "--group", "paper")
    site = Path(session.create_tmp()) / "site"
    session.run("python", "paper/build.py", str(site.parent))
    session.run(
        "python", "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto", "-b", "html", "docs", str(site)
    )
    session.run("python", "docs/check_links.py", str(site))


@nox.session(default=False)
def linkcheck(session: nox.Session) -> None:
    """Links of the site to other sites; needs the network."""
    session.install("-e", ".[all]", "--group", "docs")
    site = Path(session.create_tmp()) / "links"
    session.env["SKEWANOVA_DOCS_ONLINE"] = "1"
    session.run("python", "-m", "sphinx", "-q", "-b", "linkcheck", "docs", str(site))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """The fast tests with the newest versions of everything; arguments go to pytest."""
    session.install("-e", ".[all]", "--group", "test")
    pytest(session, *(session.posargs or ["-n", "auto"]))


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """All tests, and which lines none of them runs."""
    session.install("-e", ".[all]", "--group", "test", "--group", "bridges")
    parallel, report = ("-n", "auto", "--dist", "worksteal"), "--cov-report=term:skip-covered"
    pytest(session, *ALL, *parallel, "--cov=skewanova", report)


@nox.session(default=False)
def spark(session: nox.Session) -> None:
    """Frames of Spark, run for real; needs Java."""
    session.install("-e", ".[all,spark]", "--group", "test")
    pytest(session, *ALL, "-q", "tests/distributed/test_backends.py", "-k", "spark")


@nox.session(default=False)
def upcoming(session: nox.Session) -> None:
    """All tests with the pre-releases of everything."""
    session.install("--prerelease", "allow", "-e", ".[all]", "--group", "test")
    pytest(session, *ALL, *(session.posargs or ["-n", "auto"]))


@nox.session(python=PYTHONS[0], default=False)
def lowest(session: nox.Session) -> None:
    """Run the tests with the lowest versions that pyproject.toml allows: all, or those given as arguments."""
    pins = Path(session.create_tmp()) / "lowest.txt"
    wanted = ("--all-extras", "--group", "lowest", "--output-file", str(pins))
    session.run("uv", "pip", "compile", "-q", "--resolution", "lowest-direct", "pyproject.toml", *wanted)
    session.install("-r", str(pins))
    session.install("--no-deps", "-e", ".")
    pytest(session, *ALL, *session.posargs, SKEWANOVA_VERSIONS="lowest")


@nox.session(default=False)
def package(session: nox.Session) -> None:
    """Build the source archive, and the wheel from it, into a folder; the tests and the demo run."""
    session.install("--group", "package")
    folder = Path(session.create_tmp()).resolve()
    built = Path(*session.posargs).resolve() if session.posargs else folder / "dist"
    session.run("uv", "build", "--out-dir", str(built))
    source, wheel = max(built.glob("*.tar.gz")), max(built.glob("*.whl"))
    session.run("twine", "check", "--strict", str(source), str(wheel))
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    session.chdir(folder)
    session.install(str(wheel))
    session.run("skewanova", "demo", "--alpha", "0.005", "--out", "report", silent=True)
    session.run("python", "-c", "open('report/report.html').close()")
    session.chdir(folder / source.name.removesuffix(".tar.gz"))
    session.install("-e", ".[all]", "--group", "test")
    pytest(session, *ALL, "-q", *(f"tests/{name}" for name in PACKED), SKEWANOVA_WHEEL=str(wheel))


@nox.session(default=False)
def kernels(session: nox.Session) -> None:
    """Run the tests that decide, under each kernel of OpenBLAS that the processor can run."""
    session.install("-e", ".[all]", "--group", "test")
    session.run("bash", ".ci/kernels", "python", external=True)


@nox.session(default=False)
def benchmarks(session: nox.Session) -> None:
    """Measure the table of benchmarks/performance.md; arguments go to the command."""
    session.install("-e", ".[all]")
    session.run("python", "-m", "benchmarks", *session.posargs)
