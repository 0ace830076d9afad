# Analyses of variance, comparisons and checks in R, for the tests of the package.
# From the folder of this file: Rscript reference.R (inputs: make_inputs.py). Needs car, afex and multcomp.
# Writes the r_*.csv files in long form: input, test, term, quantity, value (17 digits).

suppressPackageStartupMessages({
  library(car)
  library(afex)
  library(multcomp)
})
options(contrasts = c("contr.treatment", "contr.poly"))
afex_options(check_contrasts = FALSE)
RATIO <- 0.25 # test cases for each training case, for the Nadeau-Bengio corrections

rows <- list()
record <- function(input, test, term, ...) {
  values <- list(...)
  rows[[length(rows) + 1]] <<- data.frame(
    input = input, test = test, term = term, quantity = names(values),
    value = format(unlist(values), digits = 17, trim = TRUE, scientific = TRUE)
  )
}
save_rows <- function(file) {
  write.csv(do.call(rbind, rows), file, row.names = FALSE, quote = FALSE)
  rows <<- list()
}

read <- function(file) {
  frame <- read.csv(file)
  for (column in intersect(c("model", "fold", "prior"), names(frame))) frame[[column]] <- factor(frame[[column]])
  split(frame, frame$input)
}
long <- lapply(read("anova_auprec.csv"), droplevels)
means <- lapply(read("anova_iauprec.csv"), droplevels)
complete <- c("balanced", "tiny_variance", "smallest", "heteroscedastic")
repeated <- c("balanced", "tiny_variance", "heteroscedastic")
FORMULAS <- list(
  two_way = iauprec ~ model + fold,
  three_way = auprec ~ model + fold + prior,
  three_way_interaction = auprec ~ model + fold + prior + model:prior
)
data_of <- function(test, name) if (test == "two_way") means[[name]] else long[[name]]

# --- r_anova.csv: sums of squares of types 1, 2 and 3 -------------------------------------------------------

record_table <- function(input, test, table) {
  for (term in rownames(table)) {
    row <- table[term, ]
    name <- tolower(trimws(term))
    ms <- row[["Sum Sq"]] / row[["Df"]]
    if (name == "residuals") record(input, test, "residual", df = row[["Df"]], sum_sq = row[["Sum Sq"]], mean_sq = ms)
    else if (name != "(intercept)") {
      record(input, test, name, df = row[["Df"]], sum_sq = row[["Sum Sq"]], mean_sq = ms,
             statistic = row[["F value"]], p_value = row[["Pr(>F)"]])
    }
  }
}
for (name in names(long)) {
  for (test in names(FORMULAS)) {
    data <- data_of(test, name)
    record_table(name, paste0(test, ".type1"), summary(aov(FORMULAS[[test]], data))[[1]])
    record_table(name, paste0(test, ".type2"), Anova(lm(FORMULAS[[test]], data), type = 2))
    summed <- lapply(setNames(nm = intersect(c("model", "fold", "prior"), names(data))), function(x) "contr.sum")
    record_table(name, paste0(test, ".type3"), Anova(lm(FORMULAS[[test]], data, contrasts = summed), type = 3))
  }
}
save_rows("r_anova.csv")

# --- r_tukey.csv: TukeyHSD where nothing is missing, Tukey-Kramer by hand everywhere ------------------------

# qtukey stops at 1e-4: refined here
critical_range <- function(level, k, df) {
  start <- qtukey(level, k, df)
  uniroot(function(q) ptukey(q, k, df, lower.tail = FALSE) - (1 - level), start * c(0.99, 1.01), tol = 1e-12)$root
}
kramer <- function(fit, factor, level) {
  levels <- fit$xlevels[[factor]]
  estimate <- c(0, coef(fit)[paste0(factor, levels[-1])])
  cov <- matrix(0, length(levels), length(levels))
  cov[-1, -1] <- vcov(fit)[paste0(factor, levels[-1]), paste0(factor, levels[-1])]
  out <- list()
  critical <- critical_range(level, length(levels), fit$df.residual)
  for (i in seq_along(levels)[-1]) for (j in seq_len(i - 1)) {
    diff <- estimate[[i]] - estimate[[j]]
    se <- sqrt(cov[i, i] + cov[j, j] - 2 * cov[i, j])
    margin <- critical * se / sqrt(2)
    p <- ptukey(sqrt(2) * abs(diff) / se, length(levels), fit$df.residual, lower.tail = FALSE)
    out[[paste0(levels[i], "-", levels[j])]] <- list(
      estimate = diff, std_error = se, conf_low = diff - margin, conf_high = diff + margin, p_adjusted = p)
  }
  out
}
for (name in names(long)) for (test in c("two_way", "three_way")) for (level in c(0.95, 0.995)) {
  if (name == "smallest" && test == "two_way") next # ptukey needs 2 residual degrees of freedom
  for (factor in if (test == "two_way") "model" else c("model", "prior")) {
    data <- data_of(test, name)
    id <- paste(test, factor, level, sep = ".")
    if (name %in% complete) {
      table <- TukeyHSD(aov(FORMULAS[[test]], data), factor, conf.level = level)[[factor]]
      for (pair in rownames(table)) {
        record(name, paste0("tukey_hsd.", id), pair, estimate = table[pair, "diff"], conf_low = table[pair, "lwr"],
               conf_high = table[pair, "upr"], p_adjusted = table[pair, "p adj"])
      }
    }
    pairs <- kramer(lm(FORMULAS[[test]], data), factor, level)
    for (pair in names(pairs)) do.call(record, c(list(name, paste0("tukey_kramer.", id), pair), pairs[[pair]]))
  }
}
save_rows("r_tukey.csv")

# --- r_repeated_measures.csv: split-plot, sphericity corrections, Hotelling, Nadeau-Bengio ------------------

wide_of <- function(name) {
  wide <- xtabs(iauprec ~ fold + model, means[[name]])
  matrix(wide, nrow(wide), dimnames = list(rownames(wide), colnames(wide)))
}
# car takes a small error matrix for a singular one: the response is scaled on the way in
SCALE <- 1e3
record_univariate <- function(input, test, fit) {
  s <- suppressWarnings(summary(fit$Anova, multivariate = FALSE))
  tests <- s$univariate.tests
  for (term in setdiff(rownames(tests), "(Intercept)")) {
    row <- tests[term, ]
    record(input, test, term, df = row[["num Df"]], df_error = row[["den Df"]], sum_sq = row[["Sum Sq"]] / SCALE^2,
           error_sum_sq = row[["Error SS"]] / SCALE^2, statistic = row[["F value"]], p_value = row[["Pr(>F)"]])
    if (term %in% rownames(s$pval.adjustments)) {
      fix <- s$pval.adjustments[term, ]
      gg <- fix[["GG eps"]]
      hf <- fix[["HF eps"]]
      record(input, test, term, gg_epsilon = gg, gg_df = gg * row[["num Df"]], gg_df_error = gg * row[["den Df"]],
             gg_p_value = fix[["Pr(>F[GG])"]], hf_epsilon = hf, hf_p_value = fix[["Pr(>F[HF])"]])
    }
    if (term %in% rownames(s$sphericity.tests)) {
      record(input, test, term, mauchly_w = s$sphericity.tests[term, "Test statistic"],
             mauchly_p_value = s$sphericity.tests[term, "p-value"])
    }
  }
}
for (name in repeated) {
  strata <- summary(aov(auprec ~ model * prior + Error(fold / (model * prior)), long[[name]]))
  for (stratum in names(strata)) {
    table <- strata[[stratum]][[1]]
    label <- gsub(" ", "", sub("Error: ", "", stratum))
    for (term in rownames(table)) {
      row <- table[term, ]
      id <- paste0(label, "/", tolower(trimws(term)))
      record(name, "split_plot", id, df = row[["Df"]], sum_sq = row[["Sum Sq"]], mean_sq = row[["Mean Sq"]])
      if (!grepl("residual", id)) {
        record(name, "split_plot", id, statistic = row[["F value"]], p_value = row[["Pr(>F)"]])
      }
    }
  }
  both <- suppressWarnings(suppressMessages(
    aov_ez("fold", "auprec", transform(long[[name]], auprec = SCALE * auprec), within = c("model", "prior"))))
  record_univariate(name, "afex_model_prior", both)
  one <- suppressWarnings(suppressMessages(
    aov_ez("fold", "iauprec", transform(means[[name]], iauprec = SCALE * iauprec), within = "model")))
  record_univariate(name, "afex_model", one)

  wide <- wide_of(name)
  K <- ncol(wide)
  J <- nrow(wide)
  sphericity <- mauchly.test(lm(wide ~ 1), X = ~1)
  record(name, "mauchly_base", "model", statistic = sphericity$statistic[[1]], p_value = sphericity$p.value)

  z <- wide[, -1, drop = FALSE] - wide[, 1]
  t2 <- J * mahalanobis(colMeans(z), rep(0, K - 1), cov(z))
  f <- (J - K + 1) / ((J - 1) * (K - 1)) * t2
  record(name, "hotelling", "model", t_squared = t2, statistic = f, df = K - 1, df_error = J - K + 1,
         p_value = pf(f, K - 1, J - K + 1, lower.tail = FALSE))

  inflation <- 1 + J * RATIO
  record(name, "corrected_hotelling", "model", t_squared = t2 / inflation, statistic = f / inflation, df = K - 1,
         df_error = J - K + 1, p_value = pf(f / inflation, K - 1, J - K + 1, lower.tail = FALSE))
  table <- summary(one$Anova, multivariate = FALSE)
  row <- table$univariate.tests["model", ]
  f <- row[["F value"]] / inflation
  df <- c(row[["num Df"]], row[["den Df"]])
  gg <- table$pval.adjustments["model", "GG eps"]
  record(name, "corrected_f", "model", statistic = f, df = df[1], df_error = df[2],
         p_value = pf(f, df[1], df[2], lower.tail = FALSE))
  record(name, "corrected_gg", "model", statistic = f, df = gg * df[1], df_error = gg * df[2],
         p_value = pf(f, gg * df[1], gg * df[2], lower.tail = FALSE))
}
save_rows("r_repeated_measures.csv")

# --- r_pairs.csv: ranks, paired tests, Dunnett, corrected t -------------------------------------------------

# two-sided Dunnett tail for k contrasts of correlation 1/2: integrated over the control's mean and the spread
dunnett_tail <- function(t, k, df) {
  inner <- function(s) sapply(s, function(u) integrate(function(z) {
    dnorm(z) * -expm1(k * log1p(-(pnorm(-z - sqrt(2) * t * u) + pnorm(z - sqrt(2) * t * u))))
  }, -12, 12, rel.tol = 1e-11, abs.tol = 0, subdivisions = 1000)$value)
  density <- function(s) exp(log(2) + (df / 2) * log(df / 2) - lgamma(df / 2) + (df - 1) * log(s) - df * s^2 / 2)
  limits <- sqrt(qchisq(c(1e-18, 0.5), df) / df)
  upper <- sqrt(qchisq(1e-18, df, lower.tail = FALSE) / df)
  part <- function(a, b) integrate(function(s) density(s) * inner(s), a, b, rel.tol = 1e-10, abs.tol = 0)$value
  part(limits[1], limits[2]) + part(limits[2], upper)
}
record_pairs <- function(input, test, quantity, table) {
  for (a in rownames(table)) for (b in colnames(table)) if (!is.na(table[a, b])) {
    do.call(record, c(list(input, test, paste0(a, "-", b)), setNames(list(table[a, b]), quantity)))
  }
}
for (name in repeated) {
  data <- means[[name]]
  wide <- wide_of(name)
  J <- nrow(wide)
  K <- ncol(wide)
  ranks <- friedman.test(iauprec ~ model | fold, data = data)
  chi2 <- ranks$statistic[[1]]
  f <- (J - 1) * chi2 / (J * (K - 1) - chi2)
  record(name, "friedman", "model", statistic = chi2, df = ranks$parameter[[1]], p_value = ranks$p.value)
  record(name, "iman_davenport", "model", statistic = f, df = K - 1, df_error = (K - 1) * (J - 1),
         p_value = pf(f, K - 1, (K - 1) * (J - 1), lower.tail = FALSE))
  for (adjust in c("none", "holm")) {
    quantity <- if (adjust == "none") "p_value" else "p_adjusted"
    record_pairs(name, "paired_t_holm", quantity,
                 pairwise.t.test(data$iauprec, data$model, paired = TRUE, p.adjust.method = adjust)$p.value)
    record_pairs(name, "wilcoxon_holm", quantity,
                 pairwise.wilcox.test(data$iauprec, data$model, paired = TRUE, p.adjust.method = adjust)$p.value)
  }
  pairs <- t(combn(colnames(wide), 2))
  corrected <- lapply(seq_len(nrow(pairs)), function(i) {
    d <- wide[, pairs[i, 2]] - wide[, pairs[i, 1]]
    se <- sqrt(var(d) * (1 / J + RATIO))
    margin <- qt(0.975, J - 1) * se
    list(estimate = mean(d), std_error = se, statistic = mean(d) / se, df = J - 1,
         p_value = 2 * pt(abs(mean(d) / se), J - 1, lower.tail = FALSE),
         conf_low_95 = mean(d) - margin, conf_high_95 = mean(d) + margin)
  })
  holm <- p.adjust(sapply(corrected, `[[`, "p_value"), "holm")
  for (i in seq_len(nrow(pairs))) {
    id <- paste0(pairs[i, 2], "-", pairs[i, 1])
    do.call(record, c(list(name, "corrected_t_holm", id), corrected[[i]], p_adjusted = holm[[i]]))
  }
  set.seed(1)
  many <- glht(lm(iauprec ~ model + fold, data), linfct = mcp(model = "Dunnett"))
  test <- summary(many, test = adjusted("single-step", maxpts = 1e5, abseps = 1e-6))$test
  limits <- confint(many, level = 0.95, calpha = adjusted_calpha(maxpts = 1e5, abseps = 1e-5))$confint
  for (i in seq_along(test$coefficients)) {
    record(name, "dunnett", gsub(" ", "", names(test$coefficients)[i]), estimate = test$coefficients[[i]],
           std_error = test$sigma[[i]], statistic = test$tstat[[i]], df = many$df, p_adjusted = test$pvalues[[i]],
           conf_low_95 = limits[i, "lwr"], conf_high_95 = limits[i, "upr"])
    record(name, "dunnett_integrated", gsub(" ", "", names(test$coefficients)[i]),
           p_adjusted = dunnett_tail(abs(test$tstat[[i]]), K - 1, many$df))
  }
  critical <- uniroot(function(t) dunnett_tail(t, K - 1, many$df) - 0.05, c(1.5, 6), tol = 1e-10)$root
  record(name, "dunnett_integrated", "all", critical_95 = critical)
}
save_rows("r_pairs.csv")

# --- r_checks.csv: additivity, normality, equal spread ------------------------------------------------------

for (name in names(long)) for (test in c("two_way", "three_way")) {
  if (name == "smallest" && test == "two_way") next # one residual degree of freedom
  data <- data_of(test, name)
  fit <- lm(FORMULAS[[test]], data)
  residual <- residuals(fit)
  shapiro <- shapiro.test(residual)
  record(name, test, "shapiro_wilk", statistic = shapiro$statistic[[1]], p_value = shapiro$p.value)
  levene <- leveneTest(residual, data$model, center = median)
  record(name, test, "brown_forsythe", statistic = levene[1, "F value"], p_value = levene[1, "Pr(>F)"])
  bartlett <- bartlett.test(residual, data$model)
  record(name, test, "bartlett", statistic = bartlett$statistic[[1]], p_value = bartlett$p.value)
  if (test == "two_way") {
    data$squared <- (fitted(fit) - mean(fitted(fit)))^2
    added <- anova(fit, lm(iauprec ~ model + fold + squared, data))
    record(name, test, "tukey_additivity", statistic = added[2, "F"], df = 1, df_error = added[2, "Res.Df"],
           p_value = added[2, "Pr(>F)"])
  }
}
save_rows("r_checks.csv")
