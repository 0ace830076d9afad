"""Class priors of the deployment: stated, elicited, estimated.

- batches: The prior from several batches, or from several models that may agree.
- elicitation: Beta priors from stated quantiles.
- estimation: The prior estimated from unlabelled scores.
- evidence: Effective sample size at a prior, and the minimum required for inference.
- mixtures: Profile likelihood of the prior from scores in bins, and from audited labels.
- quadrature: Gauss rules, and nodes over the log of the skew.
- weightings: Class priors, skew, deployment priors, and probabilities corrected to a prior.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
