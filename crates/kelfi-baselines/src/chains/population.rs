//! A population of weighted particles: moved, and weighted anew at a smaller tolerance.

use super::path::{go_on, ln_prior};
use super::pilot::weighted_covariance;
use super::walk::Walk;
use crate::weights::{ln_sum_exp, pick};
use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::method::Task;
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};

/// Added to the variances of a step in z, where the prior has 1.
const LEAST_VARIANCE: f64 = 1e-6;

/// Weighted particles with their distances to the observation.
pub struct Population {
    yardstick: Yardstick,
    /// Their z.
    pub z: Points,
    distances: Vec<f64>,
    /// Weights that sum to 1.
    pub weights: Vec<f64>,
    /// For random numbers of their own.
    proposals: u64,
}

impl Population {
    /// Draws of the prior that succeeded.
    pub fn first(task: &Task<'_>, size: usize, units: Units) -> Result<Self, Error> {
        let simulations = task.calls.from_prior(size)?;
        let yardstick = Yardstick::new(&simulations, task.observation, units)?;
        let good = simulations.successful_rows();
        let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
        let distances = good.iter().map(|&j| distance(&yardstick, simulations.outputs().row(j))).collect();
        let weights = vec![1.0 / good.len() as f64; good.len()];
        Ok(Self { yardstick, z, distances, weights, proposals: 0 })
    }

    /// The distance within which this share of the particles lies.
    pub fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.distances.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)]
    }

    /// As many particles within the tolerance, each an earlier one moved by twice the population's covariance. `false`: the budget ended
    /// before; those found by then stand beside the earlier ones that are within the tolerance already.
    pub fn renew(&mut self, task: &Task<'_>, tolerance: f64) -> Result<bool, Error> {
        let walk = self.walk()?;
        let size = self.z.rows();
        let mut found = Found::default();
        while found.rows.len() < size && task.calls.left() > 0 {
            go_on(task)?;
            let batch = (size - found.rows.len()).min(task.calls.left());
            let proposed: Vec<Vec<f64>> = (0..batch).map(|_| self.propose(task, &walk)).collect();
            let theta = task.prior.from_latent_points(&Points::from_rows(&proposed)?);
            for (z, x) in proposed.into_iter().zip(task.calls.at(&theta)?.iter()) {
                let d = distance(&self.yardstick, x);
                if d <= tolerance {
                    found.rows.push(z);
                    found.distances.push(d);
                }
            }
        }
        let complete = found.rows.len() == size;
        found.weights = self.weigh(task, &walk, &found.rows)?;
        if !complete {
            found.join(self.within(tolerance));
        }
        self.take(found)?;
        Ok(complete)
    }

    /// Steps of twice the population's weighted covariance (Beaumont et al. 2009): moved particles lie too far apart until they are weighted.
    fn walk(&self) -> Result<Walk, Error> {
        let dimension = self.z.columns();
        let mut covariance = weighted_covariance(&self.z, &self.weights);
        covariance.iter_mut().for_each(|c| *c *= 2.0);
        (0..dimension).for_each(|d| covariance[d * dimension + d] += LEAST_VARIANCE);
        Walk::new(covariance, dimension)
    }

    /// p(z) / Σ_j w_j N(z | z_j, C), so that they sum to 1.
    fn weigh(&self, task: &Task<'_>, walk: &Walk, rows: &[Vec<f64>]) -> Result<Vec<f64>, Error> {
        let one = |z: &Vec<f64>| -> Result<f64, Error> {
            let terms: Vec<f64> = self.z.iter().zip(&self.weights).map(|(from, w)| w.ln() + walk.ln_density(from, z)).collect();
            Ok(ln_prior(task, z)? - ln_sum_exp(&terms))
        };
        let ln_weights: Vec<f64> = rows.iter().map(one).collect::<Result<_, Error>>()?;
        let total = ln_sum_exp(&ln_weights);
        Ok(ln_weights.iter().map(|w| (w - total).exp()).collect())
    }

    /// The particles within a tolerance, which are weighted draws of the posterior at that tolerance too.
    fn within(&self, tolerance: f64) -> Found {
        let kept: Vec<usize> = (0..self.z.rows()).filter(|&i| self.distances[i] <= tolerance).collect();
        let total: f64 = kept.iter().map(|&i| self.weights[i]).sum();
        Found {
            rows: kept.iter().map(|&i| self.z.row(i).to_vec()).collect(),
            distances: kept.iter().map(|&i| self.distances[i]).collect(),
            weights: kept.iter().map(|&i| self.weights[i] / total).collect(),
        }
    }

    /// Puts these in the place of the particles; none at all changes nothing.
    fn take(&mut self, found: Found) -> Result<(), Error> {
        if !found.rows.is_empty() {
            self.z = Points::from_rows(&found.rows)?;
            (self.distances, self.weights) = (found.distances, found.weights);
        }
        Ok(())
    }

    fn propose(&mut self, task: &Task<'_>, walk: &Walk) -> Vec<f64> {
        let mut rng = stream(task.seed, Purpose::Chains, self.proposals);
        self.proposals += 1;
        walk.step(self.z.row(pick(&self.weights, &mut rng)), &mut rng)
    }
}

/// Particles within a tolerance, with weights that sum to 1.
#[derive(Default)]
struct Found {
    rows: Vec<Vec<f64>>,
    distances: Vec<f64>,
    weights: Vec<f64>,
}

impl Found {
    /// Two weighted samples of one posterior as one, each counting as much as its effective size Σ w² ⁻¹.
    fn join(&mut self, other: Self) {
        let effective = |weights: &[f64]| if weights.is_empty() { 0.0 } else { weights.iter().map(|w| w * w).sum::<f64>().recip() };
        let sizes = [effective(&self.weights), effective(&other.weights)];
        let share = sizes[0] / (sizes[0] + sizes[1]);
        self.weights.iter_mut().for_each(|w| *w *= share);
        self.weights.extend(other.weights.iter().map(|w| w * (1.0 - share)));
        self.rows.extend(other.rows);
        self.distances.extend(other.distances);
    }
}

/// |x − y|/√n; infinite for a failed call.
fn distance(yardstick: &Yardstick, x: &[f64]) -> f64 {
    let d = (squared_length(&yardstick.difference(x)) / yardstick.columns().max(1) as f64).sqrt();
    if d.is_finite() { d } else { f64::INFINITY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::Simulations;

    #[test]
    fn steps_have_twice_the_covariance_of_the_particles_by_weight() {
        let pair = Points::from_column(vec![0.0, 1.0]);
        let yardstick = Yardstick::new(&Simulations::new(pair.clone(), pair).unwrap(), &[0.0], Units::Raw).unwrap();
        // ±1 have all the weight: a variance of 1, whatever lies far away without weight.
        let z = Points::from_column(vec![-1.0, 1.0, 100.0]);
        let population = Population { yardstick, z, distances: vec![0.0; 3], weights: vec![0.5, 0.5, 0.0], proposals: 0 };
        let expected = -0.5 * (std::f64::consts::TAU * (2.0 + LEAST_VARIANCE)).ln();
        assert!((population.walk().unwrap().ln_density(&[0.0], &[0.0]) - expected).abs() < 1e-12);
    }
}
