//! How much of the surrogate posterior is negative: ∫[q]⁻ / ∫[q]⁺, exact on the line, Monte Carlo beyond.

use crate::mixture::signed::SignedMixture;
use crate::model::Surrogate;
use crate::posterior::Representation;
use crate::random::{Purpose, stream};
use crate::{Points, prior::LatentPrior};

/// Draws for the Monte Carlo estimate.
const DRAWS: usize = 4_096;

/// ∫[q]⁻ / ∫[q]⁺ with its standard error (0 where exact).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeMass {
    /// The ratio, in [0, 1).
    pub ratio: f64,
    /// Its Monte Carlo standard error.
    pub standard_error: f64,
    /// ∫[q]⁺: what the positive part is divided by to become a density.
    pub positive_mass: f64,
}

impl NegativeMass {
    /// Of a posterior in this form.
    pub fn of(surrogate: &dyn Surrogate, form: &Representation, seed: u64) -> Self {
        match form {
            Representation::Mixture(mixture) if mixture.dimension() == 1 => {
                let line = mixture.marginal(&[1.0]).clip();
                Self { ratio: line.negative_mass(), standard_error: 0.0, positive_mass: line.positive_mass() }
            }
            Representation::Mixture(mixture) => Self::estimate(mixture, &surrogate.prior().latent(), seed),
            // The surrogate is positive already; what it cut off to be so is reported all the same.
            Representation::Chained(chained) => {
                Self { ratio: chained.cut_off().min(1.0 - f64::EPSILON), standard_error: 0.0, positive_mass: 1.0 }
            }
            Representation::Draws(draws) => {
                let (positive, negative) = draws.masses();
                Self { ratio: (negative / positive).min(1.0 - f64::EPSILON), standard_error: 0.0, positive_mass: positive }
            }
        }
    }

    /// Importance sampling with draws from the prior and from the positive components in equal numbers,
    /// each weighed by the mean of the two densities, so that no weight is unbounded.
    fn estimate(mixture: &SignedMixture, latent: &LatentPrior, seed: u64) -> Self {
        let mut rows = Vec::with_capacity(DRAWS);
        for index in 0..DRAWS as u64 {
            let mut rng = stream(seed, Purpose::Integration, index);
            rows.push(if index.is_multiple_of(2) { latent.draw_with(&mut rng) } else { mixture.draw_positive(&mut rng) });
        }
        let z = Points::from_rows(&rows).expect("every draw has the same number of coordinates");
        let (values, positive) = (mixture.values(&z), mixture.positive_values(&z));
        let mut masses = Vec::with_capacity(DRAWS);
        for ((z, q), p) in z.iter().zip(values).zip(positive) {
            let prior = latent.ln_density(z).map_or(0.0, f64::exp);
            let proposal = 0.5 * (prior + p / mixture.positive_weight());
            let weight = if proposal > 0.0 { q / proposal } else { 0.0 };
            masses.push((weight.max(0.0), (-weight).max(0.0)));
        }
        let count = DRAWS as f64;
        let positive: f64 = masses.iter().map(|m| m.0).sum::<f64>() / count;
        let negative: f64 = masses.iter().map(|m| m.1).sum::<f64>() / count;
        if positive.is_nan() || positive <= 0.0 {
            return Self { ratio: 1.0 - f64::EPSILON, standard_error: 1.0, positive_mass: mixture.positive_weight() };
        }
        let ratio = negative / positive;
        // Delta method for a ratio of means.
        let variance: f64 = masses.iter().map(|m| (m.1 - ratio * m.0).powi(2)).sum::<f64>() / (count * count * positive * positive);
        // ∫[q]⁺ - ∫[q]⁻ = 1 turns a small ratio into a sharper estimate of the positive mass than its own average.
        let positive_mass = if ratio < 0.5 { 1.0 / (1.0 - ratio) } else { positive };
        Self { ratio: ratio.min(1.0 - f64::EPSILON), standard_error: variance.sqrt(), positive_mass }
    }
}
