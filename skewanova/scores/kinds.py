"""Names of the designs, in a file that loads nothing, for the help of the command line."""

#: What several runs on one test set have in common, by how that is stated.
RUNS = {"runs": "crossed", "nested_runs": "nested", "fixed_runs": "fixed"}


DESIGNS = (
    "auto", "independent", "kfold", "repeated_kfold", "repeated_holdout", "split_half", *RUNS, "test_set"
)  # fmt: skip


_STATED = "{0}, as in skewanova.FoldDesign('{1}', test_fraction=0.2), or --design {1} --test-fraction 0.2"


#: Designs of values of any measure, with a line on each.
VALUES_DESIGNS = {
    "independent": "every fold has training and test data of its own",
    "kfold": "one cross-validation",
    "repeated_kfold": _STATED.format("several cross-validations of the same data", "repeated_kfold"),
    "repeated_holdout": _STATED.format("random splits of the same data", "repeated_holdout"),
    "runs": "trainings with other seeds, all tested on one test set",
    "datasets": "every row is another data set",
}
