"""Names of the designs, in a file that loads nothing, for the help of the command line."""

#: What several runs on one test set have in common, by how that is stated.
RUNS = {"runs": "crossed", "nested_runs": "nested", "fixed_runs": "fixed"}


DESIGNS = (
    "auto", "independent", "kfold", "repeated_kfold", "repeated_holdout", "split_half", *RUNS, "test_set"
)  # fmt: skip


#: Designs of values of any measure, with a line on each.
VALUES_DESIGNS = {
    "independent": "every fold has training and test data of its own",
    "kfold": "one cross-validation",
    "repeated_kfold": (
        "several cross-validations of the same data, as in skewanova.FoldDesign('repeated_kfold', "
        "test_fraction=0.2), or --design repeated_kfold --test-fraction 0.2"
    ),
    "repeated_holdout": (
        "random splits of the same data, as in skewanova.FoldDesign('repeated_holdout', "
        "test_fraction=0.2), or --design repeated_holdout --test-fraction 0.2"
    ),
    "runs": "trainings with other seeds, all tested on one test set",
    "datasets": "every row is another data set",
}
