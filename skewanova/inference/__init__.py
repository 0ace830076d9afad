"""Is a difference real? Over folds: methods trained anew; over the cases of one test set: these models.

- anova: The paper's 2-way and 3-way analyses of variance.
- case_deviations: What leaving out each case changes at many priors, summed over blocks of cases.
- case_resampling: Jackknife and bootstrap of the area of a model over cases or clusters.
- catalogue: Every test once: its name, how to read it, how a paper describes it.
- covariance: Covariance of the areas of models on the same cases; influence values.
- diagnostics: Assumptions of the tests; residuals and their quantiles.
- effect_sizes: How large differences of pairs are: effect sizes, practical equivalence.
- fold_statistics: Statistics of fold x model tables, sign flips, permutations, the studentized range.
- intervals: Confidence intervals of AUPREC and IAUPREC of one model.
- omnibus: Tests of all models at once.
- paired_test_set: The cases of one test set with the scores of every model, in one run or several.
- pairwise: Comparisons of pairs of models, adjusted as a family.
- random_effects: Split plot, mixed model, and random-effects meta-analysis.
- ranks: Mean ranks, the critical difference, compact letters.
- runs: Several runs of every model on one test set.
- sampling: Sampling units (cases, clusters, weights), and standard errors over them.
- single_test_set: Models compared on one test set, over its cases.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
