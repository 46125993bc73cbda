//! Sequential Monte Carlo ABC (Sisson, Fan & Tanaka, PNAS 104, 2007; Beaumont et al., Biometrika 96, 2009; Toni et al., J. R. Soc.
//! Interface 6, 2009): a population that is drawn, moved and weighted anew at a falling tolerance.

use super::path::{go_on, ln_prior};
use super::pilot::{Walk, covariance_of};
use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::method::{Answer, Method, Particles, Question};
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

    /// Papamakarios and Murray's schedule, relative: from ten spreads by 0.9 down to a tenth of a spread.
    pub fn scheduled() -> Self {
        Self { population: None, schedule: Schedule::Fixed { first: 10.0, factor: 0.9, last: 0.1 }, units: Units::Spread }
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
            Schedule::Quantile(_) => "sequential Monte Carlo ABC, the tolerance falling to the population's median distance (Beaumont et al. 2009)",
            Schedule::Fixed { .. } => "sequential Monte Carlo ABC, the tolerance falling by 0.9 from 10 to 0.1 spreads (Papamakarios & Murray 2016)",
        }
    }

    fn infer(&self, question: &Question<'_>) -> Result<Answer, Error> {
        self.require_valid()?;
        let budget = question.calls.budget();
        let size = self.population.unwrap_or((budget / 5).clamp(20, 500)).min(budget);
        let mut population = Population::first(question, size, self.units)?;
        let mut tolerance = f64::INFINITY;
        loop {
            tolerance = match self.schedule {
                Schedule::Quantile(share) => population.quantile(share),
                Schedule::Fixed { first, factor, last } => match if tolerance.is_finite() { tolerance * factor } else { first } {
                    next if next < last => break,
                    next => next,
                },
            };
            if question.calls.left() == 0 || !population.renew(question, tolerance)? {
                break;
            }
        }
        Ok(Answer::Particles(Particles::from_latent(question.prior, &population.z, &population.weights)?))
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
    fn first(question: &Question<'_>, size: usize, units: Units) -> Result<Self, Error> {
        let simulations = question.calls.from_prior(size)?;
        let yardstick = Yardstick::new(&simulations, question.observation, units)?;
        let good = simulations.successful_rows();
        let z = question.prior.to_latent_points(&simulations.theta().select(&good))?;
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
    /// before, and the population is as it was.
    fn renew(&mut self, question: &Question<'_>, tolerance: f64) -> Result<bool, Error> {
        let dimension = self.z.columns();
        let mut covariance = covariance_of(&self.z);
        covariance.iter_mut().for_each(|c| *c *= 2.0);
        (0..dimension).for_each(|d| covariance[d * dimension + d] += LEAST_VARIANCE);
        let walk = Walk::new(covariance, dimension)?;
        let size = self.z.rows();
        let (mut rows, mut distances) = (Vec::with_capacity(size), Vec::with_capacity(size));
        while rows.len() < size {
            go_on(question)?;
            let batch = (size - rows.len()).min(question.calls.left());
            if batch == 0 {
                return Ok(false);
            }
            let proposed: Vec<Vec<f64>> = (0..batch).map(|_| self.propose(question, &walk)).collect::<Result<_, Error>>()?;
            let theta = question.prior.from_latent_points(&Points::from_rows(&proposed)?);
            for (z, x) in proposed.into_iter().zip(question.calls.at(&theta)?.iter()) {
                let d = distance(&self.yardstick, x);
                if d <= tolerance {
                    rows.push(z);
                    distances.push(d);
                }
            }
        }
        let weigh = |z: &Vec<f64>| -> Result<f64, Error> {
            let terms: Vec<f64> = self.z.iter().zip(&self.weights).map(|(from, w)| w.ln() + walk.ln_density(from, z)).collect();
            Ok(ln_prior(question, z)? - ln_sum_exp(&terms))
        };
        let ln_weights: Vec<f64> = rows.iter().map(weigh).collect::<Result<_, Error>>()?;
        let total = ln_sum_exp(&ln_weights);
        self.weights = ln_weights.iter().map(|w| (w - total).exp()).collect();
        self.z = Points::from_rows(&rows)?;
        self.distances = distances;
        Ok(true)
    }

    fn propose(&mut self, question: &Question<'_>, walk: &Walk) -> Result<Vec<f64>, Error> {
        let mut rng = stream(question.seed, Purpose::Chains, self.proposals);
        self.proposals += 1;
        Ok(walk.step(self.z.row(pick(&self.weights, &mut rng)), &mut rng))
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
