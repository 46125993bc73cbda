//! What independent repeats of a statistic say beside their average: how much they scatter.
//!
//! The k repeats at one θ are ĝ(θ) + δ + σ(θ) e_k with one error δ of the mean for all of them. Their average is what the mean is regressed on,
//! and knows δ; their deviations from it know σ alone. With D² the variance of the average around ĝ, noise of k repeats and δ together,
//!
//! r_k = (y_k - ȳ)/σ + (ȳ - ĝ)/(√k D)
//!
//! have unit variance and no correlation, and the density of the y_k is that of the r_k over σ^(k-1) √k D: with v the variance of δ,
//! k D² = σ² + k v, and these are C^-½ (y - ĝ) and |C|^½ of C = σ² I + v 1 1ᵀ.

/// Deviations of repeats from their averages.
#[derive(Debug, Clone, PartialEq)]
pub struct Within {
    /// k.
    pub repeats: usize,
    /// Repeats of one simulation stand together.
    pub deviations: Vec<f64>,
}

impl Within {
    /// The averages, and the deviations from them.
    pub fn of(values: &[f64], repeats: usize) -> (Vec<f64>, Self) {
        let means: Vec<f64> = values.chunks(repeats).map(average).collect();
        let deviations = values.chunks(repeats).zip(&means).flat_map(|(same, mean)| same.iter().map(move |v| v - mean)).collect();
        (means, Self { repeats, deviations })
    }

    /// Those of the first `count` simulations.
    pub fn head(&self, count: usize) -> Self {
        Self { deviations: self.deviations[..count * self.repeats].to_vec(), ..*self }
    }

    fn squares(&self) -> impl Iterator<Item = f64> + '_ {
        self.deviations.chunks(self.repeats).map(|same| same.iter().map(|d| d * d).sum::<f64>())
    }

    /// ln of the sample variance of every simulation.
    pub fn ln_variances(&self) -> Vec<f64> {
        let count = (self.deviations.len() / self.repeats) as f64;
        let tiny = (1e-12 * self.squares().sum::<f64>() / count).max(f64::MIN_POSITIVE);
        self.squares().map(|sum| ((sum + tiny) / (self.repeats - 1) as f64).ln()).collect()
    }

    /// σ² at relative noise 1, given the relative noise of every simulation.
    pub fn variance(&self, relative_noise: &[f64]) -> f64 {
        let freedom = (relative_noise.len() * (self.repeats - 1)) as f64;
        self.squares().zip(relative_noise).map(|(sum, w)| sum / w).sum::<f64>() / freedom
    }

    /// Of Gaussian deviations with the variance they have, up to a constant.
    pub fn ln_density(&self) -> f64 {
        let count = self.deviations.len() / self.repeats;
        let freedom = (count * (self.repeats - 1)) as f64;
        -0.5 * freedom * (1.0 + self.variance(&vec![1.0; count]).max(f64::MIN_POSITIVE).ln())
    }

    /// Whether repeats are all equal but for rounding, beside values that vary by `spread` (a standard deviation).
    pub fn are_equal(&self, spread: f64) -> bool {
        let largest = self.deviations.iter().fold(0.0_f64, |largest, d| largest.max(d.abs()));
        largest <= 1e-9 * spread
    }
}

/// The mean of some values.
pub fn average(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// r_k of repeats of one simulation: their deviations from the average over σ, with the average's residual over its own D.
pub fn whitened(deviations: &[f64], sigma: f64, residual: f64) -> impl Iterator<Item = f64> + '_ {
    let shared = residual / (deviations.len() as f64).sqrt();
    deviations.iter().map(move |d| d / sigma + shared)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::linalg::vector::dot;

    /// ln N(y | g, σ² I + v 1 1ᵀ) up to (2π)^-k/2, by factoring the matrix.
    fn by_matrix(y: &[f64], g: f64, sigma: f64, v: f64) -> f64 {
        let k = y.len();
        let entries: Vec<f64> = (0..k * k).map(|e| v + if e % (k + 1) == 0 { sigma * sigma } else { 0.0 }).collect();
        let factor = Cholesky::new(entries, k).unwrap();
        let mut r: Vec<f64> = y.iter().map(|y| y - g).collect();
        factor.half_solve_in_place(&mut r);
        -0.5 * dot(&r, &r) - 0.5 * factor.ln_determinant()
    }

    #[test]
    fn whitened_repeats_have_the_density_of_their_covariance() {
        let (y, g, sigma, v) = ([0.3, -1.2, 2.1, 0.7, 0.1], -0.9, 0.8, 0.35);
        let k = y.len() as f64;
        let d = (v + sigma * sigma / k).sqrt();
        let (means, within) = Within::of(&y, y.len());
        let r: Vec<f64> = whitened(&within.deviations, sigma, (means[0] - g) / d).collect();
        let ln = -0.5 * dot(&r, &r) - (k - 1.0) * sigma.ln() - (k.sqrt() * d).ln();
        assert!((ln - by_matrix(&y, g, sigma, v)).abs() < 1e-12);
        // The symmetric root, each repeat with its own: (σ² I + v 1 1ᵀ) applied to the whitened twice is y - g.
        let (a, b) = (sigma, ((sigma * sigma + k * v).sqrt() - sigma) / k);
        let total: f64 = r.iter().sum();
        assert!(r.iter().zip(y).all(|(r, y)| (a * r + b * total - (y - g)).abs() < 1e-12));
    }

    #[test]
    fn variances_have_the_degrees_of_freedom_of_repeats() {
        // Two simulations of three repeats, by hand: sums of squares 2 and 8.
        let (means, within) = Within::of(&[1.0, 2.0, 3.0, 4.0, 6.0, 8.0], 3);
        assert_eq!(means, [2.0, 6.0]);
        assert!((within.variance(&[1.0, 1.0]) - 10.0 / 4.0).abs() < 1e-12);
        assert!((within.variance(&[1.0, 4.0]) - 4.0 / 4.0).abs() < 1e-12);
        assert!((within.ln_variances()[1] - 4.0_f64.ln()).abs() < 1e-9);
        assert!(!within.are_equal(1.0) && Within::of(&[0.1 + 0.2, 0.3], 2).1.are_equal(1.0));
    }
}
