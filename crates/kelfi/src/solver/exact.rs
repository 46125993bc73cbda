//! The exact solver: Cholesky factorisation of all of A. Costs m³/3 multiplications and m² numbers.

use super::{KernelSystem, Solver};
use crate::linalg::Cholesky;
use crate::linalg::vector::{dot, scale_by_pairs, squared_distances, weighted_squares};
use crate::{Error, Points, memory};
use rayon::prelude::*;

/// Columns of L that one task takes.
const COLUMNS_PER_TASK: usize = 32;

/// A, factored.
#[derive(Debug)]
pub struct Exact {
    cholesky: Cholesky,
}

impl Exact {
    /// λ is used exactly as given: where the matrix is not positive definite in floating point, the failing pivot is an error.
    pub fn new(system: &KernelSystem<'_>) -> Result<Self, Error> {
        let m = system.order();
        memory::operator(m).require()?;
        let gram = system.kernel.gram(system.points, system.ridge());
        Ok(Self { cholesky: Cholesky::new(gram, m).map_err(|bad| bad.error(m, system.regularization))? })
    }
}

impl Solver for Exact {
    fn order(&self) -> usize {
        self.cholesky.order()
    }

    fn solve_in_place(&self, right: &mut [f64]) {
        self.cholesky.solve_in_place(right);
    }

    fn condition_estimate(&self) -> f64 {
        self.cholesky.condition_estimate()
    }

    fn pivot(&self, i: usize) -> f64 {
        self.cholesky.pivot(i).powi(2)
    }

    /// Σ_ij v_i w_j s_ij (z_id-z_jd)²/β_d². Costs O(m²D).
    fn gram_slopes(&self, system: &KernelSystem<'_>, v: &[f64], w: &[f64]) -> Vec<f64> {
        let (m, kernel, points) = (self.order(), system.kernel, system.points);
        let gaussian = kernel.family() == crate::kernel::Family::Gaussian;
        let tasks: Vec<Vec<f64>> = (0..m.div_ceil(COLUMNS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let mut sums = vec![0.0; kernel.dimension()];
                let mut slopes = vec![0.0; m];
                for j in task * COLUMNS_PER_TASK..m.min((task + 1) * COLUMNS_PER_TASK) {
                    let point = points.point(j);
                    if gaussian {
                        slopes[..j].copy_from_slice(self.cholesky.upper_column(j));
                    } else {
                        kernel.slope_row(points, &point, &mut slopes);
                    }
                    scale_by_pairs(&mut slopes[..j], v, w, v[j], w[j]);
                    for (d, sum) in sums.iter_mut().enumerate() {
                        *sum += weighted_squares(&slopes[..j], points.column(d), point[d]);
                    }
                }
                sums
            })
            .collect();
        (0..kernel.dimension()).map(|d| tasks.iter().map(|sums| sums[d]).sum()).collect()
    }

    fn gram_slope_image(&self, system: &KernelSystem<'_>, w: &[f64]) -> Vec<f64> {
        let m = self.order();
        let of_one = |i: usize| {
            let point = system.points.point(i);
            let (mut slopes, mut squared) = (vec![0.0; m], vec![0.0; m]);
            system.kernel.slope_row(system.points, &point, &mut slopes);
            squared_distances(system.points.values(), 0, &point, &mut squared);
            squared.iter_mut().zip(w).for_each(|(d2, w)| *d2 *= w);
            dot(&slopes, &squared)
        };
        (0..m).into_par_iter().map(of_one).collect()
    }

    fn unit_variances(&self, system: &KernelSystem<'_>, queries: &Points) -> Vec<f64> {
        let mut cross = system.kernel.cross(system.points, queries);
        self.cholesky.half_solve_in_place(&mut cross);
        cross.chunks(self.order()).map(|column| (1.0 - dot(column, column)).max(0.0)).collect()
    }
}
