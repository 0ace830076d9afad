"""From scores to ROC and precision-recall, AUPREC and IAUPREC: arrays in, numbers out.

- areas: AUPREC at any prior and IAUPREC over a deployment prior.
- chebyshev: Chebyshev series of curves along the prior, panel by panel.
- distributions: True curves and areas of known distributions, samples from them, and the binormal model.
- estimators: Kernels of the eight estimators of AUPREC, with their sums by moments.
- groups: Curves and measures of all (model, fold), in memory or two bits a case.
- possible: Whether published areas can belong to complete curves.
- roc: ROC curves, the area under them, and the rises of a curve.
- sorting: Cases sorted by one integer key, and their places among the scores of positives.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
