//! One parameter at a time: θ_d ↔ z_d for priors whose coordinates do not mix.

use super::Prior;
use crate::Error;
use crate::special::normal;

impl Prior {
    /// θ_d where z_d = t. Only for a [`super::Coordinate::Monotone`] parameter.
    pub fn coordinate_from_latent(&self, d: usize, t: f64) -> f64 {
        match self {
            Self::Independent(prior) => prior.marginals()[d].from_latent(t),
            _ => self.from_latent(&self.along(d, t))[d],
        }
    }

    /// z_d where θ_d = value, and dz_d/dθ_d there; outside the support the slope is 0 and z_d the end it lies beyond.
    /// Only for a [`super::Coordinate::Monotone`] parameter.
    pub fn coordinate_to_latent(&self, d: usize, value: f64) -> Result<(f64, f64), Error> {
        if let Self::Independent(prior) = self {
            let marginal = &prior.marginals()[d];
            let (low, high) = marginal.support();
            if value < low || value > high {
                return Ok((if value < low { f64::NEG_INFINITY } else { f64::INFINITY }, 0.0));
            }
            let t = marginal.to_latent(value)?;
            return Ok((t, (marginal.ln_density(value) - normal::ln_density(t)).exp().min(f64::MAX)));
        }
        // Standardised priors: θ_d = centre + scale · z_d.
        let centre = self.coordinate_from_latent(d, 0.0);
        // The slope is taken far out, where a centre large beside the scale no longer costs digits of the difference.
        const FAR: f64 = (1_u64 << 60) as f64;
        let scale = (self.coordinate_from_latent(d, FAR) - centre) / FAR;
        Ok(((value - centre) / scale, 1.0 / scale))
    }

    fn along(&self, d: usize, t: f64) -> Vec<f64> {
        let mut z = vec![0.0; self.dimension()];
        z[d] = t;
        z
    }
}
