//! The leave-one-out posterior score: how much posterior density each simulation's own θ gets from the others.
//!
//! Every simulation i of the local set plays the observation; the posterior is built without it (and without all others at the same θ)
//! and clipped at zero, as users get it;
//! its log-density at θ_i relative to the prior is a proper score. With P = A⁻¹, the ridge mλ kept and K_ij = κ_ε(x_i, x_j):
//!
//! ```text
//!     a_ij = -P_ij/P_ii,  q₋ᵢ(x_i|θ_i) = Σ_{j≠i} a_ij K_ij,  q₋ᵢ(x_i) = Σ_{j≠i} (w_j + w_i a_ij) K_ij
//!     score = Σ_i weight_i ln max( [q₋ᵢ(x_i|θ_i)]⁺ / (q₋ᵢ(x_i) + N_i), floor ),   N_i = ∫ [q₋ᵢ(x_i|z)]⁻ p(z) dz
//! ```
//!
//! q₋ᵢ(x_i) is exact; the negative part N_i is a sum over fixed points, where q₋ᵢ(x_i|·) = G K̃_i with G = ℓ(z_q)ᵀA⁻¹ and K̃_i = K_i
//! but for K̃_ii = q₋ᵢ(x_i|θ_i), the value that makes the i-th weight zero. Simulations g at the same θ_i are left out with i: their rows of
//! P and their weights add up, a_ij = -Σ_g P_gj / Σ_gh P_gh, and K̃_ig is the same likelihood for all of them. Everything is linear in K, and its coefficients do not depend on ε.

use crate::Error;
use crate::linalg::products::{combine_rows, rows_dot_rows};
use crate::linalg::vector::dot;
use crate::model::Operator;
use crate::model::kernel_means::constants::score::{FREE_NEGATIVE_MASS, PRICE_OF_NEGATIVE_MASS};
use crate::model::kernel_means::learning::pairs::{Compared, Pairs};
use crate::model::left_out::FLOOR;
use crate::prior::quadrature::PriorPoints;
use crate::simulations::local_set::{LocalSet, weighted_mean};
use crate::solver::Solver;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Rows of the local set handled by one task.
const ROWS_PER_TASK: usize = 50;

/// The score's coefficients for one (β, λ), ready for any ε.
pub struct LeaveOneOutScore<'a> {
    /// m.
    simulations: usize,
    local: &'a LocalSet,
    pairs: &'a Pairs,
    points: &'a PriorPoints,
    /// a_ij, 0 at j = i, one row per member of the local set.
    own: Vec<f64>,
    /// G: one row of m values per point; then w.
    at_points: Vec<f64>,
    /// Σ_g G_qg over the simulations at each member's θ: one row of a value per point, then w_i, per member.
    of_members: Vec<f64>,
    evaluations: AtomicUsize,
}

/// The score at one ε.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// Score less the price of negative mass: what is maximised.
    pub objective: f64,
    /// Nats of posterior over prior density at the truth, averaged over the local set.
    pub score: f64,
    /// Standard error of the score over the local set.
    pub standard_error: f64,
    /// The score of each member of the local set.
    pub of_each: Vec<f64>,
    /// Negative mass of the posterior at the observation.
    pub negative_mass: f64,
    /// ∂ objective / ∂ ln ε_k.
    pub gradient: Vec<f64>,
}

impl<'a> LeaveOneOutScore<'a> {
    /// Costs |I| + Q solves of O(m²).
    pub fn new(operator: &Operator, local: &'a LocalSet, pairs: &'a Pairs, points: &'a PriorPoints) -> Result<Self, Error> {
        let m = operator.len();
        let own: Vec<f64> = left_out_rows(operator.solver(), local);
        let mut at_points = operator.kernel().cross(operator.scaled(), &points.z);
        operator.solver().solve_in_place(&mut at_points);
        if !own.iter().chain(&at_points).all(|value| value.is_finite()) {
            let value = operator.solver().pivot(m - 1);
            return Err(Error::NotPositiveDefinite { pivot: m - 1, order: m, value, regularization: operator.regularization() });
        }
        let marginal = points.marginal_weights(&at_points, operator.marginal_weights());
        at_points.extend(marginal);
        let of_one = |at: &[f64], together: &[usize]| together.iter().map(|&g| at[g]).sum::<f64>();
        let of_members = local.together.iter().flat_map(|together| at_points.chunks(m).map(|at| of_one(at, together))).collect();
        Ok(Self { simulations: m, local, pairs, points, own, at_points, of_members, evaluations: AtomicUsize::new(0) })
    }

    /// The score at these tolerances, with its gradient if asked. Costs O(|I| m (n + Q)).
    pub fn evaluate(&self, epsilon: &[f64], with_gradient: bool) -> Scored {
        self.evaluate_compared(&self.pairs.compared(epsilon), with_gradient)
    }

    /// How often it was evaluated.
    pub fn evaluations(&self) -> usize {
        self.evaluations.load(Ordering::Relaxed)
    }

    /// The score where the outputs have been compared already. Costs O(|I| m Q).
    pub fn evaluate_compared(&self, compared: &Compared, with_gradient: bool) -> Scored {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        let members = self.local.indices.len();
        let tasks: Vec<Vec<Row>> = (0..members.div_ceil(ROWS_PER_TASK))
            .into_par_iter()
            .map(|task| self.block(task * ROWS_PER_TASK..members.min((task + 1) * ROWS_PER_TASK), compared, with_gradient))
            .collect();
        let rows: Vec<Row> = tasks.into_iter().flatten().collect();
        let of_each: Vec<f64> = rows.iter().map(|row| row.score).collect();
        let (score, standard_error) = weighted_mean(&of_each, &self.local.weights);
        let mut gradient = vec![0.0; compared.epsilon.len()];
        for (row, w) in rows.iter().zip(&self.local.weights) {
            gradient.iter_mut().zip(&row.gradient).for_each(|(total, g)| *total += w * g);
        }
        let (negative_mass, slopes) = self.negative_mass(compared, with_gradient);
        let excess = (negative_mass - FREE_NEGATIVE_MASS).max(0.0);
        if excess > 0.0 {
            gradient.iter_mut().zip(slopes).for_each(|(total, slope)| *total -= PRICE_OF_NEGATIVE_MASS * slope);
        }
        Scored { objective: score - PRICE_OF_NEGATIVE_MASS * excess, score, standard_error, of_each, negative_mass, gradient }
    }

    fn marginal_weights(&self) -> &[f64] {
        &self.at_points[self.points.weights.len() * self.simulations..]
    }

    /// Some members of the local set at once, so that values at the points are one matrix product.
    fn block(&self, members: std::ops::Range<usize>, compared: &Compared, with_gradient: bool) -> Vec<Row> {
        let m = self.simulations;
        let points = self.points.weights.len();
        let width = points + 1;
        let kernel_rows = &compared.rows[members.start * m..members.end * m];
        let mut values = rows_dot_rows(kernel_rows, &self.at_points, m);
        // -weight where the posterior is negative: what its mass is a sum of.
        let mut below = vec![0.0; members.len() * points];
        let mut found = Vec::with_capacity(members.len());
        for (local, row) in members.clone().enumerate() {
            let likelihood = dot(&self.own[row * m..(row + 1) * m], &kernel_rows[local * m..(local + 1) * m]);
            let values = &mut values[local * width..(local + 1) * width];
            // K̃_ii is the likelihood: the value that makes this member's own weight zero.
            values.iter_mut().zip(&self.of_members[row * width..]).for_each(|(value, g)| *value += likelihood * g);
            let mut positive = values[points];
            for ((below, value), weight) in below[local * points..].iter_mut().zip(&values[..points]).zip(&self.points.weights) {
                if *value < 0.0 {
                    *below = -weight;
                    positive -= weight * value;
                }
            }
            found.push((likelihood, positive));
        }
        let below_slopes = if with_gradient { combine_rows(&below, &self.at_points[..points * m], points) } else { vec![] };
        let mut rows = Vec::with_capacity(members.len());
        for (local, (row, (likelihood, positive))) in members.zip(found).enumerate() {
            let ratio = if positive > 0.0 { likelihood / positive } else { 0.0 };
            if ratio.is_nan() || ratio <= FLOOR {
                rows.push(Row { score: FLOOR.ln(), gradient: vec![] });
                continue;
            }
            let gradient = if with_gradient {
                let coefficients = self.slope_coefficients(row, likelihood, positive, &below_slopes[local * m..(local + 1) * m]);
                self.pairs.slopes(compared, row, &coefficients)
            } else {
                vec![]
            };
            rows.push(Row { score: ratio.ln(), gradient });
        }
        rows
    }

    /// Coefficients of dK_ij in d ln(likelihood / positive): the likelihood, Σ a_j K_j, also stands in K̃_ii, hence `through_own`.
    fn slope_coefficients(&self, row: usize, likelihood: f64, positive: f64, below: &[f64]) -> Vec<f64> {
        let m = self.simulations;
        let together = &self.local.together[row];
        let own = &self.own[row * m..(row + 1) * m];
        let w = self.marginal_weights();
        let through_own = together.iter().map(|&g| w[g] + below[g]).sum::<f64>() / positive;
        let (of_likelihood, of_positive) = (1.0 / likelihood - through_own, 1.0 / positive);
        let entries = own.iter().zip(w).zip(below);
        let mut coefficients: Vec<f64> = entries.map(|((own, w), below)| of_likelihood * own - of_positive * (w + below)).collect();
        together.iter().for_each(|&g| coefficients[g] = 0.0);
        coefficients
    }

    /// ∫[q(·|y)]⁻ / ∫[q(·|y)]⁺ over the fixed points, and its slopes in ln ε.
    fn negative_mass(&self, compared: &Compared, with_gradient: bool) -> (f64, Vec<f64>) {
        let m = self.simulations;
        let (epsilon, kappa) = (&compared.epsilon, &compared.observed);
        let evidence = dot(self.marginal_weights(), &kappa.relative);
        let mut negative = 0.0;
        let mut slope = vec![0.0; m];
        for (weight, g) in self.points.weights.iter().zip(self.at_points.chunks(m)) {
            let value = dot(g, &kappa.relative);
            if value < 0.0 {
                negative -= weight * value;
                if with_gradient {
                    slope.iter_mut().zip(g).for_each(|(s, g)| *s -= weight * g);
                }
            }
        }
        let positive = evidence + negative;
        if positive.is_nan() || positive <= 0.0 {
            return (1.0, vec![0.0; epsilon.len()]);
        }
        let ratio = negative / positive;
        if !with_gradient {
            return (ratio, vec![]);
        }
        // d(N/P) = (dN (1 - N/P) - N/P dE) / P with P = E + N
        let coefficients: Vec<f64> =
            slope.iter().zip(self.marginal_weights()).map(|(n, e)| (n * (1.0 - ratio) - ratio * e) / positive).collect();
        (ratio, self.pairs.observed().kappa_slopes(epsilon, kappa.ln_scale, &coefficients))
    }
}

/// a_ij of each member: -Σ_g P_gj / Σ_gh P_gh over the simulations g, h at its θ, and 0 for these.
pub(crate) fn left_out_rows(solver: &dyn Solver, local: &LocalSet) -> Vec<f64> {
    let m = solver.order();
    let mut own = solver.inverse_rows(&local.indices);
    for (row, (&i, together)) in own.chunks_mut(m).zip(local.indices.iter().zip(&local.together)) {
        let others: Vec<usize> = together.iter().copied().filter(|&g| g != i).collect();
        for other in solver.inverse_rows(&others).chunks(m) {
            row.iter_mut().zip(other).for_each(|(total, p)| *total += p);
        }
        let diagonal: f64 = together.iter().map(|&g| row[g]).sum();
        row.iter_mut().for_each(|p| *p /= -diagonal);
        together.iter().for_each(|&g| row[g] = 0.0);
    }
    own
}

struct Row {
    score: f64,
    gradient: Vec<f64>,
}
