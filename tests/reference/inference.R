# Mixed models in R, for the tests of the package. From the folder of this file: Rscript inference.R
# Needs lme4. Reads anova_iauprec.csv; writes r_mixed_inputs.csv (tables more) and r_mixed.csv.

suppressPackageStartupMessages(library(lme4))

means <- read.csv("anova_iauprec.csv")
# folds that differ less than chance would have it: the variance between them is estimated as 0
cells <- expand.grid(fold = 1:8, model = 1:3)
boundary <- data.frame(
  input = "boundary", model = paste0("M", cells$model), fold = paste0("F0", cells$fold),
  iauprec = round(0.8 + 0.01 * cells$model + 0.02 * sin(12.9 * cells$fold * cells$model + cells$fold), 6)
)
boundary <- boundary[-c(3, 12), ]
# one model in half of the folds only, another in the other half
halves <- means[means$input == "heteroscedastic", ]
early <- halves$fold %in% sprintf("F%02d", 1:5)
halves <- halves[!(halves$model == "M1" & early) & !(halves$model == "M4" & !early), ]
halves$input <- "halves"
more <- rbind(boundary, halves)
write.csv(more, "r_mixed_inputs.csv", row.names = FALSE, quote = FALSE)

rows <- list()
for (data in split(rbind(means, more), c(means$input, more$input))) {
  data$y <- (data$iauprec - mean(data$iauprec)) / sd(data$iauprec)
  fit <- suppressMessages(lmer(
    y ~ model + (1 | fold), data,
    control = lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e5))
  ))
  effect <- fixef(fit)[-1]
  wald <- drop(effect %*% solve(as.matrix(vcov(fit))[-1, -1, drop = FALSE], effect)) / length(effect)
  rows[[length(rows) + 1]] <- data.frame(
    input = data$input[1], test = "mixed", term = "model", quantity = c("statistic", "variance_ratio"),
    value = format(c(wald, getME(fit, "theta")[[1]]^2), digits = 17, trim = TRUE, scientific = TRUE)
  )
}
write.csv(do.call(rbind, rows), "r_mixed.csv", row.names = FALSE, quote = FALSE)
