"""Measures of every model, in every fold, at every prior.

- along_prior: Means, intervals, regret and support by prior.
- measures: Every model in every fold, measured at every prior.
- points: Points of ROC, precision-recall, the P-ROC surface, and one threshold by skew.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
