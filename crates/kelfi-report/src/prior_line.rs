//! The prior of one parameter: density, quantiles, mean and spread, exact where the family has them, from draws elsewhere.

use crate::numbers::number;
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

    /// The family and its settings, as one would write them in a paper.
    pub fn words(&self) -> String {
        match self {
            Self::Family(marginal) => family_in_words(marginal),
            Self::Normal { mean, std } => format!("normal (mean {}, std {}), correlated", number(*mean), number(*std)),
            Self::Draws(_) => "no standard family".into(),
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

/// "log-uniform (low 0.01, high 10)": names and order are those of the problem file, {"log_uniform":{"low":0.01,"high":10.0}}.
fn family_in_words(marginal: &Marginal) -> String {
    let written = serde_json::to_string(marginal).unwrap_or_default();
    let mut parts = written.split(['{', '}']).filter(|part| !part.is_empty());
    let (family, settings) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let plain = |text: &str| text.trim_matches(['"', ':']).replace('_', "-");
    let setting = |pair: &str| {
        let (name, value) = pair.split_once(':')?;
        Some(format!("{} {}", plain(name), number(value.parse().ok()?)))
    };
    format!("{} ({})", plain(family), settings.split(',').filter_map(setting).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_named_with_their_settings() {
        let words = |marginal: Marginal| PriorLine::Family(marginal).words();
        assert_eq!(words(Marginal::LogUniform { low: 0.01, high: 10.0 }), "log-uniform (low 0.01, high 10)");
        assert_eq!(words(Marginal::Normal { mean: -1.5, std: 2.0 }), "normal (mean -1.5, std 2)");
        let truncated = Marginal::TruncatedNormal { mean: 0.0, std: 1.0, low: 0.0, high: f64::INFINITY };
        assert_eq!(words(truncated), "truncated-normal (mean 0, std 1, low 0)", "an infinite end is left out");
    }
}
