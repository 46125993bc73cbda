# Reads a finished run into R: posterior samples, the summary table and the checks.
# Rscript read.R examples/r/problem
directory <- commandArgs(trailingOnly = TRUE)[1]

samples <- read.csv(file.path(directory, "samples.csv"))
print(summary(samples))
print(t(sapply(samples, quantile, probs = c(0.025, 0.5, 0.975))))
print(cor(samples))

# summary.json has the same numbers as the report, and the checks (install.packages("jsonlite")).
if (requireNamespace("jsonlite", quietly = TRUE)) {
  run <- jsonlite::read_json(file.path(directory, "summary.json"), simplifyVector = TRUE)
  for (name in names(run$parameters)) {
    p <- run$parameters[[name]]
    cat(sprintf("%s: mean %.3f, 95 %% interval %.3f to %.3f\n", name, p$mean, p$q025, p$q975))
  }
  print(run$checks[, c("name", "status")])
}

# A plot of the joint posterior: pairs(samples), or library(bayesplot); mcmc_pairs(samples)
