"""Inference about differences between models, over folds (learning methods) or over cases (fitted models).

- anova: The paper's 2-way and 3-way analyses of variance.
- case_deviations: Jackknife deviations at many priors, interpolated from a few.
- case_resampling: Jackknife and bootstrap of a model's area over cases or clusters.
- catalogue: Names, descriptions and requirements of all tests.
- covariance: Covariance of the areas of models on the same cases; influence values.
- diagnostics: Checks of the assumptions, residuals and their quantiles.
- effect_sizes: Effect sizes and practical equivalence of pairs, mean effects over studies.
- fold_statistics: Statistics of fold x model tables, sign flips, permutations, the studentized range.
- intervals: Confidence intervals of AUPREC and IAUPREC of one model.
- omnibus: Omnibus tests of all models: over folds, split plot, mixed model.
- paired_test_set: Scores of all models on a single test set, in one run or several.
- pairwise: Comparisons of pairs of models, adjusted as a family.
- ranks: Mean ranks, critical difference, compact letter display.
- runs: Comparison of models with several runs on a single test set.
- sampling: Sampling units (cases or clusters), and standard errors over them.
- single_test_set: Comparison of models on a single test set, over its cases.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
