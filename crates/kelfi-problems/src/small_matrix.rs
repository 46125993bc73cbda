//! Symmetric positive definite matrices of a few rows: factor, solve, invert. Row-major slices.
//!
//! Beside the library's Cholesky, since simulators use it: their outputs keep their bits whatever vector instructions a machine has.

/// Lower Cholesky factor of a small symmetric matrix.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SmallCholesky {
    order: usize,
    factor: Vec<f64>,
}

impl SmallCholesky {
    /// A = C Cᵀ, or `None` if a pivot is not positive.
    pub(crate) fn new(matrix: &[f64], order: usize) -> Option<Self> {
        let mut factor = vec![0.0; order * order];
        for i in 0..order {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| factor[i * order + k] * factor[j * order + k]).sum();
                let rest = matrix[i * order + j] - known;
                if i == j {
                    if rest.is_nan() || rest <= 0.0 {
                        return None;
                    }
                    factor[i * order + i] = rest.sqrt();
                } else {
                    factor[i * order + j] = rest / factor[j * order + j];
                }
            }
        }
        Some(Self { order, factor })
    }

    /// A⁻¹ b.
    pub(crate) fn solve(&self, right: &[f64]) -> Vec<f64> {
        self.solve_transposed(&self.solve_lower(right))
    }

    /// C⁻¹ b.
    pub(crate) fn solve_lower(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = right.to_vec();
        for i in 0..self.order {
            let known: f64 = (0..i).map(|k| self.at(i, k) * solution[k]).sum();
            solution[i] = (solution[i] - known) / self.at(i, i);
        }
        solution
    }

    /// C⁻ᵀ b: turns standard normals into draws with covariance A⁻¹.
    pub(crate) fn solve_transposed(&self, right: &[f64]) -> Vec<f64> {
        let mut solution = right.to_vec();
        for i in (0..self.order).rev() {
            let known: f64 = (i + 1..self.order).map(|k| self.at(k, i) * solution[k]).sum();
            solution[i] = (solution[i] - known) / self.at(i, i);
        }
        solution
    }

    /// A⁻¹, made exactly symmetric.
    pub(crate) fn inverse(&self) -> Vec<f64> {
        let order = self.order;
        let unit = |j: usize| (0..order).map(|i| f64::from(u8::from(i == j))).collect::<Vec<_>>();
        let columns: Vec<Vec<f64>> = (0..order).map(|j| self.solve(&unit(j))).collect();
        (0..order * order).map(|at| 0.5 * (columns[at / order][at % order] + columns[at % order][at / order])).collect()
    }

    fn at(&self, i: usize, j: usize) -> f64 {
        self.factor[i * self.order + j]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDING: f64 = 1e-12;

    #[test]
    fn inverse_times_matrix_is_the_identity() {
        let matrix = [4.0, 1.0, 0.5, 1.0, 3.0, -0.2, 0.5, -0.2, 2.0];
        let inverse = SmallCholesky::new(&matrix, 3).unwrap().inverse();
        for i in 0..3 {
            for j in 0..3 {
                let product: f64 = (0..3).map(|k| matrix[i * 3 + k] * inverse[k * 3 + j]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < ROUNDING);
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_has_no_factor() {
        assert!(SmallCholesky::new(&[1.0, 2.0, 2.0, 1.0], 2).is_none());
    }
}
