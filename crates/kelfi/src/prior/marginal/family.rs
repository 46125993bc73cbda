//! What every family implements, and how ends of a support are kept and written.

use crate::Error;
use crate::special::Level;

/// A one-dimensional family. Arguments lie strictly inside the support except where said; results may be ±∞ but never NaN.
pub(super) trait Distribution {
    /// An error naming the first setting outside its domain.
    fn validate(&self) -> Result<(), Error>;
    /// (lower, upper) end of the support.
    fn support(&self) -> (f64, f64) {
        (f64::NEG_INFINITY, f64::INFINITY)
    }
    /// ln p(x), the ends of the support included.
    fn ln_density(&self, x: f64) -> f64;
    /// (ln P(X ≤ x), ln P(X > x)), each accurate in its own tail.
    fn ln_tails(&self, x: f64) -> (f64, f64);
    /// The x with P(X ≤ x) = p; may round to an end of the support or overflow.
    fn quantile(&self, level: &Level) -> f64;
    /// The z with Φ(z) = P(X ≤ x), by default through both tails.
    fn to_normal(&self, x: f64) -> f64 {
        let (ln_p, ln_q) = self.ln_tails(x);
        Level::from_tails(ln_p, ln_q).to_normal()
    }
    /// The x with P(X ≤ x) = Φ(z), by default through both tails.
    fn from_normal(&self, z: f64) -> f64 {
        self.quantile(&Level::from_normal(z))
    }
    /// Mean, if it exists.
    fn mean(&self) -> Option<f64>;
    /// Standard deviation, if it exists.
    fn std(&self) -> Option<f64>;
}

/// `x` moved to the nearest finite, normal number strictly between `low` and `high`.
pub(super) fn inside(x: f64, low: f64, high: f64) -> f64 {
    let (first, last) = interior(low, high);
    x.clamp(first, last)
}

/// The first and the last number strictly between `low` and `high` that are finite and not subnormal.
pub(super) fn interior(low: f64, high: f64) -> (f64, f64) {
    let first = if low == 0.0 { f64::MIN_POSITIVE } else { low.next_up() };
    let last = if high == 0.0 { -f64::MIN_POSITIVE } else { high.next_down() };
    if first <= last { (first, last) } else { (low, low) }
}

/// Shapes and degrees of freedom: within these the incomplete gamma and beta functions converge to full precision.
pub(super) fn require_shape(what: &str, value: f64) -> Result<f64, Error> {
    if (1e-6..=1e10).contains(&value) { Ok(value) } else { Err(Error::invalid(what, value, "it must lie between 1e-6 and 1e10")) }
}

/// `high` if the interval from `low` to it has positive and finite length.
pub(super) fn require_above(family: &str, low: f64, high: f64) -> Result<(), Error> {
    Error::require_finite(&format!("low of {family}"), low)?;
    Error::require_finite(&format!("high of {family}"), high)?;
    if high > low && (high - low).is_finite() {
        Ok(())
    } else {
        Err(Error::invalid(format!("high of {family}"), high, format!("it must lie above low = {low}, by a finite distance")))
    }
}

/// The lower end when none is given.
pub(super) fn no_lower_bound() -> f64 {
    f64::NEG_INFINITY
}

/// The upper end when none is given.
pub(super) fn no_upper_bound() -> f64 {
    f64::INFINITY
}

/// A lower end that JSON, which has no infinity, writes as `null`.
pub(super) mod lower_bound {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(low: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        low.is_finite().then_some(*low).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
    }
}

/// An upper end that JSON, which has no infinity, writes as `null`.
pub(super) mod upper_bound {
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(high: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        super::lower_bound::serialize(high, serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::INFINITY))
    }
}
