//! The posterior predictive of every statistic from recorded simulations: would the posterior have produced the observation?
//!
//! Models give outputs with weights that stand for new runs. Each value is blurred by Silverman's bandwidth for the effective number of simulations, so that tails beyond the last
//! simulation are not empty. A statistic disagrees when its two-sided tail is below 0.005 over the number of statistics. Tails err on
//! the safe side, since the observation shaped the posterior it is compared with.

use crate::Points;
use crate::checks::{Check, Status};
use crate::model::PredictedOutputs;
use crate::special::normal::cdf as normal_cdf;
use crate::special::tail::UpperTail;

/// Chance that some statistic of a right model is called in disagreement, at most.
const FALSE_ALARMS: f64 = 0.005;
/// Steps to a quantile, at most, and how close it must be, in the width of all values. Bisection alone would take forty.
const STEPS: usize = 60;
const CLOSE: f64 = 1e-12;
/// Bandwidths beyond which a blurred value lies wholly on one side: Φ(-9) is 1e-19.
const FAR: f64 = 9.0;

/// Weights on the successful outputs that stand for the posterior predictive.
#[derive(Debug, Clone)]
pub struct Predictive {
    outputs: Points,
    weights: Vec<f64>,
}

/// One statistic: what was observed and what the posterior predicts.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// The observed value.
    pub observed: f64,
    /// Quantiles of the predictive: 2.5 %, 25 %, 50 %, 75 %, 97.5 %.
    pub quantiles: [f64; 5],
    /// Share of the predictive below the observed value.
    pub below: f64,
}

impl Predicted {
    /// Probability of a value at least as far out on either side.
    pub fn tail(&self) -> f64 {
        (2.0 * self.below.min(1.0 - self.below)).min(1.0)
    }
}

impl Predictive {
    /// From outputs that stand for new runs at posterior parameters.
    pub fn new(PredictedOutputs { outputs, weights }: PredictedOutputs) -> Self {
        Self { outputs, weights }
    }

    /// 1/Σw²: how many simulations the predictive amounts to.
    pub fn effective(&self) -> f64 {
        1.0 / self.weights.iter().map(|w| w * w).sum::<f64>()
    }

    /// Statistic `i` against the value observed.
    pub fn statistic(&self, i: usize, observed: f64) -> Predicted {
        let values = self.outputs.column(i);
        let bandwidth = self.bandwidth(&values);
        let sorted = Sorted::new(&values, &self.weights);
        let cdf = |t: f64| sorted.share_below(t, bandwidth);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min) - 6.0 * bandwidth;
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) + 6.0 * bandwidth;
        let quantile = |p: f64| crossing(&cdf, p, low, high);
        let below = if self.weights.iter().all(|w| *w == self.weights[0]) { share_below(&values, observed) } else { cdf(observed) };
        Predicted { observed, quantiles: [0.025, 0.25, 0.5, 0.75, 0.975].map(quantile), below: below.clamp(0.0, 1.0) }
    }

    /// Silverman's rule with the weighted standard deviation: 0.9 s N^(-1/5). Zero for a constant.
    fn bandwidth(&self, values: &[f64]) -> f64 {
        let mean: f64 = values.iter().zip(&self.weights).map(|(x, w)| w * x).sum();
        let variance: f64 = values.iter().zip(&self.weights).map(|(x, w)| w * (x - mean).powi(2)).sum();
        0.9 * variance.sqrt() * self.effective().powf(-0.2)
    }
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Low,
    High,
}

/// Where a rising function crosses p between two points: by secants, halving the value at an end that stays twice (the Illinois rule), and by
/// the middle at every fourth step, so that flat parts and jumps are crossed too.
fn crossing(rising: &dyn Fn(f64) -> f64, p: f64, mut low: f64, mut high: f64) -> f64 {
    let close = CLOSE * (high - low);
    let (mut below, mut above) = (rising(low) - p, rising(high) - p);
    let mut last = None;
    for step in 1..=STEPS {
        if high - low <= close {
            break;
        }
        let secant = low - below * (high - low) / (above - below);
        let next = if step % 4 == 0 || !(secant > low && secant < high) { 0.5 * low + 0.5 * high } else { secant };
        let value = rising(next) - p;
        let moved = if value < 0.0 { End::Low } else { End::High };
        let halve = if last == Some(moved) { 0.5 } else { 1.0 };
        match moved {
            End::Low => (low, below, above) = (next, value, halve * above),
            End::High => (high, above, below) = (next, value, halve * below),
        }
        last = Some(moved);
    }
    0.5 * low + 0.5 * high
}

/// Values in order, and the weight of all before each.
struct Sorted {
    values: Vec<(f64, f64)>,
    before: Vec<f64>,
}

impl Sorted {
    fn new(values: &[f64], weights: &[f64]) -> Self {
        let mut values: Vec<(f64, f64)> = values.iter().copied().zip(weights.iter().copied()).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        let add = |sum: &mut f64, (_, weight): &(f64, f64)| Some(std::mem::replace(sum, *sum + weight));
        let mut before: Vec<f64> = values.iter().scan(0.0, add).collect();
        before.push(values.iter().map(|value| value.1).sum());
        Self { values, before }
    }

    /// Σ w Φ((t - x)/bandwidth): 1 or 0 to rounding for values further away than [`FAR`] bandwidths.
    fn share_below(&self, t: f64, bandwidth: f64) -> f64 {
        let first = self.values.partition_point(|(x, _)| *x < t - FAR * bandwidth);
        let last = self.values.partition_point(|(x, _)| *x <= t + FAR * bandwidth);
        self.before[first] + self.values[first..last].iter().map(|(x, w)| w * step((t - x) / bandwidth)).sum::<f64>()
    }
}

/// The share of equally likely values below this one, by fitted tails where there are few.
fn share_below(values: &[f64], observed: f64) -> f64 {
    let above = UpperTail::new(values.to_vec()).probability(observed);
    let below = UpperTail::new(values.iter().map(|v| -v).collect()).probability(-observed);
    // Ties count for both.
    if above < below { 1.0 - above.min(0.5) } else { below.min(0.5) }
}

/// Φ(u); a constant statistic has u = ±∞, or 0/0 on the value itself.
fn step(u: f64) -> f64 {
    if u.is_nan() { 0.5 } else { normal_cdf(u) }
}

/// Which statistics disagree with their predictive.
pub fn disagreeing(predicted: &[Predicted]) -> Vec<usize> {
    (0..predicted.len()).filter(|&i| predicted[i].tail() < FALSE_ALARMS / predicted.len() as f64).collect()
}

/// The check on all statistics: a warning if one disagrees, a failure if more than a quarter do.
pub fn check(predicted: &[Predicted], names: &[String]) -> Check {
    let out = disagreeing(predicted);
    let smallest = predicted.iter().map(Predicted::tail).fold(1.0, f64::min);
    let status = if out.is_empty() {
        Status::Ok
    } else if 4 * out.len() > predicted.len() && out.len() > 1 {
        Status::Fail
    } else {
        Status::Warn
    };
    let message = if out.is_empty() {
        "every observed statistic lies in its predicted range".to_string()
    } else {
        let first = out.iter().take(3).map(|&i| names.get(i).map_or("?", String::as_str)).collect::<Vec<_>>().join(", ");
        let (verb, their, them) = if out.len() == 1 { ("lies", "its", "it") } else { ("lie", "their", "them") };
        format!(
            "{} of {} observed statistics {verb} outside {their} predicted range ({first}{}); the model cannot produce {them} together with the rest",
            out.len(),
            predicted.len(),
            if out.len() > 3 { ", …" } else { "" }
        )
    };
    Check::new("predictive", status, smallest, FALSE_ALARMS / predicted.len().max(1) as f64, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};
    use crate::{Hyperparameters, KernelMeansLikelihood, Marginal, Model, Observation, Prior, Question, Recorded, Simulations};
    use std::sync::Arc;

    /// θ ~ N(0, 1), x₁ = θ + N(0, 0.5²), x₂ ~ N(0, 1) whatever θ: the predictive of x₁ given y₁ is N(0.8 y₁, 0.2 + 0.25).
    fn predictive(y: [f64; 2], failing: usize) -> Predictive {
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
        let theta = prior.draw(600, 4);
        let mut x = Points::zeros(600, 2);
        for i in 0..600 {
            let mut rng = stream(4, Purpose::Experiment, i as u64);
            let noisy = theta.row(i)[0] + 0.5 * standard_normal(&mut rng);
            x.row_mut(i).copy_from_slice(&[if i < failing { f64::NAN } else { noisy }, standard_normal(&mut rng)]);
        }
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap()));
        let hyperparameters = Hyperparameters { epsilon: vec![0.2, 10.0], ..Hyperparameters::isotropic(1.0, 0.8, 1e-4) };
        let observation = Observation::Statistics(y.to_vec());
        let model = KernelMeansLikelihood::new(&Question::new(&prior, &recorded, &observation), &hyperparameters).unwrap();
        Predictive::new(model.predicted(&Points::zeros(0, 0)).unwrap())
    }

    /// Monte Carlo error of 600 simulations, the blur and the tolerance.
    const CLOSE: f64 = 0.25;

    #[test]
    fn the_predictive_of_a_linear_model_is_known() {
        for failing in [0, 60] {
            let found = predictive([0.5, 0.0], failing).statistic(0, 0.5);
            let std = 0.45_f64.sqrt();
            assert!((found.quantiles[2] - 0.4).abs() < CLOSE, "{found:?}");
            assert!((found.quantiles[4] - (0.4 + 1.96 * std)).abs() < 2.0 * CLOSE, "{found:?}");
            assert!((found.quantiles[0] - (0.4 - 1.96 * std)).abs() < 2.0 * CLOSE, "{found:?}");
        }
    }

    #[test]
    fn a_crossing_is_found_in_few_steps_where_the_function_is_smooth_and_at_all_where_it_jumps() {
        let calls = std::cell::Cell::new(0);
        let smooth = |t: f64| {
            calls.set(calls.get() + 1);
            normal_cdf(t)
        };
        for (p, quantile) in [(0.025, -1.959963984540054), (0.5, 0.0), (0.975, 1.959963984540054)] {
            calls.set(0);
            assert!((crossing(&smooth, p, -20.0, 9.0) - quantile).abs() < 1e-9, "{p}");
            assert!(calls.get() <= 30, "{p}: {} values", calls.get());
        }
        let jump = |t: f64| if t < 0.3 { 0.0 } else { 1.0 };
        assert!((crossing(&jump, 0.5, -5.0, 7.0) - 0.3).abs() < 1e-3);
        assert_eq!(crossing(&jump, 0.5, 2.0, 2.0), 2.0);
    }

    #[test]
    fn a_statistic_the_model_cannot_produce_is_named() {
        let names = ["mean".to_string(), "odd".to_string()];
        let fine = predictive([0.5, 0.3], 0);
        let values = [fine.statistic(0, 0.5), fine.statistic(1, 0.3)];
        assert_eq!(check(&values, &names).status, Status::Ok);
        let far = predictive([0.5, 8.0], 0);
        let values = [far.statistic(0, 0.5), far.statistic(1, 8.0)];
        assert_eq!(disagreeing(&values), vec![1]);
        let found = check(&values, &names);
        assert_eq!(found.status, Status::Warn);
        assert!(found.message().contains("(odd)"), "{}", found.message());
    }
}
