"""Print the lowest versions that pyproject.toml allows, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
EXTRAS = ("parquet", "sklearn", "test")
#: Later versions warn of what the lowest matplotlib calls, and warnings are errors in the tests.
OF_DEPENDENCIES = ("pyparsing==3.1.4",)


def lowest() -> list[str]:
    """One ``name==version`` for each requirement of the package and of its tests."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *(project["optional-dependencies"][extra] for extra in EXTRAS)]
    bounds = [re.fullmatch(r"([\w.-]+)(?:\[.*\])?>=([\d.]+)", need) for group in groups for need in group]
    if None in bounds:
        sys.exit("every requirement in pyproject.toml must have the form name>=version")
    return sorted({*OF_DEPENDENCIES, *(f"{bound[1]}=={bound[2]}" for bound in bounds if bound)})


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest()) + "\n")
