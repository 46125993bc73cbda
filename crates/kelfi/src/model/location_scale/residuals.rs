//! What is left of the outputs once mean and spread of every statistic are known: how residuals belong together, and their shape.

use super::correlation::whiten;
use super::shape::{self, Shape, ShapeHyperparameters};
use super::statistic::{Statistic, StatisticHyperparameters};
use super::tails;
use super::vicinity::Vicinity;
use crate::linalg::Cholesky;
use crate::{Error, Points};
use rayon::prelude::*;

/// Times regressions are fitted anew once residuals tell how noisy each simulation was.
const REWEIGHTINGS: usize = 2;

/// Fitted statistics with the joint distribution of their residuals.
#[derive(Debug)]
pub struct Residuals {
    pub statistics: Vec<Statistic>,
    /// C, factored.
    pub correlation: Cholesky,
    /// C^-½ times the standardised left-out residuals.
    pub u: Points,
    pub shape: Shape,
    /// Mean leave-one-out log density of u.
    pub shape_score: f64,
}

impl Residuals {
    /// With a shape chosen before.
    pub fn new(statistics: Vec<Statistic>, z: &Points, shape: ShapeHyperparameters, shape_score: f64) -> Result<Self, Error> {
        let (correlation, u) = whiten(&statistics)?;
        Ok(Self { shape: Shape::new(z, &u, shape)?, statistics, correlation, u, shape_score })
    }

    /// With the shape that suits best.
    pub fn learn(statistics: Vec<Statistic>, z: &Points) -> Result<Self, Error> {
        let (correlation, u) = whiten(&statistics)?;
        let (shape, shape_score) = shape::search(z, &u)?;
        Ok(Self { shape: Shape::new(z, &u, shape)?, statistics, correlation, u, shape_score })
    }

    /// The same, or one whose regressions know which simulations were noisy, where tails are heavy and it predicts the simulations near the
    /// observation better. `refine` fits a statistic anew.
    pub fn with_heavy_tails(
        self,
        z: &Points,
        vicinity: &Vicinity,
        refine: &(dyn Fn(&StatisticHyperparameters) -> Result<Statistic, Error> + Sync),
    ) -> Result<Self, Error> {
        let mut reweighted: Option<Vec<Statistic>> = None;
        for _ in 0..REWEIGHTINGS {
            let statistics = reweighted.as_ref().unwrap_or(&self.statistics);
            let own_noise = tails::relative_noise(statistics, &whiten(statistics)?.1);
            if own_noise.iter().all(Option::is_none) {
                break;
            }
            let again = |(statistic, own_noise): (&Statistic, Option<Vec<f64>>)| {
                refine(&StatisticHyperparameters { own_noise, ..statistic.hyperparameters().clone() })
            };
            reweighted = Some(statistics.par_iter().zip(own_noise).map(again).collect::<Result<_, Error>>()?);
        }
        let Some(statistics) = reweighted else { return Ok(self) };
        let candidate = Self::learn(statistics, z)?;
        Ok(if candidate.ln_density(z, &vicinity.near) > self.ln_density(z, &vicinity.near) { candidate } else { self })
    }

    /// ln of the density that each of these outputs (transformed) has without it, summed.
    fn ln_density(&self, z: &Points, rows: &[usize]) -> f64 {
        let of_one = |&i: &usize| {
            let omitted = self.shape.omit(i, z.row(i));
            let shape = self.shape.ln_densities_without(&[&omitted], &z.select(&[i]), &self.u.select(&[i]))[0];
            shape - self.statistics.iter().map(|s| s.deviations()[i].ln()).sum::<f64>()
        };
        rows.iter().map(of_one).sum::<f64>() - 0.5 * rows.len() as f64 * self.correlation.ln_determinant()
    }
}
