//! The conditional embedding operator: A = L + mλI, solved once for every observation, tolerance and objective.

use crate::kernel::{Kernel, ScaledPoints};
use crate::linalg::vector::dot;
use crate::model::PriorEmbedding;
use crate::solver::{Accuracy, KernelSystem, Solver, SolverChoice};
use crate::{Error, Points};

/// A = L + mλI on the simulated parameters behind a [`Solver`], and w = A⁻¹μ with the prior's embedding μ.
/// Nothing here depends on the outputs, the observation or ε.
#[derive(Debug)]
pub struct Operator {
    kernel: Kernel,
    regularization: f64,
    z: Points,
    scaled: ScaledPoints,
    choice: SolverChoice,
    solver: Box<dyn Solver>,
    /// Where functions live, if not on all simulated parameters.
    support: Option<Support>,
    embedding: PriorEmbedding,
    prior_means: Vec<f64>,
    marginal_weights: Vec<f64>,
}

/// The simulated parameters that functions live on.
#[derive(Debug)]
struct Support {
    z: Points,
    scaled: ScaledPoints,
}

impl Operator {
    /// The operator with the solver that suits the number of points, to the accuracy of an answer.
    pub fn new(z: Points, kernel: Kernel, regularization: f64, embedding: PriorEmbedding) -> Result<Self, Error> {
        Self::with_solver(z, kernel, regularization, embedding, SolverChoice::Auto, Accuracy::ANSWER)
    }

    /// The operator at the points `z` with this solver.
    pub fn with_solver(
        z: Points,
        kernel: Kernel,
        regularization: f64,
        embedding: PriorEmbedding,
        choice: SolverChoice,
        accuracy: Accuracy,
    ) -> Result<Self, Error> {
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
        let scaled = kernel.scale(&z);
        scaled.require_finite()?;
        let solver = choice.solver(&KernelSystem { kernel: &kernel, points: &scaled, regularization }, accuracy)?;
        let prior_means = embedding.means(&kernel, &z);
        let marginal_weights = solver.solve(&prior_means);
        if let Some(j) = marginal_weights.iter().position(|w| !w.is_finite()) {
            return Err(Error::NotPositiveDefinite { pivot: j, order: z.rows(), value: solver.pivot(j), regularization });
        }
        let support = solver.support().map(|chosen| Support { z: z.select(chosen), scaled: scaled.select(chosen) });
        Ok(Self { kernel, regularization, z, scaled, choice, solver, support, embedding, prior_means, marginal_weights })
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

    /// What solves A.
    pub fn solver(&self) -> &dyn Solver {
        self.solver.as_ref()
    }

    /// Which solver was asked for.
    pub fn choice(&self) -> SolverChoice {
        self.choice
    }

    /// Whether nothing of L is missed.
    pub fn is_exact(&self) -> bool {
        self.solver.approximation().is_none()
    }

    /// Where functions live: the simulated parameters, or those of them that stand for all.
    pub fn support(&self) -> &Points {
        self.support.as_ref().map_or(&self.z, |support| &support.z)
    }

    /// The support divided by the length scales.
    pub fn scaled_support(&self) -> &ScaledPoints {
        self.support.as_ref().map_or(&self.scaled, |support| &support.scaled)
    }

    /// Weights on the support of the function with weights v on all simulated parameters; several, one after the other.
    pub fn on_support(&self, v: Vec<f64>) -> Vec<f64> {
        if self.support.is_some() { self.solver.on_support(&v) } else { v }
    }

    fn system(&self) -> KernelSystem<'_> {
        KernelSystem { kernel: &self.kernel, points: &self.scaled, regularization: self.regularization }
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

    /// Σ_j u_j ℓ(z_j, z) at every query, for weights u on the support.
    pub fn values(&self, u: &[f64], queries: &Points) -> Vec<f64> {
        self.kernel.sums(self.scaled_support(), u, queries)
    }

    /// Σ_j u_j ∇_z ℓ(z_j, z), for weights u on the support.
    pub fn gradient(&self, u: &[f64], z: &[f64]) -> Vec<f64> {
        let query = self.kernel.scale_query(z);
        let points = self.scaled_support();
        let mut slopes = vec![0.0; points.rows()];
        self.kernel.slope_row(points, &query, &mut slopes);
        slopes.iter_mut().zip(u).for_each(|(slope, u)| *slope *= u);
        let total: f64 = slopes.iter().sum();
        (0..z.len()).map(|d| (dot(&slopes, points.column(d)) - total * query[d]) / self.kernel.length_scales()[d]).collect()
    }

    /// ℓ(z, z) - ℓ(z)ᵀ A⁻¹ ℓ(z) at every query: the Gaussian process predictive variance for a unit amplitude. In [0, 1].
    pub fn unit_variances(&self, queries: &Points) -> Vec<f64> {
        self.solver.unit_variances(&self.system(), queries)
    }

    /// Σ_j u_j h(z_j, z*) with a query kernel of its own length scales, for weights u on the support.
    pub fn product_sums(&self, query_kernel: &Kernel, u: &[f64], queries: &Points) -> Vec<f64> {
        self.embedding.product_sums(&self.kernel, query_kernel, self.support(), u, queries)
    }

    /// ∂/∂ ln β_d of vᵀLw for every dimension.
    pub fn gram_slopes(&self, v: &[f64], w: &[f64]) -> Vec<f64> {
        self.solver.gram_slopes(&self.system(), v, w)
    }

    /// dw/d ln β₀ when all length scales grow together: A⁻¹(Σ_d μ'_d - L'w), less A⁻¹ mλ w if λ is tied to β₀.
    pub fn marginal_weight_slopes(&self, tied: bool) -> Vec<f64> {
        let w = &self.marginal_weights;
        let ridge = if tied { self.ridge() } else { 0.0 };
        let mut right = self.solver.gram_slope_image(&self.system(), w);
        right.iter_mut().zip(w).for_each(|(image, w)| *image = -*image - ridge * w);
        for d in 0..self.kernel.dimension() {
            let slopes = self.embedding.mean_slopes(&self.kernel, &self.z, d);
            right.iter_mut().zip(slopes).for_each(|(right, slope)| *right += slope);
        }
        self.solver.solve_in_place(&mut right);
        right
    }
}
