//! Pivoted Cholesky of a large kernel matrix, L ≈ R Rᵀ, many pivots at a time: products of blocks instead of one pass over R per pivot.
//!
//! Each block looks at candidates spread over all points, the worst explained of every range of indices, and takes those of them that
//! pivoted Cholesky of what is left between them chooses, down to a share of the worst.

use super::{KernelMatrix, KernelSystem, Pivots};
use crate::Error;
use crate::linalg::Cholesky;
use crate::linalg::products::rows_dot_rows;
use crate::linalg::tall::Tall;

/// Pivots of a block at most.
const BLOCK: usize = 64;
/// Candidates for a block.
const CANDIDATES: usize = 256;
/// A candidate is no pivot where less than this share of what the worst one misses is left of it.
const LEAST_SHARE: f64 = 0.2;
/// What is left of a diagonal of ones below this is rounding.
const ROUNDING: f64 = 2e-14;

/// R, which points are its pivots, and what it misses of the diagonal.
pub(super) struct Blocks {
    pub(super) factor: Tall,
    pub(super) chosen: Vec<usize>,
    /// L_ii - |R_i|², never negative.
    pub(super) left: Vec<f64>,
}

impl Blocks {
    /// Until the trace of L - R Rᵀ is at most `enough`, `most` pivots are chosen, or only rounding is left.
    /// `room` is asked before R grows from so many columns to so many.
    pub(super) fn new(
        system: &KernelSystem<'_>,
        enough: f64,
        most: usize,
        room: &dyn Fn(usize, usize) -> Result<(), Error>,
    ) -> Result<Self, Error> {
        let m = system.order();
        let mut blocks = Self { factor: Tall::new(m), chosen: vec![], left: system.diagonal() };
        while blocks.trace() > enough && blocks.chosen.len() < most.min(m) {
            let candidates = blocks.candidates();
            let worst = candidates.iter().map(|&i| blocks.left[i]).fold(0.0, f64::max);
            if worst <= ROUNDING {
                break;
            }
            let held = blocks.chosen.len();
            room(held, (held + BLOCK).min(most))?;
            if blocks.add(system, &candidates, (LEAST_SHARE * worst).max(ROUNDING), BLOCK.min(most - held)) == 0 {
                break;
            }
        }
        Ok(blocks)
    }

    /// tr(L - R Rᵀ), with what rounding may hide.
    pub(super) fn trace(&self) -> f64 {
        self.left.iter().sum::<f64>() + self.left.len() as f64 * f64::EPSILON
    }

    /// The worst explained point of every range of indices.
    fn candidates(&self) -> Vec<usize> {
        let m = self.left.len();
        let ranges = CANDIDATES.min(m);
        let worst = |k: usize| {
            let range = k * m / ranges..(k + 1) * m / ranges;
            range.fold(None, |best: Option<usize>, i| best.filter(|&b| self.left[b] >= self.left[i]).or(Some(i)))
        };
        (0..ranges).filter_map(worst).collect()
    }

    /// How many candidates became pivots.
    fn add(&mut self, system: &KernelSystem<'_>, candidates: &[usize], least: f64, most: usize) -> usize {
        let pivots = Pivots::new(&self.left_between(system, candidates), least, most);
        let (width, picked) = (pivots.rank(), &pivots.chosen);
        if width == 0 {
            return 0;
        }
        let mut triangle = vec![0.0; width * width];
        for (i, &row) in picked.iter().enumerate() {
            (0..=i).for_each(|j| triangle[j * width + i] = pivots.factor[row * width + j]);
        }
        let added: Vec<usize> = picked.iter().map(|&k| candidates[k]).collect();
        let own = self.factor.select(&added);
        let queries: Vec<Vec<f64>> = added.iter().map(|&i| system.points.point(i)).collect();
        let squares = self.factor.append(&own, &Cholesky::of_factor(triangle, width), |range, out| {
            for (query, column) in queries.iter().zip(out.chunks_mut(range.len())) {
                system.kernel.part_of_row(system.points, range.start, query, column);
            }
        });
        self.left.iter_mut().zip(squares).for_each(|(left, square)| *left = (*left - square).max(0.0));
        added.iter().for_each(|&i| self.left[i] = 0.0);
        self.chosen.extend(added);
        width
    }

    /// L - R Rᵀ between candidates.
    fn left_between(&self, system: &KernelSystem<'_>, candidates: &[usize]) -> Dense {
        let (count, points) = (candidates.len(), system.points.select(candidates));
        let mut values = vec![0.0; count * count];
        for (k, row) in values.chunks_mut(count).enumerate() {
            system.kernel.row(&points, &points.point(k), row);
        }
        if self.factor.columns() > 0 {
            let rows = self.factor.select(candidates);
            let explained = rows_dot_rows(&rows, &rows, self.factor.columns());
            values.iter_mut().zip(explained).for_each(|(value, part)| *value -= part);
        }
        Dense { values, order: count }
    }
}

/// A matrix that is there.
struct Dense {
    values: Vec<f64>,
    order: usize,
}

impl KernelMatrix for Dense {
    fn diagonal(&self) -> Vec<f64> {
        (0..self.order).map(|i| self.values[i * self.order + i]).collect()
    }

    fn row(&self, i: usize, out: &mut [f64]) {
        out.copy_from_slice(&self.values[i * self.order..(i + 1) * self.order]);
    }
}
