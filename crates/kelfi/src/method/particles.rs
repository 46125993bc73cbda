//! Weighted parameter vectors as a smooth distribution: a kernel density in z coordinates with the particles' own mean and covariance.

use crate::linalg::Cholesky;
use crate::random::{Purpose, standard_normal, stream};
use crate::{Error, Points, Prior};
use rand::RngExt;

/// Added to the covariance's diagonal in z, where the prior has 1: particles that all coincide keep a width.
const LEAST_VARIANCE: f64 = 1e-8;
/// Particles worth less than this many equally weighted ones are a point.
const LEAST_EFFECTIVE: f64 = 1.5;
/// Bandwidths tried: Silverman's times 2^(-k/2), k = 0, …, this.
const HALVINGS: i32 = 10;

/// Σ_j w_j N(z | z̄ + a (z_j − z̄), h² Σ) with a² = 1 − h², so that mean and covariance are the particles' own
/// (West, J. R. Statist. Soc. B 55, 1993). h is the largest of Silverman's rule and its halves by leave-one-out likelihood.
#[derive(Debug, Clone)]
pub struct Particles {
    prior: Prior,
    mean: Vec<f64>,
    factor: Cholesky,
    /// L⁻¹ (z_j − z̄).
    white: Points,
    weights: Vec<f64>,
    bandwidth: f64,
    remark: Option<String>,
}

impl Particles {
    /// From parameter vectors with weights that need not sum to 1. Costs O(m²D).
    pub fn new(prior: &Prior, theta: &Points, weights: &[f64]) -> Result<Self, Error> {
        Self::from_latent(prior, &prior.to_latent_points(theta)?, weights)
    }

    /// The same from z coordinates.
    pub fn from_latent(prior: &Prior, z: &Points, weights: &[f64]) -> Result<Self, Error> {
        let weights = normalised(z, weights)?;
        z.require_finite("the particles")?;
        let dimension = z.columns();
        let mean: Vec<f64> = (0..dimension).map(|d| z.iter().zip(&weights).map(|(z, w)| w * z[d]).sum()).collect();
        let mut covariance = vec![0.0; dimension * dimension];
        for (z, w) in z.iter().zip(&weights) {
            for i in 0..dimension {
                for j in 0..dimension {
                    covariance[i * dimension + j] += w * (z[i] - mean[i]) * (z[j] - mean[j]);
                }
            }
        }
        (0..dimension).for_each(|d| covariance[d * dimension + d] += LEAST_VARIANCE);
        let factor = Cholesky::new(covariance, dimension).map_err(|bad| bad.error(dimension, 0.0))?;
        let white = z.map_rows(dimension, |z| {
            let mut u: Vec<f64> = z.iter().zip(&mean).map(|(z, mean)| z - mean).collect();
            factor.half_solve_in_place(&mut u);
            u
        });
        let bandwidth = best_bandwidth(&white, &weights);
        Ok(Self { prior: prior.clone(), mean, factor, white, weights, bandwidth, remark: None })
    }

    /// The same with what a reader of the answer has to know: a chain that never moved, say.
    pub fn with_remark(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }

    /// What a reader of the answer has to know, told by the method, or that nearly all weight is on one particle.
    pub fn remark(&self) -> Option<String> {
        let alone =
            || (self.effective() < LEAST_EFFECTIVE).then(|| "nearly all weight is on one particle: a point, not a posterior".to_owned());
        self.remark.clone().or_else(alone)
    }

    /// How many equally weighted particles they are worth: 1/Σw².
    pub fn effective(&self) -> f64 {
        effective(&self.weights)
    }

    /// h, in units of the particles' own spread.
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// `count` samples in θ units; sample s depends on (seed, s) only.
    pub fn samples(&self, count: usize, seed: u64) -> Points {
        let shrink = (1.0 - self.bandwidth.powi(2)).max(0.0).sqrt();
        let mut cumulative = self.weights.clone();
        (1..cumulative.len()).for_each(|j| cumulative[j] += cumulative[j - 1]);
        let mut z = Points::zeros(count, self.mean.len());
        for s in 0..count {
            let mut rng = stream(seed, Purpose::Samples, s as u64);
            let level = rng.random::<f64>() * cumulative[cumulative.len() - 1];
            let j = cumulative.partition_point(|&c| c <= level).min(cumulative.len() - 1);
            let u: Vec<f64> = self.white.row(j).iter().map(|u| shrink * u + self.bandwidth * standard_normal(&mut rng)).collect();
            for d in 0..self.mean.len() {
                z.row_mut(s)[d] = self.mean[d] + (0..=d).map(|e| self.factor.entry(d, e) * u[e]).sum::<f64>();
            }
        }
        self.prior.from_latent_points(&z)
    }

    /// ln of the density over the prior's, which is the same in θ and in z.
    pub fn gain(&self, theta: &[f64]) -> Result<f64, Error> {
        let z = self.prior.to_latent(theta)?;
        let ln_prior = self.prior.latent().ln_density(&z).ok_or_else(|| Error::Unavailable {
            what: "the density of particles over the prior".into(),
            reason: "this prior is given only as draws; give it as a distribution".into(),
        })?;
        let mut u: Vec<f64> = z.iter().zip(&self.mean).map(|(z, mean)| z - mean).collect();
        self.factor.half_solve_in_place(&mut u);
        let ln = ln_kernel_density(&u, &self.white, &self.weights, None, self.bandwidth);
        Ok(ln - 0.5 * self.factor.ln_determinant() - ln_prior)
    }
}

fn normalised(z: &Points, weights: &[f64]) -> Result<Vec<f64>, Error> {
    if z.is_empty() || weights.len() != z.rows() {
        return Err(Error::Shape {
            left: "the particles".into(),
            left_rows: z.rows(),
            left_columns: z.columns(),
            right: "their weights".into(),
            right_rows: weights.len(),
            right_columns: 1,
            advice: "give at least one particle, and one weight for each".into(),
        });
    }
    let total: f64 = weights.iter().sum();
    match weights.iter().position(|w| !(*w >= 0.0 && w.is_finite())) {
        Some(j) => Err(Error::invalid(format!("weight of particle {j}"), weights[j], "it must not be negative")),
        None => {
            Error::require_positive("sum of the weights", total)?;
            Ok(weights.iter().map(|w| w / total).collect())
        }
    }
}

fn effective(weights: &[f64]) -> f64 {
    1.0 / weights.iter().map(|w| w * w).sum::<f64>()
}

/// Silverman's h = (4/((D+2) m))^(1/(D+4)), at most 1, or a smaller one under which particles explain each other better.
fn best_bandwidth(white: &Points, weights: &[f64]) -> f64 {
    let dimension = white.columns() as f64;
    let silverman = (4.0 / ((dimension + 2.0) * effective(weights))).powf(1.0 / (dimension + 4.0)).min(1.0);
    let score = |h: f64| -> f64 {
        let one = |j: usize| weights[j] * ln_kernel_density(white.row(j), white, weights, Some(j), h).max(-1e3);
        (0..white.rows()).filter(|&j| weights[j] > 0.0).map(one).sum()
    };
    let mut best = (silverman, score(silverman));
    for k in 1..=HALVINGS {
        let h = silverman * 2.0_f64.powf(-0.5 * f64::from(k));
        let found = score(h);
        if found > best.1 {
            best = (h, found);
        }
    }
    best.0
}

/// ln Σ_j w_j N(u | a u_j, h² I) / Σ_j w_j over all j but `without`; −∞ if none is left.
fn ln_kernel_density(u: &[f64], white: &Points, weights: &[f64], without: Option<usize>, h: f64) -> f64 {
    let shrink = (1.0 - h * h).max(0.0).sqrt();
    let terms: Vec<f64> = (0..white.rows())
        .filter(|&j| Some(j) != without && weights[j] > 0.0)
        .map(|j| weights[j].ln() - 0.5 * u.iter().zip(white.row(j)).map(|(u, v)| ((u - shrink * v) / h).powi(2)).sum::<f64>())
        .collect();
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    let kept = 1.0 - without.map_or(0.0, |j| weights[j]);
    let ln_normaliser = u.len() as f64 * (h * std::f64::consts::TAU.sqrt()).ln() + kept.ln();
    largest + terms.iter().map(|t| (t - largest).exp()).sum::<f64>().ln() - ln_normaliser
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Marginal;

    fn prior() -> Prior {
        Prior::independent(vec![
            ("a".into(), Marginal::Normal { mean: 1.0, std: 2.0 }),
            ("b".into(), Marginal::Uniform { low: 0.0, high: 1.0 }),
        ])
        .unwrap()
    }

    #[test]
    fn the_density_integrates_to_one_over_the_prior() {
        // ∫ q dθ = E_prior[exp(gain)].
        let particles = Particles::new(&prior(), &prior().draw(60, 1), &[1.0; 60]).unwrap();
        let draws = prior().draw(20_000, 2);
        let total: f64 = draws.iter().map(|theta| particles.gain(theta).unwrap().exp()).sum::<f64>() / 20_000.0;
        assert!((total - 1.0).abs() < 0.03, "{total}");
    }

    #[test]
    fn samples_keep_mean_and_covariance_of_the_weighted_particles() {
        let theta = prior().draw(40, 3);
        let weights: Vec<f64> = (0..40).map(|j| f64::from(j % 4)).collect();
        let particles = Particles::new(&prior(), &theta, &weights).unwrap();
        let samples = particles.samples(40_000, 5);
        // In the first parameter z is linear in θ, so its moments are kept there too.
        let total: f64 = weights.iter().sum();
        let mean = theta.iter().zip(&weights).map(|(t, w)| w * t[0]).sum::<f64>() / total;
        let variance = theta.iter().zip(&weights).map(|(t, w)| w * (t[0] - mean).powi(2)).sum::<f64>() / total;
        let sampled = samples.column(0);
        let sampled_mean = sampled.iter().sum::<f64>() / 40_000.0;
        let sampled_variance = sampled.iter().map(|t| (t - sampled_mean).powi(2)).sum::<f64>() / 40_000.0;
        assert!((sampled_mean - mean).abs() < 0.03 * variance.sqrt(), "{sampled_mean} {mean}");
        assert!((sampled_variance / variance - 1.0).abs() < 0.04, "{sampled_variance} {variance}");
        assert!(samples.column(1).iter().all(|b| (0.0..=1.0).contains(b)), "samples stay inside the prior's support");
    }

    #[test]
    fn two_clusters_are_not_smeared_into_one() {
        let narrow = |j: usize| if j.is_multiple_of(2) { 3.0 } else { -3.0 } + 0.02 * (j as f64 / 50.0 - 0.5);
        let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 3.0 })]).unwrap();
        let particles = Particles::new(&prior, &Points::from_column((0..50).map(narrow).collect()), &[1.0; 50]).unwrap();
        assert!(particles.bandwidth() < 0.1, "{}", particles.bandwidth());
        assert!(particles.gain(&[3.0]).unwrap() > particles.gain(&[0.0]).unwrap() + 5.0);
    }

    #[test]
    fn weights_that_mean_nothing_are_refused() {
        let theta = prior().draw(3, 1);
        for weights in [&[0.0, 0.0, 0.0][..], &[1.0, -1.0, 1.0], &[1.0, f64::NAN, 1.0], &[1.0, 1.0]] {
            assert!(Particles::new(&prior(), &theta, weights).is_err(), "{weights:?}");
        }
        assert!(Particles::new(&prior(), &theta, &[0.0, 1.0, 0.0]).unwrap().gain(&[1.0, 0.5]).is_ok());
    }

    #[test]
    fn weight_on_one_particle_is_remarked_on_and_a_method_may_say_more() {
        let theta = prior().draw(3, 1);
        let remark = |weights: &[f64]| Particles::new(&prior(), &theta, weights).unwrap().remark();
        assert!(remark(&[0.0, 1.0, 0.1]).unwrap().contains("on one particle"));
        assert_eq!(remark(&[1.0, 1.0, 1.0]), None);
        let told = Particles::new(&prior(), &theta, &[1.0; 3]).unwrap().with_remark("the chain never moved").remark();
        assert_eq!(told.as_deref(), Some("the chain never moved"));
    }
}
