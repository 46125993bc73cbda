//! A small share of one Gaussian beside a shape's components: it keeps the logarithm finite where no simulated residual is near.
//!
//! Far from all residuals it is the only part left, so its weight decides where the posterior goes when the observation conflicts with the
//! prior. It is therefore absent where the shape is Gaussian anyway, and elsewhere as light as left-out residuals allow.

use super::components::ln_normaliser;
use crate::model::location_scale::constants::shape::{TAIL_SHARES, TAIL_WIDTHS};
use serde::{Deserialize, Serialize};

/// The share of the Gaussian and its standard deviation in residual standard deviations.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// Share of the density.
    pub share: f64,
    /// Standard deviation.
    pub std: f64,
}

/// What all models had in files from before there was a choice.
impl Default for Tail {
    fn default() -> Self {
        Self { share: 0.01, std: 2.0 }
    }
}

impl Tail {
    /// None at all.
    pub const NONE: Self = Self { share: 0.0, std: 1.0 };

    /// What left-out residuals choose from, the lightest first.
    pub fn candidates() -> impl Iterator<Item = Self> {
        TAIL_SHARES.into_iter().flat_map(|share| TAIL_WIDTHS.map(|std| Self { share, std }))
    }

    /// ln of its part at a residual of n statistics with this squared length.
    pub fn ln_part(self, squared_radius: f64, n: usize) -> f64 {
        self.share.ln() - 0.5 * squared_radius / (self.std * self.std) + ln_normaliser(self.std, n)
    }

    /// ln of the density from ln of the components' sum.
    pub fn ln_mixed(self, components: f64, squared_radius: f64, n: usize) -> f64 {
        if self.share == 0.0 {
            return components;
        }
        let (main, tail) = (components + (1.0 - self.share).ln(), self.ln_part(squared_radius, n));
        let (low, high) = if main < tail { (main, tail) } else { (tail, main) };
        high + (low - high).exp().ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_with_a_tail_is_the_weighted_sum_of_both() {
        let tail = Tail { share: 0.1, std: 2.0 };
        let wide = (-0.5 * 9.0 / 4.0_f64).exp() / (2.0 * std::f64::consts::TAU.sqrt());
        assert!((tail.ln_mixed(0.3_f64.ln(), 9.0, 1) - (0.9 * 0.3 + 0.1 * wide).ln()).abs() < 1e-12);
        assert_eq!(Tail::NONE.ln_mixed(-2_000.0, 9.0, 1), -2_000.0);
        assert!(tail.ln_mixed(f64::NEG_INFINITY, 9.0, 1).is_finite());
    }
}
