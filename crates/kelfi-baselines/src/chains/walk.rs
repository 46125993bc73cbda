//! A symmetric Gaussian random walk whose steps become shorter while nothing is accepted and longer while nearly everything is.

use kelfi::Error;
use kelfi::linalg::Cholesky;
use kelfi::random::standard_normal;
use rand::Rng;

/// The share of accepted steps that is aimed at: the best of a Gaussian random walk in many dimensions (Roberts, Gelman & Gilks, Ann. Appl.
/// Probab. 7, 1997).
const AIM: f64 = 0.234;
/// ln scale moves by GAIN t^-DECAY (accepted − AIM) at step t: ten rejections in a row shorten the steps to a tenth.
const GAIN: f64 = 2.0;
const DECAY: f64 = 0.6;
/// Bounds of the scale. Where a likelihood is so noisy that even a chain that stays rejects, shorter steps would not help.
const SCALES: (f64, f64) = (0.05, 10.0);

/// A random walk.
#[derive(Debug, Clone)]
pub struct Walk {
    factor: Cholesky,
    scale: f64,
    /// Steps it has adapted to; `None`: it does not.
    adapted: Option<u32>,
}

impl Walk {
    /// With this covariance of a step.
    pub fn new(covariance: Vec<f64>, dimension: usize) -> Result<Self, Error> {
        let factor = Cholesky::new(covariance, dimension).map_err(|bad| bad.error(dimension, 0.0))?;
        Ok(Self { factor, scale: 1.0, adapted: None })
    }

    /// The same with steps that adapt.
    pub fn that_adapts(self) -> Self {
        Self { adapted: Some(0), ..self }
    }

    /// Where a step from `z` leads.
    pub fn step(&self, z: &[f64], rng: &mut dyn Rng) -> Vec<f64> {
        let noise: Vec<f64> = (0..z.len()).map(|_| standard_normal(rng)).collect();
        (0..z.len()).map(|d| z[d] + self.scale * (0..=d).map(|e| self.factor.entry(d, e) * noise[e]).sum::<f64>()).collect()
    }

    /// Robbins and Monro's rule on ln scale; the adaptation fades, so that the chain keeps its target (Andrieu & Thoms, Stat. Comput. 18,
    /// 2008).
    pub fn adapt(&mut self, accepted: bool) {
        if let Some(steps) = &mut self.adapted {
            *steps += 1;
            let gain = GAIN * f64::from(*steps).powf(-DECAY);
            self.scale = (self.scale * (gain * (f64::from(u8::from(accepted)) - AIM)).exp()).clamp(SCALES.0, SCALES.1);
        }
    }

    /// ln of the density of a step from `from` to `to`.
    pub fn ln_density(&self, from: &[f64], to: &[f64]) -> f64 {
        let mut step: Vec<f64> = to.iter().zip(from).map(|(to, from)| (to - from) / self.scale).collect();
        self.factor.half_solve_in_place(&mut step);
        let squared: f64 = step.iter().map(|s| s * s).sum();
        let dimension = step.len() as f64;
        -0.5 * (squared + self.factor.ln_determinant() + dimension * std::f64::consts::TAU.ln()) - dimension * self.scale.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kelfi::random::{Purpose, stream};
    use rand::RngExt;

    /// Share of accepted steps and scale of a walk on N(0, σ² I) whose steps begin with standard deviation 1 in every coordinate.
    fn walked(sd: f64, dimension: usize, steps: u64) -> (f64, f64) {
        let mut identity = vec![0.0; dimension * dimension];
        (0..dimension).for_each(|d| identity[d * dimension + d] = 1.0);
        let mut walk = Walk::new(identity, dimension).unwrap().that_adapts();
        let ln = |z: &[f64]| -0.5 * z.iter().map(|z| (z / sd).powi(2)).sum::<f64>();
        let (mut here, mut taken) = (vec![0.0; dimension], 0.0);
        for index in 0..steps {
            let mut rng = stream(1, Purpose::Chains, index);
            let to = walk.step(&here, &mut rng);
            let accepted = rng.random::<f64>().ln() < ln(&to) - ln(&here);
            walk.adapt(accepted);
            if accepted {
                (here, taken) = (to, taken + 1.0);
            }
        }
        (taken / steps as f64, walk.scale)
    }

    #[test]
    fn steps_ten_times_too_long_or_too_short_become_right() {
        for sd in [0.1, 1.0, 5.0] {
            let (share, scale) = walked(sd, 6, 2_000);
            assert!((share - AIM).abs() < 0.05, "{sd}: {share} of the steps accepted");
            let best = 2.38 * sd / 6.0_f64.sqrt();
            assert!((0.6..1.6).contains(&(scale / best)), "{sd}: {scale} instead of {best}");
        }
    }

    #[test]
    fn densities_of_steps_know_their_scale() {
        let mut walk = Walk::new(vec![4.0], 1).unwrap().that_adapts();
        walk.adapt(false);
        let sd = 2.0 * walk.scale;
        let expected = -0.5 * (1.0 / sd).powi(2) - sd.ln() - 0.5 * std::f64::consts::TAU.ln();
        assert!(walk.scale < 1.0 && (walk.ln_density(&[0.0], &[1.0]) - expected).abs() < 1e-12);
    }
}
