# Logistic growth with a noisy harvest: prints four statistics of a population over 40 years.
# Called by kelfi as: Rscript --vanilla simulate.R RATE CAPACITY SEED
arguments <- as.numeric(commandArgs(trailingOnly = TRUE))
rate <- arguments[1]
capacity <- arguments[2]
set.seed(arguments[3])   # all randomness comes from this seed, so every run can be repeated

years <- 40
population <- numeric(years)
population[1] <- 10
for (year in 2:years) {
  previous <- population[year - 1]
  growth <- rate * previous * (1 - previous / capacity)
  population[year] <- max((previous + growth) * exp(rnorm(1, 0, 0.1)), 0.1)
}
counts <- rpois(years, population)

early <- log1p(counts[5])
half <- which(counts > 0.5 * mean(tail(counts, 15)))[1]
cat(early, half, mean(tail(counts, 15)), sd(log1p(tail(counts, 15))), "\n")
