"""Plots of results and frames on matplotlib axes.

- artists: Parts that plots share: mean lines, bands, strips, forests and surfaces.
- comparisons: Plots of differences between models, their p-values and critical differences.
- display: AUPRECDisplay, like the displays of scikit-learn.
- lines: Colours of models and heights of names at line ends.
- performance: Plots of curves, AUPREC and IAUPREC by prior and by fold, leading models, regret, residuals.
- priors: Plots of the prior estimated from unlabelled scores, once or batch by batch.
- styling: Colours, markers, labels, axes and legends of plots, and their shared parameter descriptions.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
