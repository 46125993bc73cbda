//! What regressions see of θ: coordinates of unit variance in which a simulator is likely to be simple.
//!
//! A parameter with a flat prior, on its own scale or on that of its logarithm, enters on that scale: v = √3 (2 Φ(z) - 1). A plane in θ is a
//! plane in v but bends in z, most of all towards the ends of the prior. Every other parameter enters as z.

use super::frame::Frame;
use crate::special::normal;
use crate::{Marginal, Points, Prior};
use serde::{Deserialize, Serialize};

/// How one parameter enters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// z.
    Latent,
    /// √3 (2 Φ(z) - 1).
    Flat,
}

impl Input {
    fn of(self, z: f64) -> f64 {
        match self {
            Self::Latent => z,
            Self::Flat => 3.0_f64.sqrt() * normal::central(z),
        }
    }

    /// The derivative of what is seen in z.
    pub fn slope(self, z: f64) -> f64 {
        match self {
            Self::Latent => 1.0,
            Self::Flat => 2.0 * 3.0_f64.sqrt() * normal::ln_density(z).exp(),
        }
    }
}

/// How each parameter of this prior enters.
pub fn inputs(prior: &Prior) -> Vec<Input> {
    let of_marginal = |marginal: &Marginal| match marginal {
        Marginal::Uniform { .. } | Marginal::LogUniform { .. } => Input::Flat,
        _ => Input::Latent,
    };
    match prior {
        Prior::Independent(prior) => prior.marginals().iter().map(of_marginal).collect(),
        _ => vec![Input::Latent; prior.dimension()],
    }
}

/// Points in z coordinates as regressions see them, in local coordinates where there is a frame.
pub fn framed(inputs: &[Input], frame: Option<&Frame>, z: &Points) -> Points {
    let seen = seen(inputs, z);
    frame.map_or_else(|| seen.clone(), |frame| frame.local(&seen))
}

/// Points in z coordinates as regressions without a frame see them. No inputs: z itself.
pub fn seen(inputs: &[Input], z: &Points) -> Points {
    if inputs.iter().all(|&input| input == Input::Latent) {
        return z.clone();
    }
    z.map_rows(z.columns(), |z| inputs.iter().zip(z).map(|(input, &z)| input.of(z)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flat_priors_enter_on_the_scale_they_are_flat_on_and_all_others_as_z() {
        let prior = Prior::independent(vec![
            ("a".into(), Marginal::Uniform { low: -2.0, high: 10.0 }),
            ("b".into(), Marginal::LogUniform { low: 0.1, high: 100.0 }),
            ("c".into(), Marginal::Gamma { shape: 2.0, rate: 1.0 }),
        ])
        .unwrap();
        let theta = Points::from_rows(&[vec![4.0, 1.0, 0.3], vec![-1.9, 99.0, 2.0], vec![9.9, 0.11, 6.0]]).unwrap();
        let z = prior.to_latent_points(&theta).unwrap();
        let found = seen(&inputs(&prior), &z);
        for (row, (theta, z)) in found.iter().zip(theta.iter().zip(z.iter())) {
            // Unit variance: the ends lie at √3.
            assert!((row[0] - 3.0_f64.sqrt() * (theta[0] - 4.0) / 6.0).abs() < 1e-12);
            assert!((row[1] - 3.0_f64.sqrt() * (theta[1].log10() - 0.5) / 1.5).abs() < 1e-12);
            assert_eq!(row[2], z[2]);
        }
        assert_eq!(seen(&[], &z), z);
    }
}
