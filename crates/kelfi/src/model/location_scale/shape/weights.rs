//! The weights of a shape's components at θ, by the conditional embedding.
//!
//! a(θ) = F (FᵀF + ρ I₀)⁻¹ f(θ), the regression on features f(θ) = (1, φ(θ)) of the kernel with ridge ρ on φ only: they sum to one.
//! Without simulation i, a_ij = H_ij / (1 - H_ii), H = F (FᵀF + ρ I₀)⁻¹ Fᵀ.

use crate::linalg::Cholesky;
use crate::linalg::products::{combine_rows, rows_dot_rows, transpose};
use crate::model::location_scale::constants::shape::{MISSED, MOST_MISSED, MOST_PIVOTS, RIDGES};
use crate::model::location_scale::curve::{Bend, Curve, CurvePoints};
use crate::solver::Pivots;
use crate::{Error, Points};

/// a(θ) for one length scale and ridge.
#[derive(Debug, Clone)]
pub struct Weights {
    curve: Curve,
    pivots: CurvePoints,
    /// (1 + r) × m: a(θ) = (1, kernel values with the pivots) times it.
    table: Vec<f64>,
}

impl Weights {
    /// Of simulations at `z`.
    pub fn new(z: &Points, length: f64, ridge: f64) -> Result<Self, Error> {
        // What pivots miss counts as little beside this ridge as beside the least one tried: chains pay for each at every step.
        let (curve, pivots) = kernel(z, length, (MISSED * ridge / RIDGES[0]).clamp(MISSED, MOST_MISSED));
        let size = pivots.rank() + 1;
        let solved = solve(&with_one(&pivots), size, ridge)?;
        // a(θ) = solved · (1, L⁻¹ k): fold L⁻¹ into the table.
        let (r, to_features) = (pivots.rank(), pivots.to_features());
        let mut fold = vec![0.0; size * size];
        fold[0] = 1.0;
        for i in 0..r {
            for j in 0..=i {
                fold[(j + 1) * size + i + 1] = to_features[i * r + j];
            }
        }
        let columns = transpose(&solved, size);
        Ok(Self { pivots: curve.points(&z.select(&pivots.chosen)), table: combine_rows(&fold, &columns, size), curve })
    }

    /// a(θ) at each z, row after row.
    pub fn at(&self, z: &Points) -> Vec<f64> {
        let r = self.pivots.count();
        let mut rows = vec![1.0; z.rows() * (r + 1)];
        for (row, z) in rows.chunks_mut(r + 1).zip(z.iter()) {
            self.curve.row(&self.pivots, &self.curve.coordinates(z), &mut row[1..]);
        }
        combine_rows(&rows, &self.table, r + 1)
    }
}

impl Weights {
    /// a(θ) at one z, and the function that gives ∂/∂z of Σ_j a_j(θ) h_j.
    pub fn trace<'a>(&'a self, z: &'a [f64]) -> (Vec<f64>, impl Fn(&[f64]) -> Vec<f64> + 'a) {
        let r = self.pivots.count();
        let mut row = vec![1.0; r + 1];
        self.curve.row(&self.pivots, &self.curve.coordinates(z), &mut row[1..]);
        let weights = combine_rows(&row, &self.table, r + 1);
        let pull = move |heights: &[f64]| {
            let of_pivots = rows_dot_rows(heights, &self.table, heights.len());
            self.curve.pull(&self.pivots, z, &row[1..], &of_pivots[1..])
        };
        (weights, pull)
    }
}

/// H (m × m) for one length scale and each ridge.
pub fn smoothers(z: &Points, length: f64, ridges: &[f64]) -> Result<Vec<Vec<f64>>, Error> {
    let pivots = kernel(z, length, MISSED).1;
    let (features, size) = (with_one(&pivots), pivots.rank() + 1);
    ridges.iter().map(|&ridge| Ok(rows_dot_rows(&solve(&features, size, ridge)?, &features, size))).collect()
}

fn kernel(z: &Points, length: f64, missed: f64) -> (Curve, Pivots) {
    let curve = Curve::new(Bend::Bumps, &vec![length; z.columns()]);
    let pivots = Pivots::new(&curve.between(&curve.points(z)), missed, MOST_PIVOTS);
    (curve, pivots)
}

/// F: (1, φ) of every simulation.
fn with_one(pivots: &Pivots) -> Vec<f64> {
    let r = pivots.rank();
    if r == 0 {
        return vec![];
    }
    pivots.factor.chunks(r).flat_map(|row| std::iter::once(1.0).chain(row.iter().copied()).collect::<Vec<_>>()).collect()
}

/// F (FᵀF + ρ I₀)⁻¹, one row per simulation.
fn solve(features: &[f64], size: usize, ridge: f64) -> Result<Vec<f64>, Error> {
    let m = features.len() / size;
    let mut normal = combine_rows(&transpose(features, size), features, m);
    (1..size).for_each(|k| normal[k * size + k] += ridge);
    let cholesky = Cholesky::new(normal, size).map_err(|bad| bad.error(size, ridge / m as f64))?;
    let mut solved = features.to_vec();
    cholesky.solve_in_place(&mut solved);
    Ok(solved)
}
