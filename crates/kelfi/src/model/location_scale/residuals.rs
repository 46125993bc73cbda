//! What is left of the outputs once mean and spread of every statistic are known: how residuals belong together, and their shape.

use super::at_once::each;
use super::correlation::whiten;
use super::shape::{self, Shape, ShapeHyperparameters};
use super::statistic::{Statistic, StatisticHyperparameters};
use super::tails;
use crate::linalg::Cholesky;
use crate::{Error, Points};

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
}

/// Fits whose regressions know which simulations were noisy, where tails are heavy; else the same. `refine` fits a statistic anew.
pub fn with_heavy_tails(
    mut statistics: Vec<Statistic>,
    refine: &(dyn Fn(&StatisticHyperparameters) -> Result<Statistic, Error> + Sync),
) -> Result<Vec<Statistic>, Error> {
    for _ in 0..REWEIGHTINGS {
        let own_noise = tails::relative_noise(&statistics, &whiten(&statistics)?.1);
        if own_noise.iter().all(Option::is_none) {
            break;
        }
        let again = |(statistic, own_noise): (Statistic, Option<Vec<f64>>)| {
            refine(&StatisticHyperparameters { own_noise, ..statistic.hyperparameters().clone() })
        };
        let simulations = statistics.first().map_or(0, |statistic| statistic.standardised().len());
        statistics = each(statistics.into_iter().zip(own_noise).collect(), simulations, again)?;
    }
    Ok(statistics)
}
