"""``--deployment-prior estimate:UNLABELLED``: a weighting that is estimated once the table is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from skewanova.base.checks import InputError
from skewanova.priors.parsing import parse_deployment_prior, parse_priors_or_range
from skewanova.priors.weightings import DeploymentPrior

if TYPE_CHECKING:
    from skewanova.scores.table import (
        Scores,
    )

Prior = TypeVar("Prior")


#: How a deployment prior that is to be estimated begins.
ESTIMATE = "estimate:"


class Unlabelled(NamedTuple):
    """A deployment prior that is estimated once the labelled table is read."""

    path: Path


def parse_prior_or_estimate(text: str) -> DeploymentPrior | Unlabelled:
    """A weighting, or the file of unlabelled scores that it is estimated from."""
    if text.strip().startswith(ESTIMATE):
        name = text.strip().removeprefix(ESTIMATE)
        if not name:
            raise InputError("estimate: needs a file of unlabelled scores, such as estimate:field.csv")
        return Unlabelled(Path(name))
    return parse_deployment_prior(text)


def parse_priors_or_estimate(text: str) -> tuple[float, ...] | DeploymentPrior | Unlabelled:
    """Priors separated by commas, a weighting, or the file that it is estimated from."""
    return parse_prior_or_estimate(text) if text.strip().startswith(ESTIMATE) else parse_priors_or_range(text)


def with_estimate(prior: Prior | Unlabelled, table: Scores) -> Prior | DeploymentPrior:
    """The weighting, estimated if that was asked for; anything else as it is."""
    if not isinstance(prior, Unlabelled):
        return prior
    from skewanova.comparison.estimated_prior import estimate_prior_from_tables

    return estimate_prior_from_tables(table, prior.path)


def refuse_estimate(prior: DeploymentPrior | Unlabelled) -> DeploymentPrior:
    """The weighting, where there is no one labelled table to estimate it by."""
    if isinstance(prior, Unlabelled):
        raise InputError(
            "--deployment-prior estimate: needs one labelled table, but there are several data sets: run "
            "`skewanova prior` on one and give what it prints"
        )
    return prior
