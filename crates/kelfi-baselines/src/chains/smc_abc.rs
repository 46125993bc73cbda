//! Sequential Monte Carlo ABC (Sisson, Fan & Tanaka, PNAS 104, 2007; Beaumont et al., Biometrika 96, 2009; Toni et al., J. R. Soc.
//! Interface 6, 2009): a population that is drawn, moved and weighted anew at a falling tolerance.

use super::path::{go_on, ln_prior};
use super::pilot::{Walk, covariance_of};
use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::method::{Answer, Method, Particles, Task};
use kelfi::random::{Purpose, stream};
use kelfi::{Error, Points};
use rand::{Rng, RngExt};

/// Added to the variances of a step in z, where the prior has 1.
const LEAST_VARIANCE: f64 = 1e-6;

/// How the tolerance falls.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// To the distance within which this share of the population lies.
    Quantile(f64),
    /// From a first one by a constant factor down to a last one, in the units of the statistics.
    Fixed {
        /// First tolerance.
        first: f64,
        /// Each is this times the one before.
        factor: f64,
        /// No smaller one is tried.
        last: f64,
    },
}

/// A population that moves towards the observation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SmcAbc {
    /// Particles; `None`: a fifth of the budget, between 20 and 500.
    pub population: Option<usize>,
    /// How the tolerance falls.
    pub schedule: Schedule,
    /// Units of the statistics.
    pub units: Units,
}

impl SmcAbc {
    /// The tolerance falls to the median distance of the population.
    pub fn adaptive() -> Self {
        Self { population: None, schedule: Schedule::Quantile(0.5), units: Units::Spread }
    }

    /// From one spread by 0.75 down to a tenth of a spread. Papamakarios and Murray go from 10 by 0.9 down to 0.1, with millions of calls:
    /// in units of the spread over the prior, tolerances above 1 accept nearly everything and only cost calls.
    pub fn scheduled() -> Self {
        Self { population: None, schedule: Schedule::Fixed { first: 1.0, factor: 0.75, last: 0.1 }, units: Units::Spread }
    }

    fn require_valid(&self) -> Result<(), Error> {
        if self.population.is_some_and(|p| p < 2) {
            return Err(Error::invalid("number of particles", self.population.unwrap_or(0) as f64, "it must be at least 2"));
        }
        match self.schedule {
            Schedule::Quantile(share) if !(share > 0.0 && share < 1.0) => {
                Err(Error::invalid("quantile of the distances", share, "it must lie between 0 and 1"))
            }
            Schedule::Fixed { factor, .. } if !(factor > 0.0 && factor < 1.0) => {
                Err(Error::invalid("factor of the tolerances", factor, "it must lie between 0 and 1"))
            }
            Schedule::Fixed { first, last, .. } if !(last > 0.0 && first > last) => {
                Err(Error::invalid("last tolerance", last, "it must be positive and smaller than the first"))
            }
            _ => Ok(()),
        }
    }
}

impl Method for SmcAbc {
    fn name(&self) -> &'static str {
        match self.schedule {
            Schedule::Quantile(_) => "smc-abc",
            Schedule::Fixed { .. } => "smc-abc-scheduled",
        }
    }

    fn description(&self) -> &'static str {
        match self.schedule {
            Schedule::Quantile(_) => {
                "sequential Monte Carlo ABC, the tolerance falling to the population's median distance (Beaumont et al. 2009)"
            }
            Schedule::Fixed { .. } => {
                "sequential Monte Carlo ABC, the tolerance falling by 0.75 from 1 to 0.1 spreads of the statistics (Toni et al. 2009)"
            }
        }
    }

    fn reference(&self) -> &'static str {
        match self.schedule {
            Schedule::Quantile(_) => "Beaumont et al., Biometrika 96, 2009",
            Schedule::Fixed { .. } => "Toni et al., J. R. Soc. Interface 6, 2009",
        }
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        self.require_valid()?;
        let budget = task.calls.budget();
        let size = self.population.unwrap_or((budget / 5).clamp(20, 500)).min(budget);
        let mut population = Population::first(task, size, self.units)?;
        let mut tolerance = f64::INFINITY;
        loop {
            tolerance = match self.schedule {
                Schedule::Quantile(share) => population.quantile(share),
                Schedule::Fixed { first, factor, last } => match if tolerance.is_finite() { tolerance * factor } else { first } {
                    next if next < last => break,
                    next => next,
                },
            };
            if task.calls.left() == 0 || !population.renew(task, tolerance)? {
                break;
            }
        }
        Ok(Answer::Particles(Particles::from_latent(task.prior, &population.z, &population.weights)?))
    }
}

struct Population {
    yardstick: Yardstick,
    z: Points,
    distances: Vec<f64>,
    weights: Vec<f64>,
    /// For random numbers of their own.
    proposals: u64,
}

impl Population {
    fn first(task: &Task<'_>, size: usize, units: Units) -> Result<Self, Error> {
        let simulations = task.calls.from_prior(size)?;
        let yardstick = Yardstick::new(&simulations, task.observation, units)?;
        let good = simulations.successful_rows();
        let z = task.prior.to_latent_points(&simulations.theta().select(&good))?;
        let distances = good.iter().map(|&j| distance(&yardstick, simulations.outputs().row(j))).collect();
        let weights = vec![1.0 / good.len() as f64; good.len()];
        Ok(Self { yardstick, z, distances, weights, proposals: 0 })
    }

    /// The distance within which this share of the particles lies.
    fn quantile(&self, share: f64) -> f64 {
        let mut sorted = self.distances.clone();
        sorted.sort_by(f64::total_cmp);
        sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)]
    }

    /// As many particles within the tolerance, each an earlier one moved by twice the population's covariance. `false`: the budget ended
    /// before; those found by then stand beside the earlier ones that are within the tolerance already.
    fn renew(&mut self, task: &Task<'_>, tolerance: f64) -> Result<bool, Error> {
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

    /// Steps of twice the population's covariance.
    fn walk(&self) -> Result<Walk, Error> {
        let dimension = self.z.columns();
        let mut covariance = covariance_of(&self.z);
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

/// An index in proportion to the weights, which sum to 1.
pub fn pick(weights: &[f64], rng: &mut dyn Rng) -> usize {
    let mut level = rng.random::<f64>();
    for (i, w) in weights.iter().enumerate() {
        level -= w;
        if level < 0.0 {
            return i;
        }
    }
    weights.len() - 1
}

/// |x − y|/√n; infinite for a failed call.
fn distance(yardstick: &Yardstick, x: &[f64]) -> f64 {
    let d = (squared_length(&yardstick.difference(x)) / yardstick.columns().max(1) as f64).sqrt();
    if d.is_finite() { d } else { f64::INFINITY }
}

/// ln Σ exp.
pub fn ln_sum_exp(terms: &[f64]) -> f64 {
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY { largest } else { largest + terms.iter().map(|t| (t - largest).exp()).sum::<f64>().ln() }
}
