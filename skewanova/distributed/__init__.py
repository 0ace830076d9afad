"""Scores whose rows stay on the workers of Dask or Spark.

No other package imports this one; it is loaded when a frame of Dask or Spark is read.

- backends: Frames of Dask and Spark behind one protocol.
- case_checks: Checks of cases, clusters and weights on the workers, and places of cases on the curves.
- jackknife: What leaving out each case or cluster changes: workers return sums.
- loading: Tables whose groups are packed on the workers, and whose curves come back.
- packing: Groups checked and packed on the workers, whole or in pieces.
- paired_cases: The cases of one test set, or of runs on it, with every model's scores on them.
"""
