//! The conditional embedding operator: A = L + mλI, factored once for every observation, tolerance and objective.

use crate::kernel::{Kernel, ScaledPoints};
use crate::linalg::Cholesky;
use crate::linalg::vector::dot;
use crate::model::PriorEmbedding;
use crate::{Error, Points, memory};

/// A = L + mλI on the simulated parameters, its Cholesky factor, and w = A⁻¹μ with the prior's embedding μ.
/// Nothing here depends on the outputs, the observation or ε.
#[derive(Debug)]
pub struct Operator {
    kernel: Kernel,
    regularization: f64,
    z: Points,
    scaled: ScaledPoints,
    cholesky: Cholesky,
    embedding: PriorEmbedding,
    prior_means: Vec<f64>,
    marginal_weights: Vec<f64>,
}

impl Operator {
    /// Factors L + mλI at the points `z`. Costs m³/3 multiplications and m² numbers.
    ///
    /// λ is used exactly as given: where the matrix is not positive definite in floating point, the failing pivot is an error.
    pub fn new(z: Points, kernel: Kernel, regularization: f64, embedding: PriorEmbedding) -> Result<Self, Error> {
        if !(regularization >= 0.0 && regularization.is_finite()) {
            return Err(Error::invalid("regularization", regularization, "it must be zero or positive, and finite"));
        }
        if kernel.dimension() != z.columns() {
            return Err(Error::Shape {
                left: "length_scale".into(),
                left_rows: 1,
                left_columns: kernel.dimension(),
                right: "theta".into(),
                right_rows: z.rows(),
                right_columns: z.columns(),
                advice: "give one length scale per parameter".into(),
            });
        }
        let m = z.rows();
        memory::operator(m).require()?;
        let scaled = kernel.scale(&z);
        scaled.require_finite()?;
        let gram = kernel.gram(&scaled, m as f64 * regularization);
        let bad = |pivot, value| Error::NotPositiveDefinite { pivot, order: m, value, regularization };
        let cholesky = Cholesky::new(gram, m).map_err(|p| bad(p.index, p.value))?;
        let prior_means = embedding.means(&kernel, &z);
        let marginal_weights = cholesky.solve(&prior_means);
        if let Some(j) = marginal_weights.iter().position(|w| !w.is_finite()) {
            return Err(bad(j, cholesky.pivot(j).powi(2)));
        }
        Ok(Self { kernel, regularization, z, scaled, cholesky, embedding, prior_means, marginal_weights })
    }

    /// Number of simulated parameter vectors m.
    pub fn len(&self) -> usize {
        self.z.rows()
    }

    /// Never: there is at least one point.
    pub fn is_empty(&self) -> bool {
        self.z.is_empty()
    }

    /// The kernel ℓ.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// λ as given.
    pub fn regularization(&self) -> f64 {
        self.regularization
    }

    /// The ridge mλ: what is added to the diagonal of L.
    pub fn ridge(&self) -> f64 {
        self.len() as f64 * self.regularization
    }

    /// The simulated parameters in z coordinates.
    pub fn z(&self) -> &Points {
        &self.z
    }

    /// The simulated parameters divided by the length scales.
    pub fn scaled(&self) -> &ScaledPoints {
        &self.scaled
    }

    /// The factor of A.
    pub fn cholesky(&self) -> &Cholesky {
        &self.cholesky
    }

    /// How integrals over the prior are done.
    pub fn embedding(&self) -> &PriorEmbedding {
        &self.embedding
    }

    /// μ_j, the prior's embedding at the simulated parameters.
    pub fn prior_means(&self) -> &[f64] {
        &self.prior_means
    }

    /// w = A⁻¹μ.
    pub fn marginal_weights(&self) -> &[f64] {
        &self.marginal_weights
    }

    /// Σ_j v_j ℓ(z_j, z) at every query.
    pub fn values(&self, v: &[f64], queries: &Points) -> Vec<f64> {
        self.kernel.sums(&self.scaled, v, queries)
    }

    /// Σ_j v_j ∇_z ℓ(z_j, z).
    pub fn gradient(&self, v: &[f64], z: &[f64]) -> Vec<f64> {
        let query = self.kernel.scale_query(z);
        let mut slopes = vec![0.0; self.len()];
        self.kernel.slope_row(&self.scaled, &query, &mut slopes);
        slopes.iter_mut().zip(v).for_each(|(slope, v)| *slope *= v);
        let total: f64 = slopes.iter().sum();
        (0..z.len()).map(|d| (dot(&slopes, self.scaled.column(d)) - total * query[d]) / self.kernel.length_scales()[d]).collect()
    }

    /// ℓ(z, z) - ℓ(z)ᵀ A⁻¹ ℓ(z) at every query: the Gaussian process predictive variance for a unit amplitude. In [0, 1].
    pub fn unit_variances(&self, queries: &Points) -> Vec<f64> {
        let mut cross = self.kernel.cross(&self.scaled, queries);
        self.cholesky.half_solve_in_place(&mut cross);
        cross.chunks(self.len()).map(|column| (1.0 - dot(column, column)).max(0.0)).collect()
    }

    /// Σ_j v_j h(z_j, z*) with a query kernel of its own length scales.
    pub fn product_sums(&self, query_kernel: &Kernel, v: &[f64], queries: &Points) -> Vec<f64> {
        self.embedding.product_sums(&self.kernel, query_kernel, &self.z, v, queries)
    }

    /// ∂/∂ ln β_d of vᵀLw for every dimension: Σ_ij v_i w_j s_ij (z_id-z_jd)²/β_d². Costs O(m²D).
    pub fn gram_slopes(&self, v: &[f64], w: &[f64]) -> Vec<f64> {
        use rayon::prelude::*;
        const COLUMNS_PER_TASK: usize = 32;
        let m = self.len();
        let gaussian = self.kernel.family() == crate::kernel::Family::Gaussian;
        let tasks: Vec<Vec<f64>> = (0..m.div_ceil(COLUMNS_PER_TASK))
            .into_par_iter()
            .map(|task| {
                let mut sums = vec![0.0; self.kernel.dimension()];
                let mut slopes = vec![0.0; m];
                for j in task * COLUMNS_PER_TASK..m.min((task + 1) * COLUMNS_PER_TASK) {
                    let point = self.scaled.point(j);
                    if gaussian {
                        slopes[..j].copy_from_slice(self.cholesky.upper_column(j));
                    } else {
                        self.kernel.slope_row(&self.scaled, &point, &mut slopes);
                    }
                    for i in 0..j {
                        slopes[i] *= v[i] * w[j] + v[j] * w[i];
                    }
                    for (d, sum) in sums.iter_mut().enumerate() {
                        *sum += crate::linalg::vector::weighted_squares(&slopes[..j], self.scaled.column(d), point[d]);
                    }
                }
                sums
            })
            .collect();
        (0..self.kernel.dimension()).map(|d| tasks.iter().map(|sums| sums[d]).sum()).collect()
    }

    /// dw/d ln β₀ when all length scales grow together: A⁻¹(Σ_d μ'_d - L'w), less A⁻¹ mλ w if λ is tied to β₀. Costs O(m²D).
    pub fn marginal_weight_slopes(&self, tied: bool) -> Vec<f64> {
        use rayon::prelude::*;
        let m = self.len();
        let w = &self.marginal_weights;
        let ridge = if tied { self.ridge() } else { 0.0 };
        let along_gram = |i: usize| {
            let point = self.scaled.point(i);
            let (mut slopes, mut squared) = (vec![0.0; m], vec![0.0; m]);
            self.kernel.slope_row(&self.scaled, &point, &mut slopes);
            crate::linalg::vector::squared_distances(self.scaled.values(), 0, &point, &mut squared);
            squared.iter_mut().zip(w).for_each(|(d2, w)| *d2 *= w);
            dot(&slopes, &squared)
        };
        let mut right: Vec<f64> = (0..m).into_par_iter().map(|i| -along_gram(i) - ridge * w[i]).collect();
        for d in 0..self.kernel.dimension() {
            let slopes = self.embedding.mean_slopes(&self.kernel, &self.z, d);
            right.iter_mut().zip(slopes).for_each(|(right, slope)| *right += slope);
        }
        self.cholesky.solve_in_place(&mut right);
        right
    }
}
