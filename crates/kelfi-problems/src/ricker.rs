//! Ricker's chaotic population map seen through Poisson counts, with 13 statistics (Wood, Nature 466, 2010, doi:10.1038/nature09319).

use crate::moments::mean;
use crate::problem::{BenchmarkProblem, Facts, Reference, SimulationFailure, finite, names, require_data, take};
use crate::small_matrix::SmallCholesky;
use kelfi::Error;
use kelfi::prior::{Marginal, Prior};
use kelfi::random::{Purpose, stream};
use rand::Rng;
use rand_distr::{Distribution, Poisson, StandardNormal};

/// Steps simulated before the counted ones.
const BURN_IN: usize = 50;
/// Counts observed.
const LENGTH: usize = 50;
/// (ln r, σ, φ) of the observed series: Wood's.
const TRUTH: [f64; 3] = [3.8, 0.3, 10.0];
/// Seed of the observed series.
const SEED: u64 = 2010;

/// N_{t+1} = r N_t exp(−N_t + σ z_t), y_t ~ Poisson(φ N_t).
#[derive(Debug, Clone)]
pub struct Ricker {
    facts: Facts,
    /// Sorted first differences of the observed counts: the shape others are compared with.
    observed_differences: Vec<f64>,
}

impl Ricker {
    /// The problem with counts simulated at (3.8, 0.3, 10) with a fixed seed.
    pub fn new() -> Self {
        let counts = counts(TRUTH, &mut stream(SEED, Purpose::Experiment, 0)).expect("Wood's parameters are inside the model's domain");
        Self::with_counts(&counts, Some(TRUTH.to_vec())).expect("fifty finite counts")
    }

    /// The problem with other observed counts, and the parameters that made them if known.
    pub fn with_counts(observed: &[f64], truth: Option<Vec<f64>>) -> Result<Self, Error> {
        require_data("the counts", observed, LENGTH)?;
        if observed.len() != LENGTH {
            return Err(Error::invalid("number of counts", observed.len() as f64, "simulated and observed counts must be as many: 50"));
        }
        let uniform = |name: &str, low: f64, high: f64| (name.to_owned(), Marginal::Uniform { low, high });
        let prior = Prior::independent(vec![uniform("log_r", 3.0, 5.0), uniform("sigma", 0.0, 0.6), uniform("phi", 5.0, 15.0)])
            .expect("three names and intervals that are not empty");
        let observed_differences = sorted_differences(observed);
        let facts = Facts {
            name: "ricker",
            description: "chaotic population dynamics under Poisson counting, Wood's thirteen statistics",
            prior,
            statistic_names: names(&[
                "mean",
                "zeros",
                "autocovariance_0",
                "autocovariance_1",
                "autocovariance_2",
                "autocovariance_3",
                "autocovariance_4",
                "autocovariance_5",
                "differences_linear",
                "differences_quadratic",
                "differences_cubic",
                "autoregression_0.3",
                "autoregression_0.6",
            ]),
            observation: statistics(observed, &observed_differences),
            truth,
        };
        Ok(Self { facts, observed_differences })
    }
}

impl Default for Ricker {
    fn default() -> Self {
        Self::new()
    }
}

impl BenchmarkProblem for Ricker {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn simulate(&self, theta: &[f64], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
        finite(statistics(&counts(take(theta)?, rng)?, &self.observed_differences))
    }

    fn reference(&self) -> Reference {
        Reference::TruthOnly("the likelihood integrates over a chaotic hidden path; only particle methods approximate it")
    }
}

fn counts([log_r, sigma, phi]: [f64; 3], rng: &mut dyn Rng) -> Result<Vec<f64>, SimulationFailure> {
    let mut population: f64 = 1.0;
    let mut counts = Vec::with_capacity(LENGTH);
    for t in 0..BURN_IN + LENGTH {
        let noise: f64 = StandardNormal.sample(rng);
        population *= (log_r - population + sigma * noise).exp();
        if t >= BURN_IN {
            counts.push(poisson(phi * population, rng)?);
        }
    }
    Ok(counts)
}

/// A Poisson count; a population that has underflowed to 0 is counted as 0.
fn poisson(rate: f64, rng: &mut dyn Rng) -> Result<f64, SimulationFailure> {
    if rate == 0.0 {
        return Ok(0.0);
    }
    let law = Poisson::new(rate).map_err(|_| SimulationFailure::NotFinite { index: 0, value: rate })?;
    Ok(law.sample(rng))
}

/// Mean, zeros, autocovariances to lag 5, cubic regression of the sorted differences on the observed ones (no intercept),
/// and y_{t+1}^0.3 regressed on y_t^0.3 and y_t^0.6.
fn statistics(counts: &[f64], observed_differences: &[f64]) -> Vec<f64> {
    let centre = mean(counts);
    let autocovariance =
        |lag: usize| counts.iter().zip(&counts[lag..]).map(|(a, b)| (a - centre) * (b - centre)).sum::<f64>() / counts.len() as f64;
    let mut statistics = vec![centre, counts.iter().filter(|&&count| count == 0.0).count() as f64];
    statistics.extend((0..=5).map(autocovariance));
    let powers: Vec<[f64; 3]> = observed_differences.iter().map(|d| [*d, d.powi(2), d.powi(3)]).collect();
    statistics.extend(regression(&powers, &sorted_differences(counts)));
    let roots: Vec<f64> = counts.iter().map(|count| count.powf(0.3)).collect();
    let design: Vec<[f64; 2]> = roots[..roots.len() - 1].iter().map(|root| [*root, root * root]).collect();
    statistics.extend(regression(&design, &roots[1..]));
    statistics
}

fn sorted_differences(counts: &[f64]) -> Vec<f64> {
    let mut differences: Vec<f64> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences
}

/// Least-squares coefficients of y on the columns of `design`, without intercept; zeros if the columns are dependent
/// (an extinct population has nothing to regress on).
fn regression<const K: usize>(design: &[[f64; K]], y: &[f64]) -> [f64; K] {
    // Columns of unit length: powers one to three of counts differ by orders of magnitude.
    let lengths: [f64; K] = std::array::from_fn(|k| design.iter().map(|row| row[k] * row[k]).sum::<f64>().sqrt());
    let cross = |j: usize, k: usize| design.iter().map(|row| row[j] * row[k]).sum::<f64>() / (lengths[j] * lengths[k]);
    let gram: Vec<f64> = (0..K * K).map(|at| cross(at / K, at % K)).collect();
    let right: Vec<f64> = (0..K).map(|k| design.iter().zip(y).map(|(row, y)| row[k] * y).sum::<f64>() / lengths[k]).collect();
    match SmallCholesky::new(&gram, K) {
        Some(factor) => {
            let scaled = factor.solve(&right);
            std::array::from_fn(|k| scaled[k] / lengths[k])
        }
        None => [0.0; K],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDING: f64 = 1e-9;

    #[test]
    fn the_observed_series_regressed_on_itself_gives_the_identity() {
        let problem = Ricker::new();
        let y = problem.observation();
        assert_eq!(y.len(), 13);
        assert!((y[8] - 1.0).abs() < ROUNDING && y[9].abs() < ROUNDING && y[10].abs() < ROUNDING, "{:?}", &y[8..11]);
    }

    #[test]
    fn regression_recovers_exact_coefficients() {
        let design: Vec<[f64; 2]> = (1..20).map(|t| [f64::from(t), f64::from(t * t)]).collect();
        let y: Vec<f64> = design.iter().map(|row| 2.0 * row[0] - 0.25 * row[1]).collect();
        let [linear, quadratic] = regression(&design, &y);
        assert!((linear - 2.0).abs() < ROUNDING && (quadratic + 0.25).abs() < ROUNDING);
    }

    #[test]
    fn every_prior_draw_gives_finite_statistics() {
        assert!(crate::simulate::simulate_many(&Ricker::new(), 2_000, 3).failures.is_empty());
    }
}
