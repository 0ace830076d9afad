"""Scores whose rows stay on the workers of Dask or Spark.

This package is loaded only when a frame of Dask or Spark is read.

- backends: Frames of Dask and Spark behind one protocol.
- jackknife: Jackknife over cases on workers, which return sums.
- loading: Tables and test sets of distributed scores, for the other packages.
- packing: ROC curves of groups, checks and positions of cases, computed on workers.
"""
