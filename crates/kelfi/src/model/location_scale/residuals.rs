//! What is left of the outputs once mean and spread of every statistic are known: how residuals belong together, and their shape.

use super::at_once::each;
use super::correlation::whiten;
use super::shape::{self, ShapeHyperparameters, Shapes};
use super::statistic::{Statistic, StatisticHyperparameters};
use super::tails;
use crate::linalg::Cholesky;
use crate::{Error, Points};

/// Times regressions are fitted anew once residuals tell how noisy each simulation was.
const REWEIGHTINGS: usize = 2;
/// What a shape for each statistic must gain over one for all, in nats over all residuals.
const MARGIN_APART: f64 = 8.0;

/// Fitted statistics with the joint distribution of their residuals.
#[derive(Debug)]
pub struct Residuals {
    pub statistics: Vec<Statistic>,
    /// C, factored.
    pub correlation: Cholesky,
    /// C^-½ times the standardised left-out residuals.
    pub u: Points,
    pub shape: Shapes,
    pub chosen: Chosen,
}

/// The shapes that were chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// Of all residuals together.
    pub together: ShapeHyperparameters,
    /// Of each statistic's, where these suit better.
    pub factors: Vec<ShapeHyperparameters>,
    /// Mean leave-one-out log density of u.
    pub score: f64,
}

impl Residuals {
    /// With shapes chosen before.
    pub fn new(statistics: Vec<Statistic>, z: &Points, chosen: Chosen) -> Result<Self, Error> {
        let (correlation, u) = whiten(&statistics)?;
        Ok(Self { shape: Shapes::new(z, &u, chosen.together, &chosen.factors)?, chosen, statistics, correlation, u })
    }

    /// With the shapes that suit best: one for each statistic is tried where heavy tails of each on its own are likelier than common ones.
    pub fn learn(statistics: Vec<Statistic>, z: &Points) -> Result<Self, Error> {
        let u = whiten(&statistics)?.1;
        let (together, score) = shape::search(z, &u)?;
        let mut chosen = Chosen { together, factors: vec![], score };
        if u.columns() > 1 && tails::are_apart(&u) {
            let (factors, apart) = shape::search_apart(&u);
            if apart > score + MARGIN_APART / u.rows() as f64 {
                chosen = Chosen { factors, score: apart, ..chosen };
            }
        }
        Self::new(statistics, z, chosen)
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
