//! A probability with its complement and both logarithms, so that no tail is ever rounded away.

use super::{ln_one_minus_exp, normal};

/// A probability p together with q = 1 − p, their logarithms and p − q, each with its own full precision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// p.
    pub p: f64,
    /// q = 1 − p.
    pub q: f64,
    /// ln p; right even where p underflows.
    pub ln_p: f64,
    /// ln q; right even where q underflows.
    pub ln_q: f64,
    /// p − q; right even where p and q are nearly equal.
    pub difference: f64,
}

impl Level {
    /// From p in [0, 1].
    pub fn from_p(p: f64) -> Self {
        let q = 1.0 - p;
        Self { p, q, ln_p: p.ln(), ln_q: (-p).ln_1p(), difference: 2.0 * p - 1.0 }
    }

    /// From q = 1 − p in [0, 1].
    pub fn from_q(q: f64) -> Self {
        Self::from_p(q).swapped()
    }

    /// From ln p ≤ 0.
    pub fn from_ln_p(ln_p: f64) -> Self {
        let p = ln_p.exp();
        let q = -ln_p.exp_m1();
        Self { p, q, ln_p, ln_q: ln_one_minus_exp(ln_p), difference: p - q }
    }

    /// From ln q ≤ 0, q = 1 − p.
    pub fn from_ln_q(ln_q: f64) -> Self {
        Self::from_ln_p(ln_q).swapped()
    }

    /// From both logarithms; the smaller of them carries the information.
    pub fn from_tails(ln_p: f64, ln_q: f64) -> Self {
        if ln_p < ln_q { Self::from_ln_p(ln_p) } else { Self::from_ln_q(ln_q) }
    }

    /// p = Φ(z).
    pub fn from_normal(z: f64) -> Self {
        let (ln_p, ln_q) = (normal::ln_cdf(z), normal::ln_cdf(-z));
        Self { p: ln_p.exp(), q: ln_q.exp(), ln_p, ln_q, difference: normal::central(z) }
    }

    /// The z with Φ(z) = p.
    pub fn to_normal(&self) -> f64 {
        normal::quantile(self)
    }

    /// p and q exchanged.
    pub fn swapped(self) -> Self {
        Self { p: self.q, q: self.p, ln_p: self.ln_q, ln_q: self.ln_p, difference: -self.difference }
    }
}
