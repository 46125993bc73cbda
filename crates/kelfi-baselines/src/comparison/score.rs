//! How good one answer is: judged by its samples, so that every method is measured alike.

use super::classifier::told_apart;
use super::{Observations, marginals, reference};
use kelfi::method::Answer;
use kelfi::simulations::scales::median;
use kelfi::{Error, Points};
use kelfi_problems::BenchmarkProblem;
use kelfi_problems::blowfly::{Blowfly, nmse};
use serde::{Deserialize, Serialize};

/// Samples an answer is judged by.
pub const SAMPLES: usize = 2_000;
/// A posterior that gives the true parameters less than e^-20 of the prior's density counts as this: a mean over repeats stays finite.
pub const FLOOR: f64 = -20.0;
/// Draws for the prior's standard deviations.
const PRIOR_DRAWS: usize = 10_000;
/// Simulations at the point estimate for the normalised mean squared error, as in the KELFI paper.
const NMSE_RUNS: usize = 1_000;

/// The scores of one answer; `None` where the truth or the exact posterior is not known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Root mean square over parameters of (posterior mean − truth) / prior standard deviation.
    pub error: Option<f64>,
    /// The same over the posterior's own standard deviation: about 1 where it knows how much it knows.
    pub error_in_sds: Option<f64>,
    /// Share of parameters whose central 50 % interval has the truth.
    pub covered_50: Option<f64>,
    /// The same of the 95 % interval.
    pub covered_95: Option<f64>,
    /// ln of posterior over prior density at the truth, at least [`FLOOR`].
    pub gain: Option<f64>,
    /// How well samples are told from those of the exact posterior: 0.5 not at all, 1 always.
    pub c2st: Option<f64>,
    /// Mean over parameters of the total variation between its marginal and the exact one: 0 alike, 1 apart.
    pub total_variation: Option<f64>,
    /// Normalised mean squared error at the posterior mean in percent, for the blowfly problem's own observation.
    pub nmse: Option<f64>,
    /// Mean of ln posterior over prior density for simulations near the observation, each left out; where the truth is not known and the
    /// method takes draws of the prior only.
    pub left_out: Option<f64>,
    /// Distance of simulations at posterior samples from the observation, in spreads of the statistics; where the truth is not known.
    pub predictive: Option<f64>,
    /// Median over parameters of posterior over prior standard deviation.
    pub width: f64,
}

/// What answers to one observation are held against.
pub struct Judge<'a> {
    truth: Option<&'a [f64]>,
    exact: Option<Points>,
    prior_sd: Vec<f64>,
    seed: u64,
    real_data: bool,
}

impl<'a> Judge<'a> {
    /// Prepares the judgement on an observation y made by `truth`, where that is known.
    pub fn new(problem: &dyn BenchmarkProblem, observations: Observations, y: &[f64], truth: Option<&'a [f64]>, seed: u64) -> Self {
        // Other streams than those of the samples judged: the same seed would give some methods the very same numbers.
        let exact = reference::samples(problem, y, SAMPLES, !seed);
        let draws = problem.prior().draw(PRIOR_DRAWS, 0);
        let prior_sd = (0..draws.columns()).map(|d| moments(&draws.column(d)).1).collect();
        let real_data = observations == Observations::Own && problem.name() == "blowfly";
        Self { truth, exact, prior_sd, seed, real_data }
    }

    /// Scores an answer with its samples.
    pub fn score(&self, samples: &Points, answer: &Answer) -> Result<Score, Error> {
        let gain = self.truth.map(|truth| answer.gain(truth)).transpose()?;
        let c2st = self.exact.as_ref().map(|exact| told_apart(samples, exact));
        let total_variation = self.exact.as_ref().map(|exact| marginals::total_variation(samples, exact));
        Ok(Score { total_variation, gain: gain.map(|gain| if gain > FLOOR { gain } else { FLOOR }), c2st, ..self.by_samples(samples)? })
    }

    /// The scores of the exact posterior, where it is known: what even the best method cannot do better.
    pub fn exact(&self) -> Option<(Score, &Points)> {
        self.exact.as_ref().and_then(|samples| Some((self.by_samples(samples).ok()?, samples)))
    }

    /// What samples alone say.
    fn by_samples(&self, samples: &Points) -> Result<Score, Error> {
        samples.require_finite("the posterior samples")?;
        let columns: Vec<Vec<f64>> = (0..samples.columns()).map(|d| sorted(samples.column(d))).collect();
        let (mean, sd): (Vec<f64>, Vec<f64>) = columns.iter().map(|column| moments(column)).unzip();
        let against = |scale: &[f64]| self.truth.map(|truth| root_mean_square(&mean, truth, scale));
        let covered = |share: f64| self.truth.map(|truth| coverage(&columns, truth, share));
        Ok(Score {
            error: against(&self.prior_sd),
            error_in_sds: against(&sd),
            covered_50: covered(0.5),
            covered_95: covered(0.95),
            gain: None,
            c2st: None,
            total_variation: None,
            left_out: None,
            predictive: None,
            nmse: self.real_data.then(|| nmse(&Blowfly::new(), &mean, NMSE_RUNS, self.seed)).transpose()?,
            width: median(sd.iter().zip(&self.prior_sd).map(|(a, b)| a / b).collect()).unwrap_or(f64::NAN),
        })
    }
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_by(f64::total_cmp);
    values
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// √ mean_d ((mean_d − truth_d)/scale_d)²; a scale of 0 counts as the smallest one.
fn root_mean_square(mean: &[f64], truth: &[f64], scale: &[f64]) -> f64 {
    let one = |d: usize| ((mean[d] - truth[d]) / scale[d].max(f64::MIN_POSITIVE.sqrt())).powi(2);
    ((0..mean.len()).map(one).sum::<f64>() / mean.len() as f64).sqrt()
}

/// Share of parameters whose central interval of sorted samples has the truth.
fn coverage(columns: &[Vec<f64>], truth: &[f64], share: f64) -> f64 {
    let inside = columns.iter().zip(truth).filter(|(column, truth)| {
        let at = |p: f64| column[((p * column.len() as f64) as usize).min(column.len() - 1)];
        at(0.5 * (1.0 - share)) <= **truth && **truth <= at(0.5 * (1.0 + share))
    });
    inside.count() as f64 / columns.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi_problems::{by_name, data_set};

    #[test]
    fn scores_are_as_by_hand() {
        assert_eq!(root_mean_square(&[1.0, 5.0], &[0.0, 1.0], &[1.0, 4.0]), 1.0);
        let column: Vec<f64> = (0..100).map(f64::from).collect();
        let shares = |truth: f64, share: f64| coverage(std::slice::from_ref(&column), &[truth], share);
        assert_eq!([shares(25.0, 0.5), shares(75.0, 0.5), shares(24.0, 0.5), shares(76.0, 0.5)], [1.0, 1.0, 0.0, 0.0]);
        assert_eq!([shares(2.0, 0.95), shares(97.0, 0.95), shares(1.0, 0.95), shares(98.0, 0.95)], [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn the_exact_posterior_scores_as_theory_says_and_the_prior_gains_nothing() {
        let problem = by_name("linear_gaussian").unwrap();
        let repeats = 60;
        let (mut z2, mut covered, mut told) = (0.0, 0.0, 0.0);
        for seed in 0..repeats {
            let (truth, y) = data_set(&*problem, seed).unwrap();
            let judge = Judge::new(&*problem, Observations::FromPrior, &y, Some(&truth), seed);
            let samples = problem.reference_samples(&y, SAMPLES, seed).unwrap();
            let score = judge.score(&samples, &Answer::Prior(problem.prior().clone())).unwrap();
            assert_eq!(score.gain, Some(0.0));
            assert_eq!(score.error.map(|e| e < 3.0), Some(true));
            z2 += score.error_in_sds.unwrap().powi(2);
            covered += score.covered_50.unwrap();
            told += score.c2st.unwrap();
        }
        let n = repeats as f64;
        let dimension = problem.prior().dimension() as f64;
        // Var z² = 2 for each of n D nearly independent parameters; four standard errors.
        assert!((z2 / n - 1.0).abs() < 4.0 * (2.0 / (n * dimension)).sqrt(), "{}", z2 / n);
        assert!((covered / n - 0.5).abs() < 4.0 * (0.25 / (n * dimension)).sqrt(), "{}", covered / n);
        assert!((told / n - 0.5).abs() < 0.01, "{}", told / n);
    }
}
