# What emmeans answers: cells of the comparison, and p-values of simulated tables (called by peers.py).
#
#   Rscript peers.R VALUES.csv     columns scenario, replicate, fold, model, value
#
# Prints lines of fields parted by tabs: "version", "cell", "p" (scenario, test, replicate, p), "seconds".
suppressPackageStartupMessages(library(emmeans))
say <- function(...) cat(paste(..., sep = "\t"), "\n", sep = "")
names_given <- c("$x$_1", "<b>B</b>", "my model", "say \"hi\" & 100%")

tables <- read.csv(commandArgs(trailingOnly = TRUE)[1], colClasses = c(scenario = "character"))
tables$fold <- factor(tables$fold)
tables$model <- factor(tables$model)
analyse <- function(d) {
  fit <- lm(value ~ model + fold, d)
  all <- as.data.frame(joint_tests(fit))
  pairs <- summary(pairs(emmeans(fit, "model")))
  c(joint_tests = all$p.value[all$`model term` == "model"], pairs = min(pairs$p.value))
}
for (part in split(tables, list(tables$scenario, tables$replicate), drop = TRUE)) {
  if (part$scenario[1] == "time") {
    part$model <- droplevels(part$model)
    fit <- lm(value ~ model + fold, part)
    seconds <- replicate(5, system.time(summary(pairs(emmeans(fit, "model"))))[["elapsed"]])
    say("seconds", median(seconds))
  } else {
    p <- analyse(part)
    for (test in names(p)) say("p", part$scenario[1], test, part$replicate[1], p[[test]])
  }
}

# --- cells: one table of four models with odd names ---------------------------------------------------------
set.seed(1)
d <- expand.grid(fold = factor(1:20), model = factor(names_given))
d$value <- rnorm(80) + as.integer(d$model)
d$size <- rnorm(80)
fit <- lm(value ~ model + fold, d)
means <- emmeans(fit, "model")
ratio <- 1 + 20 * 0.25
t_ratio <- summary(pairs(means))$t.ratio
corrected <- summary(pairs(emmeans(fit, "model", vcov. = ratio * vcov(fit))))$t.ratio
by_hand <- if (isTRUE(all.equal(corrected * sqrt(ratio), t_ratio))) "by hand, `vcov.`" else "differs"
kept <- setequal(as.character(summary(means)$model), names_given)
printed <- paste(capture.output(print(xtable::xtable(means))), collapse = "\n")
escaped <- grepl("100\\%", printed, fixed = TRUE) && grepl("\\&", printed, fixed = TRUE)
letters_shown <- tryCatch({
  capture.output(print(multcomp::cld(means)))
  "yes"
}, error = function(e) if (grepl("multcompView", e$message)) "needs multcompView" else "no")
equivalent <- test(pairs(means), delta = 0.5, side = "equivalence")
one_less <- summary(emmeans(lm(value ~ model + fold, d[-1, ]), "model"))
covariate <- summary(emmeans(lm(value ~ model * size + fold, d), "model"))
say("version", as.character(packageVersion("emmeans")), R.version.string)
say("cell", "two_overlap", by_hand)
say("cell", "several_overlap", by_hand)
say("cell", "names", if (kept) "kept" else "changed")
say("cell", "latex", if (escaped) "escaped" else "not escaped")
say("cell", "letters", letters_shown)
say("cell", "rope", if (all(is.finite(equivalent$p.value))) "`delta=`" else "no")
say("cell", "missing", if (all(is.finite(one_less$emmean))) "all values used" else "no answer")
say("cell", "factors", if (all(is.finite(covariate$emmean))) "any linear model" else "no")
exported <- tolower(getNamespaceExports("emmeans"))
say("cell", "html", if (any(grepl("html|report", exported))) "found" else "no")
say("cell", "plan", if (any(grepl("power|sample_?size|plan", exported))) "found" else "no")
