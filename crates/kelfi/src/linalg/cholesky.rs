//! Cholesky factorisation and its solves, in tiles of fixed size: the bits do not depend on the number of threads.

use super::products::mirror;
use super::small::{SMALL, backwards, forwards};
use crate::Error;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltError, cholesky_in_place, cholesky_in_place_scratch};
use faer::linalg::cholesky::llt::inverse::{inverse as inverse_lower, inverse_scratch};
use faer::linalg::matmul::{matmul, triangular};
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::prelude::Reborrow;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

/// Columns factored at once. Large enough for fast products, small enough to leave work for every thread.
const PANEL: usize = 128;
/// Right-hand sides solved at once by one thread.
const RIGHT_HAND_SIDES: usize = 32;

/// The factor C of A = C Cᵀ, in the lower triangle of a column-major matrix.
/// The strict upper triangle still holds that of A.
#[derive(Debug, Clone)]
pub struct Cholesky {
    order: usize,
    values: Vec<f64>,
}

/// The pivot that was not positive.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BadPivot {
    /// Zero-based row.
    pub index: usize,
    /// What was left of the diagonal there.
    pub value: f64,
}

impl BadPivot {
    /// The error for a matrix of this order that was regularised by this λ.
    pub fn error(self, order: usize, regularization: f64) -> Error {
        Error::NotPositiveDefinite { pivot: self.index, order, value: self.value, regularization }
    }
}

impl Cholesky {
    /// Factors the symmetric matrix whose columns stand one after the other in `values`; reads its lower triangle.
    /// Costs order³/3 multiplications.
    pub fn new(mut values: Vec<f64>, order: usize) -> Result<Self, BadPivot> {
        debug_assert_eq!(values.len(), order * order);
        let mut start = 0;
        while start < order {
            let width = PANEL.min(order - start);
            let (done, trailing) = values[start * order..].split_at_mut(width * order);
            factor_panel(done, order, start, width)?;
            let panel = &*done;
            trailing.par_chunks_mut(PANEL * order).enumerate().for_each(|(index, columns)| {
                update_columns(columns, panel, order, start + width + index * PANEL, width);
            });
            start += width;
        }
        Ok(Self { order, values })
    }

    /// The matrix C Cᵀ of a lower triangular factor, column after column.
    pub fn of_factor(values: Vec<f64>, order: usize) -> Self {
        debug_assert_eq!(values.len(), order * order);
        Self { order, values }
    }

    /// Rows of the matrix.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Rows `0..column` of column `column` of A, as they were before factoring.
    pub fn upper_column(&self, column: usize) -> &[f64] {
        &self.values[column * self.order..column * self.order + column]
    }

    /// Diagonal entry `i` of C.
    pub fn pivot(&self, i: usize) -> f64 {
        self.values[i * self.order + i]
    }

    /// Entry (i, j) of C, j ≤ i.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.order + i]
    }

    /// The diagonal of A⁻¹: squared norms of the columns of C⁻¹. Costs order³/3 multiplications.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let order = self.order;
        let mut diagonal = vec![0.0; order];
        diagonal.par_chunks_mut(RIGHT_HAND_SIDES).enumerate().for_each(|(task, part)| {
            // Columns of C⁻¹ vanish above their own row: only the trailing block is solved with.
            let first = task * RIGHT_HAND_SIDES;
            let rows = order - first;
            let mut columns = vec![0.0; rows * part.len()];
            (0..part.len()).for_each(|k| columns[k * rows + k] = 1.0);
            let width = part.len();
            let factor = self.factor().submatrix(first, first, rows, rows);
            solve_lower_triangular_in_place(factor, MatMut::from_column_major_slice_mut(&mut columns, rows, width), Par::Seq);
            for (value, column) in part.iter_mut().zip(columns.chunks(rows)) {
                *value = crate::linalg::vector::dot(column, column);
            }
        });
        diagonal
    }

    /// A⁻¹, all of it. Costs ⅔ order³ multiplications, a third of what solving with the identity does. Runs on one thread.
    pub fn inverse(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.order * self.order];
        self.inverse_into(&mut inverse);
        mirror(&mut inverse, self.order);
        inverse
    }

    /// The lower triangle of A⁻¹, column after column.
    pub fn inverse_into(&self, inverse: &mut [f64]) {
        let target = MatMut::from_column_major_slice_mut(inverse, self.order, self.order);
        let mut scratch = MemBuffer::new(inverse_scratch::<f64>(self.order, Par::Seq));
        inverse_lower(target, self.factor(), Par::Seq, MemStack::new(&mut scratch));
    }

    /// The memory it is kept in, for other uses.
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// A cheap lower estimate of the condition number of A: (largest pivot / smallest pivot)².
    pub fn condition_estimate(&self) -> f64 {
        let pivots = (0..self.order).map(|i| self.pivot(i));
        let (low, high) = pivots.fold((f64::INFINITY, 0.0_f64), |(low, high), p| (low.min(p), high.max(p)));
        (high / low).powi(2).min(f64::MAX)
    }

    /// ln |A|.
    pub fn ln_determinant(&self) -> f64 {
        2.0 * (0..self.order).map(|i| self.pivot(i).ln()).sum::<f64>()
    }

    /// Replaces each column of `right` (one after the other) by A⁻¹ times it. Costs 2 order² per column.
    pub fn solve_in_place(&self, right: &mut [f64]) {
        if self.order <= SMALL {
            return right.chunks_mut(self.order.max(1)).for_each(|b| {
                forwards(&self.values, b);
                backwards(&self.values, b);
            });
        }
        self.in_chunks(right, |columns| {
            self.solve_lower(columns.matrix());
            solve_upper_triangular_in_place(self.factor().transpose(), columns.matrix(), Par::Seq);
        });
    }

    /// Replaces each column of `right` by C⁻¹ times it: ‖C⁻¹ b‖² = bᵀ A⁻¹ b.
    pub fn half_solve_in_place(&self, right: &mut [f64]) {
        if self.order <= SMALL {
            return right.chunks_mut(self.order.max(1)).for_each(|b| forwards(&self.values, b));
        }
        self.in_chunks(right, |columns| self.solve_lower(columns.matrix()));
    }

    /// Replaces each column of `right` by C⁻ᵀ times it.
    pub fn half_solve_transposed_in_place(&self, right: &mut [f64]) {
        if self.order <= SMALL {
            return right.chunks_mut(self.order.max(1)).for_each(|b| backwards(&self.values, b));
        }
        self.in_chunks(right, |columns| solve_upper_triangular_in_place(self.factor().transpose(), columns.matrix(), Par::Seq));
    }

    /// A⁻¹ b.
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = b.to_vec();
        self.solve_in_place(&mut x);
        x
    }

    /// The rows of A⁻¹ with these indices, one after the other.
    pub fn inverse_rows(&self, indices: &[usize]) -> Vec<f64> {
        let mut rows = vec![0.0; indices.len() * self.order];
        for (row, &i) in rows.chunks_mut(self.order).zip(indices) {
            row[i] = 1.0;
        }
        self.solve_in_place(&mut rows);
        rows
    }

    pub(super) fn factor(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.values, self.order, self.order)
    }

    fn solve_lower(&self, right: MatMut<'_, f64>) {
        solve_lower_triangular_in_place(self.factor(), right, Par::Seq);
    }

    fn in_chunks(&self, right: &mut [f64], work: impl Fn(&mut Columns<'_>) + Sync) {
        debug_assert_eq!(right.len() % self.order.max(1), 0);
        right.par_chunks_mut((RIGHT_HAND_SIDES * self.order).max(1)).for_each(|chunk| {
            work(&mut Columns { values: chunk, rows: self.order });
        });
    }
}

/// A few right-hand sides, lent as a matrix more than once.
struct Columns<'a> {
    values: &'a mut [f64],
    rows: usize,
}

impl Columns<'_> {
    fn matrix(&mut self) -> MatMut<'_, f64> {
        let columns = self.values.len() / self.rows;
        MatMut::from_column_major_slice_mut(self.values, self.rows, columns)
    }
}

/// Factors the diagonal block of the panel, then divides the rows below by it.
fn factor_panel(panel: &mut [f64], order: usize, start: usize, width: usize) -> Result<(), BadPivot> {
    let panel = MatMut::from_column_major_slice_mut(panel, order, width);
    let (mut diagonal, below) = panel.split_at_row_mut(start).1.split_at_row_mut(width);
    // faer also writes above the diagonal, where A must stay: it gets a copy.
    let mut block = diagonal.rb().to_owned();
    let mut scratch = MemBuffer::new(cholesky_in_place_scratch::<f64>(width, Par::Seq, Default::default()));
    let outcome = cholesky_in_place(block.as_mut(), Default::default(), Par::Seq, MemStack::new(&mut scratch), Default::default());
    if let Err(LltError::NonPositivePivot { index }) = outcome {
        return Err(BadPivot { index: start + index, value: block[(index, index)] });
    }
    for j in 0..width {
        for i in j..width {
            diagonal[(i, j)] = block[(i, j)];
        }
    }
    // below ← below · C⁻ᵀ, i.e. C · belowᵀ = old belowᵀ
    solve_lower_triangular_in_place(block.as_ref(), below.transpose_mut(), Par::Seq);
    Ok(())
}

/// columns ← columns - P Pᵀ on and below the diagonal, for the columns from `first` on and the panel P just factored.
fn update_columns(columns: &mut [f64], panel: &[f64], order: usize, first: usize, panel_width: usize) {
    let width = columns.len() / order;
    let columns = MatMut::from_column_major_slice_mut(columns, order, width);
    let (diagonal, below) = columns.split_at_row_mut(first).1.split_at_row_mut(width);
    let panel = MatRef::from_column_major_slice(panel, order, panel_width);
    let (beside, under) = panel.split_at_row(first).1.split_at_row(width);
    use triangular::BlockStructure::{Rectangular, TriangularLower};
    triangular::matmul(diagonal, TriangularLower, Accum::Add, beside, Rectangular, beside.transpose(), Rectangular, -1.0, Par::Seq);
    matmul(below, Accum::Add, under, beside.transpose(), -1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A well-conditioned kernel-like matrix whose order crosses several panels.
    fn matrix(order: usize) -> Vec<f64> {
        let mut values = vec![0.0; order * order];
        for j in 0..order {
            for i in 0..order {
                let distance = i as f64 * 0.37 - j as f64 * 0.37;
                values[j * order + i] = (-0.5 * distance * distance).exp() + if i == j { 0.1 } else { 0.0 };
            }
        }
        values
    }

    #[test]
    fn solving_gives_back_the_right_hand_side_and_the_upper_triangle_is_kept() {
        for order in [1, 2, 7, 128, 129, 300, 517] {
            let a = matrix(order);
            let factor = Cholesky::new(a.clone(), order).unwrap();
            let b: Vec<f64> = (0..order).map(|i| (i as f64).sin()).collect();
            let x = factor.solve(&b);
            for i in 0..order {
                let product: f64 = (0..order).map(|j| a[j * order + i] * x[j]).sum();
                assert!((product - b[i]).abs() < 1e-11, "order {order}, row {i}");
                assert_eq!(factor.upper_column(i), &a[i * order..i * order + i]);
            }
        }
    }

    #[test]
    fn inverse_rows_are_rows_of_the_inverse() {
        let order = 150;
        let a = matrix(order);
        let factor = Cholesky::new(a.clone(), order).unwrap();
        let rows = factor.inverse_rows(&[3, 149]);
        for (row, i) in rows.chunks(order).zip([3, 149]) {
            for j in 0..order {
                let product: f64 = (0..order).map(|k| row[k] * a[j * order + k]).sum();
                assert!((product - f64::from(u8::from(i == j))).abs() < 1e-11);
            }
        }
    }

    #[test]
    fn the_whole_inverse_has_these_rows() {
        for order in [1, 31, 33, 150] {
            let factor = Cholesky::new(matrix(order), order).unwrap();
            let (whole, rows) = (factor.inverse(), factor.inverse_rows(&(0..order).collect::<Vec<_>>()));
            assert!(whole.iter().zip(&rows).all(|(a, b)| (a - b).abs() < 1e-11), "order {order}");
        }
    }

    #[test]
    fn a_failing_pivot_is_named() {
        let order = 200;
        let mut a = matrix(order);
        a[150 * order + 150] = 0.5;
        let error = Cholesky::new(a, order).unwrap_err();
        assert_eq!(error.index, 150);
        assert!(error.value <= 0.0);
    }

    #[test]
    fn the_determinant_of_a_two_by_two_matrix() {
        let factor = Cholesky::new(vec![2.0, 0.5, 0.5, 3.0], 2).unwrap();
        assert!((factor.ln_determinant() - 5.75_f64.ln()).abs() < 1e-14);
    }
}
