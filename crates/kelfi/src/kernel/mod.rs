//! Positive definite kernels ℓ on parameters, with length scales in prior standard deviations.

/// Discrepancies between raw iid data sets: squared maximum mean discrepancy.
pub mod empirical;
mod family;

pub use family::Family;

use crate::linalg::vector::{add_gaussian_row, dot, exp_in_place, gaussian_row, squared_distances};
use crate::{Error, Points};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Queries handled by one task; fixed, so that results do not depend on the number of threads.
const QUERIES_PER_TASK: usize = 64;

/// ℓ(z, z') = f(r), r² = Σ_d (z_d - z'_d)² / β_d².
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    family: Family,
    length_scales: Vec<f64>,
}

/// Points divided by the length scales, one coordinate after the other, as the vector loops want them.
#[derive(Debug, Clone)]
pub struct ScaledPoints {
    columns: Vec<f64>,
    rows: usize,
}

impl Kernel {
    /// A kernel with one positive length scale per dimension.
    pub fn new(family: Family, length_scales: Vec<f64>) -> Result<Self, Error> {
        for (d, &scale) in length_scales.iter().enumerate() {
            Error::require_positive(&format!("length scale {}", d + 1), scale)?;
        }
        Ok(Self { family, length_scales })
    }

    /// A Gaussian kernel with one positive length scale per dimension.
    pub fn gaussian(length_scales: Vec<f64>) -> Result<Self, Error> {
        Self::new(Family::Gaussian, length_scales)
    }

    /// The kernel's shape.
    pub fn family(&self) -> Family {
        self.family
    }

    /// β_d.
    pub fn length_scales(&self) -> &[f64] {
        &self.length_scales
    }

    /// Number of coordinates.
    pub fn dimension(&self) -> usize {
        self.length_scales.len()
    }

    /// An error unless the kernel is one on points with `columns` coordinates.
    pub fn require_dimension(&self, columns: usize) -> Result<(), Error> {
        if self.dimension() == columns {
            return Ok(());
        }
        Err(Error::Shape {
            left: "the kernel's length scales".into(),
            left_rows: 1,
            left_columns: self.dimension(),
            right: "the parameters".into(),
            right_rows: 1,
            right_columns: columns,
            advice: "a kernel needs one length scale per parameter".into(),
        })
    }

    /// ℓ(a, b), in [0, 1].
    pub fn value(&self, a: &[f64], b: &[f64]) -> f64 {
        let mut value = [self.squared_distance(a, b)];
        self.shape(&mut value);
        value[0]
    }

    /// `points` in units of the length scales.
    pub fn scale(&self, points: &Points) -> ScaledPoints {
        let rows = points.rows();
        let mut columns = vec![0.0; rows * self.dimension()];
        for (j, row) in points.iter().enumerate() {
            for (d, &z) in row.iter().enumerate() {
                columns[d * rows + j] = z / self.length_scales[d];
            }
        }
        ScaledPoints { columns, rows }
    }

    /// A single query point in units of the length scales.
    pub fn scale_query(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.length_scales).map(|(z, scale)| z / scale).collect()
    }

    /// out_j = ℓ(points_j, query), everything scaled. Costs O(mD).
    pub fn row(&self, points: &ScaledPoints, query: &[f64], out: &mut [f64]) {
        self.part_of_row(points, 0, query, out);
    }

    /// out_k = ℓ(points_{start + k}, query), everything scaled.
    pub fn part_of_row(&self, points: &ScaledPoints, start: usize, query: &[f64], out: &mut [f64]) {
        if self.family == Family::Gaussian {
            gaussian_row(&points.columns, start, query, out);
        } else {
            squared_distances(&points.columns, start, query, out);
            self.shape(out);
        }
    }

    /// sums_j += ℓ(points_j, query), everything scaled; `row` is room for as many numbers.
    pub fn add_row(&self, points: &ScaledPoints, query: &[f64], row: &mut [f64], sums: &mut [f64]) {
        if self.family == Family::Gaussian {
            return add_gaussian_row(&points.columns, query, sums);
        }
        self.row(points, query, row);
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += *value);
    }

    /// out_j = s(r_j) with ∂ℓ/∂ ln β_d = s(r) (z_d - z'_d)²/β_d². For the Gaussian kernel s = ℓ.
    pub fn slope_row(&self, points: &ScaledPoints, query: &[f64], out: &mut [f64]) {
        if self.family == Family::Gaussian {
            return self.row(points, query, out);
        }
        squared_distances(&points.columns, 0, query, out);
        out.iter_mut().for_each(|value| *value = self.family.slope(*value));
    }

    /// Σ_j weights_j ℓ(points_j, query_q) for each query. Costs O(m D) per query; queries run in parallel.
    pub fn sums(&self, points: &ScaledPoints, weights: &[f64], queries: &Points) -> Vec<f64> {
        self.for_each_query(points, queries, |row| dot(row, weights))
    }

    /// Mean over `points` of ℓ(points_t, query_q) for each query.
    pub fn means(&self, points: &ScaledPoints, queries: &Points) -> Vec<f64> {
        let share = vec![1.0 / points.rows as f64; points.rows];
        self.sums(points, &share, queries)
    }

    /// ℓ(points_j, query_q), one query after the other.
    pub fn cross(&self, points: &ScaledPoints, queries: &Points) -> Vec<f64> {
        let m = points.rows;
        let mut out = vec![0.0; m * queries.rows()];
        out.par_chunks_mut((QUERIES_PER_TASK * m).max(1)).enumerate().for_each(|(task, chunk)| {
            for (offset, row) in chunk.chunks_mut(m).enumerate() {
                self.row(points, &self.scale_query(queries.row(task * QUERIES_PER_TASK + offset)), row);
            }
        });
        out
    }

    /// The symmetric matrix ℓ(points_i, points_j), column after column, with `ridge` added to its diagonal.
    pub fn gram(&self, points: &ScaledPoints, ridge: f64) -> Vec<f64> {
        let m = points.rows;
        let mut out = vec![0.0; m * m];
        out.par_chunks_mut((QUERIES_PER_TASK * m).max(1)).enumerate().for_each(|(task, chunk)| {
            for (offset, column) in chunk.chunks_mut(m).enumerate() {
                let j = task * QUERIES_PER_TASK + offset;
                self.part_of_row(points, j, &points.point(j), &mut column[j..]);
                column[j] = 1.0 + ridge;
            }
        });
        mirror(&mut out, m);
        out
    }

    fn for_each_query(&self, points: &ScaledPoints, queries: &Points, value: impl Fn(&[f64]) -> f64 + Sync) -> Vec<f64> {
        let mut out = vec![0.0; queries.rows()];
        out.par_chunks_mut(QUERIES_PER_TASK).enumerate().for_each(|(task, chunk)| {
            let mut row = vec![0.0; points.rows];
            for (offset, out) in chunk.iter_mut().enumerate() {
                self.row(points, &self.scale_query(queries.row(task * QUERIES_PER_TASK + offset)), &mut row);
                *out = value(&row);
            }
        });
        out
    }

    fn squared_distance(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(&self.length_scales).map(|((a, b), scale)| ((a - b) / scale).powi(2)).sum()
    }

    /// Replaces squared scaled distances by kernel values.
    fn shape(&self, squared: &mut [f64]) {
        if self.family == Family::Gaussian {
            // The vector loop that rows use.
            squared.iter_mut().for_each(|value| *value *= -0.5);
            exp_in_place(squared);
        } else {
            squared.iter_mut().for_each(|value| *value = self.family.value(*value));
        }
    }
}

/// Copies the lower triangle of a square matrix of this order into its upper one, tile by tile to stay in the cache:
/// a third of what computing the kernel twice would cost.
fn mirror(values: &mut [f64], order: usize) {
    const TILE: usize = 32;
    for first in (0..order).step_by(TILE) {
        let end = order.min(first + TILE);
        let (left, own) = values.split_at_mut(first * order);
        for tile in (0..first).step_by(TILE) {
            for j in first..end {
                for i in tile..tile + TILE {
                    own[(j - first) * order + i] = left[i * order + j];
                }
            }
        }
        for j in first..end {
            for i in first..j {
                own[(j - first) * order + i] = own[(i - first) * order + j];
            }
        }
    }
}

impl ScaledPoints {
    /// Number of points.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All coordinates, one after the other.
    pub fn values(&self) -> &[f64] {
        &self.columns
    }

    /// Coordinate `d` of every point.
    pub fn column(&self, d: usize) -> &[f64] {
        &self.columns[d * self.rows..(d + 1) * self.rows]
    }

    /// An error naming the first point too far out, in units of the length scales, for a double.
    pub fn require_finite(&self) -> Result<(), Error> {
        match self.columns.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => Err(Error::NotFinite {
                what: "theta in units of the prior's standard deviation and the length scales".into(),
                row: at % self.rows,
                column: at / self.rows,
                value: self.columns[at],
            }),
        }
    }

    /// These points.
    pub fn select(&self, indices: &[usize]) -> Self {
        let columns = self.columns.chunks(self.rows.max(1)).flat_map(|column| indices.iter().map(|&j| column[j])).collect();
        Self { columns, rows: indices.len() }
    }

    /// Point `j`.
    pub fn point(&self, j: usize) -> Vec<f64> {
        self.columns.iter().skip(j).step_by(self.rows.max(1)).copied().collect()
    }
}
