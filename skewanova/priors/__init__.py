"""Class priors of the deployment: stated, elicited, estimated.

- audit: The prior by audited labels, without label shift.
- batches: The prior from several batches, or from several models that may agree.
- elicitation: Beta priors from stated quantiles.
- estimation: The prior estimated from unlabelled scores.
- evidence: Effective sample size at a prior, and the minimum required for inference.
- mixtures: Scores in bins, and the profile likelihood of the prior from the counts.
- quadrature: Gauss rules, and nodes over the log of the skew.
- weightings: Class priors, skew, deployment priors, and probabilities corrected to a prior.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
