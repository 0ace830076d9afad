"""Every test once: its name, how to read it, how a paper describes it."""

from __future__ import annotations

TEST_NAMES = {
    "two_way": "2-way ANOVA",
    "three_way": "3-way ANOVA",
    "three_way_interaction": "3-way ANOVA, model x prior",
    "repeated_measures": "repeated-measures F (Greenhouse-Geisser)",
    "hotelling": "Hotelling T2",
    "friedman": "Friedman, Iman-Davenport F",
    "permutation": "Permutation of models within folds",
    "sign_flip": "Sign flips of fold profiles",
    "mixed": "Mixed model",
    "corrected_f": "corrected 2-way F",
    "corrected_gg": "corrected Greenhouse-Geisser F",
    "corrected_hotelling": "corrected Hotelling T2",
    "influence": "F over cases of one test set",
    "paired_t_holm": "Paired t, Holm",
    "corrected_t_holm": "corrected paired t, Holm",
    "games_howell": "Games-Howell on paired differences",
    "max_t": "Step-down max-T, sign flips",
    "nemenyi": "Nemenyi",
    "wilcoxon_holm": "Wilcoxon, Holm",
    "dunnett": "Dunnett against the control",
    "influence_holm": "paired t over cases of one test set, Holm",
    "tukey": "Tukey HSD, 2-way mean square",
    "tukey_three_way": "Tukey HSD, 3-way mean square",
}


RESPONSE_NAMES = {"iauprec": "IAUPREC", "auprec": "AUPREC"}


TESTS = {
    "two_way": "2-way analysis of variance of IAUPREC with the factors model and fold, the folds as blocks "
    "(Landgrebe et al. 2006, section 5)",
    "three_way": "3-way analysis of variance of AUPREC with the factors model, fold and prior "
    "(Landgrebe et al. 2006, sections 5 and 6)",
    "three_way_interaction": "the 3-way analysis with the interaction of model and prior",
    "repeated_measures": "repeated measures with Greenhouse and Geisser's (1959) degrees of freedom",
    "hotelling": "Hotelling's (1931) T2 of the contrasts between models",
    "friedman": "Friedman's ranks by the F of Iman and Davenport (1980)",
    "permutation": "permutation of models within folds",
    "sign_flip": "sign flips of whole fold profiles",
    "mixed": "a mixed model with random folds",
    "corrected_f": "the 2-way F divided by 1 + J r, for J folds with r test cases for each training case "
    "(Nadeau and Bengio 2003, extended to several models)",
    "corrected_gg": "the repeated-measures F with Greenhouse and Geisser's (1959) degrees of freedom, "
    "divided by 1 + J r",
    "corrected_hotelling": "Hotelling's (1931) T2 of the contrasts between models divided by 1 + J r, for J "
    "folds with r test cases for each training case (Nadeau and Bengio 2003, extended to several models)",
    "paired_t_holm": "paired t tests adjusted by Holm (1979)",
    "corrected_t_holm": "paired t tests with Nadeau and Bengio's (2003) variance, adjusted by Holm (1979)",
    "games_howell": "paired differences with their own standard errors and the studentized range (Games and "
    "Howell 1976)",
    "max_t": "step-down max-T under sign flips of whole fold profiles (Westfall and Young 1993)",
    "nemenyi": "Nemenyi's test of mean ranks (Demsar 2006)",
    "wilcoxon_holm": "signed ranks adjusted by Holm",
    "dunnett": "Dunnett's (1955) comparisons with the control on the 2-way residual mean square",
    "tukey": "Tukey's honestly significant differences on the residual mean square of the 2-way analysis, so "
    "that the variation between folds is taken out; at each prior likewise (Tukey 1949, Kramer 1956)",
    "influence": "F test of equal IAUPREC over the cases of the test set, with the jackknife covariance of "
    "the areas on the angular scale (DeLong, DeLong and Clarke-Pearson 1988, carried to AUPREC) and "
    "Satterthwaite's (1946) degrees of freedom",
    "influence_holm": "t tests of every pair with the same covariance, adjusted by Holm (1979)",
    "tukey_three_way": "the same on the residual mean square of the 3-way analysis",
}


LABELS = {
    "two_way": (
        "As published. Valid when folds are independent; on repeated splits of one data set it rejects true "
        "equality far too often (in 67 % of simulated studies at level .05, with 20 hold-outs of 20 %)."
    ),
    "three_way": (
        "As published. Not a valid test of the models: it counts one ROC once for each prior, so p shrinks "
        "as priors are added (it rejects true equality in 44 % of simulated studies at level .05 with 3 "
        "priors and independent folds, in 95 % with 16). Read it as a description."
    ),
}


LABELS["three_way_interaction"] = LABELS["three_way"]


ROLES = ("headline", "as_published", "check")


OMNIBUS_LABELS = {
    "repeated_measures": (
        "Models against model:fold with Greenhouse and Geisser's degrees of freedom. Valid when folds are "
        "independent (simulated rate of rejecting true equality at level .05: .04)."
    ),
    "hotelling": "Hotelling's T2 on contrasts between models. Valid when folds are independent.",
    "friedman": "Friedman's ranks with Iman and Davenport's F. Valid when folds are independent.",
    "permutation": (
        "Permutation of models within folds. Valid when folds are independent and models spread alike."
    ),
    "sign_flip": "Sign flips of whole fold profiles. Valid when folds are independent and symmetric.",
    "mixed": (
        "Mixed model with random folds, for tables with missing cells. Valid when folds are independent."
    ),
    "corrected_f": "2-way F corrected for shared training data (Nadeau and Bengio 2003).",
    "corrected_gg": (
        "2-way F with Greenhouse and Geisser's degrees of freedom, corrected for shared training data "
        "(Nadeau and Bengio 2003; simulated rate of rejecting true equality at level .05: .05 or less with "
        "stable learners, up to .11 with unstable ones on 80/20 splits)."
    ),
    "corrected_hotelling": (
        "Hotelling's T2 on contrasts between models, corrected for shared training data (Nadeau and "
        "Bengio 2003; simulated rate of rejecting true equality at level .05: .05 with stable learners, up "
        "to .11 with unstable ones on 80/20 splits)."
    ),
    "influence": (
        "F test of the models' areas on the same cases, with their jackknife covariance on the angular scale "
        "(DeLong's idea carried to AUPREC). It is about these fitted models on further cases, not about "
        "training them again."
    ),
}


PAIRWISE_TESTS = (
    "paired_t_holm",
    "corrected_t_holm",
    "games_howell",
    "max_t",
    "nemenyi",
    "wilcoxon_holm",
    "dunnett",
)


#: How each family may be read.
PAIR_LABELS = {
    "paired_t_holm": "Valid when folds are independent, whatever the models' spreads.",
    "corrected_t_holm": "Allows for folds that share training data (Nadeau and Bengio 2003).",
    "games_howell": "Rejects too often with few folds (.08 at level .05 with 5 folds and 4 models).",
    "max_t": "Valid when folds are independent and their profiles symmetric, whatever the models' spreads.",
    "nemenyi": "On mean ranks. Valid when folds are independent; a further model changes the others' ranks.",
    "wilcoxon_holm": "On signed ranks. Valid when folds are independent.",
    "dunnett": "Against the control. Valid when folds are independent and models spread alike.",
    "influence_holm": "About these fitted models on further cases: t of the differences over cases.",
}
