//! The ε-kernel κ between the observation and each simulation, as a function of squared differences and tolerances.

use crate::linalg::vector::exp_in_place;
use crate::simulations::{DataSets, Simulations};
use crate::{Error, Points};

const LN_2PI: f64 = 1.837_877_066_409_345_3;
/// Squared differences beyond this many squared tolerances are no longer told apart: sums of them and their products
/// with weights stay finite.
const FARTHEST: f64 = 1e280;

/// Squared differences between one observation and every output: all that κ_ε needs, for any ε.
#[derive(Debug, Clone)]
pub struct Discrepancies {
    /// One row an output, one column a component that has its own tolerance.
    squared: Points,
    failed: Vec<bool>,
    offsets: Vec<usize>,
    /// Whether κ carries the factor Π 1/(ε_i √2π).
    normalised: bool,
}

/// κ of every simulation divided by exp(ln_scale), and its slopes.
#[derive(Debug, Clone)]
pub struct Kappa {
    /// κ_j / exp(ln_scale); the largest output's is 1.
    pub relative: Vec<f64>,
    /// ln of the largest κ over all outputs.
    pub ln_scale: f64,
}

impl Discrepancies {
    /// (y_i - x_ji)² for statistics: κ = Π_i N(y_i | x_ji, ε_i²).
    pub fn of_statistics(simulations: &Simulations, y: &[f64]) -> Result<Self, Error> {
        if y.len() != simulations.statistics() {
            return Err(Error::Shape {
                left: "x".into(),
                left_rows: simulations.outputs().rows(),
                left_columns: simulations.statistics(),
                right: "the observation".into(),
                right_rows: 1,
                right_columns: y.len(),
                advice: "the observation needs one value per statistic".into(),
            });
        }
        Points::new(y.to_vec(), 1, y.len())?.require_finite("the observation")?;
        let squared = simulations.outputs().map_rows(y.len(), |x| y.iter().zip(x).map(|(y, x)| square(y - x)).collect());
        Ok(Self { squared, failed: simulations.failed().to_vec(), offsets: simulations.offsets().to_vec(), normalised: true })
    }

    /// ‖μ̂_Y - μ̂_X‖² for raw iid data: κ = exp(-½ MMD²/ε²). Costs O(points of y × points of x) per simulation.
    pub fn of_data_sets(sets: &DataSets, y: &Points) -> Result<Self, Error> {
        if sets.sets().iter().all(Option::is_none) {
            return Err(Error::AllFailed { count: sets.sets().len() });
        }
        let failed: Vec<bool> = sets.sets().iter().map(Option::is_none).collect();
        let (squared, offsets) = (Points::from_column(sets.discrepancies(y)?), (0..=failed.len()).collect());
        Ok(Self { squared, failed, offsets, normalised: false })
    }

    /// Number of simulations m.
    pub fn simulations(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of tolerances n.
    pub fn components(&self) -> usize {
        self.squared.columns()
    }

    /// Whether κ is a normalised density in the observation.
    pub fn is_normalised(&self) -> bool {
        self.normalised
    }

    /// Which outputs failed.
    pub fn failed(&self) -> &[bool] {
        &self.failed
    }

    /// Distance of every successful output in units of ε: √(Σ_i d_i²/ε_i²).
    pub fn distances(&self, epsilon: &[f64]) -> Vec<f64> {
        let distance = |d2: &[f64]| d2.iter().zip(epsilon).map(|(d2, e)| in_tolerances(*d2, *e)).sum::<f64>().sqrt();
        self.squared.iter().zip(&self.failed).filter(|(_, failed)| !**failed).map(|(d2, _)| distance(d2)).collect()
    }

    /// Distance of the nearest successful output of simulation `j` in units of ε; infinite if all failed.
    pub fn distance_of(&self, j: usize, epsilon: &[f64]) -> f64 {
        let distance = |r: usize| self.squared.row(r).iter().zip(epsilon).map(|(d2, e)| (d2 / e) / e).sum::<f64>().sqrt();
        (self.offsets[j]..self.offsets[j + 1]).filter(|&r| !self.failed[r]).map(distance).fold(f64::INFINITY, f64::min)
    }

    /// `epsilon` as one positive value per component: a single value is used for all of them.
    pub fn tolerances(&self, epsilon: &[f64]) -> Result<Vec<f64>, Error> {
        let n = self.components();
        if epsilon.len() != n && epsilon.len() != 1 {
            return Err(Error::Shape {
                left: "epsilon".into(),
                left_rows: 1,
                left_columns: epsilon.len(),
                right: "the observation".into(),
                right_rows: 1,
                right_columns: n,
                advice: "give one tolerance, or one per statistic".into(),
            });
        }
        for (i, &e) in epsilon.iter().enumerate() {
            Error::require_positive(&format!("epsilon {}", i + 1), e)?;
        }
        Ok(if epsilon.len() == n { epsilon.to_vec() } else { vec![epsilon[0]; n] })
    }

    /// κ of every simulation, replicates averaged, relative to the largest so that a far observation is never 0/0.
    pub fn kappa(&self, epsilon: &[f64]) -> Kappa {
        let ln = self.ln_outputs(epsilon);
        let ln_scale = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut relative: Vec<f64> = ln.iter().map(|l| l - ln_scale).collect();
        exp_in_place(&mut relative);
        Kappa { relative: self.average(&relative), ln_scale }
    }

    /// Σ_j w_j ∂κ_j/∂ ln ε_i divided by exp(ln_scale), for every component i: Σ_j w_j κ_j ((y_i - x_ji)²/ε_i² - 1). Costs O(mn).
    pub fn kappa_slopes(&self, epsilon: &[f64], ln_scale: f64, w: &[f64]) -> Vec<f64> {
        let constant = if self.normalised { 1.0 } else { 0.0 };
        let mut kappas: Vec<f64> = self.ln_outputs(epsilon).iter().map(|l| l - ln_scale).collect();
        exp_in_place(&mut kappas);
        let inverse = Inverses::new(epsilon);
        let mut slopes = vec![0.0; epsilon.len()];
        for (j, range) in self.offsets.windows(2).enumerate() {
            for row in range[0]..range[1] {
                let kappa = kappas[row] * w[j] / (range[1] - range[0]) as f64;
                if kappa != 0.0 {
                    for (i, d2) in self.squared.row(row).iter().enumerate() {
                        slopes[i] += kappa * (inverse.in_tolerances(*d2, i) - constant);
                    }
                }
            }
        }
        slopes
    }

    fn ln_outputs(&self, epsilon: &[f64]) -> Vec<f64> {
        let normaliser: f64 = if self.normalised { epsilon.iter().map(|e| -e.ln() - 0.5 * LN_2PI).sum() } else { 0.0 };
        let inverse = Inverses::new(epsilon);
        let ln = |d2: &[f64]| normaliser - 0.5 * d2.iter().enumerate().map(|(i, d2)| inverse.in_tolerances(*d2, i)).sum::<f64>();
        self.squared.iter().zip(&self.failed).map(|(d2, &failed)| if failed { f64::NEG_INFINITY } else { ln(d2) }).collect()
    }

    fn average(&self, outputs: &[f64]) -> Vec<f64> {
        self.offsets.windows(2).map(|range| outputs[range[0]..range[1]].iter().sum::<f64>() / (range[1] - range[0]) as f64).collect()
    }
}

/// 1/ε_i: many products cost less than as many divisions.
struct Inverses(Vec<f64>);

impl Inverses {
    /// The inverse of a tolerance below 1e-308 would be infinite, and infinity times a difference of 0 is not a number.
    fn new(epsilon: &[f64]) -> Self {
        Self(epsilon.iter().map(|e| (1.0 / e).min(f64::MAX)).collect())
    }

    /// d²/ε_i², at most [`FARTHEST`]; ε² alone may underflow.
    fn in_tolerances(&self, d2: f64, i: usize) -> f64 {
        ((d2 * self.0[i]) * self.0[i]).min(FARTHEST)
    }
}

/// d²/ε², at most [`FARTHEST`]; ε² alone may underflow.
fn in_tolerances(d2: f64, epsilon: f64) -> f64 {
    ((d2 / epsilon) / epsilon).min(FARTHEST)
}

/// x², at most the largest finite number.
fn square(x: f64) -> f64 {
    (x * x).min(f64::MAX)
}
