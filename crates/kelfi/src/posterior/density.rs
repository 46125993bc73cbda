//! The posterior at given parameters: signed value, clipped density and its logarithm.

use super::{Evidence, Posterior};
use crate::{Error, Points};

impl Posterior {
    /// q(θ|y) = q(y|θ) p(θ) / q(y) at each θ: signed; 0 outside the support.
    pub fn value(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let evidence = match self.relative_evidence {
            Evidence::Value(evidence) => evidence,
            // Positive everywhere: its own density.
            Evidence::Logarithm(_) => return Ok(self.log_prob(theta)?.into_iter().map(f64::exp).collect()),
        };
        self.inside(theta, 0.0, |theta, z| {
            let likelihood = self.surrogate.relative_values(z);
            // Where the likelihood vanishes so does the posterior, even if the prior density is infinite there.
            let value = |theta: &[f64], q: f64| Ok(if q == 0.0 { 0.0 } else { q / evidence * self.prior().ln_density(theta)?.exp() });
            theta.iter().zip(likelihood).map(|(theta, q)| value(theta, q)).collect()
        })
    }

    /// [q(θ|y)]⁺ / ∫[q]⁺ at each θ: a density; 0 outside the support.
    pub fn pdf(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let positive_mass = self.negative_mass.positive_mass;
        Ok(self.value(theta)?.into_iter().map(|value| value.max(0.0) / positive_mass).collect())
    }

    /// ln of [`Posterior::pdf`]; -∞ outside the support and where the surrogate is not positive.
    pub fn log_prob(&self, theta: &Points) -> Result<Vec<f64>, Error> {
        let ln_normaliser = -self.negative_mass.positive_mass.ln() - self.relative_evidence.ln();
        self.inside(theta, f64::NEG_INFINITY, |theta, z| {
            let likelihood = self.surrogate.ln_relative_values(z);
            let ln = |theta: &[f64], q: f64| {
                if q > f64::NEG_INFINITY { Ok(q + self.prior().ln_density(theta)? + ln_normaliser) } else { Ok(f64::NEG_INFINITY) }
            };
            theta.iter().zip(likelihood).map(|(theta, q)| ln(theta, q)).collect()
        })
    }

    /// `density` of the points inside the support of the prior, given θ and z; `outside` for the others. NaN is an error.
    fn inside(
        &self,
        theta: &Points,
        outside: f64,
        density: impl FnOnce(&Points, &Points) -> Result<Vec<f64>, Error>,
    ) -> Result<Vec<f64>, Error> {
        for (row, point) in theta.iter().enumerate() {
            if let Some(column) = point.iter().position(|value| value.is_nan()) {
                return Err(Error::NotFinite { what: "the parameters".into(), row, column, value: f64::NAN });
            }
        }
        let is_inside = |theta: &[f64]| {
            theta.iter().all(|value| value.is_finite())
                && self.prior().ln_density(theta).map_or(true, |ln_density| ln_density > f64::NEG_INFINITY)
        };
        let rows: Vec<usize> = (0..theta.rows()).filter(|&row| is_inside(theta.row(row))).collect();
        let kept = theta.select(&rows);
        let mut found = vec![outside; theta.rows()];
        for (row, value) in rows.into_iter().zip(density(&kept, &self.prior().to_latent_points(&kept)?)?) {
            found[row] = value;
        }
        Ok(found)
    }
}
