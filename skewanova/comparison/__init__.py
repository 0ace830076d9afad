"""Comparisons of classifiers: from scores to a verdict in one call.

- analysis: Choose and run the tests over folds.
- cases: Run the tests on one test set, scored once or by several runs.
- diff: changes(), which compares two comparisons.
- estimated_prior: estimate_prior_from_tables(), which estimates the deployment prior from unlabelled scores.
- monitoring: monitor(), which checks by later scores that the chosen model is still the choice.
- parts: compare_datasets() and compare_classes().
- pipeline: compare() and compare_estimators().
- result: Comparison, the result of compare().
- values: compare_values(), for any measure.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
