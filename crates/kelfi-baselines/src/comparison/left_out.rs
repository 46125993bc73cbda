//! The leave-one-out posterior score: simulations near the observation, each taken out of the table and asked about in turn.

use super::FLOOR;
use crate::yardstick::{Units, Yardstick, squared_length};
use kelfi::method::calls::{PriorSimulations, Simulator};
use kelfi::method::{Calls, Method, Task};
use kelfi::{Error, Prior, Simulations};

/// Simulations left out, the nearest to the observation.
const COUNT: usize = 5;

/// Everything but the method and the table.
pub struct Around<'a> {
    /// The prior.
    pub prior: &'a Prior,
    /// Never called: the table has everything.
    pub simulator: &'a Simulator<'a>,
    /// Seed of the method's own randomness.
    pub seed: u64,
    /// Asked now and then whether to continue.
    pub go_on: &'a (dyn Fn() -> bool + Sync),
}

impl Around<'_> {
    /// Mean over the left-out of ln posterior over prior density at the parameters that made them, at least [`FLOOR`] each. For methods
    /// that take draws of the prior only: nothing is simulated again. `None` for tables too small to leave any out.
    pub fn score(&self, method: &dyn Method, simulations: &Simulations, observation: &[f64]) -> Result<Option<f64>, Error> {
        let near = nearest(simulations, observation)?;
        let gains: Vec<f64> = near.iter().map(|&j| self.gain_without(method, simulations, j)).collect::<Result<_, Error>>()?;
        Ok((!near.is_empty()).then(|| gains.iter().sum::<f64>() / near.len() as f64))
    }

    fn gain_without(&self, method: &dyn Method, simulations: &Simulations, j: usize) -> Result<f64, Error> {
        let rest: Vec<usize> = (0..simulations.len()).filter(|&i| i != j).collect();
        let rest = Simulations::new(simulations.theta().select(&rest), simulations.outputs().select(&rest))?;
        let ready = PriorSimulations::of_table(self.prior, self.simulator, &rest, self.seed);
        let calls = Calls::new(self.simulator, &ready, rest.len(), self.seed)?;
        let observation = simulations.outputs().row(j);
        let task = Task { prior: self.prior, observation, calls: &calls, seed: self.seed, go_on: self.go_on };
        let gain = method.infer(&task)?.gain(simulations.theta().row(j))?;
        Ok(if gain > FLOOR { gain } else { FLOOR })
    }
}

fn nearest(simulations: &Simulations, observation: &[f64]) -> Result<Vec<usize>, Error> {
    let yardstick = Yardstick::new(simulations, observation, Units::Spread)?;
    let distance = |j: usize| squared_length(&yardstick.difference(simulations.outputs().row(j)));
    let mut order: Vec<(f64, usize)> = simulations.successful_rows().into_iter().map(|j| (distance(j), j)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // A table of two or three has nothing left to learn from.
    let count = COUNT.min(order.len() / 4);
    Ok(order.into_iter().take(count).map(|(_, j)| j).collect())
}
