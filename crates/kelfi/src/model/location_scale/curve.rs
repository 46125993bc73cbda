//! The kernels a regression bends with, in coordinates c(z) of their own.
//!
//! - bumps: c = z/β, ℓ = exp(-½ |c - c'|²), the Gaussian kernel
//! - sigmoids: c = √2 (1, z/β) / √(3 + 2 |z/β|²), ℓ = f(c·c'), f(q) = (2/π) (q + q³/6 + 3q⁵/40 + 5q⁷/112): the arcsine kernel of an infinitely
//!   wide network of sigmoids (Williams 1998) without the terms above the seventh power. It levels off far from the middle, as
//!   probabilities and counts do. Its coefficients are positive, so it is a kernel.
//!
//! Both have ½ Σ_ij M_ij ∂ℓ_ij/∂ ln β_d = Σ_i s_i c_id² - Σ_ij c_id W_ij c_jd, with W = M ∘ ℓ and s_i = Σ_j W_ij for bumps,
//! W = M ∘ f'(q) and s_i = Σ_j W_ij q_ij for sigmoids.

mod together;

use crate::Points;
use crate::linalg::products::{combine_rows, mirror, rows_dot_rows, transpose};
use crate::linalg::vector::{dot, gaussian_row, sigmoid_kernel, sigmoid_kernel_row, weighted_squares};
use crate::solver::KernelMatrix;
use serde::{Deserialize, Serialize};

/// Which kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bend {
    /// The Gaussian kernel: any smooth function, flat again where there are no simulations.
    Bumps,
    /// Sums of sigmoids: monotone functions that level off.
    Sigmoids,
}

/// A kernel with its length scales.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    form: Bend,
    length_scales: Vec<f64>,
}

/// Points in the coordinates of a [`Curve`].
#[derive(Debug, Clone)]
pub struct CurvePoints {
    rows: Points,
    /// One coordinate after the other.
    columns: Vec<f64>,
    /// ½ |c|² of each.
    half_squares: Vec<f64>,
}

impl CurvePoints {
    /// Number of points.
    pub fn count(&self) -> usize {
        self.rows.rows()
    }

    /// One coordinate after the other.
    pub fn columns(&self) -> &[f64] {
        &self.columns
    }
}

/// ℓ between points, a row at a time.
pub struct CurveMatrix<'a> {
    curve: &'a Curve,
    points: &'a CurvePoints,
}

impl KernelMatrix for CurveMatrix<'_> {
    fn diagonal(&self) -> Vec<f64> {
        self.curve.with_itself(self.points)
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        self.curve.row(self.points, self.points.rows.row(i), out);
    }
}

/// ℓ, what M is multiplied with for W, and q where s needs it; symmetric.
pub struct Matrices {
    /// ℓ.
    pub gram: Vec<f64>,
    factor: Option<Vec<f64>>,
    similarity: Option<Vec<f64>>,
}

impl Curve {
    /// With these length scales in prior standard deviations.
    pub fn new(form: Bend, length_scales: &[f64]) -> Self {
        Self { form, length_scales: length_scales.to_vec() }
    }

    /// c(z).
    pub fn coordinates(&self, z: &[f64]) -> Vec<f64> {
        let scaled = z.iter().zip(&self.length_scales).map(|(z, beta)| z / beta);
        match self.form {
            Bend::Bumps => scaled.collect(),
            Bend::Sigmoids => {
                let mut c: Vec<f64> = std::iter::once(1.0).chain(scaled).collect();
                let factor = std::f64::consts::SQRT_2 / (1.0 + 2.0 * dot(&c, &c)).sqrt();
                c.iter_mut().for_each(|c| *c *= factor);
                c
            }
        }
    }

    /// All points in these coordinates.
    pub fn points(&self, z: &Points) -> CurvePoints {
        let rows = self.all_coordinates(z);
        let half_squares = rows.iter().map(|c| 0.5 * dot(c, c)).collect();
        CurvePoints { columns: transpose(rows.values(), rows.columns()), rows, half_squares }
    }

    /// out_j = ℓ(point j, query), the query in coordinates.
    pub fn row(&self, points: &CurvePoints, query: &[f64], out: &mut [f64]) {
        match self.form {
            Bend::Bumps => gaussian_row(&points.columns, 0, query, out),
            Bend::Sigmoids => sigmoid_kernel_row(&points.columns, query, out),
        }
    }

    /// ℓ of each point with itself.
    pub fn with_itself(&self, points: &CurvePoints) -> Vec<f64> {
        points.rows.iter().map(|c| self.at_itself(c)).collect()
    }

    /// The kernel matrix of these points, a row at a time.
    pub fn between<'a>(&'a self, points: &'a CurvePoints) -> CurveMatrix<'a> {
        CurveMatrix { curve: self, points }
    }

    /// ℓ of a point in coordinates with itself.
    pub fn at_itself(&self, c: &[f64]) -> f64 {
        match self.form {
            Bend::Bumps => 1.0,
            Bend::Sigmoids => {
                let mut value = [dot(c, c)];
                sigmoid_kernel(&mut value, &mut [0.0]);
                value[0]
            }
        }
    }

    /// Σ_j w_j ∂ℓ(point j, z)/∂z over as many of the first points as there are weights; `kernel` are ℓ(point j, z). Costs O(r D).
    pub fn pull(&self, points: &CurvePoints, z: &[f64], kernel: &[f64], weights: &[f64]) -> Vec<f64> {
        let (count, c) = (points.count(), self.coordinates(z));
        let column = |d: usize| &points.columns[d * count..d * count + weights.len()];
        match self.form {
            Bend::Bumps => {
                // ∂ℓ/∂z = ℓ (c_j - c)/β.
                let heights: Vec<f64> = weights.iter().zip(kernel).map(|(w, l)| w * l).collect();
                let total: f64 = heights.iter().sum();
                (0..z.len()).map(|d| (dot(column(d), &heights) - c[d] * total) / self.length_scales[d]).collect()
            }
            Bend::Sigmoids => {
                let (mut similarity, mut slopes) = (vec![0.0; weights.len()], vec![0.0; weights.len()]);
                for (d, c) in c.iter().enumerate() {
                    similarity.iter_mut().zip(column(d)).for_each(|(q, x)| *q += c * x);
                }
                sigmoid_kernel(&mut similarity, &mut slopes);
                slopes.iter_mut().zip(weights).for_each(|(slope, w)| *slope *= w);
                self.through_coordinates(z, &(0..c.len()).map(|d| dot(column(d), &slopes)).collect::<Vec<_>>())
            }
        }
    }

    /// ∂ℓ(z, z)/∂z.
    pub fn pull_at_itself(&self, z: &[f64]) -> Vec<f64> {
        match self.form {
            Bend::Bumps => vec![0.0; z.len()],
            Bend::Sigmoids => {
                let c = self.coordinates(z);
                let (mut value, mut slope) = ([dot(&c, &c)], [0.0]);
                sigmoid_kernel(&mut value, &mut slope);
                self.through_coordinates(z, &c.iter().map(|c| 2.0 * slope[0] * c).collect::<Vec<_>>())
            }
        }
    }

    /// A gradient in the coordinates of sigmoids as one in z: c = √2 (1, t)/N, N² = 3 + 2|t|², t = z/β, so that
    /// ∂c_k/∂t_d = √2 (δ_kd - 2 t_d t_k/N²)/N, with t_0 = 1.
    fn through_coordinates(&self, z: &[f64], gradient: &[f64]) -> Vec<f64> {
        let t: Vec<f64> = z.iter().zip(&self.length_scales).map(|(z, beta)| z / beta).collect();
        let squared = 3.0 + 2.0 * dot(&t, &t);
        let along = gradient[0] + dot(&t, &gradient[1..]);
        let of_one = |d: usize| (2.0 / squared).sqrt() * (gradient[d + 1] - 2.0 * t[d] * along / squared) / self.length_scales[d];
        (0..z.len()).map(of_one).collect()
    }

    /// ℓ between all points, and what [`Curve::slopes`] needs.
    pub fn matrices(&self, points: &CurvePoints) -> Matrices {
        let m = points.count();
        match self.form {
            Bend::Bumps => {
                let mut gram = vec![0.0; m * m];
                for (j, row) in gram.chunks_mut(m).enumerate() {
                    gaussian_row(&points.columns, j, points.rows.row(j), &mut row[j..]);
                }
                mirror(&mut gram, m);
                Matrices { gram, factor: None, similarity: None }
            }
            Bend::Sigmoids => {
                let similarity = rows_dot_rows(points.rows.values(), points.rows.values(), points.rows.columns());
                let (mut gram, mut slope) = (similarity.clone(), vec![0.0; m * m]);
                sigmoid_kernel(&mut gram, &mut slope);
                Matrices { gram, factor: Some(slope), similarity: Some(similarity) }
            }
        }
    }

    /// ℓ between all points into zeros, on and above the diagonal at least, row after row.
    pub fn upper(&self, points: &CurvePoints, gram: &mut [f64]) {
        let m = points.count();
        for (j, row) in gram.chunks_mut(m).enumerate() {
            match self.form {
                Bend::Bumps => gaussian_row(&points.columns, j, points.rows.row(j), &mut row[j..]),
                Bend::Sigmoids => sigmoid_kernel_row(&points.columns, points.rows.row(j), row),
            }
        }
    }

    /// Σ_{i<j} W_ij (c_id - c_jd)² for each d, W given above the diagonal, row after row: what [`Curve::slopes`] gives for bumps.
    pub fn slopes_of_bumps(&self, points: &CurvePoints, upper: &[f64]) -> Vec<f64> {
        let m = points.count();
        let of_row = |column: &[f64], i: usize| weighted_squares(&upper[i * m + i + 1..(i + 1) * m], &column[i + 1..], column[i]);
        points.columns.chunks(m).map(|column| (0..m).map(|i| of_row(column, i)).sum()).collect()
    }

    /// ℓ between all points and nothing else: a single matrix.
    pub fn gram(&self, points: &CurvePoints) -> Vec<f64> {
        match self.form {
            Bend::Bumps => self.matrices(points).gram,
            Bend::Sigmoids => {
                let mut gram = rows_dot_rows(points.rows.values(), points.rows.values(), points.rows.columns());
                let mut slopes = vec![0.0; points.count()];
                gram.chunks_mut(points.count()).for_each(|row| sigmoid_kernel(row, &mut slopes));
                gram
            }
        }
    }

    /// ½ Σ_ij M_ij ∂ℓ_ij/∂ ln β_d for each d, M symmetric.
    pub fn slopes(&self, points: &CurvePoints, matrices: &Matrices, m_matrix: &[f64]) -> Vec<f64> {
        let m = points.count();
        let factor = matrices.factor.as_ref().unwrap_or(&matrices.gram);
        let w: Vec<f64> = m_matrix.iter().zip(factor).map(|(m, f)| m * f).collect();
        let sum = |i: usize| {
            let row = &w[i * m..(i + 1) * m];
            matrices.similarity.as_ref().map_or_else(|| row.iter().sum(), |q| dot(row, &q[i * m..(i + 1) * m]))
        };
        let sums: Vec<f64> = (0..m).map(sum).collect();
        let coordinates = points.rows.columns();
        let images = combine_rows(&w, points.rows.values(), m);
        let skipped = coordinates - self.length_scales.len();
        let slope = |d: usize| {
            let term = |i: usize| {
                let c = points.rows.row(i)[d];
                c * (sums[i] * c - images[i * coordinates + d])
            };
            (0..m).map(term).sum()
        };
        (skipped..coordinates).map(slope).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::Cholesky;
    use crate::testing::check_gradient;

    fn some_points() -> Points {
        let rows: Vec<Vec<f64>> =
            (0..30).map(|i| vec![(i as f64 * 0.7).sin() * 2.0, (i as f64 * 0.37).cos(), i as f64 * 0.1 - 1.5]).collect();
        Points::from_rows(&rows).unwrap()
    }

    #[test]
    fn both_are_kernels_whose_rows_matrices_and_diagonals_agree() {
        let z = some_points();
        for form in [Bend::Bumps, Bend::Sigmoids] {
            let curve = Curve::new(form, &[0.7, 1.5, 0.4]);
            let points = curve.points(&z);
            let gram = curve.matrices(&points).gram;
            assert_eq!(gram, curve.gram(&points), "{form:?}");
            let mut row = vec![0.0; 30];
            for i in 0..30 {
                curve.row(&points, &curve.coordinates(z.row(i)), &mut row);
                for j in 0..30 {
                    assert!((row[j] - gram[i * 30 + j]).abs() < 1e-14 && (gram[i * 30 + j] - gram[j * 30 + i]).abs() < 1e-15, "{form:?}");
                }
                assert!((curve.with_itself(&points)[i] - row[i]).abs() < 1e-14);
            }
            let ridged = gram.iter().enumerate().map(|(k, g)| g + if k % 31 == 0 { 1e-9 } else { 0.0 }).collect();
            assert!(Cholesky::new(ridged, 30).is_ok(), "{form:?} is not positive definite");
        }
    }

    #[test]
    fn the_sigmoid_kernel_is_the_arcsine_kernel_up_to_the_seventh_power() {
        let curve = Curve::new(Bend::Sigmoids, &[2.0]);
        let (a, b) = (0.8_f64, -1.9_f64);
        let q = 2.0 * (1.0 + a * b / 4.0) / ((3.0 + a * a / 2.0) * (3.0 + b * b / 2.0)).sqrt();
        let (ca, cb) = (curve.coordinates(&[a]), curve.coordinates(&[b]));
        assert!((dot(&ca, &cb) - q).abs() < 1e-15);
        let mut row = [0.0];
        curve.row(&curve.points(&Points::from_rows(&[vec![a]]).unwrap()), &cb, &mut row);
        assert!((row[0] - 2.0 / std::f64::consts::PI * q.asin()).abs() < 0.03 * q.abs().powi(9));
    }

    #[test]
    fn slopes_are_those_of_the_weighted_sum() {
        let z = some_points();
        let weights: Vec<f64> = (0..900).map(|k| ((k / 30 * (k % 30)) as f64).sin() + (k / 30 + k % 30) as f64 * 0.01).collect();
        for form in [Bend::Bumps, Bend::Sigmoids] {
            let value = |p: &[f64]| {
                let lengths: Vec<f64> = p.iter().map(|p| p.exp()).collect();
                let curve = Curve::new(form, &lengths);
                let points = curve.points(&z);
                let matrices = curve.matrices(&points);
                (0.5 * dot(&weights, &matrices.gram), curve.slopes(&points, &matrices, &weights))
            };
            check_gradient(value, &[-0.3, 0.4, 0.1], 1e-5).unwrap();
        }
    }
}
