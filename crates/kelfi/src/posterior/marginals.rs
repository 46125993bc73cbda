//! The posterior of one parameter or two: density, shares, quantiles.

use super::{Posterior, Representation, moments};
use crate::mixture::WeightedLine;
use crate::mixture::marginals::ClippedMarginal;
use crate::prior::Coordinate;
use crate::{Error, Points, Prior};

impl Posterior {
    /// The density of parameter `d` at each value: the marginal of the clipped density, 0 outside the support.
    pub fn marginal(&self, d: usize, values: &[f64]) -> Result<Vec<f64>, Error> {
        let line = self.line(d)?;
        values.iter().map(|&value| line.density(self.prior(), value)).collect()
    }

    /// The density of parameters `d` and `e` (different ones) at each pair of values: a marginal of the clipped density.
    pub fn pair_marginal(&self, d: usize, e: usize, pairs: &Points) -> Result<Vec<f64>, Error> {
        self.require_pairs(d, e, pairs)?;
        moments::pair_marginal(self, d, e, pairs)
    }

    /// The signed density of parameters `d` and `e` (different ones) at each pair of values.
    pub fn signed_pair_marginal(&self, d: usize, e: usize, pairs: &Points) -> Result<Vec<f64>, Error> {
        self.require_pairs(d, e, pairs)?;
        moments::signed_pair_marginal(self, d, e, pairs)
    }

    fn require_pairs(&self, d: usize, e: usize, pairs: &Points) -> Result<(), Error> {
        self.require_parameter(d)?;
        self.require_parameter(e)?;
        if d == e {
            return Err(Error::invalid("second parameter", e as f64, "a pair needs two different parameters"));
        }
        if pairs.columns() != 2 {
            return Err(Error::Shape {
                left: "the pairs of values".into(),
                left_rows: pairs.rows(),
                left_columns: pairs.columns(),
                right: "a pair of parameters".into(),
                right_rows: 1,
                right_columns: 2,
                advice: "give two columns".into(),
            });
        }
        pairs.require_finite("the pairs of values")
    }

    /// The share of the clipped density below each value of parameter `d`: rises from 0 to 1. Infinite values are allowed.
    pub fn cdf(&self, d: usize, values: &[f64]) -> Result<Vec<f64>, Error> {
        let line = self.line(d)?;
        values.iter().map(|&value| line.cdf(self.prior(), value)).collect()
    }

    /// Quantiles of parameter `d` under the clipped density: [`Posterior::cdf`] the other way round.
    pub fn quantile(&self, d: usize, probabilities: &[f64]) -> Result<Vec<f64>, Error> {
        let line = self.line(d)?;
        probabilities.iter().map(|&p| line.quantile(self.prior(), p)).collect()
    }

    /// The central interval of parameter `d` that holds this share.
    pub fn interval(&self, d: usize, share: f64) -> Result<(f64, f64), Error> {
        if !(share > 0.0 && share < 1.0) {
            return Err(Error::invalid("share of an interval", share, "it must lie between 0 and 1"));
        }
        let ends = self.quantile(d, &[0.5 * (1.0 - share), 0.5 * (1.0 + share)])?;
        Ok((ends[0], ends[1]))
    }

    /// The clipped marginal of parameter `d`, prepared once for many questions.
    pub fn line(&self, d: usize) -> Result<Line, Error> {
        self.require_parameter(d)?;
        let coordinate = self.prior().coordinate(d);
        let direction = moments::direction(&coordinate, d, self.prior().dimension());
        let distribution = match (&self.form, self.clipped()) {
            (Representation::Mixture(mixture), clipped) if clipped.is_none_or(|clipped| clipped.effective.is_infinite()) => {
                Distribution::Mixture(mixture.marginal(&direction).clip())
            }
            (_, Some(clipped)) => Distribution::Draws(clipped.draws.line(&direction)),
            (_, None) => unreachable!("what is no mixture is known by draws"),
        };
        Ok(Line { d, coordinate, distribution })
    }
}

/// The marginal of one parameter, prepared for densities, shares and quantiles.
#[derive(Debug, Clone)]
pub struct Line {
    d: usize,
    coordinate: Coordinate,
    distribution: Distribution,
}

#[derive(Debug, Clone)]
enum Distribution {
    Mixture(ClippedMarginal),
    Draws(WeightedLine),
}

impl Line {
    /// The value of the parameter below which a share `p` lies.
    pub fn quantile(&self, prior: &Prior, p: f64) -> Result<f64, Error> {
        let t = match &self.distribution {
            Distribution::Mixture(marginal) => marginal.quantile(p)?,
            Distribution::Draws(line) => line.quantile(p)?,
        };
        Ok(self.to_theta(prior, t))
    }

    /// The share below a value of the parameter, which may be infinite.
    pub fn cdf(&self, prior: &Prior, value: f64) -> Result<f64, Error> {
        if value.is_infinite() {
            return Ok(if value > 0.0 { 1.0 } else { 0.0 });
        }
        let (t, _) = self.to_line(prior, value)?;
        Ok(match &self.distribution {
            Distribution::Mixture(marginal) => marginal.cdf(t),
            Distribution::Draws(line) => line.cdf(t),
        })
    }

    /// The density at a value of the parameter: of the line times dt/dθ, so that nothing leaks over the ends of the support.
    pub fn density(&self, prior: &Prior, value: f64) -> Result<f64, Error> {
        let (t, slope) = self.to_line(prior, value)?;
        if slope == 0.0 {
            return Ok(0.0);
        }
        Ok(slope
            * match &self.distribution {
                Distribution::Mixture(marginal) => marginal.density(t),
                Distribution::Draws(line) => line.density(t),
            })
    }

    fn to_theta(&self, prior: &Prior, t: f64) -> f64 {
        match &self.coordinate {
            Coordinate::Linear { offset, .. } => offset + t,
            Coordinate::Monotone => prior.coordinate_from_latent(self.d, t),
        }
    }

    /// Position on the line and dt/dθ there; outside the support the slope is 0.
    fn to_line(&self, prior: &Prior, value: f64) -> Result<(f64, f64), Error> {
        Error::require_finite("value of a parameter", value)?;
        match &self.coordinate {
            Coordinate::Linear { offset, .. } => Ok((value - offset, 1.0)),
            Coordinate::Monotone => prior.coordinate_to_latent(self.d, value),
        }
    }
}
