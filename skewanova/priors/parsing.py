"""Parsers of priors and deployment priors on the command line."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from skewanova.base.checks import InputError, check_priors
from skewanova.priors.weightings import BetaPrior, DeploymentPrior, UniformPrior, UniformSkew


def parse_deployment_prior(text: str) -> DeploymentPrior:
    """Parse a deployment prior, such as ``0.05:0.2``, ``beta:2:38`` or ``skew:4:19``.

    Examples
    --------
    >>> from skewanova.priors.parsing import parse_deployment_prior
    >>> parse_deployment_prior("skew:4:19")
    UniformSkew(low_skew=4.0, high_skew=19.0)
    >>> parse_deployment_prior("quantiles:0.05=0.02:0.95=0.15").describe()
    'beta(2.89163, 36.8129) over priors, mean 0.0728'
    """
    kinds: dict[str, Callable[[float, float], DeploymentPrior]] = {"skew": UniformSkew, "beta": BetaPrior}
    kind, *rest = text.strip().split(":")
    form = (
        "a deployment prior must be LOW:HIGH, one prior, skew:LOW:HIGH, beta:A:B or "
        f"quantiles:SHARE=PRIOR:SHARE=PRIOR, but got {text!r}"
    )
    if "%" in text:
        fractions = re.sub(r"(\d*\.?\d+)\s*%", lambda match: f"{float(match[1]) / 100:g}", text)
        raise InputError(form if "%" in fractions else f"{form}; did you mean {fractions}?")
    if kind == "quantiles":
        return BetaPrior.from_quantiles(_parse_quantiles(rest, form))
    numbers = _parse_floats(rest if kind in kinds else [kind, *rest], form)
    if len(numbers) > 2 or (kind in kinds and len(numbers) < 2):
        raise InputError(form)
    return kinds[kind](*numbers) if kind in kinds else UniformPrior(numbers[0], numbers[-1])


def parse_priors(text: str) -> tuple[float, ...]:
    """Parse priors separated by commas."""
    numbers = _parse_floats(text.split(","), f"priors must be numbers separated by commas, but got {text!r}")
    return tuple(check_priors(numbers, "priors").tolist())


def parse_prior(text: str) -> float:
    """Parse one prior."""
    priors = parse_priors(text)
    if len(priors) > 1:
        raise InputError(f"the prior must be one number, but got {text!r}")
    return priors[0]


def parse_priors_or_range(text: str) -> tuple[float, ...] | DeploymentPrior:
    """Parse priors separated by commas or, if the text has a colon, a deployment prior."""
    return parse_deployment_prior(text) if ":" in text else parse_priors(text)


def _parse_quantiles(texts: Sequence[str], form: str) -> dict[float, float]:
    """Parse SHARE=PRIOR of each quantile; raise if a share is repeated."""
    sides = [text.split("=") for text in texts]
    if any(len(side) != 2 for side in sides):
        raise InputError(form)
    shares, priors = (_parse_floats([side[i] for side in sides], form) for i in (0, 1))
    if len(set(shares)) < len(shares):
        raise InputError(f"the shares of `quantiles` must be different, but got {':'.join(texts)}")
    return dict(zip(shares, priors, strict=True))


def _parse_floats(texts: Sequence[str], message: str) -> list[float]:
    """Return the texts as floats, or raise InputError with this message."""
    try:
        return [float(text) for text in texts]
    except ValueError as error:
        raise InputError(message) from error
