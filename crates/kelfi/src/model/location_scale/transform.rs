//! Each statistic in a form a regression likes: counts made continuous, skewed values on a root or logarithmic scale.

use super::constants::transform::{HEAVY, SKEWED};
use crate::random::{Purpose, stream};
use crate::simulations::scales::{median, robust_scale};
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// A monotone change of scale.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// x.
    Identity,
    /// √(x + offset).
    SquareRoot {
        /// Added before the root.
        offset: f64,
    },
    /// ln(x + offset).
    Logarithm {
        /// Added before the logarithm.
        offset: f64,
    },
    /// asinh((x - centre) / unit): linear in the middle, logarithmic in both tails.
    InverseHyperbolicSine {
        /// What is subtracted.
        centre: f64,
        /// Where it begins to bend.
        unit: f64,
    },
}

/// How one statistic enters the regressions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// Distance between neighbouring values of a discrete statistic; simulated values get uniform noise of that width.
    pub step: Option<f64>,
    /// The change of scale.
    pub scale: Scale,
}

impl Scale {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::SquareRoot { .. } => "square root",
            Self::Logarithm { .. } => "logarithm",
            Self::InverseHyperbolicSine { .. } => "asinh",
        }
    }

    /// The changed value; NaN outside the domain.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::Identity => x,
            Self::SquareRoot { offset } => (x + offset).sqrt(),
            Self::Logarithm { offset } => (x + offset).ln(),
            Self::InverseHyperbolicSine { centre, unit } => ((x - centre) / unit).asinh(),
        }
    }

    /// The value that [`Scale::apply`] takes here; what lies below the domain is taken to its edge.
    pub fn invert(self, changed: f64) -> f64 {
        match self {
            Self::Identity => changed,
            Self::SquareRoot { offset } => changed.max(0.0).powi(2) - offset,
            Self::Logarithm { offset } => changed.exp().min(f64::MAX) - offset,
            Self::InverseHyperbolicSine { centre, unit } => (centre + unit * changed.sinh()).clamp(f64::MIN, f64::MAX),
        }
    }

    /// ln of the derivative: densities of changed values times it are densities of the values.
    pub fn ln_slope(self, x: f64) -> f64 {
        match self {
            Self::Identity => 0.0,
            Self::SquareRoot { offset } => -(2.0 * (x + offset).sqrt()).ln(),
            Self::Logarithm { offset } => -(x + offset).ln(),
            Self::InverseHyperbolicSine { centre, unit } => -0.5 * ((x - centre) / unit).hypot(1.0).powi(2).ln() - unit.ln(),
        }
    }
}

/// The changes of scale worth a try for these values; both they and the observed ones must be inside the domain.
pub fn candidates(values: &[f64], observed: &[f64], step: Option<f64>) -> Vec<Scale> {
    let mut found = vec![Scale::Identity];
    let all = || values.iter().chain(observed).copied();
    let (low, high) = all().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let (Some(middle), Some(unit)) = (median(values.to_vec()), robust_scale(values)) else { return found };
    let offset = step.unwrap_or(0.0);
    let low = low + if step.is_some() { 0.5 * offset } else { 0.0 };
    if low + 0.5 * offset >= 0.0 && low + offset > 0.0 && high > SKEWED * middle {
        found.push(Scale::SquareRoot { offset });
        found.push(Scale::Logarithm { offset });
    }
    if (high - middle).max(middle - low) > HEAVY * unit {
        found.push(Scale::InverseHyperbolicSine { centre: middle, unit });
    }
    found
}

/// The values with uniform noise of one step added; value i of statistic `index` depends on (seed, index, i) only.
pub fn dequantise(values: &[f64], step: f64, index: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, Purpose::Dequantise, index as u64);
    values.iter().map(|v| v + step * (rng.random::<f64>() - 0.5)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_derivatives() {
        for scale in [
            Scale::Identity,
            Scale::SquareRoot { offset: 1.0 },
            Scale::Logarithm { offset: 0.5 },
            Scale::InverseHyperbolicSine { centre: 2.0, unit: 0.3 },
        ] {
            for x in [0.1, 3.0, 40.0] {
                let step = 1e-6 * (1.0 + x);
                let slope = (scale.apply(x + step) - scale.apply(x - step)) / (2.0 * step);
                assert!((scale.ln_slope(x) - slope.ln()).abs() < 1e-6, "{scale:?} at {x}");
            }
        }
    }

    #[test]
    fn a_logarithm_is_tried_only_where_everything_is_positive() {
        let skewed: Vec<f64> = (0..100).map(|i| (f64::from(i) / 10.0).exp()).collect();
        assert!(candidates(&skewed, &[1.0], None).iter().any(|s| matches!(s, Scale::Logarithm { .. })));
        assert!(!candidates(&skewed, &[-1.0], None).iter().any(|s| matches!(s, Scale::Logarithm { .. })));
    }
}
