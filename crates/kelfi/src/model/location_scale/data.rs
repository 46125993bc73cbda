//! The simulations as regressions want them.

use super::cells::{Counts, Values};
use super::constants::data::FEWEST;
use super::curve::Bend;
use super::frame::Frame;
use super::inputs::{Input, framed};
use super::regression::{Regression, RegressionHyperparameters};
use super::regression_search::{search, start};
use crate::simulations::Simulations;
use crate::{Error, Points, Prior};

/// The successful outputs, one row each, and which simulations they belong to.
pub struct Data<'a> {
    simulations: &'a Simulations,
    rows: Vec<usize>,
    /// z of every successful output.
    pub z: Points,
    /// The same as regressions see it.
    pub seen: Points,
    /// What regressions see of every output.
    all: Points,
}

impl<'a> Data<'a> {
    /// Refuses too few successful outputs.
    pub fn new(simulations: &'a Simulations, prior: &Prior, inputs: &[Input], frame: Option<&Frame>) -> Result<Self, Error> {
        let z = prior.to_latent_points(simulations.theta())?;
        let owner: Vec<usize> =
            simulations.offsets().windows(2).enumerate().flat_map(|(j, range)| std::iter::repeat_n(j, range[1] - range[0])).collect();
        let rows = simulations.successful_rows();
        if rows.len() < FEWEST {
            let requirement = format!("the location-scale model needs at least {FEWEST}; simulate more, or use the kernel means model");
            return Err(Error::invalid("number of successful simulations", rows.len() as f64, requirement));
        }
        let of_rows: Vec<usize> = rows.iter().map(|&row| owner[row]).collect();
        let seen = framed(inputs, frame, &z);
        Ok(Self { simulations, rows, z: z.select(&of_rows), seen: seen.select(&of_rows), all: seen.select(&owner) })
    }

    /// The values of statistic `i`, of all repeats where there are several.
    pub fn values(&self, i: usize, counts: Counts, seed: u64) -> Values {
        let (repeats, each) = (self.simulations.repeats(), self.simulations.statistics_each());
        let of_row = |&row: &usize| self.simulations.outputs().row(row)[i..].iter().step_by(each).copied();
        let values = self.rows.iter().flat_map(of_row).collect();
        if repeats > 1 { Values::of_repeats(values, repeats) } else { Values::new(values, counts, i, seed) }
    }

    fn succeeded(&self) -> Vec<f64> {
        self.simulations.failed().iter().map(|&failed| f64::from(u8::from(!failed))).collect()
    }

    /// How success depends on θ, where some failed.
    pub fn learn_success(&self) -> Option<RegressionHyperparameters> {
        (self.simulations.failures() > 0).then(|| {
            let some: Vec<usize> = (0..self.all.rows().min(500)).collect();
            let indicator = self.succeeded();
            let targets: Vec<f64> = some.iter().map(|&i| indicator[i]).collect();
            let begin = start(Bend::Bumps, self.all.columns());
            search(&self.all.select(&some), &targets, &vec![1.0; some.len()], &begin).0
        })
    }

    /// The fitted regression of success.
    pub fn success(&self, hyperparameters: Option<&RegressionHyperparameters>) -> Result<Option<Regression>, Error> {
        let targets = self.succeeded();
        hyperparameters.map(|h| Regression::new(&self.all, &targets, &vec![1.0; targets.len()], h, false)).transpose()
    }
}
