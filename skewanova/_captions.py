"""What stands under each figure of the report, and which files hold its numbers."""

from __future__ import annotations

from collections.abc import Mapping

CAPTIONS = {
    "iauprec": "IAUPREC by model. A small dot is one fold, at the same height in every row; the large "
    "marker is the mean over folds with its {level} interval (how it was made stands under the ranking). "
    "Models that share a letter were not found to differ.",
    "auprec": "AUPREC by prior, mean over folds with one standard deviation either way; the range of the "
    "deployment prior is shaded.",
    "interaction": "Mean AUPREC over folds of each model at each prior tabulated, with its {level} t "
    "interval (widened where folds share training data; each interval by itself). Lines that cross: which "
    "model is better depends on the prior.",
    "regions": "Mean AUPREC over folds by prior, with {level} bands that hold for all models and priors at "
    "once (left out where there are many models); the strip along the bottom has the colour of the model "
    "with the highest mean there, and a ring with a bar is the prior at which the lead changes, with its {level} interval. The lead itself is not tested here: the tables say which models may be the best.",
    "regret": "Regret by prior: by how much the mean AUPREC of each model falls short of that of the best "
    "model at the same prior. The range of the deployment prior is shaded.",
    "differences": "Pairwise differences in {measure} ({test}), first model minus second, with simultaneous "
    "{level} intervals; filled where the test finds a difference.{cut_pairs}",
    "p_values": "Adjusted p of each pair ({test}) and, where its cell has room, the difference in "
    "{measure}, column minus row; the darker a cell, the smaller p.",
    "critical_difference": "Mean ranks of the models over folds by IAUPREC (1 is best). A bar joins models "
    "that Nemenyi's test does not tell apart: those with a dot on it (Demsar 2006). A check beside the "
    "headline test.",
    "difference_curves": "Difference in AUPREC of each pair along the prior; the {level} bands hold at all "
    "priors and for all pairs at once; a dark strip marks priors at which a band leaves out 0.{cut_panels}",
    "roc": "ROC curves, mean over folds at each false positive rate.",
    "precision_recall": "Precision-recall curves, mean over folds at each recall: each prior has its own.",
    "surface": "P-ROC surface of each model: mean precision over folds by recall and prior.{cut_panels}",
    "skew": "Accuracy and precision of one threshold (that of each fold with the largest true minus false "
    "positive rate) as negatives become more frequent: accuracy hides what precision shows.",
    "residuals": "Residuals of the 2-way analysis of variance of IAUPREC: against fitted values, by fold, "
    "and ordered against normal quantiles with the 95 % envelopes of normal samples of the same layout "
    "(dark: each point by itself; light: all points at once).",
}

#: Instead of those above where there is one test set: no folds to average over.
ONE_SET_CAPTIONS = {
    "iauprec": "IAUPREC by model on the test set, with its {level} interval over cases (how it was made "
    "stands under the ranking). Models that share a letter were not found to differ.",
    "auprec": "AUPREC on the test set by prior; the range of the deployment prior is shaded.",
    "regions": "AUPREC on the test set by prior, with {level} bands over cases that hold for all models and "
    "priors at once (left out where there are many models); the strip along the bottom has the colour of "
    "the model with the highest AUPREC there, and a ring with a bar is the prior at which the lead changes, with its {level} interval. The lead itself is not tested here: the tables say which models may be the best.",
    "regret": "Regret by prior: by how much the AUPREC of each model falls short of that of the best model "
    "at the same prior. The range of the deployment prior is shaded.",
    "roc": "ROC curves on the test set.",
    "precision_recall": "Precision-recall curves on the test set: each prior has its own.",
    "surface": "P-ROC surface of each model: precision by recall and prior.{cut_panels}",
    "skew": "Accuracy and precision of one threshold (that with the largest true minus false positive rate) "
    "as negatives become more frequent: accuracy hides what precision shows.",
}
#: Where the numbers of a figure are: files of the output folder.
FIGURE_NUMBERS = {
    "iauprec": ("iauprec.csv", "ranking.csv"),
    "auprec": ("auprec_by_prior.csv",),
    "interaction": ("auprec_intervals.csv",),
    "regions": ("regions.csv", "crossings.csv", "auprec_by_prior.csv"),
    "regret": ("regret.csv",),
    "differences": ("posthoc.csv",),
    "p_values": ("posthoc.csv",),
    "critical_difference": ("iauprec.csv", "posthoc.csv"),
    "difference_curves": ("differences.csv",),
    "roc": ("roc.csv",),
    "precision_recall": ("precision_recall.csv",),
    "surface": ("surface.csv",),
    "skew": ("skew.csv",),
    "residuals": ("residuals.csv",),
}


def caption(kind: str, values: Mapping[str, str], *, one_set: bool) -> str:
    """Caption of a figure, filled in."""
    texts = CAPTIONS | ONE_SET_CAPTIONS if one_set else CAPTIONS
    return texts[kind].format(**values)
