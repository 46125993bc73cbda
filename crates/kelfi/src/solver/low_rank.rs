//! The low-rank solver: L ≈ L̂ = R Rᵀ by pivoted Cholesky, A⁻¹ by Woodbury. Costs m r² multiplications and m r numbers for rank r.
//!
//! With ρ = mλ and S = (I + RᵀR/ρ)⁻¹, Â⁻¹ = (I - R S Rᵀ/ρ)/ρ. E = L - L̂ is positive semidefinite, so that with its trace τ
//!
//! - Â ⪯ A ⪯ (1 + τ/ρ) Â: all quadratic forms in A⁻¹ are right to a share τ/ρ
//! - |κᵀA⁻¹μ - κᵀÂ⁻¹μ| = |v̂ᵀE w| ≤ √(v̂ᵀEv̂) √(ŵᵀEŵ), since E^½w = (I - E^½A⁻¹E^½) E^½ŵ is no longer than E^½ŵ; and
//!   xᵀEx ≤ min(τ |x|², (Σ_i |x_i| √E_ii)²)
//!
//! With pivots p, kernel values C with them and W among them, L̂ = C W⁻¹ Cᵀ, W = T Tᵀ for the rows T of R at the pivots.

use super::blocks::Blocks;
use super::choice::Accuracy;
use super::{KernelSystem, Solver};
use crate::error::TooManyPivots;
use crate::kernel::ScaledPoints;
use crate::linalg::Cholesky;
use crate::linalg::tall::Tall;
use crate::linalg::vector::{dot, weighted_squares};
use crate::{Error, Points, memory};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Pivots at most. More cost as much as the exact solver where that fits, and too much elsewhere.
const MOST_PIVOTS: usize = 2_000;
/// Points on which a rank that is too large is found out at little cost.
const TRIED: usize = 4_000;

/// What a low-rank solver reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Approximation {
    /// Pivots r.
    pub rank: usize,
    /// τ/(mλ), τ the trace of what is missed of L: no quadratic form in (L + mλI)⁻¹ is off by a larger share.
    pub error: f64,
}

/// L̂ and what Woodbury needs.
#[derive(Debug)]
pub struct LowRank {
    ridge: f64,
    factor: Tall,
    chosen: Vec<usize>,
    /// The pivots, scaled.
    support: ScaledPoints,
    /// T, as the factor of W.
    triangle: Cholesky,
    /// S⁻¹, factored.
    information: Cholesky,
    /// E_ii.
    left: Vec<f64>,
    approximation: Approximation,
}

impl LowRank {
    /// As many pivots as this accuracy asks for; refuses where more than 2,000 would be needed, or more memory than there is.
    pub fn new(system: &KernelSystem<'_>, accuracy: Accuracy) -> Result<Self, Error> {
        let (m, ridge) = (system.order(), system.ridge());
        let refused = |blocks: &Blocks, tried: usize| -> Error {
            let share = blocks.trace() / ridge * (m as f64 / tried as f64);
            Error::TooManyPivots(Box::new(TooManyPivots {
                rank: blocks.chosen.len(),
                error: share,
                accepted: accuracy.accepted,
                simulations: m,
                ridge,
                exact: memory::operator(m).size(),
            }))
        };
        if m > 2 * TRIED {
            let points = system.points.select(&(0..TRIED).collect::<Vec<_>>());
            let part = KernelSystem { points: &points, ..*system };
            let enough = accuracy.accepted * ridge * TRIED as f64 / m as f64;
            let blocks = Blocks::new(&part, enough, MOST_PIVOTS, &|_, _| Ok(()))?;
            memory::low_rank(m, blocks.chosen.len()).require()?;
            if blocks.trace() > enough {
                return Err(refused(&blocks, TRIED));
            }
        }
        let room = |held: usize, rank: usize| memory::low_rank(m, rank).require_beyond((m * held * size_of::<f64>()) as u64);
        let blocks = Blocks::new(system, accuracy.wanted * ridge, MOST_PIVOTS, &room)?;
        if blocks.trace() > accuracy.accepted * ridge {
            return Err(refused(&blocks, m));
        }
        Self::of(system, blocks)
    }

    fn of(system: &KernelSystem<'_>, blocks: Blocks) -> Result<Self, Error> {
        let (ridge, rank) = (system.ridge(), blocks.chosen.len());
        let approximation = Approximation { rank, error: blocks.trace() / ridge };
        let Blocks { factor, chosen, left } = blocks;
        let mut information = factor.gram();
        information.iter_mut().for_each(|value| *value /= ridge);
        (0..rank).for_each(|k| information[k * rank + k] += 1.0);
        let information = Cholesky::new(information, rank).map_err(|bad| bad.error(rank, system.regularization))?;
        let rows = factor.select(&chosen);
        let mut triangle = vec![0.0; rank * rank];
        for i in 0..rank {
            (0..=i).for_each(|j| triangle[j * rank + i] = rows[i * rank + j]);
        }
        let support = system.points.select(&chosen);
        Ok(Self { ridge, factor, chosen, support, triangle: Cholesky::of_factor(triangle, rank), information, left, approximation })
    }

    /// A bound of xᵀEx.
    fn missed_of(&self, x: &[f64]) -> f64 {
        let trace: f64 = self.left.iter().sum();
        let spectral = trace * dot(x, x);
        let by_entries: f64 = x.iter().zip(&self.left).map(|(x, left)| x.abs() * left.sqrt()).sum();
        spectral.min(by_entries * by_entries)
    }

    /// x_p = Σ_j c_jp `weights`_j over all points j, c the slopes of ℓ summed over dimensions.
    fn slopes_at_support(&self, system: &KernelSystem<'_>, points: &ScaledPoints, weights: &[f64]) -> Vec<f64> {
        let one = |p: usize| {
            let (mut squared, mut slopes) = (vec![0.0; points.rows()], vec![0.0; points.rows()]);
            system.slopes(points, &self.support.point(p), &mut squared, &mut slopes);
            dot(&slopes, weights)
        };
        (0..self.chosen.len()).into_par_iter().map(one).collect()
    }

    /// Σ_p Σ_j `pair`(j, p) s_jp (z_jd-z_pd)²/β_d² for every dimension.
    fn squared_slopes(&self, system: &KernelSystem<'_>, points: &ScaledPoints, pair: impl Fn(usize, usize) -> f64 + Sync) -> Vec<f64> {
        let dimension = system.kernel.dimension();
        let one = |p: usize| {
            let point = self.support.point(p);
            let mut slopes = vec![0.0; points.rows()];
            system.kernel.slope_row(points, &point, &mut slopes);
            slopes.iter_mut().enumerate().for_each(|(j, slope)| *slope *= pair(j, p));
            (0..dimension).map(|d| weighted_squares(&slopes, points.column(d), point[d])).collect::<Vec<f64>>()
        };
        let sums: Vec<Vec<f64>> = (0..self.chosen.len()).into_par_iter().map(one).collect();
        (0..dimension).map(|d| sums.iter().map(|sum| sum[d]).sum()).collect()
    }
}

impl Solver for LowRank {
    fn order(&self) -> usize {
        self.factor.rows()
    }

    fn solve_in_place(&self, right: &mut [f64]) {
        let mut t = self.factor.transposed_times(right);
        self.information.solve_in_place(&mut t);
        self.factor.add_times(&t, -1.0 / self.ridge, right);
        right.iter_mut().for_each(|value| *value /= self.ridge);
    }

    /// The eigenvalues of A/ρ are those of S⁻¹, and one.
    fn condition_estimate(&self) -> f64 {
        (0..self.chosen.len()).fold(1.0_f64, |high, i| high.max(self.information.pivot(i).powi(2))).min(f64::MAX)
    }

    fn pivot(&self, _i: usize) -> f64 {
        self.ridge
    }

    /// With weights v_p, w_p on the support: dL̂ = dC W⁻¹Cᵀ + C W⁻¹dCᵀ - C W⁻¹ dW W⁻¹ Cᵀ, pivots kept. Costs O(m r D).
    fn gram_slopes(&self, system: &KernelSystem<'_>, v: &[f64], w: &[f64]) -> Vec<f64> {
        let (v_p, w_p) = (self.on_support(v), self.on_support(w));
        let across = self.squared_slopes(system, system.points, |j, p| v[j] * w_p[p] + w[j] * v_p[p]);
        let among = self.squared_slopes(system, &self.support, |q, p| v_p[q] * w_p[p]);
        across.iter().zip(among).map(|(across, among)| across - among).collect()
    }

    fn gram_slope_image(&self, system: &KernelSystem<'_>, w: &[f64]) -> Vec<f64> {
        let (m, rank) = (self.order(), self.chosen.len());
        let w_p = self.on_support(w);
        let along = |i: usize| {
            let (mut squared, mut slopes) = (vec![0.0; rank], vec![0.0; rank]);
            system.slopes(&self.support, &system.points.point(i), &mut squared, &mut slopes);
            dot(&slopes, &w_p)
        };
        let mut image: Vec<f64> = (0..m).into_par_iter().map(along).collect();
        let mut at_support = self.slopes_at_support(system, system.points, w);
        let among = self.slopes_at_support(system, &self.support, &w_p);
        at_support.iter_mut().zip(among).for_each(|(across, among)| *across -= among);
        self.triangle.half_solve_in_place(&mut at_support);
        self.factor.add_times(&at_support, 1.0, &mut image);
        image
    }

    /// 1 - |φ|² + φᵀSφ with φ = T⁻¹ ℓ_p(z): what the pivots miss counts as unknown.
    fn unit_variances(&self, system: &KernelSystem<'_>, queries: &Points) -> Vec<f64> {
        let rank = self.chosen.len();
        let mut features = system.kernel.cross(&self.support, queries);
        self.triangle.half_solve_in_place(&mut features);
        let known: Vec<f64> = features.chunks(rank).map(|phi| dot(phi, phi)).collect();
        self.information.half_solve_in_place(&mut features);
        features.chunks(rank).zip(known).map(|(half, known)| (1.0 - known + dot(half, half)).clamp(0.0, 1.0)).collect()
    }

    fn support(&self) -> Option<&[usize]> {
        Some(&self.chosen)
    }

    /// W⁻¹Cᵀv = T⁻ᵀRᵀv.
    fn on_support(&self, v: &[f64]) -> Vec<f64> {
        let mut t = self.factor.transposed_times(v);
        self.triangle.half_solve_transposed_in_place(&mut t);
        t
    }

    fn approximation(&self) -> Option<&Approximation> {
        Some(&self.approximation)
    }

    fn missed(&self, v: &[f64], w: &[f64]) -> f64 {
        (self.missed_of(v) * self.missed_of(w)).sqrt()
    }
}
