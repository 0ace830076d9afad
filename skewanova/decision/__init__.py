"""Decisions: which model, at which prior, at which threshold, with how much more data.

- bands: Bands that hold at all priors: of means, and of differences.
- choice: Ranking, decisions, and choices by each criterion.
- joint_curves: Mean AUPREC along the prior with its covariance.
- leads: Leads along the prior: regions, crossings, leaders.
- measures: Measures other than AUPREC, of a threshold or of the ROC curve.
- operating: One threshold at the priors of its use.
- planning: Sample sizes: how much more data would separate two models.
- posterior: The probability of being best, and the value of more data.
- power: Power of a test that is planned from a pilot, whose variance is estimated.
- verdict: The state of a verdict and the facts behind it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
