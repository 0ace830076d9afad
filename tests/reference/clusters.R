# Standard errors of areas by leaving out clusters, by the R package survey, for the tests of the package.
# From the folder of this file: Rscript clusters.R. Writes r_clusters_inputs.csv and r_clusters.csv.
# Inputs: clusters that all hold both classes (one stratum), and clusters of one class each (two strata).

suppressPackageStartupMessages(library(survey))
set.seed(7)
PRIOR <- 0.3
PAIR <- c("a", "b")

area <- function(w, positive, score) { # trapezoid of precision over recall; ties are one step, empty weights none
  cut <- sort(unique(score[w > 0]), decreasing = TRUE)
  hit <- sapply(cut, function(s) sum(w[positive & score >= s])) / sum(w[positive])
  alarm <- sapply(cut, function(s) sum(w[!positive & score >= s])) / sum(w[!positive])
  before <- c(0, hit)[seq_along(hit)]
  alarm_before <- c(0, alarm)[seq_along(alarm)]
  up <- hit > before
  precision <- function(t, f) ifelse(t + f > 0, PRIOR * t / (PRIOR * t + (1 - PRIOR) * f), NA)
  start <- ifelse(before + alarm_before > 0, precision(before, alarm_before), precision(hit, alarm))
  sum(((hit - before) * (start + precision(hit, alarm)) / 2)[up])
}

simulate <- function(name, mixed) {
  size <- sample(2:6, 40, replace = TRUE)
  cluster <- rep(seq_along(size), size)
  positive <- if (mixed) sequence(size) %% 2 == 1 else cluster %% 3 == 0
  own <- matrix(rnorm(length(size) * 2), ncol = 2)[cluster, ] + matrix(rnorm(length(cluster) * 2), ncol = 2)
  score <- round(own + outer(as.numeric(positive), c(1.6, 1.0)), 1)
  data.frame(input = name, cluster = cluster, positive = positive, weight = sample(c(0.5, 1, 3), length(cluster), TRUE),
             a = score[, 1], b = score[, 2])
}

rows <- list()
for (data in list(simulate("mixed", TRUE), simulate("apart", FALSE))) {
  input <- data$input[1]
  data$stratum <- if (input == "mixed") 1 else as.integer(data$positive)
  design <- as.svrepdesign(svydesign(ids = ~cluster, strata = ~stratum, weights = ~weight, data = data), type = "JKn", mse = FALSE)
  for (model in c(PAIR, "difference")) {
    estimate <- function(w, data) {
      each <- sapply(PAIR, function(m) area(w, data$positive, data[[m]]))
      if (model == "difference") each[["a"]] - each[["b"]] else each[[model]]
    }
    found <- withReplicates(design, estimate, return.replicates = TRUE)
    # survey centres all replicates at one mean; within strata, its own variance of each stratum's, added
    left <- data$stratum[match(sapply(seq_len(ncol(weights(design, "analysis"))), function(r)
      data$cluster[weights(design, "analysis")[, r] == 0][1]), data$cluster)]
    variance <- sum(sapply(unique(left), function(h)
      svrVar(found$replicates[left == h], scale = 1, rscales = rep((sum(left == h) - 1) / sum(left == h), sum(left == h)), mse = FALSE, coef = NA)))
    rows[[length(rows) + 1]] <- data.frame(
      input = input, model = model, quantity = c("estimate", "std_error", "std_error_by_strata"),
      value = format(c(as.numeric(found$theta), as.numeric(sqrt(vcov(found))), as.numeric(sqrt(variance))), digits = 17, scientific = TRUE)
    )
  }
  rows[[length(rows) + 1]] <- NULL
  inputs <- if (exists("inputs")) rbind(inputs, data) else data
}
write.csv(inputs[c("input", "cluster", "weight", "positive", "a", "b")], "r_clusters_inputs.csv", row.names = FALSE, quote = FALSE)
write.csv(do.call(rbind, rows), "r_clusters.csv", row.names = FALSE, quote = FALSE)
