//! Regression of one number on z with closed-form leave-one-out: a Gaussian process with a curved and a linear part.
//!
//! Standardised targets t have covariance A = a² G + 1 + b² z̃ z̃ᵀ + s² diag(w), z̃ = z/β, G one of the kernels of [`Curve`] with these length
//! scales (a parameter that bends the mean little also tilts it little), w relative noise variances. Then, with P = A⁻¹ and α = P t:
//!
//! - mean at z: a² Σ_j α_j ℓ(z_j, z) + Σ_j α_j + b² z̃ᵀ Σ_j α_j z̃_j
//! - without simulation i, at z_i: residual α_i / P_ii and variance (noise included) 1 / P_ii
//! - variance of the mean at z: by the features of [`Pivots`], O(r²) a query instead of O(m²)

use super::curve::{Curve, CurvePoints, Form};
use super::pivots::Pivots;
use crate::linalg::Cholesky;
use crate::linalg::products::{combine_rows, transpose};
use crate::linalg::vector::dot;
use crate::{Error, Points};
use serde::{Deserialize, Serialize};

/// Most points the variance of the mean rests on.
const MOST_PIVOTS: usize = 160;
/// What G may miss on its diagonal, as a share of the noise.
const MISSED: f64 = 1e-3;
/// Noise that is always there, relative to the signal: keeps A positive definite where outputs are exact.
const JITTER: f64 = 1e-9;

/// The kernel, a, b, s and β.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RegressionHyperparameters {
    /// How the mean bends.
    pub form: Form,
    /// a: standard deviation of the curved part, of standardised targets.
    pub curved: f64,
    /// b: standard deviation of the slope per length scale.
    pub linear: f64,
    /// s: standard deviation of the noise.
    pub noise: f64,
    /// β: length scales of the curved part in prior standard deviations.
    pub length_scales: Vec<f64>,
}

impl RegressionHyperparameters {
    /// The kernel with its length scales.
    pub fn curve(&self) -> Curve {
        Curve::new(self.form, &self.length_scales)
    }

    /// b²/β²: variance of the slope along each parameter.
    fn slope_variances(&self) -> Vec<f64> {
        self.length_scales.iter().map(|beta| (self.linear / beta).powi(2)).collect()
    }

    /// Noise variance of a target with relative variance w.
    pub fn noise_variance(&self, w: f64) -> f64 {
        let slopes: f64 = self.length_scales.iter().map(|b| b.powi(-2)).sum();
        let signal = self.curved.powi(2) + 1.0 + self.linear.powi(2) * slopes;
        self.noise.powi(2) * w + JITTER * signal
    }
}

/// What the targets were divided by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standard {
    /// Mean of the targets.
    pub centre: f64,
    /// Standard deviation of the targets, 1 if they are constant.
    pub scale: f64,
}

impl Standard {
    /// Of these targets.
    pub fn of(targets: &[f64]) -> Self {
        let count = targets.len() as f64;
        let centre = targets.iter().sum::<f64>() / count;
        let variance = targets.iter().map(|t| (t - centre).powi(2)).sum::<f64>() / count;
        Self { centre, scale: if variance > 0.0 && variance.is_finite() { variance.sqrt() } else { 1.0 } }
    }

    /// The standardised targets.
    pub fn apply(&self, targets: &[f64]) -> Vec<f64> {
        targets.iter().map(|t| (t - self.centre) / self.scale).collect()
    }
}

/// What the mean at z is made with.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanWeights {
    /// a² α in the order of the regression's points.
    curved: Vec<f64>,
    /// Σ_j α_j (1, b² z_j/β²).
    linear: Vec<f64>,
}

impl MeanWeights {
    fn new(alpha: &[f64], z: &Points, order: &[usize], hyperparameters: &RegressionHyperparameters) -> Self {
        let slopes = hyperparameters.slope_variances();
        let mut linear = vec![alpha.iter().sum::<f64>()];
        linear.extend((0..z.columns()).map(|d| slopes[d] * alpha.iter().zip(z.iter()).map(|(a, z)| a * z[d]).sum::<f64>()));
        Self { curved: order.iter().map(|&j| hyperparameters.curved.powi(2) * alpha[j]).collect(), linear }
    }

    /// These less `factor` times others.
    fn less(&self, factor: f64, others: &Self) -> Self {
        let less = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a - factor * b).collect();
        Self { curved: less(&self.curved, &others.curved), linear: less(&self.linear, &others.linear) }
    }
}

/// A fitted regression.
#[derive(Debug, Clone)]
pub struct Regression {
    hyperparameters: RegressionHyperparameters,
    curve: Curve,
    points: CurvePoints,
    standard: Standard,
    weights: MeanWeights,
    /// Which simulation each of `points` is: pivots first.
    order: Vec<usize>,
    /// W of gᵀ W g, g = (kernel values with the pivots, 1, z).
    variance_form: Vec<f64>,
    rank: usize,
    /// Residual of each target without it.
    residuals: Vec<f64>,
    /// Variance of that residual, noise included.
    variances: Vec<f64>,
}

/// The covariance matrix A, column after column.
pub fn covariance(hyperparameters: &RegressionHyperparameters, gram: &[f64], z: &Points, relative_noise: &[f64]) -> Vec<f64> {
    let m = z.rows();
    let a2 = hyperparameters.curved.powi(2);
    let slopes = hyperparameters.slope_variances();
    let tilted = z.map_rows(z.columns(), |z| z.iter().zip(&slopes).map(|(z, s)| z * s.sqrt()).collect());
    let mut values = gram.to_vec();
    for (j, column) in values.chunks_mut(m).enumerate() {
        let own = tilted.row(j);
        for (i, value) in column.iter_mut().enumerate().skip(j) {
            *value = a2 * *value + 1.0 + dot(tilted.row(i), own);
        }
        column[j] += hyperparameters.noise_variance(relative_noise[j]);
    }
    values
}

impl Regression {
    /// Fits at given hyperparameters. Costs O(m³).
    pub fn new(
        z: &Points,
        targets: &[f64],
        relative_noise: &[f64],
        hyperparameters: &RegressionHyperparameters,
        with_variance: bool,
    ) -> Result<Self, Error> {
        let curve = hyperparameters.curve();
        let cholesky = factor(z, relative_noise, hyperparameters)?;
        let standard = Standard::of(targets);
        let alpha = cholesky.solve(&standard.apply(targets));
        let diagonal = cholesky.inverse_diagonal();
        let residuals = alpha.iter().zip(&diagonal).map(|(a, p)| standard.scale * a / p).collect();
        let variances = diagonal.iter().map(|p| standard.scale.powi(2) / p).collect();
        let noise: Vec<f64> = relative_noise.iter().map(|&w| hyperparameters.noise_variance(w)).collect();
        let missed = (MISSED * hyperparameters.noise.powi(2) / hyperparameters.curved.powi(2)).clamp(1e-8, 1e-2);
        let pivots = Pivots::new(&curve, z, missed, if with_variance { MOST_PIVOTS } else { 0 });
        let order = pivots_first(&pivots.chosen, z.rows());
        Ok(Self {
            variance_form: if with_variance { variance_form(&pivots, z, &noise, hyperparameters) } else { vec![] },
            rank: pivots.rank(),
            weights: MeanWeights::new(&alpha, z, &order, hyperparameters),
            points: curve.points(&z.select(&order)),
            hyperparameters: hyperparameters.clone(),
            order,
            curve,
            standard,
            residuals,
            variances,
        })
    }

    /// The weights of the mean without each of these targets, hyperparameters kept: α - P_i α_i/P_ii. `z` and `relative_noise` as fitted.
    pub fn without(&self, z: &Points, relative_noise: &[f64], indices: &[usize]) -> Result<Vec<MeanWeights>, Error> {
        let inverse = factor(z, relative_noise, &self.hyperparameters)?.inverse_rows(indices);
        let one = |(row, &i): (&[f64], &usize)| {
            let step = MeanWeights::new(row, z, &self.order, &self.hyperparameters);
            self.weights.less(self.residuals[i] / self.standard.scale, &step)
        };
        Ok(inverse.chunks(z.rows()).zip(indices).map(one).collect())
    }

    /// What the mean is made with.
    pub fn weights(&self) -> &MeanWeights {
        &self.weights
    }

    /// a, b, s and β.
    pub fn hyperparameters(&self) -> &RegressionHyperparameters {
        &self.hyperparameters
    }

    /// t_i minus its prediction without it.
    pub fn residuals(&self) -> &[f64] {
        &self.residuals
    }

    /// Variance of each of [`Regression::residuals`] by the model, noise included.
    pub fn residual_variances(&self) -> &[f64] {
        &self.variances
    }

    /// Noise variance in the units of the targets at relative noise variance w.
    pub fn noise_variance(&self, w: f64) -> f64 {
        self.standard.scale.powi(2) * self.hyperparameters.noise_variance(w)
    }

    /// Share of the targets' variance that leave-one-out predictions explain; negative when they are worse than the mean.
    pub fn explained(&self) -> f64 {
        let mean_square = self.residuals.iter().map(|r| r * r).sum::<f64>() / self.residuals.len() as f64;
        1.0 - mean_square / self.standard.scale.powi(2)
    }

    /// The mean at each query and, if the fit was made with it, the variance of that mean. Runs on one thread.
    pub fn predict(&self, queries: &Points) -> (Vec<f64>, Vec<f64>) {
        self.predict_with(&self.weights, queries)
    }

    /// [`Regression::predict`] with other weights of the mean.
    pub fn predict_with(&self, weights: &MeanWeights, queries: &Points) -> (Vec<f64>, Vec<f64>) {
        let m = weights.curved.len();
        let size = self.rank + 1 + queries.columns();
        let mut row = vec![0.0; m];
        let mut means = Vec::with_capacity(queries.rows());
        let mut features = Vec::with_capacity(if self.variance_form.is_empty() { 0 } else { queries.rows() * size });
        let mut spread = Vec::with_capacity(queries.rows());
        for z in queries.iter() {
            let query = self.curve.coordinates(z);
            self.curve.row(&self.points, &query, &mut row);
            let linear = weights.linear[0] + dot(&weights.linear[1..], z);
            means.push(self.standard.centre + self.standard.scale * (dot(&row, &weights.curved) + linear));
            if !self.variance_form.is_empty() {
                spread.push(self.curve.at_itself(&query));
                features.extend_from_slice(&row[..self.rank]);
                features.push(1.0);
                features.extend_from_slice(z);
            }
        }
        if self.variance_form.is_empty() {
            return (means, vec![]);
        }
        let images = combine_rows(&features, &self.variance_form, size);
        let a2 = self.hyperparameters.curved.powi(2);
        let variance = |((g, image), own): ((&[f64], &[f64]), &f64)| self.standard.scale.powi(2) * (a2 * own + dot(g, image)).max(0.0);
        (means, features.chunks(size).zip(images.chunks(size)).zip(&spread).map(variance).collect())
    }
}

/// The factorised covariance of all targets.
fn factor(z: &Points, relative_noise: &[f64], hyperparameters: &RegressionHyperparameters) -> Result<Cholesky, Error> {
    let (m, curve) = (z.rows(), hyperparameters.curve());
    let gram = curve.matrices(&curve.points(z)).gram;
    Cholesky::new(covariance(hyperparameters, &gram, z, relative_noise), m).map_err(|bad| Error::NotPositiveDefinite {
        pivot: bad.index,
        order: m,
        value: bad.value,
        regularization: hyperparameters.noise.powi(2) / m as f64,
    })
}

/// The chosen indices, then all others in order.
fn pivots_first(chosen: &[usize], m: usize) -> Vec<usize> {
    let mut is_chosen = vec![false; m];
    chosen.iter().for_each(|&i| is_chosen[i] = true);
    chosen.iter().copied().chain((0..m).filter(|&i| !is_chosen[i])).collect()
}

/// Var[mean(z)] = a² (ℓ(z,z) - |φ|²) + fᵀ (I + Fᵀ N⁻¹ F)⁻¹ f with f = (a φ, 1, b z̃), φ the features of the pivots: as a² ℓ(z,z) + gᵀ W g.
fn variance_form(pivots: &Pivots, z: &Points, noise: &[f64], hyperparameters: &RegressionHyperparameters) -> Vec<f64> {
    let (r, dimension) = (pivots.rank(), z.columns());
    let size = r + 1 + dimension;
    let a = hyperparameters.curved;
    let slopes: Vec<f64> = hyperparameters.slope_variances().into_iter().map(f64::sqrt).collect();
    // Columns of Fᵀ N^-½, one per simulation, then the information matrix.
    let mut whitened = vec![0.0; z.rows() * size];
    for (i, column) in whitened.chunks_mut(size).enumerate() {
        let root = noise[i].sqrt();
        for k in 0..r {
            column[k] = a * pivots.factor[i * r + k] / root;
        }
        column[r] = 1.0 / root;
        for d in 0..dimension {
            column[r + 1 + d] = slopes[d] * z.row(i)[d] / root;
        }
    }
    let transposed = transpose(&whitened, size);
    let mut information = combine_rows(&transposed, &whitened, z.rows());
    (0..size).for_each(|k| information[k * size + k] += 1.0);
    let Ok(cholesky) = Cholesky::new(information, size) else { return vec![0.0; size * size] };
    let mut covariance = cholesky.inverse_rows(&(0..size).collect::<Vec<_>>());
    // Into the coordinates of g: f = B g, B = diag(a L⁻¹, 1, b/β); the explained part a² |φ|² is taken off in the same step.
    for k in 0..r {
        covariance[k * size + k] -= 1.0;
    }
    let to_features = pivots.to_features();
    let mut b_matrix = vec![0.0; size * size];
    for i in 0..r {
        for j in 0..=i {
            b_matrix[i * size + j] = a * to_features[i * r + j];
        }
    }
    b_matrix[r * size + r] = 1.0;
    for d in 0..dimension {
        b_matrix[(r + 1 + d) * size + r + 1 + d] = slopes[d];
    }
    combine_rows(&transpose(&b_matrix, size), &combine_rows(&covariance, &b_matrix, size), size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, standard_normal, stream};

    fn data(m: usize) -> (Points, Vec<f64>, Vec<f64>) {
        let mut rng = stream(3, Purpose::Experiment, 0);
        let rows: Vec<Vec<f64>> = (0..m).map(|_| vec![standard_normal(&mut rng), standard_normal(&mut rng)]).collect();
        let targets = rows.iter().map(|z| 5.0 + z[0].sin() - 0.4 * z[1] + 0.2 * standard_normal(&mut rng)).collect();
        (Points::from_rows(&rows).unwrap(), targets, (0..m).map(|i| 0.5 + (i % 4) as f64 * 0.3).collect())
    }

    fn hyperparameters(form: Form) -> RegressionHyperparameters {
        RegressionHyperparameters { form, curved: 0.8, linear: 0.5, noise: 0.2, length_scales: vec![1.3, 2.0] }
    }

    /// Mean, its variance and the noise, with the explicit inverse and the targets standardised as given.
    fn twin(z: &Points, t: &[f64], w: &[f64], h: &RegressionHyperparameters, standard: Standard, query: &[f64]) -> (f64, f64) {
        let m = z.rows();
        let curve = h.curve();
        let ell = |a: &[f64], b: &[f64]| {
            let mut out = [0.0];
            curve.row(&curve.points(&Points::from_rows(&[a.to_vec()]).unwrap()), &curve.coordinates(b), &mut out);
            let tilt: f64 = (0..a.len()).map(|d| a[d] * b[d] * (h.linear / h.length_scales[d]).powi(2)).sum();
            h.curved.powi(2) * out[0] + 1.0 + tilt
        };
        let mut matrix = vec![0.0; m * m];
        for i in 0..m {
            for j in 0..m {
                matrix[i * m + j] = ell(z.row(i), z.row(j)) + if i == j { h.noise_variance(w[i]) } else { 0.0 };
            }
        }
        let cholesky = Cholesky::new(matrix, m).unwrap();
        let k: Vec<f64> = (0..m).map(|i| ell(z.row(i), query)).collect();
        let mean = standard.centre + standard.scale * dot(&k, &cholesky.solve(&standard.apply(t)));
        (mean, standard.scale.powi(2) * (ell(query, query) - dot(&k, &cholesky.solve(&k))))
    }

    #[test]
    fn mean_and_variance_are_those_of_the_explicit_process() {
        let (z, t, w) = data(60);
        for form in [Form::Bumps, Form::Sigmoids] {
            let h = hyperparameters(form);
            let fit = Regression::new(&z, &t, &w, &h, true).unwrap();
            for query in [[0.3, -0.2], [2.5, 1.0], [-4.0, 3.0]] {
                let (mean, variance) = twin(&z, &t, &w, &h, Standard::of(&t), &query);
                let found = fit.predict(&Points::from_rows(&[query.to_vec()]).unwrap());
                assert!((found.0[0] - mean).abs() < 1e-8, "{form:?}: {} {mean}", found.0[0]);
                assert!((found.1[0] - variance).abs() < 0.02 * variance + 1e-4, "{form:?}: {} {variance}", found.1[0]);
            }
        }
    }

    #[test]
    fn closed_form_leave_one_out_is_a_refit_without_the_simulation() {
        let (z, t, w) = data(40);
        for form in [Form::Bumps, Form::Sigmoids] {
            let h = hyperparameters(form);
            let fit = Regression::new(&z, &t, &w, &h, false).unwrap();
            let without = fit.without(&z, &w, &[7, 21]).unwrap();
            for (weights, i) in without.iter().zip([7, 21]) {
                let others: Vec<usize> = (0..40).filter(|&j| j != i).collect();
                let pick = |all: &[f64]| -> Vec<f64> { others.iter().map(|&j| all[j]).collect() };
                let refit = |query: &[f64]| twin(&z.select(&others), &pick(&t), &pick(&w), &h, Standard::of(&t), query);
                let (mean, variance) = refit(z.row(i));
                assert!((fit.residuals()[i] - (t[i] - mean)).abs() < 1e-8);
                let noise = fit.noise_variance(w[i]);
                assert!((fit.residual_variances()[i] - variance - noise).abs() < 1e-8);
                let elsewhere = [0.4, 0.9];
                let found = fit.predict_with(weights, &Points::from_rows(&[elsewhere.to_vec()]).unwrap()).0[0];
                assert!((found - refit(&elsewhere).0).abs() < 1e-8, "{form:?}");
            }
        }
    }
}
