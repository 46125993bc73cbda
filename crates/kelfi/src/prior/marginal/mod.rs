//! One-dimensional prior families: what a user writes, and the questions every family answers.

mod bounded;
mod family;
mod gamma;
mod heavy_tails;
mod latent_transform;
mod lifetime;
mod normal;
mod truncated_normal;

pub use latent_transform::LATENT_LIMIT;

use crate::Error;
use crate::special::Level;
use family::Family;
use serde::{Deserialize, Serialize};

/// A one-dimensional prior family with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Marginal {
    /// Normal with this mean and standard deviation.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        std: f64,
    },
    /// Constant density on [low, high].
    Uniform {
        /// Lower end.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// ln θ is normal.
    LogNormal {
        /// Mean of ln θ.
        mean: f64,
        /// Standard deviation of ln θ.
        std: f64,
    },
    /// ln θ is uniform.
    LogUniform {
        /// Lower end, positive.
        low: f64,
        /// Upper end.
        high: f64,
    },
    /// Density ∝ θ^(shape−1) e^(−rate θ).
    Gamma {
        /// Shape.
        shape: f64,
        /// Rate: one over the scale.
        rate: f64,
    },
    /// 1/θ is gamma: density ∝ θ^(−shape−1) e^(−scale/θ).
    InverseGamma {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// Density ∝ θ^(a−1) (1−θ)^(b−1) on [0, 1].
    Beta {
        /// Exponent at 0.
        a: f64,
        /// Exponent at 1.
        b: f64,
    },
    /// Density ∝ e^(−rate θ), θ ≥ 0.
    Exponential {
        /// Rate: one over the mean.
        rate: f64,
    },
    /// Student's t, shifted and stretched.
    StudentT {
        /// Degrees of freedom.
        df: f64,
        /// Centre.
        location: f64,
        /// Stretch; not the standard deviation.
        scale: f64,
    },
    /// A normal restricted to [low, high]; either end may be infinite (or left out, or `null`).
    TruncatedNormal {
        /// Mean before truncation.
        mean: f64,
        /// Standard deviation before truncation.
        std: f64,
        /// Lower end, −∞ if left out.
        #[serde(default = "family::no_lower_bound", with = "family::lower_bound")]
        low: f64,
        /// Upper end, +∞ if left out.
        #[serde(default = "family::no_upper_bound", with = "family::upper_bound")]
        high: f64,
    },
    /// P(θ > t) = exp(−(t/scale)^shape).
    Weibull {
        /// Shape.
        shape: f64,
        /// Scale.
        scale: f64,
    },
    /// Student's t with one degree of freedom.
    Cauchy {
        /// Centre.
        location: f64,
        /// Half width at half maximum.
        scale: f64,
    },
    /// |N(0, std²)|.
    HalfNormal {
        /// Standard deviation of the normal that is folded.
        std: f64,
    },
    /// Density ∝ e^(−|θ−location|/scale).
    Laplace {
        /// Centre.
        location: f64,
        /// Mean distance from the centre.
        scale: f64,
    },
    /// Density rising linearly from low to mode and falling linearly to high.
    Triangular {
        /// Lower end.
        low: f64,
        /// Where the density is highest; may equal an end.
        mode: f64,
        /// Upper end.
        high: f64,
    },
}

impl Marginal {
    /// An error naming the first setting outside its domain.
    pub fn validate(&self) -> Result<(), Error> {
        self.with(|family| family.validate())
    }

    /// (lower, upper) end of the support.
    pub fn support(&self) -> (f64, f64) {
        self.with(|family| family.support())
    }

    /// ln p(θ); −∞ outside the support. Where the density itself is infinite (a gamma of shape < 1 at 0), its value at the
    /// nearest number inside.
    pub fn ln_density(&self, theta: f64) -> f64 {
        if theta.is_nan() {
            return f64::NAN;
        }
        let (low, high) = self.support();
        if theta < low || theta > high || theta.is_infinite() {
            return f64::NEG_INFINITY;
        }
        let value = self.with(|family| family.ln_density(theta));
        if value == f64::INFINITY { self.with(|family| family.ln_density(family::inside(theta, low, high))) } else { value }
    }

    /// (ln P(Θ ≤ θ), ln P(Θ > θ)), each to full relative precision in its own tail.
    fn ln_tails(&self, theta: f64) -> (f64, f64) {
        let (low, high) = self.support();
        if theta <= low {
            (f64::NEG_INFINITY, 0.0)
        } else if theta >= high {
            (0.0, f64::NEG_INFINITY)
        } else {
            self.with(|family| family.ln_tails(theta))
        }
    }

    /// P(Θ ≤ θ).
    pub fn cdf(&self, theta: f64) -> f64 {
        self.ln_cdf(theta).exp()
    }

    /// P(Θ > θ).
    pub fn survival(&self, theta: f64) -> f64 {
        self.ln_survival(theta).exp()
    }

    /// ln P(Θ ≤ θ).
    pub fn ln_cdf(&self, theta: f64) -> f64 {
        self.ln_tails(theta).0
    }

    /// ln P(Θ > θ).
    pub fn ln_survival(&self, theta: f64) -> f64 {
        self.ln_tails(theta).1
    }

    /// The θ with P(Θ ≤ θ) = p, for p in [0, 1]; always finite and inside the support.
    pub fn quantile(&self, p: f64) -> f64 {
        self.quantile_at(&Level::from_p(p.clamp(0.0, 1.0)))
    }

    /// The θ with P(Θ > θ) = s: the quantile of 1 − s for an s too small to be taken from one.
    pub fn quantile_survival(&self, s: f64) -> f64 {
        self.quantile_at(&Level::from_q(s.clamp(0.0, 1.0)))
    }

    /// The quantile, moved to the nearest finite number strictly inside the support where it rounds to or beyond an end.
    fn quantile_at(&self, level: &Level) -> f64 {
        let (low, high) = self.support();
        self.with(|family| family::inside(family.quantile(level), low, high))
    }

    /// Mean, if it exists.
    pub fn mean(&self) -> Option<f64> {
        self.with(|family| family.mean())
    }

    /// Standard deviation, if it exists.
    pub fn std(&self) -> Option<f64> {
        self.with(|family| family.std())
    }

    /// The family this variant stands for, asked one question.
    fn with<R>(&self, ask: impl FnOnce(&dyn Family) -> R) -> R {
        match *self {
            Self::Normal { mean, std } => ask(&normal::Normal { mean, std }),
            Self::Uniform { low, high } => ask(&bounded::Uniform { low, high }),
            Self::LogNormal { mean, std } => ask(&normal::LogNormal { mean, std }),
            Self::LogUniform { low, high } => ask(&bounded::LogUniform { low, high }),
            Self::Gamma { shape, rate } => ask(&gamma::Gamma { shape, rate }),
            Self::InverseGamma { shape, scale } => ask(&gamma::InverseGamma { shape, scale }),
            Self::Beta { a, b } => ask(&bounded::Beta { a, b }),
            Self::Exponential { rate } => ask(&lifetime::Exponential { rate }),
            Self::StudentT { df, location, scale } => ask(&heavy_tails::StudentT { df, location, scale }),
            Self::TruncatedNormal { mean, std, low, high } => ask(&truncated_normal::TruncatedNormal { mean, std, low, high }),
            Self::Weibull { shape, scale } => ask(&lifetime::Weibull { shape, scale }),
            Self::Cauchy { location, scale } => ask(&heavy_tails::Cauchy { location, scale }),
            Self::HalfNormal { std } => ask(&normal::HalfNormal { std }),
            Self::Laplace { location, scale } => ask(&heavy_tails::Laplace { location, scale }),
            Self::Triangular { low, mode, high } => ask(&bounded::Triangular { low, mode, high }),
        }
    }
}
