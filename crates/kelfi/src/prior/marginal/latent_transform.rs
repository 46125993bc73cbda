//! θ ↔ z of one parameter (method: §1): z = Φ⁻¹(P(θ)), θ = P⁻¹(Φ(z)), through whichever tail is the smaller.

use super::Marginal;
use super::family;
use crate::Error;
use crate::special::Level;
use std::f64::consts::LN_2;

/// Largest |z| of any θ, for every family but the normal; Φ(−38) ≈ 3e-316 is the last the double format can tell from 0.
pub const LATENT_LIMIT: f64 = 38.0;

impl Marginal {
    /// The z with Φ(z) = P(Θ ≤ θ).
    ///
    /// A θ equal to an end of the support stands for everything that rounds to it: it gets half the probability of the
    /// nearest number inside. |z| is at most [`LATENT_LIMIT`], except for the normal family, whose z is linear in θ.
    pub fn to_latent(&self, theta: f64) -> Result<f64, Error> {
        if !theta.is_finite() {
            return Err(Error::invalid("the parameter", theta, "it must be finite"));
        }
        let (low, high) = self.support();
        if theta < low || theta > high {
            return Err(Error::OutsideSupport { name: "θ".into(), value: theta, low, high });
        }
        let z = if theta == low || theta == high { self.latent_of_end(theta) } else { self.with(|family| family.to_normal(theta)) };
        Ok(if self.is_linear() { z } else { z.clamp(-LATENT_LIMIT, LATENT_LIMIT) })
    }

    /// The θ with P(Θ ≤ θ) = Φ(z): finite and strictly inside the support for every z that is not NaN.
    pub fn from_latent(&self, z: f64) -> f64 {
        let (low, high) = self.support();
        self.with(|family| family::inside(family.from_normal(z), low, high))
    }

    /// z of an end of the support: half the probability between it and the nearest number inside.
    fn latent_of_end(&self, theta: f64) -> f64 {
        let (low, high) = self.support();
        let (first, last) = (low.next_up(), high.next_down());
        if theta == low {
            Level::from_ln_p(self.ln_cdf(first) - LN_2).to_normal().max(-LATENT_LIMIT)
        } else {
            Level::from_ln_q(self.ln_survival(last) - LN_2).to_normal().min(LATENT_LIMIT)
        }
    }

    /// Whether z is linear in θ, so that it needs no tails and no limit.
    fn is_linear(&self) -> bool {
        matches!(self, Self::Normal { .. })
    }
}
