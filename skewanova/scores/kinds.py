"""Names of the designs, in a file that loads nothing, for the help of the command line."""

#: What several runs on one test set have in common, by how that is stated.
RUNS = {"runs": "crossed", "nested_runs": "nested", "fixed_runs": "fixed"}


DESIGNS = (
    "auto", "independent", "kfold", "repeated_kfold", "repeated_holdout", "split_half", *RUNS, "test_set"
)  # fmt: skip
