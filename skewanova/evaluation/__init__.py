"""AUPREC and related measures of every model in every fold.

- along_prior: Mean AUPREC, its intervals, regret and support as functions of the prior.
- measures: AUPREC and IAUPREC of every model in every fold.
- points: Points of ROC and precision-recall curves, the P-ROC surface, and a threshold by skew.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
