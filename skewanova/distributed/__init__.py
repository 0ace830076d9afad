"""Scores whose rows stay on the workers of Dask or Spark.

No other package imports this one; it is loaded when a frame of Dask or Spark is read.

- backends: Frames of Dask and Spark behind one protocol.
- case_checks: Checks of cases, clusters and weights on workers, and places of cases on the curves.
- jackknife: Sums over the cases on workers: what leaving out each case or cluster changes.
- loading: Tables and test sets whose rows are on workers, as other packages use them.
- packing: Groups checked and packed on workers, whole or in pieces.
"""
