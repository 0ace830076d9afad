"""Choose the classifier to deploy when the class prior is uncertain.

From held-out scores (model, fold, y_true, y_score) to the area under precision-recall at any prior (AUPREC),
its mean over the priors of a deployment (IAUPREC), the analyses of variance of Landgrebe et al. (2006) with
post-hoc tests, a ranking, and a report.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
