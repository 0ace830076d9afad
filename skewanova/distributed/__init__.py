"""Scores whose rows stay on the workers of Dask or Spark.

No other package imports this one; it is loaded when a frame of Dask or Spark is read.

- backends: Frames of Dask and Spark behind one protocol.
- case_checks: Checks of cases, clusters and weights on the workers, and places of cases on the curves.
- loading: Tables whose groups are packed on the workers, and whose curves come back.
- packing: Groups checked and packed on the workers, whole or in pieces.
"""
