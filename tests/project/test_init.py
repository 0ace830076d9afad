import ast
import doctest
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest
from loops import each
from messages import expect_error

import skewanova as sa

HEAVY = "pandas scipy.optimize statsmodels matplotlib seaborn narwhals jinja2 click polars pyarrow patsy"


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def public():
    """Every public object by its path, of the top level and of the packages."""
    names = ((package, importlib.import_module(module), alias.name) for package, module, alias in stubs())
    return {f"{package}.{name}": getattr(module, name) for package, module, name in names}


def functions():
    return [path for path, value in public().items() if inspect.isfunction(value)]


def stubs():
    """Every stub with the names that it lists: (package, module, name)."""
    root = Path(sa.__file__).parent
    for path in sorted(root.rglob("__init__.pyi")):
        package = ".".join(("skewanova", *path.parent.relative_to(root).parts))
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ImportFrom) and node.module:
                yield from ((package, f"{package}.{node.module}", name) for name in node.names)


PACKAGES = ("comparison", "curves", "decision", "evaluation", "inference", "plotting", "priors", "scores")


def test_every_list_is_sorted_and_names_are_those_of_dir():
    packages = {package for package, _, _ in stubs()}
    assert len(packages) >= 8
    for package in packages:
        listed = [alias.asname for of, _, alias in stubs() if of == package]
        listed += PACKAGES if package == "skewanova" else ()
        assert importlib.import_module(package).__all__ == sorted(set(listed))
        assert len(listed) == len(set(listed))
    assert len(sa.__all__) <= 55  # what a user types; the rest stands in the packages
    names = [alias.asname for _, _, alias in stubs()]
    assert {name for name in names if names.count(name) > 1} == set()  # every name has one address
    with pytest.raises(AttributeError, match=r"^No skewanova attribute aurpec$"):
        _ = sa.aurpec
    expect_error("aurpec", exec, "from skewanova import aurpec", error=ImportError)
    listed = run("import skewanova; print(*dir(skewanova))").split()
    assert listed == sorted(set(listed))
    assert set(sa.__all__) <= set(listed)


@each("package, module, alias", list(stubs()))
def test_every_name_is_what_its_module_defines(package, module, alias):
    assert alias.asname == alias.name  # a name that mypy lets others import
    value = getattr(importlib.import_module(package), alias.name)
    assert value is getattr(importlib.import_module(module), alias.name)
    if alias.name != "ESTIMATORS":
        assert (value.__name__, value.__module__) == (alias.name, module)


def test_functions_are_not_shadowed_by_modules_of_the_same_name():
    code = f"""
import skewanova as sa
import skewanova.curves.areas, skewanova.comparison.pipeline, skewanova.evaluation.measures
from skewanova.curves.areas import auprec
assert callable(sa.auprec) and sa.auprec is auprec
for name in set(sa.__all__) - set({PACKAGES!r}):
    assert not hasattr(getattr(sa, name), "__path__") and type(getattr(sa, name)).__name__ != "module", name
from skewanova import *
print(compare.__name__, plotting.plot_auprec.__module__)
"""
    assert run(code) == "compare skewanova.plotting.performance\n"


def test_import_help_and_areas_load_no_more_than_they_need():
    code = f"""
import sys, skewanova
curve = skewanova.roc_curve([0, 1, 1], [0.1, 0.4, 0.3])
skewanova.iauprec(curve, (0.1, 0.2)), skewanova.auprec_score([0, 1], [1, 2], prior=0.5)
print(*(name for name in {HEAVY!r}.split() if name in sys.modules))
skewanova.compare, skewanova.compare_datasets
print(*({{"matplotlib", "seaborn"}} & {{*sys.modules}}))
"""
    assert run(code) == "\n\n"
    code = f"""
import sys
from skewanova.cli.commands import main
for arguments in (["--help"], ["compare", "--help"], ["intervals", "--help"]):
    main(arguments, standalone_mode=False)
print(*(name for name in {HEAVY!r}.split() if name in sys.modules and name != "click"))
"""
    assert run(code).endswith("\n\n")
    code = """
import sys, pandas, skewanova
frame = pandas.DataFrame({"model": "A", "fold": 1, "case": [1, 2], "y_true": [0, 1], "y_score": [0.2, 0.4]})
skewanova.evaluate(skewanova.read_scores(frame))
print(*(name for name in ("special", "sparse", "stats") if f"scipy.{name}" in sys.modules))
"""
    assert run(code) == "\n"


@each("path", [path for path in public() if not path.endswith(".ESTIMATORS")])
def test_every_public_name_is_documented(path):
    name, doc = path.rsplit(".")[-1], public()[path].__doc__
    first = inspect.cleandoc(doc).split("\n")[0]
    assert first.endswith(".")
    assert not first.startswith(f"{name}(")  # what dataclasses write by themselves


FOLDERS = sorted({path.parent.name for path in Path(sa.__file__).parent.glob("*/*.py")})


@each("package", FOLDERS)
def test_every_package_says_what_each_of_its_files_is_about(package):
    folder = Path(sa.__file__).parent / package
    doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    listed = re.findall(r"^- (\w+): .*\.$", doc, flags=re.MULTILINE)
    assert sorted(listed) == sorted({path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"})


@each("path", functions())
def test_every_function_tells_its_parameters_and_shows_an_example(path):
    function = public()[path]
    text, signature = inspect.cleandoc(function.__doc__), inspect.signature(function)
    found = re.findall(r"^([A-Z][A-Za-z ]+)\n-{3,}$", text, flags=re.MULTILINE)
    if signature.parameters:
        assert "Parameters" in found
        text = text.split("Parameters\n----------\n")[1]
        text = re.split(r"\n(?=[A-Z][A-Za-z ]+\n-{3,}\n)", text)[0]
        heads = [line.split(" : ")[0] for line in text.split("\n") if re.match(r"\S", line)]
        listed = [name.strip(" *") for head in heads for name in head.split(",")]
        assert sorted(listed) == sorted(signature.parameters)
    assert "Returns" in found
    if not function.__name__.startswith("plot_"):
        assert "Examples" in found
        assert doctest.DocTestParser().get_examples(function.__doc__)


@each("path", [path for path, value in public().items() if inspect.isclass(value)])
def test_every_method_is_documented(path):
    kind = public()[path]
    if issubclass(kind, Exception):
        return
    for method, value in vars(kind).items():
        if not method.startswith("_") and (callable(value) or isinstance(value, property)):
            assert value.__doc__, method
