"""How folds may have come about, by name: nothing is loaded for it, so that the shell has it at once."""

#: What several runs on one test set have in common, by how that is stated.
RUNS = {"shared_cases": "crossed", "nested_runs": "nested", "fixed_runs": "fixed"}


RESAMPLING = (
    "auto", "independent", "kfold", "repeated_kfold", "repeated_holdout", "split_half", *RUNS
)  # fmt: skip
