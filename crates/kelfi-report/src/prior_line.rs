//! The prior of one parameter: density, quantiles, mean and spread, exact where the family has them, from draws elsewhere.

use kelfi::Prior;
use kelfi::prior::Marginal;
use kelfi::special::normal::{ln_density, quantile_of};

/// Draws that stand for a prior without closed marginals.
const DRAWS: usize = 4_000;

/// The prior of one parameter.
#[derive(Debug, Clone)]
pub enum PriorLine {
    /// A family of its own.
    Family(Marginal),
    /// A normal marginal of a correlated prior.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        std: f64,
    },
    /// Sorted draws.
    Draws(Vec<f64>),
}

impl PriorLine {
    /// Of parameter `d`.
    pub fn new(prior: &Prior, d: usize) -> Self {
        match prior {
            Prior::Independent(independent) => Self::Family(independent.marginals()[d].clone()),
            Prior::MultivariateNormal(normal) => Self::Normal { mean: normal.mean()[d], std: normal.covariance().row(d)[d].sqrt() },
            _ => {
                let mut draws = prior.draw(DRAWS, 0).column(d);
                draws.sort_by(f64::total_cmp);
                Self::Draws(draws)
            }
        }
    }

    /// Density at a value.
    pub fn density(&self, value: f64) -> f64 {
        match self {
            Self::Family(marginal) => marginal.ln_density(value).exp(),
            Self::Normal { mean, std } => ln_density((value - mean) / std).exp() / std,
            Self::Draws(draws) => {
                let h = 0.9 * self.std().unwrap_or(1.0).max(1e-300) * (draws.len() as f64).powf(-0.2);
                draws.iter().map(|x| ln_density((value - x) / h).exp()).sum::<f64>() / (h * draws.len() as f64)
            }
        }
    }

    /// The value below which a share `p` lies.
    pub fn quantile(&self, p: f64) -> f64 {
        match self {
            Self::Family(marginal) => marginal.quantile(p),
            Self::Normal { mean, std } => mean + std * quantile_of(p),
            Self::Draws(draws) => draws[((p * draws.len() as f64) as usize).min(draws.len() - 1)],
        }
    }

    /// Mean, where there is one.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Self::Family(marginal) => marginal.mean(),
            Self::Normal { mean, .. } => Some(*mean),
            Self::Draws(draws) => Some(draws.iter().sum::<f64>() / draws.len() as f64),
        }
    }

    /// Standard deviation, where there is one.
    pub fn std(&self) -> Option<f64> {
        match self {
            Self::Family(marginal) => marginal.std(),
            Self::Normal { std, .. } => Some(*std),
            Self::Draws(draws) => {
                let mean = self.mean()?;
                Some((draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64).sqrt())
            }
        }
    }
}
