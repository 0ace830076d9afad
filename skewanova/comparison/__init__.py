"""compare(): all of the above in one call.

- analysis: Options and frames of the analyses of all designs; the tests over folds, and those beside.
- cases: Analyses over the cases of a single test set, and of several runs on one.
- changes: changes(): differences between two comparisons.
- estimated_prior: estimate_prior_from_tables(): the prior of the deployment by the models of a score table.
- monitor: monitor(): check that the chosen model is still the choice where it runs.
- parts: compare_datasets() and compare_classes(): each data set or class, and all together.
- pipeline: compare() and compare_estimators(): every step of a comparison in one call.
- result: Comparison: frames, words, writers.
"""
