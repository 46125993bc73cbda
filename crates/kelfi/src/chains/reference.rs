//! A distribution in z coordinates fitted to points, S = R Rᵀ: N(c, S), or Student's t with few degrees of freedom where tails matter.
//!
//! A t is a Gaussian N(c, τ S) with a random τ = ν/χ²_ν; given a point at squared distance d² the τ it comes with is (ν + d²)/χ²_(ν+D).
//! Slides along ellipses of N(c, τ S), τ drawn so, keep a target divided by the t (Nishihara, Murray & Adams 2014).

use crate::Points;
use crate::linalg::Cholesky;
use crate::random::standard_normal;
use crate::special::gamma::ln_gamma;
use rand_chacha::ChaCha8Rng;

/// How much wider than the points the fitted distribution is.
const WIDENING: f64 = 1.2;
/// Few points overstate correlations: they are shrunk a little.
const CORRELATION: f64 = 0.95;
/// ν of a fitted distribution.
const DEGREES: usize = 5;

/// N(c, S) or t_ν(c, S).
#[derive(Debug, Clone)]
pub struct Reference {
    centre: Vec<f64>,
    /// R.
    root: Cholesky,
    /// ν; `None` is the Gaussian.
    degrees: Option<usize>,
    ln_normaliser: f64,
}

impl Reference {
    /// N(0, I).
    pub fn standard(dimension: usize) -> Self {
        let mut identity = vec![0.0; dimension * dimension];
        (0..dimension).for_each(|d| identity[d * dimension + d] = 1.0);
        Self::with_root(vec![0.0; dimension], Cholesky::new(identity, dimension).expect("the identity is positive definite"), None)
    }

    /// N(c, S) with S row after row; the standard one where S is not positive definite.
    pub fn gaussian(centre: Vec<f64>, covariance: Vec<f64>) -> Self {
        Self::new(centre, covariance, None)
    }

    fn new(centre: Vec<f64>, covariance: Vec<f64>, degrees: Option<usize>) -> Self {
        match Cholesky::new(covariance, centre.len()) {
            Ok(root) => Self::with_root(centre, root, degrees),
            Err(_) => Self::standard(centre.len()),
        }
    }

    fn with_root(centre: Vec<f64>, root: Cholesky, degrees: Option<usize>) -> Self {
        let dimension = centre.len() as f64;
        let constant = match degrees {
            None => -0.5 * dimension * std::f64::consts::TAU.ln(),
            Some(nu) => {
                let nu = nu as f64;
                ln_gamma(0.5 * (nu + dimension)) - ln_gamma(0.5 * nu) - 0.5 * dimension * (nu * std::f64::consts::PI).ln()
            }
        };
        let ln_normaliser = constant - 0.5 * root.ln_determinant();
        Self { centre, root, degrees, ln_normaliser }
    }

    /// N(c, S) with mean and covariance of the points.
    pub fn gaussian_of(points: &Points) -> Self {
        let (centre, covariance) = moments(points, 1.0);
        Self::new(centre, covariance, None)
    }

    /// Student's t with mean and widened covariance of the points; the prior where they coincide.
    pub fn fitted(points: &Points) -> Self {
        let (centre, covariance) = moments(points, WIDENING);
        Self::new(centre, covariance, Some(DEGREES))
    }

    /// The same around another centre.
    pub fn around(&self, centre: &[f64]) -> Self {
        Self { centre: centre.to_vec(), ..self.clone() }
    }

    /// c.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// A draw.
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let tau = self.degrees.map_or(1.0, |nu| nu as f64 / chi_square(nu, rng));
        self.gaussian_step(tau, rng).into_iter().zip(&self.centre).map(|(v, c)| v + c).collect()
    }

    /// A draw of N(0, τ S) with the τ of this state: the other axis of an ellipse through it.
    pub fn axis(&self, state: &[f64], rng: &mut ChaCha8Rng) -> Vec<f64> {
        let tau = self.degrees.map_or(1.0, |nu| (nu as f64 + self.distance(state)) / chi_square(nu + state.len(), rng));
        self.gaussian_step(tau, rng)
    }

    fn gaussian_step(&self, tau: f64, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let dimension = self.centre.len();
        let normal: Vec<f64> = (0..dimension).map(|_| tau.sqrt() * standard_normal(rng)).collect();
        self.times_root(&normal)
    }

    /// ln of the density.
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        let squared = self.distance(z);
        match self.degrees {
            None => self.ln_normaliser - 0.5 * squared,
            Some(nu) => self.ln_normaliser - 0.5 * (nu + z.len()) as f64 * (squared / nu as f64).ln_1p(),
        }
    }

    /// |R⁻¹ (z - c)|².
    fn distance(&self, z: &[f64]) -> f64 {
        self.whiten(z).iter().map(|x| x * x).sum()
    }

    /// c + R w.
    pub fn coloured(&self, w: &[f64]) -> Vec<f64> {
        self.times_root(w).into_iter().zip(&self.centre).map(|(v, c)| v + c).collect()
    }

    /// Rᵀ g: a gradient in z as one in w.
    pub fn pull(&self, gradient: &[f64]) -> Vec<f64> {
        (0..gradient.len()).map(|j| (j..gradient.len()).map(|i| self.root.entry(i, j) * gradient[i]).sum()).collect()
    }

    fn times_root(&self, w: &[f64]) -> Vec<f64> {
        (0..w.len()).map(|i| (0..=i).map(|j| self.root.entry(i, j) * w[j]).sum()).collect()
    }

    /// R⁻¹ (z - c).
    pub fn whiten(&self, z: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = z.iter().zip(&self.centre).map(|(z, c)| z - c).collect();
        self.root.half_solve_in_place(&mut x);
        x
    }
}

/// Mean and covariance of points, the latter widened and its correlations shrunk.
fn moments(points: &Points, widening: f64) -> (Vec<f64>, Vec<f64>) {
    let (count, dimension) = (points.rows() as f64, points.columns());
    let centre: Vec<f64> = (0..dimension).map(|d| points.iter().map(|z| z[d]).sum::<f64>() / count).collect();
    let mut covariance = vec![0.0; dimension * dimension];
    for z in points.iter() {
        for i in 0..dimension {
            for j in 0..dimension {
                covariance[i * dimension + j] += (z[i] - centre[i]) * (z[j] - centre[j]) / count;
            }
        }
    }
    for i in 0..dimension {
        for j in 0..dimension {
            covariance[i * dimension + j] *= widening * widening * if i == j { 1.0 } else { CORRELATION };
        }
        covariance[i * dimension + i] += 1e-12;
    }
    (centre, covariance)
}

fn chi_square(degrees: usize, rng: &mut ChaCha8Rng) -> f64 {
    (0..degrees).map(|_| standard_normal(rng).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn the_fitted_density_integrates_to_one_and_draws_follow_it() {
        let points = Points::from_column((0..50).map(|i| 3.0 + (i as f64).sin()).collect());
        let fitted = Reference::fitted(&points);
        let grid = |k: usize| -97.0 + 0.01 * k as f64;
        let total: f64 = (0..=20_000).map(|k| 0.01 * fitted.ln_density(&[grid(k)]).exp()).sum();
        // Beyond 100 standard deviations a t with five degrees of freedom has 1e-9.
        assert!((total - 1.0).abs() < 1e-7, "{total}");
        let below: f64 = (0..=9_900).map(|k| 0.01 * fitted.ln_density(&[grid(k)]).exp()).sum();
        let mut rng = stream(2, Purpose::Experiment, 0);
        let drawn = (0..10_000).filter(|_| fitted.draw(&mut rng)[0] < 2.0).count() as f64 / 1e4;
        // Four standard errors.
        assert!((drawn - below).abs() < 4.0 * (below * (1.0 - below) / 1e4).sqrt(), "{drawn} {below}");
    }
}
