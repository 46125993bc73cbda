//! A Gaussian in z coordinates fitted to points: N(c, S), S = R Rᵀ.

use crate::Points;
use crate::linalg::Cholesky;
use crate::random::standard_normal;
use rand_chacha::ChaCha8Rng;

/// How much wider than the points the fitted Gaussian is.
pub const WIDENING: f64 = 1.5;
/// Few points overstate correlations: they are shrunk a little.
const CORRELATION: f64 = 0.95;

/// N(c, S).
#[derive(Debug, Clone)]
pub struct Reference {
    centre: Vec<f64>,
    /// R.
    root: Cholesky,
}

impl Reference {
    /// N(0, I).
    pub fn standard(dimension: usize) -> Self {
        let mut identity = vec![0.0; dimension * dimension];
        (0..dimension).for_each(|d| identity[d * dimension + d] = 1.0);
        Self { centre: vec![0.0; dimension], root: Cholesky::new(identity, dimension).expect("the identity is positive definite") }
    }

    /// Mean and widened covariance of the points; the prior's where they coincide.
    pub fn fitted(points: &Points) -> Self {
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
                covariance[i * dimension + j] *= WIDENING * WIDENING * if i == j { 1.0 } else { CORRELATION };
            }
            covariance[i * dimension + i] += 1e-12;
        }
        match Cholesky::new(covariance, dimension) {
            Ok(root) => Self { centre, root },
            Err(_) => Self::standard(dimension),
        }
    }

    /// The same Gaussian around another centre.
    pub fn around(&self, centre: &[f64]) -> Self {
        Self { centre: centre.to_vec(), ..self.clone() }
    }

    /// c.
    pub fn centre(&self) -> &[f64] {
        &self.centre
    }

    /// A draw of N(0, S).
    pub fn direction(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        let dimension = self.centre.len();
        let normal: Vec<f64> = (0..dimension).map(|_| standard_normal(rng)).collect();
        (0..dimension).map(|i| (0..=i).map(|j| self.root.entry(i, j) * normal[j]).sum()).collect()
    }

    /// A draw of N(c, S).
    pub fn draw(&self, rng: &mut ChaCha8Rng) -> Vec<f64> {
        self.direction(rng).into_iter().zip(&self.centre).map(|(v, c)| v + c).collect()
    }

    /// ln N(z | c, S).
    pub fn ln_density(&self, z: &[f64]) -> f64 {
        let squares: f64 = self.whiten(z).iter().map(|x| x * x).sum();
        -0.5 * squares - 0.5 * self.root.ln_determinant() - 0.5 * z.len() as f64 * std::f64::consts::TAU.ln()
    }

    /// R⁻¹ (z - c).
    pub fn whiten(&self, z: &[f64]) -> Vec<f64> {
        let mut x: Vec<f64> = z.iter().zip(&self.centre).map(|(z, c)| z - c).collect();
        self.root.half_solve_in_place(&mut x);
        x
    }
}
