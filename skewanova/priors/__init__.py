"""What is believed about the class prior of the deployment.

- elicitation: Beta priors from stated quantiles.
- evidence: How many cases speak for a prior, and how many are enough.
- quadrature: Nodes over the log of the skew.
- weightings: Class priors, skew and deployment priors, and the correction of scores for the prior.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
