"""AUPREC and related measures of every model in every fold.

- curve_frames: AUPREC along the prior with intervals, regret and support, and points of ROC curves.
- measures: AUPREC and IAUPREC of every model in every fold.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
