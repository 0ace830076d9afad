"""Finished frames to matplotlib Axes.

- artists: Strips, bands, forests, surfaces: what plots are made of.
- comparisons: Plots of differences, p-values and critical differences.
- curves: Plots of ROC, precision-recall, the surface, and one threshold by skew.
- display: AUPRECDisplay, in the way of scikit-learn's displays.
- looks: Colours, markers, names, axes, legends, labels at lines, and texts that plots share.
- performance: Plots of AUPREC and IAUPREC: by prior, by fold, who leads, regret, residuals.
- priors: The prior estimated from unlabelled scores, and what becomes of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
