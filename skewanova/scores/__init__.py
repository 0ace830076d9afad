"""Held-out scores, from a file or an estimator to a checked table.

- columns: The columns of a table of scores: their names, and their values as arrays.
- design: The design of the folds, and the ratio of test to training cases.
- halvings: Hold-outs and halvings of a data set, drawn and checked.
- kinds: Names of designs.
- multiclass: Each class of several against the rest.
- pairing: Checks before a comparison: complete folds, the same cases for all models, sanity of the scores.
- reading: Score tables read from files and frames.
- scikit_learn: Score tables from scikit-learn's estimators and cross_validate; scorers.
- sources: Sources of scores: files, folders, frames of any library, Arrow streams and queries.
- table: A checked table of held-out scores.
- text_files: CSV and JSON lines to columns.
- unlabelled: Scores of cases without labels, and bins of labelled scores beside them.
- validation: Checks of columns, of counts, and of clusters and weights.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
