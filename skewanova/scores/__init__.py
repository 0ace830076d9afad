"""Held-out scores, from a file or an estimator to a checked table.

- bins: Labelled cases of a model, each once, in bins of its score.
- clusters: Clusters and weights of cases: one of each a case, and no cluster cut in two by a fold.
- columns: The columns of a table of scores: their names, and their values as arrays.
- design: How the folds came about, and the ratio of test to training cases.
- halvings: Every model validated in either half of the data set, beside the hold-outs.
- kinds: How folds may have come about, by name.
- multiclass: Each class of several against the rest.
- pairing: Complete folds, the same cases for all models, and what `check` says of a table.
- reading: Score tables read from files and frames.
- scikit_learn: Score tables from scikit-learn's estimators and cross_validate; scorers.
- soundness: What the scores themselves tell against taking them for what they are given as.
- splits: Hold-outs and halvings of a data set.
- sources: Where scores come from: files, folders of Parquet, frames of any library, Arrow streams and queries.
- table: A checked table of held-out scores.
- text_files: CSV and JSON lines to columns.
- unlabelled: Scores of cases without labels, from where the models run.
- validation: Checks of columns and of counts: what a table of scores may hold, and what is said of the rest.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
