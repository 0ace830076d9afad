"""compare(): all of the above in one call.

- analysis: What the analyses of all designs share.
- changes: What changed between two comparisons.
- classes: compare_classes(): each class of several against the rest, and all together.
- datasets: compare_datasets(): several data sets, each and together.
- estimators: compare_estimators(): fit, score and compare in one call.
- estimated_prior: The prior of the deployment by the models of a score table.
- folds: The tests that the design of the folds asks for, and those beside.
- monitor: Whether the chosen model is still the choice where it runs.
- pipeline: compare(): every step of a comparison in one call.
- result: Comparison: frames, words, writers.
- runs: Analysis of several runs on one test set.
- single_test_set: Analysis of a single test set.
"""
