//! Products of tables stored row after row.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// A Bᵀ for A of rows of length `inner` and B likewise: every row of A dotted with every row of B, row after row.
pub fn rows_dot_rows(a: &[f64], b: &[f64], inner: usize) -> Vec<f64> {
    let (rows, columns) = (a.len() / inner, b.len() / inner);
    let mut out = vec![0.0; rows * columns];
    let target = MatMut::from_row_major_slice_mut(&mut out, rows, columns);
    let (a, b) = (MatRef::from_row_major_slice(a, rows, inner), MatRef::from_row_major_slice(b, columns, inner));
    matmul(target, Accum::Replace, a, b.transpose(), 1.0, Par::Seq);
    out
}

/// A B for A with rows of length `inner` and B of `inner` rows: combinations of the rows of B, row after row.
pub fn combine_rows(a: &[f64], b: &[f64], inner: usize) -> Vec<f64> {
    let (rows, columns) = (a.len() / inner, b.len() / inner);
    let mut out = vec![0.0; rows * columns];
    let target = MatMut::from_row_major_slice_mut(&mut out, rows, columns);
    let (a, b) = (MatRef::from_row_major_slice(a, rows, inner), MatRef::from_row_major_slice(b, inner, columns));
    matmul(target, Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// The transpose of a table with rows of length `columns`.
pub fn transpose(values: &[f64], columns: usize) -> Vec<f64> {
    let rows = values.len() / columns;
    let mut out = vec![0.0; values.len()];
    for (i, row) in values.chunks(columns).enumerate() {
        for (j, value) in row.iter().enumerate() {
            out[j * rows + i] = *value;
        }
    }
    out
}

/// Copies entry (i, j), i < j, of a square table to (j, i). In tiles, so that both sides stay in the cache.
pub fn mirror(values: &mut [f64], order: usize) {
    const TILE: usize = 32;
    for top in (0..order).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(order) {
                for j in left..(left + TILE).min(i) {
                    values[i * order + j] = values[j * order + i];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        assert_eq!(transpose(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }

    #[test]
    fn a_mirrored_table_is_symmetric() {
        let order = 70;
        let mut values: Vec<f64> = (0..order * order).map(|k| if k % order >= k / order { k as f64 } else { f64::NAN }).collect();
        mirror(&mut values, order);
        assert!(
            (0..order * order).all(|k| values[k] == (k % order).min(k / order) as f64 * order as f64 + (k % order).max(k / order) as f64)
        );
    }

    #[test]
    fn products_of_small_tables_by_hand() {
        let a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let b = [1.0, 0.0, -1.0, 2.0, 1.0, 0.0];
        assert_eq!(rows_dot_rows(&a, &b, 3), vec![-2.0, 4.0, -2.0, 13.0]);
        assert_eq!(combine_rows(&[1.0, -1.0], &b, 2), vec![-1.0, -1.0, -1.0]);
    }
}
