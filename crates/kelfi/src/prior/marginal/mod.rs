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
use family::Distribution;
use serde::{Deserialize, Serialize};

/// The enum of families, the list of them, and the way from a variant to the family that answers for it, from one table.
macro_rules! families {
    ($($(#[$about:meta])* $variant:ident = $name:literal in $module:ident { $($(#[$of_setting:meta])* $setting:ident),+ $(,)? },)+) => {
        /// A one-dimensional prior family with its settings.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case", deny_unknown_fields)]
        pub enum Marginal {
            $($(#[$about])* $variant { $($(#[$of_setting])* $setting: f64),+ },)+
        }

        impl Marginal {
            /// Every family as files name it, with its settings.
            pub const FAMILIES: &'static [(&'static str, &'static [&'static str])] = &[$(($name, &[$(stringify!($setting)),+])),+];

            /// The family this variant stands for, asked one question.
            fn with<R>(&self, ask: impl FnOnce(&dyn Distribution) -> R) -> R {
                match *self {
                    $(Self::$variant { $($setting),+ } => ask(&$module::$variant { $($setting),+ }),)+
                }
            }
        }
    };
}

families! {
    /// Normal with this mean and standard deviation.
    Normal = "normal" in normal {
        /// Mean.
        mean,
        /// Standard deviation.
        std,
    },
    /// Constant density on [low, high].
    Uniform = "uniform" in bounded {
        /// Lower end.
        low,
        /// Upper end.
        high,
    },
    /// ln θ is normal.
    LogNormal = "log_normal" in normal {
        /// Mean of ln θ.
        mean,
        /// Standard deviation of ln θ.
        std,
    },
    /// ln θ is uniform.
    LogUniform = "log_uniform" in bounded {
        /// Lower end, positive.
        low,
        /// Upper end.
        high,
    },
    /// Density ∝ θ^(shape−1) e^(−rate θ).
    Gamma = "gamma" in gamma {
        /// Shape.
        shape,
        /// Rate: one over the scale.
        rate,
    },
    /// 1/θ is gamma: density ∝ θ^(−shape−1) e^(−scale/θ).
    InverseGamma = "inverse_gamma" in gamma {
        /// Shape.
        shape,
        /// Scale.
        scale,
    },
    /// Density ∝ θ^(a−1) (1−θ)^(b−1) on [0, 1].
    Beta = "beta" in bounded {
        /// Exponent at 0.
        a,
        /// Exponent at 1.
        b,
    },
    /// Density ∝ e^(−rate θ), θ ≥ 0.
    Exponential = "exponential" in lifetime {
        /// Rate: one over the mean.
        rate,
    },
    /// Student's t, shifted and stretched.
    StudentT = "student_t" in heavy_tails {
        /// Degrees of freedom.
        df,
        /// Centre.
        location,
        /// Stretch; not the standard deviation.
        scale,
    },
    /// A normal restricted to [low, high]; either end may be infinite (or left out, or `null`).
    TruncatedNormal = "truncated_normal" in truncated_normal {
        /// Mean before truncation.
        mean,
        /// Standard deviation before truncation.
        std,
        /// Lower end, −∞ if left out.
        #[serde(default = "family::no_lower_bound", with = "family::lower_bound")]
        low,
        /// Upper end, +∞ if left out.
        #[serde(default = "family::no_upper_bound", with = "family::upper_bound")]
        high,
    },
    /// P(θ > t) = exp(−(t/scale)^shape).
    Weibull = "weibull" in lifetime {
        /// Shape.
        shape,
        /// Scale.
        scale,
    },
    /// Student's t with one degree of freedom.
    Cauchy = "cauchy" in heavy_tails {
        /// Centre.
        location,
        /// Half width at half maximum.
        scale,
    },
    /// |N(0, std²)|.
    HalfNormal = "half_normal" in normal {
        /// Standard deviation of the normal that is folded.
        std,
    },
    /// Density ∝ e^(−|θ−location|/scale).
    Laplace = "laplace" in heavy_tails {
        /// Centre.
        location,
        /// Mean distance from the centre.
        scale,
    },
    /// Density rising linearly from low to mode and falling linearly to high.
    Triangular = "triangular" in bounded {
        /// Lower end.
        low,
        /// Where the density is highest; may equal an end.
        mode,
        /// Upper end.
        high,
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_families_has_the_names_that_files_have() {
        for &(family, settings) in Marginal::FAMILIES {
            let object: serde_json::Map<_, _> = settings.iter().zip(1..).map(|(name, value)| (name.to_string(), value.into())).collect();
            let written = serde_json::json!({ family: object });
            let read: Marginal = serde_json::from_value(written.clone()).unwrap_or_else(|error| panic!("{family}: {error}"));
            let names: Vec<String> = serde_json::to_value(&read).unwrap()[family].as_object().unwrap().keys().cloned().collect();
            assert_eq!(names.len(), settings.len(), "{family}");
            assert!(settings.iter().all(|setting| names.iter().any(|name| name == setting)), "{family}: {names:?}");
        }
    }
}
