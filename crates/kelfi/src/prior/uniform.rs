//! From random bits to uniform, normal and categorical draws: same bits, same draw, on every machine.

use crate::special::Level;

/// A uniform draw strictly between 0 and 1: (k + ½) 2⁻⁵², k of 52 bits, so that neither u nor 1 − u is ever 0.
pub(crate) fn uniform(rng: &mut dyn rand::Rng) -> f64 {
    ((rng.next_u64() >> 12) as f64 + 0.5) * 2.0_f64.powi(-52)
}

/// A standard normal draw, Φ⁻¹ of a uniform one.
pub(super) fn standard_normal(rng: &mut dyn rand::Rng) -> f64 {
    Level::from_p(uniform(rng)).to_normal()
}

/// An index drawn with these probabilities.
pub(super) fn pick(rng: &mut dyn rand::Rng, probabilities: impl ExactSizeIterator<Item = f64>) -> usize {
    let last = probabilities.len() - 1;
    let mut left = uniform(rng);
    for (index, probability) in probabilities.enumerate() {
        left -= probability;
        if left < 0.0 {
            return index;
        }
    }
    last
}

/// An index below `count`, each with the same probability to within count · 2⁻⁵².
pub(super) fn index(rng: &mut dyn rand::Rng, count: usize) -> usize {
    ((uniform(rng) * count as f64) as usize).min(count - 1)
}
