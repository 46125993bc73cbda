//! Variational Bayes with an intractable likelihood (VBIL; Tran, Nott & Kohn, J. Comput. Graph. Stat. 26, 2017) and with a synthetic one
//! (VBSL; Ong et al., Stat. Comput. 28, 2018): the score's gradient, for any simulator.

use super::family::{Average, GaussianFamily};
use crate::chains::mcmc_abc::{Tolerance, ln_abc_likelihood};
use crate::chains::path::go_on;
use crate::chains::pilot::Pilot;
use crate::chains::synthetic::Moments;
use crate::neural::adam::Adam;
use crate::yardstick::Units;
use kelfi::method::{Answer, Method, Task};
use kelfi::{Error, Points};

/// Draws of q for one gradient.
const DRAWS: usize = 10;
/// First step size; it falls as 1/√(1 + 0.1 t).
const RATE: f64 = 0.1;
/// ln likelihoods below the best of a step by more than this are cut off: one of −10⁶ would be the whole gradient.
const DEPTH: f64 = 20.0;

/// Which likelihood.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Estimate {
    /// (1/S) Σ N(y|x_s, ε²), with ε within which a share of the pilot lies.
    Abc(Tolerance),
    /// The synthetic likelihood with ε added to every standard deviation.
    Synthetic {
        /// ε.
        tolerance: f64,
    },
}

/// Variational Bayes by the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VariationalBayes {
    /// The likelihood.
    pub estimate: Estimate,
    /// S, calls for each estimate.
    pub repeats: usize,
    /// Units of the statistics.
    pub units: Units,
}

impl VariationalBayes {
    /// VBIL with two calls for each estimate.
    pub fn intractable() -> Self {
        Self { estimate: Estimate::Abc(Tolerance::Share(0.05)), repeats: 2, units: Units::Spread }
    }

    /// VBSL with five calls for each estimate.
    pub fn synthetic() -> Self {
        Self { estimate: Estimate::Synthetic { tolerance: 0.1 }, repeats: 5, units: Units::Spread }
    }
}

impl Method for VariationalBayes {
    fn name(&self) -> &'static str {
        match self.estimate {
            Estimate::Abc(_) => "vbil",
            Estimate::Synthetic { .. } => "vbsl",
        }
    }

    fn description(&self) -> &'static str {
        match self.estimate {
            Estimate::Abc(_) => "variational Gaussian on an estimated ABC likelihood (VBIL; Tran et al. 2017)",
            Estimate::Synthetic { .. } => "variational Gaussian on a synthetic likelihood (VBSL; Ong et al. 2018)",
        }
    }

    fn reference(&self) -> &'static str {
        match self.estimate {
            Estimate::Abc(_) => "Tran, Nott & Kohn, J. Comput. Graph. Stat. 26, 2017",
            Estimate::Synthetic { .. } => "Ong et al., Stat. Comput. 28, 2018",
        }
    }

    fn infer(&self, task: &Task<'_>) -> Result<Answer, Error> {
        let least = if matches!(self.estimate, Estimate::Synthetic { .. }) { 2 } else { 1 };
        if self.repeats < least {
            return Err(Error::invalid("calls for each estimate", self.repeats as f64, format!("it must be at least {least}")));
        }
        let pilot = Pilot::new(task, self.units)?;
        let epsilon = match self.estimate {
            Estimate::Abc(tolerance) => tolerance.of(&pilot)?,
            Estimate::Synthetic { tolerance } => Error::require_positive("tolerance", tolerance)?,
        };
        let steps = task.calls.left() / (DRAWS * self.repeats);
        let mut q = GaussianFamily::around(task, &pilot)?;
        let mut adam = Adam::new(q.parameters.len(), RATE);
        let mut average = Average::new(&q);
        for step in 0..steps {
            go_on(task)?;
            let (noise, z) = q.draws(DRAWS, task.seed, step as u64);
            let values = shallow(&self.ln_likelihoods(task, &pilot, &z, epsilon)?);
            let gain = q.from_values(&noise, &values);
            let rate = (1.0 + 0.1 * step as f64).sqrt().recip();
            let loss: Vec<f64> = q.divergence_gradient().iter().zip(&gain).map(|(kl, gain)| kl - gain).collect();
            let before = q.parameters.clone();
            adam.step(&mut q.parameters, &loss);
            q.parameters.iter_mut().zip(&before).for_each(|(p, b)| *p = b + rate * (*p - b));
            if 2 * step >= steps {
                average.add(&q);
            }
        }
        average.or(q).answer(task)
    }
}

impl VariationalBayes {
    fn ln_likelihoods(&self, task: &Task<'_>, pilot: &Pilot, z: &Points, epsilon: f64) -> Result<Vec<f64>, Error> {
        let repeated: Vec<usize> = (0..z.rows()).flat_map(|i| std::iter::repeat_n(i, self.repeats)).collect();
        let x = task.calls.at(&task.prior.from_latent_points(&z.select(&repeated)))?;
        let of_one = |i: usize| {
            let part = x.select(&(i * self.repeats..(i + 1) * self.repeats).collect::<Vec<_>>());
            match self.estimate {
                Estimate::Abc(_) => ln_abc_likelihood(&pilot.yardstick, &part, epsilon),
                Estimate::Synthetic { .. } => Moments::new(&pilot.yardstick, &part, epsilon).ln_density_at_zero(None),
            }
        };
        Ok((0..z.rows()).map(of_one).collect())
    }
}

/// Cut off far below the best; all equal where none is finite.
fn shallow(values: &[f64]) -> Vec<f64> {
    let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if best == f64::NEG_INFINITY { vec![0.0; values.len()] } else { values.iter().map(|v| v.max(best - DEPTH)).collect() }
}
