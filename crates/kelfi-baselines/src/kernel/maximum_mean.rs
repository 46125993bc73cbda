//! K2-ABC (Park, Jitkrittum & Sejdinovic, AISTATS 2016): no statistics; outputs are samples, compared by their maximum mean discrepancy.

use super::clipped;
use kelfi::kernel::empirical::median_distance;
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Error, Points};
use rand::RngExt;
use rayon::prelude::*;

/// Random features of the approximate discrepancy.
const FEATURES: usize = 50;
/// Tolerances tried by how well the weighted mean of z predicts simulations that play the observation.
const TOLERANCES: [f64; 6] = [1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1];
/// Simulations that play the observation.
const PLAYED: usize = 50;

/// How the discrepancy is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discrepancy {
    /// All pairs, unbiased. Costs O(n²).
    Quadratic,
    /// Consecutive pairs, unbiased. Costs O(n).
    Linear,
    /// By random Fourier features. Costs O(n · features).
    Features,
}

/// Soft rejection by the maximum mean discrepancy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MaximumMean {
    /// How discrepancies are computed.
    pub discrepancy: Discrepancy,
    /// Values that belong together: an output of n numbers is n/width points. 1: the numbers themselves are the sample.
    pub width: usize,
    /// ε of exp(−MMD²/ε); `None`: the one of a list that predicts left-out simulations best.
    pub tolerance: Option<f64>,
}

impl MaximumMean {
    /// The numbers of an output are its sample.
    pub fn new(discrepancy: Discrepancy) -> Self {
        Self { discrepancy, width: 1, tolerance: None }
    }
}

impl Method for MaximumMean {
    fn name(&self) -> &'static str {
        match self.discrepancy {
            Discrepancy::Quadratic => "k2-abc",
            Discrepancy::Linear => "k2-abc-linear",
            Discrepancy::Features => "k2-abc-features",
        }
    }

    fn description(&self) -> &'static str {
        match self.discrepancy {
            Discrepancy::Quadratic => "soft ABC by the maximum mean discrepancy of the outputs as samples (K2-ABC; Park et al. 2016)",
            Discrepancy::Linear => "K2-ABC with the linear-time discrepancy",
            Discrepancy::Features => "K2-ABC with 50 random Fourier features",
        }
    }

    fn reference(&self) -> &'static str {
        "Park, Jitkrittum & Sejdinovic, AISTATS 2016"
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let values = task.observation.len();
        if self.width == 1 && values == 1 {
            return Err(Error::Unavailable {
                what: "the maximum mean discrepancy".into(),
                reason: "it compares outputs as samples of several values, and this output is one number; use another method, or let the simulator return its raw data".into(),
            });
        }
        if self.width == 0 || !values.is_multiple_of(self.width) || values / self.width < 2 {
            let requirement = format!("an output of {values} numbers must be at least two points of that width");
            return Err(Error::invalid("width of a data point", self.width as f64, requirement));
        }
        self.tolerance.map_or(Ok(1.0), |epsilon| Error::require_positive("tolerance", epsilon))?;
        let simulations = task.calls.all_from_prior()?;
        let good = simulations.successful_rows();
        let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
        let outputs = simulations.outputs().select(&good);
        let observed = Points::new(task.observation.to_vec(), task.observation.len() / self.width, self.width)?;
        let alpha = median_distance(&observed).filter(|m| *m > 0.0).unwrap_or(1.0);
        let compare = Compare::new(self.discrepancy, self.width, alpha, task.seed);
        let features: Vec<Vec<f64>> = outputs.iter().map(|x| compare.features(x)).collect();
        let own = compare.features(task.observation);
        let all: Vec<f64> =
            (0..outputs.rows()).into_par_iter().map(|j| compare.squared(outputs.row(j), &features[j], task.observation, &own)).collect();
        let epsilon = match self.tolerance {
            Some(epsilon) => epsilon,
            None => best_tolerance(&compare, &z, &outputs, &features, &all),
        };
        let weights = soft(&all, epsilon);
        Ok(Answer::Particles(Particles::from_latent(task.prior, &z, &clipped(&weights)?)?))
    }
}

/// exp(−(d − min d)/ε): discrepancies may be negative, and are left as they are.
fn soft(discrepancies: &[f64], epsilon: f64) -> Vec<f64> {
    let least = discrepancies.iter().copied().fold(f64::INFINITY, f64::min);
    discrepancies.iter().map(|d| (-(d - least) / epsilon).exp()).collect()
}

/// The tolerance with the smallest error of the weighted mean of z for the nearest simulations, each left out in turn.
fn best_tolerance(compare: &Compare, z: &Points, outputs: &Points, features: &[Vec<f64>], to_observation: &[f64]) -> f64 {
    let mut nearest: Vec<usize> = (0..z.rows()).collect();
    nearest.sort_by(|&i, &j| to_observation[i].total_cmp(&to_observation[j]).then(i.cmp(&j)));
    nearest.truncate(PLAYED);
    let errors = |&i: &usize| -> Vec<f64> {
        let others: Vec<usize> = (0..z.rows()).filter(|&j| j != i).collect();
        let all: Vec<f64> = others.iter().map(|&j| compare.squared(outputs.row(j), &features[j], outputs.row(i), &features[i])).collect();
        let error = |epsilon: &f64| {
            let weights = soft(&all, *epsilon);
            let total: f64 = weights.iter().sum();
            let mean = |d: usize| others.iter().zip(&weights).map(|(&j, w)| w * z.row(j)[d]).sum::<f64>() / total;
            (0..z.columns()).map(|d| (z.row(i)[d] - mean(d)).powi(2)).sum()
        };
        TOLERANCES.iter().map(error).collect()
    };
    let each: Vec<Vec<f64>> = nearest.par_iter().map(errors).collect();
    let total = |k: usize| each.iter().map(|errors| errors[k]).sum::<f64>();
    let best = (0..TOLERANCES.len()).min_by(|&a, &b| total(a).total_cmp(&total(b))).unwrap_or(0);
    TOLERANCES[best]
}

/// Squared discrepancies of one kind under a Gaussian kernel.
struct Compare {
    discrepancy: Discrepancy,
    width: usize,
    alpha: f64,
    /// Frequencies and phases of random features.
    waves: Vec<(Vec<f64>, f64)>,
}

impl Compare {
    fn new(discrepancy: Discrepancy, width: usize, alpha: f64, seed: u64) -> Self {
        let mut rng = stream(seed, Purpose::Integration, 0);
        let wave = |_| {
            let frequency: Vec<f64> = (0..width).map(|_| standard_normal(&mut rng) / alpha).collect();
            (frequency, rng.random::<f64>() * std::f64::consts::TAU)
        };
        let waves = if discrepancy == Discrepancy::Features { (0..FEATURES).map(wave).collect() } else { vec![] };
        Self { discrepancy, width, alpha, waves }
    }

    /// Mean of √2 cos(ωᵀx + b) over the points of a sample; empty unless features are asked for.
    fn features(&self, sample: &[f64]) -> Vec<f64> {
        let points = sample.len() / self.width;
        let value = |(frequency, phase): &(Vec<f64>, f64)| {
            let wave = |point: &[f64]| (point.iter().zip(frequency).map(|(x, w)| x * w).sum::<f64>() + phase).cos();
            2.0_f64.sqrt() * sample.chunks(self.width).map(wave).sum::<f64>() / points as f64
        };
        self.waves.iter().map(value).collect()
    }

    fn kernel(&self, a: &[f64], b: &[f64]) -> f64 {
        let squared: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        (-0.5 * squared / (self.alpha * self.alpha)).exp()
    }

    fn squared(&self, a: &[f64], features_a: &[f64], b: &[f64], features_b: &[f64]) -> f64 {
        let points = |sample: &[f64]| sample.len() / self.width;
        let at = |sample: &'_ [f64], i: usize| -> Vec<f64> { sample[i * self.width..(i + 1) * self.width].to_vec() };
        match self.discrepancy {
            Discrepancy::Features => features_a.iter().zip(features_b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / features_a.len() as f64,
            Discrepancy::Linear => {
                let pairs = points(a).min(points(b)) / 2;
                let h = |i: usize| {
                    let (x, x2, y, y2) = (at(a, 2 * i), at(a, 2 * i + 1), at(b, 2 * i), at(b, 2 * i + 1));
                    self.kernel(&x, &x2) + self.kernel(&y, &y2) - self.kernel(&x, &y2) - self.kernel(&x2, &y)
                };
                (0..pairs).map(h).sum::<f64>() / pairs.max(1) as f64
            }
            Discrepancy::Quadratic => self.within(a) + self.within(b) - 2.0 * self.between(a, b),
        }
    }

    /// Mean of k over different points of a sample.
    fn within(&self, sample: &[f64]) -> f64 {
        let rows: Vec<&[f64]> = sample.chunks(self.width).collect();
        let n = rows.len() as f64;
        let sum: f64 = (0..rows.len()).map(|i| (0..i).map(|j| self.kernel(rows[i], rows[j])).sum::<f64>()).sum();
        2.0 * sum / (n * (n - 1.0))
    }

    /// Mean of k over pairs of points of both.
    fn between(&self, a: &[f64], b: &[f64]) -> f64 {
        let (rows_a, rows_b) = (a.chunks(self.width), b.chunks(self.width));
        let count = rows_a.len() * rows_b.len();
        rows_a.map(|x| rows_b.clone().map(|y| self.kernel(x, y)).sum::<f64>()).sum::<f64>() / count as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quadratic_discrepancy_is_the_one_by_hand() {
        // Points 0, 1 against 0, 2 with α = 1: e^-½ + e^-2 - 2·¼(1 + e^-2 + e^-½ + e^-½).
        let compare = Compare::new(Discrepancy::Quadratic, 1, 1.0, 0);
        let (half, two) = ((-0.5_f64).exp(), (-2.0_f64).exp());
        let expected = half + two - 0.5 * (1.0 + two + 2.0 * half);
        assert!((compare.squared(&[0.0, 1.0], &[], &[0.0, 2.0], &[]) - expected).abs() < 1e-12);
    }

    #[test]
    fn the_quadratic_discrepancy_is_the_one_of_numpy() {
        let peer: serde_json::Value = serde_json::from_str(include_str!("../../tests/peers/values.json")).unwrap();
        let of = &peer["discrepancy"];
        let [a, b] = ["a", "b"].map(|name| of[name].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect::<Vec<f64>>());
        let compare = Compare::new(Discrepancy::Quadratic, 1, of["length"].as_f64().unwrap(), 0);
        assert!((compare.squared(&a, &[], &b, &[]) - of["squared"].as_f64().unwrap()).abs() < 1e-12);
    }

    #[test]
    fn the_three_discrepancies_estimate_the_same_number() {
        let mut rng = stream(5, Purpose::Experiment, 0);
        let a: Vec<f64> = (0..400).map(|_| standard_normal(&mut rng)).collect();
        let b: Vec<f64> = (0..400).map(|_| 1.0 + standard_normal(&mut rng)).collect();
        let of = |kind: Discrepancy| {
            let compare = Compare::new(kind, 1, 1.0, 7);
            compare.squared(&a, &compare.features(&a), &b, &compare.features(&b))
        };
        let (quadratic, linear, features) = (of(Discrepancy::Quadratic), of(Discrepancy::Linear), of(Discrepancy::Features));
        assert!((linear - quadratic).abs() < 0.12 && (features - quadratic).abs() < 0.08, "{quadratic} {linear} {features}");
        assert!(quadratic > 0.1);
    }
}
