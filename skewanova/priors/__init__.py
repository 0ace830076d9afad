"""What is believed about the class prior of the deployment.

- agreement: Whether several models agree about the prior, and what they say together.
- batches: The prior of a further batch, predicted from several.
- binning: Scores in bins at quantiles, ties kept together.
- correction: Probabilities corrected to a prior that they were not learnt at.
- elicitation: Beta priors from stated quantiles.
- estimation: The prior estimated from unlabelled scores.
- evidence: How many cases speak for a prior, and how many are enough.
- mixtures: Profile likelihood of the prior from counts in bins.
- parsing: Priors and deployment priors as the command line writes them.
- quadrature: Gauss rules, and nodes over the log of the skew.
- weightings: Class priors, skew and deployment priors.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
