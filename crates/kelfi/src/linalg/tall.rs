//! A matrix with many rows and few columns that grows by columns: kept in chunks of rows, worked on in a fixed order.

use super::cholesky::Cholesky;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::prelude::ReborrowMut;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;
use std::ops::Range;

/// Rows of a chunk: what one thread works on at a time.
const ROWS: usize = 512;
/// Right-hand sides that one thread works on at a time.
const SIDES: usize = 16;
/// Columns of a tile of RᵀR.
const TILE: usize = 128;

/// R, with `rows` rows.
#[derive(Debug, Clone)]
pub struct Tall {
    rows: usize,
    columns: usize,
    /// Chunks of rows, each column after column.
    chunks: Vec<Vec<f64>>,
}

impl Tall {
    /// Without columns.
    pub fn new(rows: usize) -> Self {
        Self { rows, columns: 0, chunks: vec![vec![]; rows.div_ceil(ROWS)] }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn range(&self, chunk: usize) -> Range<usize> {
        chunk * ROWS..self.rows.min((chunk + 1) * ROWS)
    }

    fn chunk(&self, index: usize) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.chunks[index], self.range(index).len(), self.columns)
    }

    /// These rows, one after the other.
    pub fn select(&self, rows: &[usize]) -> Vec<f64> {
        let mut out = Vec::with_capacity(rows.len() * self.columns);
        for &row in rows {
            let (chunk, height) = (&self.chunks[row / ROWS], self.range(row / ROWS).len());
            out.extend((0..self.columns).map(|column| chunk[column * height + row % ROWS]));
        }
        out
    }

    /// Appends the columns (B - R Pᵀ) C⁻ᵀ and gives the sum of squares of each row of them. `fill` writes some rows of B, column after column;
    /// P are rows of R, one after the other; C is lower triangular. Costs O(m r b) for b columns.
    pub fn append(&mut self, p: &[f64], c: &Cholesky, fill: impl Fn(Range<usize>, &mut [f64]) + Sync) -> Vec<f64> {
        let (width, columns, rows) = (c.order(), self.columns, self.rows);
        let one = |(index, chunk): (usize, &mut Vec<f64>)| {
            let range = index * ROWS..rows.min((index + 1) * ROWS);
            let height = range.len();
            let mut added = vec![0.0; height * width];
            fill(range, &mut added);
            let mut target = MatMut::from_column_major_slice_mut(&mut added, height, width);
            if columns > 0 {
                let (own, p) = (MatRef::from_column_major_slice(chunk, height, columns), MatRef::from_row_major_slice(p, width, columns));
                matmul(target.rb_mut(), Accum::Add, own, p.transpose(), -1.0, Par::Seq);
            }
            solve_lower_triangular_in_place(c.factor(), target.transpose_mut(), Par::Seq);
            let mut squares = vec![0.0; height];
            for column in added.chunks(height) {
                squares.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * value);
            }
            chunk.reserve_exact(added.len());
            chunk.extend(added);
            squares
        };
        let squares: Vec<Vec<f64>> = self.chunks.par_iter_mut().enumerate().map(one).collect();
        self.columns += width;
        squares.concat()
    }

    /// RᵀR, column after column. Costs m r² multiplications.
    pub fn gram(&self) -> Vec<f64> {
        let r = self.columns;
        let tiles: Vec<(usize, usize)> =
            (0..r.div_ceil(TILE)).flat_map(|left| (left..r.div_ceil(TILE)).map(move |top| (top, left))).collect();
        let span = |tile: usize| (tile * TILE, TILE.min(r - tile * TILE));
        let product = |&(top, left): &(usize, usize)| {
            let ((top, height), (left, width)) = (span(top), span(left));
            let mut out = vec![0.0; height * width];
            for index in 0..self.chunks.len() {
                let chunk = self.chunk(index);
                let (a, b) = (chunk.subcols(top, height), chunk.subcols(left, width));
                let target = MatMut::from_column_major_slice_mut(&mut out, height, width);
                matmul(target, Accum::Add, a.transpose(), b, 1.0, Par::Seq);
            }
            out
        };
        let products: Vec<Vec<f64>> = tiles.par_iter().map(product).collect();
        let mut gram = vec![0.0; r * r];
        for (&(top, left), product) in tiles.iter().zip(&products) {
            let ((top, height), (left, _)) = (span(top), span(left));
            for (j, column) in product.chunks(height).enumerate() {
                for (i, value) in column.iter().enumerate() {
                    gram[(left + j) * r + top + i] = *value;
                    gram[(top + i) * r + left + j] = *value;
                }
            }
        }
        gram
    }

    /// Rᵀ B for columns of B one after the other.
    pub fn transposed_times(&self, b: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; b.len() / self.rows * self.columns];
        if self.columns == 0 {
            return out;
        }
        out.par_chunks_mut(SIDES * self.columns).zip(b.par_chunks(SIDES * self.rows)).for_each(|(out, b)| {
            let sides = b.len() / self.rows;
            let b = MatRef::from_column_major_slice(b, self.rows, sides);
            for index in 0..self.chunks.len() {
                let range = self.range(index);
                let target = MatMut::from_column_major_slice_mut(&mut *out, self.columns, sides);
                matmul(target, Accum::Add, self.chunk(index).transpose(), b.subrows(range.start, range.len()), 1.0, Par::Seq);
            }
        });
        out
    }

    /// B + scale · R T for columns of B and T one after the other.
    pub fn add_times(&self, t: &[f64], scale: f64, b: &mut [f64]) {
        if self.columns == 0 {
            return;
        }
        b.par_chunks_mut(SIDES * self.rows).zip(t.par_chunks(SIDES * self.columns)).for_each(|(b, t)| {
            let sides = t.len() / self.columns;
            let t = MatRef::from_column_major_slice(t, self.columns, sides);
            let mut b = MatMut::from_column_major_slice_mut(b, self.rows, sides);
            for index in 0..self.chunks.len() {
                let range = self.range(index);
                matmul(b.rb_mut().subrows_mut(range.start, range.len()), Accum::Add, self.chunk(index), t, scale, Par::Seq);
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(i: usize, j: usize) -> f64 {
        ((i * 7 + j * 13) as f64 * 0.37).sin()
    }

    /// `rows` × `columns` in blocks of `width`, without pivots.
    fn tall(rows: usize, columns: usize, width: usize) -> Tall {
        let mut tall = Tall::new(rows);
        while tall.columns() < columns {
            let (first, width) = (tall.columns(), width.min(columns - tall.columns()));
            let identity = (0..width * width).map(|k| f64::from(u8::from(k % (width + 1) == 0))).collect();
            let zeros = vec![0.0; width * first];
            tall.append(&zeros, &Cholesky::of_factor(identity, width), |range, out| {
                let height = range.len();
                for (k, value) in out.iter_mut().enumerate() {
                    *value = entry(range.start + k % height, first + k / height);
                }
            });
        }
        tall
    }

    #[test]
    fn products_are_those_of_plain_loops_across_chunks_and_tiles() {
        let (m, r) = (1_100, 150);
        let tall = tall(m, r, 60);
        let gram = tall.gram();
        for (i, j) in [(0, 0), (3, 149), (149, 3), (130, 120), (149, 149)] {
            let plain: f64 = (0..m).map(|k| entry(k, i) * entry(k, j)).sum();
            assert!((gram[j * r + i] - plain).abs() < 1e-9, "{i}, {j}");
        }
        let b: Vec<f64> = (0..m * 18).map(|k| (k as f64 * 0.11).cos()).collect();
        let t = tall.transposed_times(&b);
        let plain: f64 = (0..m).map(|k| entry(k, 149) * b[17 * m + k]).sum();
        assert!((t[17 * r + 149] - plain).abs() < 1e-9);
        let mut sum = b.clone();
        tall.add_times(&t, -2.0, &mut sum);
        let plain: f64 = b[17 * m + 1_050] - 2.0 * (0..r).map(|k| entry(1_050, k) * t[17 * r + k]).sum::<f64>();
        assert!((sum[17 * m + 1_050] - plain).abs() < 1e-6);
        assert_eq!(tall.select(&[600])[7], entry(600, 7));
    }

    #[test]
    fn appended_columns_are_less_what_the_others_explain_divided_by_the_triangle() {
        let mut grown = tall(700, 2, 2);
        let p = [0.5, -1.0, 2.0, 0.25];
        let c = Cholesky::of_factor(vec![2.0, 0.5, 0.0, 4.0], 2);
        let squares = grown.append(&p, &c, |range, out| out.iter_mut().enumerate().for_each(|(k, v)| *v = (range.start + k) as f64 * 1e-3));
        let row = grown.select(&[600]);
        let (height, local) = (188, 88);
        let b = [0.512 + local as f64 * 1e-3, 0.512 + (height + local) as f64 * 1e-3];
        let left = [b[0] - 0.5 * row[0] + row[1], b[1] - 2.0 * row[0] - 0.25 * row[1]];
        let first = left[0] / 2.0;
        assert!((row[2] - first).abs() < 1e-14 && (row[3] - (left[1] - 0.5 * first) / 4.0).abs() < 1e-14);
        assert!((squares[600] - row[2] * row[2] - row[3] * row[3]).abs() < 1e-14);
    }
}
