"""Search for cases that break a rule, for as long as wanted: ``make fuzz SEED=1 MINUTES=20``.

Every generator takes its turn with new cases until the time is over. What breaks a rule is made small,
printed, and kept in the corpus, where the ordinary tests try it from then on. Exit status 1 if anything was
found.
"""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).parents[1]))

from fuzz import arrays, damage, designs, faults, names, options, priors, same, search, tables

GENERATORS: tuple[search.Generator, ...] = tuple(
    generator
    for module in (tables, designs, priors, damage, options, names, faults, arrays, same)
    for generator in module.GENERATORS
)
#: Cases of the first turn of a generator; later turns try as many as took about this many seconds.
FIRST, TURN = 5, 20.0
#: A generator that has found so many things is left alone: mend those first.
MOST_FOUND = 3


def hunt(
    generators: Sequence[search.Generator], *, seed: int, minutes: float, corpus: Path = search.CORPUS
) -> tuple[Counter[str], Counter[str]]:
    """How many cases were tried, and how many findings there were, by generator."""
    end = time.monotonic() + 60 * minutes
    tried: Counter[str] = Counter()
    found: Counter[str] = Counter()
    examples = dict.fromkeys((generator.name for generator in generators), FIRST)
    turn = 0
    while time.monotonic() < end and any(found[g.name] < MOST_FOUND for g in generators):
        turn += 1
        for generator in generators:
            if time.monotonic() >= end or found[generator.name] >= MOST_FOUND:
                continue
            started = time.monotonic()
            try:
                count = search.search(
                    generator, examples=examples[generator.name], seed=hash_of(seed, turn)
                ).tried
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
                count = told(generator, error, corpus)
                found[generator.name] += 1
            tried[generator.name] += count
            pace = max(time.monotonic() - started, 1e-3) / max(count, 1)
            examples[generator.name] = max(1, min(round(TURN / pace), 2 * examples[generator.name]))
    return tried, found


def hash_of(seed: int, turn: int) -> int:
    """Another seed for every turn, the same in every run."""
    return seed * 1_000_003 + turn


def told(generator: search.Generator, error: Exception, corpus: Path) -> int:
    """Print what was found and keep the case; how many cases it took."""
    trial = search.trial_of(error)
    if trial is not None and search.place_of(generator, trial.case, corpus).exists():
        click.echo(f"\n{generator.name}: again {search.place_of(generator, trial.case, corpus)}")
        return trial.tried
    click.echo(f"\n{generator.name}: {type(error).__name__}: {error}")
    for cause in error.exceptions if isinstance(error, ExceptionGroup) else ():  # it held when tried again
        click.echo(f"{type(cause).__name__}: {cause}")
    for note in getattr(error, "__notes__", ()):
        click.echo(note)
    if trial is not None:
        click.echo(f"kept as {search.keep(generator, trial.case, corpus)}")
    return 0 if trial is None else trial.tried


@click.command()
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed, other cases.")
@click.option("--minutes", type=float, default=60, show_default=True, help="How long to search.")
@click.option("--only", metavar="WORD", default="", help="Generators whose name holds this word.")
def main(seed: int, minutes: float, only: str) -> None:
    """Search for cases that break a rule."""
    chosen = [generator for generator in GENERATORS if only in generator.name]
    tried, found = hunt(chosen, seed=seed, minutes=minutes)
    for generator in chosen:
        click.echo(f"{generator.name:<20} {tried[generator.name]:>8} cases {found[generator.name]:>3} found")
    click.echo(f"seed {seed}: {tried.total()} cases, {found.total()} found")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
