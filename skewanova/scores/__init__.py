"""Held-out scores, from a file or an estimator to a checked table.

- columns: Names of the columns of a score table, and their values as arrays.
- design: The design of the folds, and the ratio of test to training cases.
- halvings: Random hold-outs and halvings of a data set, and score tables with halvings.
- kinds: Names of designs.
- pairing: Checks before a comparison: complete folds, the same cases for all models, sanity of the scores.
- reading: Score tables read from files, frames and queries, of several classes one-vs-rest.
- scikit_learn: Score tables from estimators and cross_validate of scikit-learn, and scorers.
- sources: Tables read from files, folders, frames of any library, Arrow streams and queries.
- table: Checked tables of held-out scores.
- text_files: Columns read from CSV files and JSON lines.
- unlabelled: Scores of unlabelled cases, and labelled cases to estimate their prior with.
- validation: Checks of columns, of counts, and of clusters and weights.
- values: Values of any measure by model and fold.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
