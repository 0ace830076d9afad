"""Comparisons of classifiers: from scores to a verdict in one call.

- analysis: Choose and run the tests over folds.
- cases: Run the tests on one test set, scored once or by several runs.
- changes: diff_comparisons(), which compares two comparisons.
- estimated_prior: estimate_prior_from_tables(), which estimates the deployment prior from unlabelled scores.
- monitor: monitor(), which checks by later scores that the chosen model is still the choice.
- parts: compare_datasets() and compare_classes().
- pipeline: compare() and compare_estimators().
- result: Comparison, the result of compare().
"""
