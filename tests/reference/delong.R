# Areas under ROC, their covariance and the tests of pairs by DeLong, DeLong and Clarke-Pearson (1988), from pROC:
# Rscript delong.R, which reads delong_scores.csv and writes r_delong.csv.
suppressMessages(library(pROC))
scores <- read.csv("delong_scores.csv")
models <- setdiff(names(scores), "y_true")
curves <- lapply(models, function(m) roc(scores$y_true, scores[[m]], direction = "<", quiet = TRUE))
rows <- list()
for (i in seq_along(models)) {
  rows[[length(rows) + 1]] <- data.frame(a = models[i], b = models[i], quantity = "auc", value = as.numeric(auc(curves[[i]])))
  for (j in i:length(models)) {
    value <- if (i == j) var(curves[[i]], method = "delong") else cov(curves[[i]], curves[[j]], method = "delong")
    rows[[length(rows) + 1]] <- data.frame(a = models[i], b = models[j], quantity = "covariance", value = value)
  }
}
table <- do.call(rbind, rows)
table$value <- formatC(table$value, digits = 17, format = "g")
write.csv(table, "r_delong.csv", row.names = FALSE, quote = FALSE)
