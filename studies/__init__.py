"""Simulations behind the claims.

- areas: Estimators, intervals and binormal fits against the truth.
- calibration: Size and power of all tests over folds.
- decisions: Crossings, leaders and P(best) against the truth.
- halvings: Size and power of the split-half variance, and its price.
- levels: Tests and intervals where scores have few levels.
- monitor: False alarms and delays of `monitor` over many looks.
- one_set: Size of the test on one set.
- operating: Intervals at thresholds, and tests across data sets.
- output: Figures and folder of a study.
- plans: Power that plans promise, against power obtained.
- priors: Coverage of an estimated prior, and the test of label shift.
- ranks: Coverage and width of the intervals of ranks.
- results: What a study found: frame and tables.
- runner: Replicates in seeded blocks over processes.
- scenarios: Learners, scenarios, settings and levels.
- support: Size of tests and coverage of intervals where cases are few.
"""
