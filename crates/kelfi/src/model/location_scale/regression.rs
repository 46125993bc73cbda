//! Regression of one number on z with closed-form leave-one-out: a Gaussian process with a curved and a linear part.
//!
//! Standardised targets t have covariance A = a² G + 1 + b² z̃ z̃ᵀ + s² diag(w), z̃ = z/β, G one of the kernels of [`Curve`] with these length
//! scales (a parameter that bends the mean little also tilts it little), w relative noise variances. Then, with P = A⁻¹ and α = P t:
//!
//! - mean at z: a² Σ_j α_j ℓ(z_j, z) + Σ_j α_j + b² z̃ᵀ Σ_j α_j z̃_j
//! - without simulation i, at z_i: residual α_i / P_ii and variance (noise included) 1 / P_ii
//! - variance of the mean at z: by [`RegressionFeatures`] of few points, O(r²) a query instead of O(m²)
//!
//! Where few points stand for all up to a small share of the noise, mean and leave-one-out come from these [`RegressionFeatures`] too.

mod hyperparameters;
mod traced;
mod without;

use super::constants::regression::{DENSE, FEWEST_TOGETHER, MISSED, MISSED_OF_VARIANCE, MOST_PIVOTS};
pub use hyperparameters::{RegressionHyperparameters, covariance};
pub use traced::Traced;

use super::curve::{Curve, CurvePoints};
use super::features::RegressionFeatures;
pub use super::mean_weights::{MeanWeights, Standard};
use crate::linalg::Cholesky;
use crate::linalg::products::combine_rows;
use crate::linalg::vector::dot;
use crate::solver::Pivots;
use crate::{Error, Points, memory};

/// Queries whose kernel values are one product of tables; fixed, so that results do not depend on the number of threads.
const TOGETHER: usize = 32;

/// A fitted regression.
#[derive(Debug, Clone)]
pub struct Regression {
    hyperparameters: RegressionHyperparameters,
    curve: Curve,
    points: CurvePoints,
    standard: Standard,
    weights: MeanWeights,
    /// Which simulation each of `points` is: pivots first, and only these where they stand for all.
    order: Vec<usize>,
    /// W of gᵀ W g, g = (kernel values with the pivots, 1, z).
    variance_form: Vec<f64>,
    rank: usize,
    /// Residual of each target without it.
    residuals: Vec<f64>,
    /// Variance of that residual, noise included.
    variances: Vec<f64>,
}

impl Regression {
    /// Fits at given hyperparameters. Costs O(m r²) where r points stand for all, else O(m³).
    pub fn new(
        z: &Points,
        targets: &[f64],
        relative_noise: &[f64],
        hyperparameters: &RegressionHyperparameters,
        with_variance: bool,
    ) -> Result<Self, Error> {
        Self::with_pivots(z, targets, relative_noise, hyperparameters, with_variance, MOST_PIVOTS)
    }

    fn with_pivots(
        z: &Points,
        targets: &[f64],
        relative_noise: &[f64],
        hyperparameters: &RegressionHyperparameters,
        with_variance: bool,
        most: usize,
    ) -> Result<Self, Error> {
        let curve = hyperparameters.curve();
        let standard = Standard::of(targets);
        let standardised = standard.apply(targets);
        let pivots = pivots(&curve, z, hyperparameters, most);
        let (chosen, few) = (pivots.chosen.clone(), pivots.complete || z.rows() > DENSE);
        let coarse = pivots.within(&curve.with_itself(&curve.points(z)), missed(hyperparameters, MISSED_OF_VARIANCE));
        let noise = noise_beside(&pivots, &curve, z, relative_noise, hyperparameters);
        let features = RegressionFeatures::new(pivots, z, noise, hyperparameters);
        let solved = features.as_ref().filter(|_| few).map(|features| {
            let weights = features.process.weights(&standardised);
            let (residuals, variances) = features.process.leave_one_out(&standardised, &weights);
            (features.mean_weights(&weights), chosen.clone(), residuals, variances)
        });
        let (weights, order, residuals, variances) = match solved {
            Some(solved) => solved,
            None => {
                let cholesky = factor(z, relative_noise, hyperparameters)?;
                let alpha = cholesky.solve(&standardised);
                let diagonal = cholesky.inverse_diagonal();
                let order = pivots_first(&chosen, z.rows());
                let residuals = alpha.iter().zip(&diagonal).map(|(a, p)| a / p).collect();
                let weights = MeanWeights::new(&alpha, z, &order, hyperparameters);
                (weights, order, residuals, diagonal.iter().map(|p| 1.0 / p).collect())
            }
        };
        let (rank, variance_form) = if with_variance { variance_form(z, relative_noise, hyperparameters, coarse) } else { (0, vec![]) };
        Ok(Self {
            hyperparameters: hyperparameters.clone(),
            points: curve.points(&z.select(&order)),
            curve,
            standard,
            weights,
            order,
            variance_form,
            rank,
            residuals: residuals.into_iter().map(|r| standard.scale * r).collect(),
            variances: variances.into_iter().map(|v| standard.scale.powi(2) * v).collect(),
        })
    }

    /// Whether the same regression on these points would need all of them: few do not stand for all.
    pub fn needs_all_of(&self, z: &Points) -> bool {
        z.rows() <= DENSE && !pivots(&self.curve, z, &self.hyperparameters, MOST_PIVOTS).complete
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
        self.predict_each(&vec![&self.weights; queries.rows()], queries)
    }

    /// [`Regression::predict`], each query with weights of the mean of its own.
    pub fn predict_each(&self, weights: &[&MeanWeights], queries: &Points) -> (Vec<f64>, Vec<f64>) {
        let size = self.rank + 1 + queries.columns();
        let mut means = Vec::with_capacity(queries.rows());
        let mut features = Vec::with_capacity(if self.variance_form.is_empty() { 0 } else { queries.rows() * size });
        let mut spread = Vec::with_capacity(queries.rows());
        self.kernel_rows(queries, |q, row| {
            let (z, weights) = (queries.row(q), weights[q]);
            means.push(self.mean_of(weights, row, z));
            if !self.variance_form.is_empty() {
                spread.push(self.curve.at_itself(&self.curve.coordinates(z)));
                features.extend_from_slice(&row[..self.rank]);
                features.push(1.0);
                features.extend_from_slice(z);
            }
        });
        if self.variance_form.is_empty() {
            return (means, vec![]);
        }
        let images = combine_rows(&features, &self.variance_form, size);
        let a2 = self.hyperparameters.curved.powi(2);
        let variance = |((g, image), own): ((&[f64], &[f64]), &f64)| self.standard.scale.powi(2) * (a2 * own + dot(g, image)).max(0.0);
        (means, features.chunks(size).zip(images.chunks(size)).zip(&spread).map(variance).collect())
    }

    /// The mean at z, given ℓ(point j, z).
    fn mean_of(&self, weights: &MeanWeights, row: &[f64], z: &[f64]) -> f64 {
        let linear = weights.linear[0] + dot(&weights.linear[1..], z);
        self.standard.centre + self.standard.scale * (dot(row, &weights.curved) + linear)
    }

    /// Shows `see` every query's place and its ℓ(point j, query), in their order: some at once with many coordinates.
    fn kernel_rows(&self, queries: &Points, mut see: impl FnMut(usize, &[f64])) {
        let (m, columns) = (self.points.count(), queries.columns());
        if columns < FEWEST_TOGETHER {
            let mut row = vec![0.0; m];
            for (q, z) in queries.iter().enumerate() {
                self.curve.row(&self.points, &self.curve.coordinates(z), &mut row);
                see(q, &row);
            }
            return;
        }
        for (block, values) in queries.values().chunks(TOGETHER * columns).enumerate() {
            let some = Points::new(values.to_vec(), values.len() / columns, columns).expect("whole rows");
            let kernel = self.curve.rows(&self.points, &some);
            (0..some.rows()).for_each(|q| see(block * TOGETHER + q, &kernel[q * m..(q + 1) * m]));
        }
    }
}

/// The factorised covariance of all targets.
fn factor(z: &Points, relative_noise: &[f64], hyperparameters: &RegressionHyperparameters) -> Result<Cholesky, Error> {
    let (m, curve) = (z.rows(), hyperparameters.curve());
    memory::location_scale(m, 0, 1, true).require()?;
    let gram = curve.gram(&curve.points(z));
    Cholesky::new(covariance(hyperparameters, &gram, z, relative_noise), m)
        .map_err(|bad| bad.error(m, hyperparameters.noise.powi(2) / m as f64))
}

/// The chosen indices, then all others in order.
fn pivots_first(chosen: &[usize], m: usize) -> Vec<usize> {
    let mut is_chosen = vec![false; m];
    chosen.iter().for_each(|&i| is_chosen[i] = true);
    chosen.iter().copied().chain((0..m).filter(|&i| !is_chosen[i])).collect()
}

/// N_i. Of more simulations than a dense matrix is made of, what pivots miss of a² ℓ_ii is noise too, independent for each (the FITC
/// approximation: Snelson & Ghahramani 2006).
fn noise_beside(
    pivots: &Pivots,
    curve: &Curve,
    z: &Points,
    relative_noise: &[f64],
    hyperparameters: &RegressionHyperparameters,
) -> Vec<f64> {
    let noise = relative_noise.iter().map(|&w| hyperparameters.noise_variance(w));
    if pivots.complete || z.rows() <= DENSE {
        return noise.collect();
    }
    let (r, own) = (pivots.rank(), curve.with_itself(&curve.points(z)));
    let missed = |i: usize| (own[i] - pivots.factor[i * r..(i + 1) * r].iter().map(|phi| phi * phi).sum::<f64>()).max(0.0);
    noise.enumerate().map(|(i, noise)| noise + hyperparameters.curved.powi(2) * missed(i)).collect()
}

fn pivots(curve: &Curve, z: &Points, hyperparameters: &RegressionHyperparameters, most: usize) -> Pivots {
    Pivots::new(&curve.between(&curve.points(z)), missed(hyperparameters, MISSED), most)
}

/// What a² G may miss on its diagonal, a share of the noise, in units of G.
fn missed(hyperparameters: &RegressionHyperparameters, share: f64) -> f64 {
    (share * hyperparameters.noise.powi(2) / hyperparameters.curved.powi(2)).max(1e-9)
}

/// The variance of the mean by these pivots, and how many they are.
fn variance_form(z: &Points, relative_noise: &[f64], hyperparameters: &RegressionHyperparameters, pivots: Pivots) -> (usize, Vec<f64>) {
    let (rank, size) = (pivots.rank(), pivots.rank() + 1 + z.columns());
    let noise = noise_beside(&pivots, &hyperparameters.curve(), z, relative_noise, hyperparameters);
    let features = RegressionFeatures::new(pivots, z, noise, hyperparameters);
    (rank, features.map_or_else(|| vec![0.0; size * size], |features| features.variance_form()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::location_scale::curve::Bend;
    use crate::random::{Purpose, standard_normal, stream};

    fn data(m: usize) -> (Points, Vec<f64>, Vec<f64>) {
        let mut rng = stream(3, Purpose::Experiment, 0);
        let rows: Vec<Vec<f64>> = (0..m).map(|_| vec![standard_normal(&mut rng), standard_normal(&mut rng)]).collect();
        let targets = rows.iter().map(|z| 5.0 + z[0].sin() - 0.4 * z[1] + 0.2 * standard_normal(&mut rng)).collect();
        (Points::from_rows(&rows).unwrap(), targets, (0..m).map(|i| 0.5 + (i % 4) as f64 * 0.3).collect())
    }

    fn hyperparameters(form: Bend) -> RegressionHyperparameters {
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

    /// Pivots none of which are allowed make the dense fit; few points may miss a share of the noise.
    const WAYS: [(usize, f64); 2] = [(0, 1e-8), (MOST_PIVOTS, 2e-3)];

    #[test]
    fn mean_and_variance_are_those_of_the_explicit_process() {
        let (z, t, w) = data(60);
        for (form, (most, tolerance)) in [Bend::Bumps, Bend::Sigmoids].into_iter().flat_map(|form| WAYS.map(|way| (form, way))) {
            let h = hyperparameters(form);
            let fit = Regression::with_pivots(&z, &t, &w, &h, true, most).unwrap();
            assert_eq!(fit.order.len() == 60, most == 0);
            for query in [[0.3, -0.2], [2.5, 1.0], [-4.0, 3.0]] {
                let (mean, variance) = twin(&z, &t, &w, &h, Standard::of(&t), &query);
                let found = fit.predict(&Points::from_rows(&[query.to_vec()]).unwrap());
                // Far from all points their span is a little poorer than that of all simulations.
                assert!((found.0[0] - mean).abs() < tolerance * (1.0 + variance.sqrt()), "{form:?}, {most}: {} {mean}", found.0[0]);
                if most > 0 {
                    assert!((found.1[0] - variance).abs() < 0.02 * variance + 1e-4, "{form:?}: {} {variance}", found.1[0]);
                }
            }
        }
    }

    #[test]
    fn closed_form_leave_one_out_is_a_refit_without_the_simulation() {
        let (z, t, w) = data(40);
        for (form, (most, tolerance)) in [Bend::Bumps, Bend::Sigmoids].into_iter().flat_map(|form| WAYS.map(|way| (form, way))) {
            let h = hyperparameters(form);
            let fit = Regression::with_pivots(&z, &t, &w, &h, false, most).unwrap();
            let without = fit.without(&z, &w, &[vec![7], vec![21]]).unwrap();
            for (weights, i) in without.iter().zip([7, 21]) {
                let others: Vec<usize> = (0..40).filter(|&j| j != i).collect();
                let pick = |all: &[f64]| -> Vec<f64> { others.iter().map(|&j| all[j]).collect() };
                let refit = |query: &[f64]| twin(&z.select(&others), &pick(&t), &pick(&w), &h, Standard::of(&t), query);
                let (mean, variance) = refit(z.row(i));
                assert!((fit.residuals()[i] - (t[i] - mean)).abs() < tolerance, "{form:?}, {most}");
                let noise = fit.noise_variance(w[i]);
                assert!((fit.residual_variances()[i] - variance - noise).abs() < tolerance, "{form:?}, {most}");
                let elsewhere = [0.4, 0.9];
                let found = fit.predict_each(&[weights], &Points::from_rows(&[elsewhere.to_vec()]).unwrap()).0[0];
                assert!((found - refit(&elsewhere).0).abs() < tolerance, "{form:?}, {most}");
            }
        }
    }

    #[test]
    fn targets_at_one_place_are_left_out_together_as_in_a_refit_without_all_of_them() {
        let (z, mut t, w) = data(40);
        let (mut rows, group): (Vec<Vec<f64>>, Vec<usize>) = (z.iter().map(<[f64]>::to_vec).collect(), vec![7, 21, 30]);
        group.iter().for_each(|&g| rows[g] = rows[7].clone());
        t[21] += 0.3;
        let z = Points::from_rows(&rows).unwrap();
        let others: Vec<usize> = (0..40).filter(|j| !group.contains(j)).collect();
        let pick = |all: &[f64]| -> Vec<f64> { others.iter().map(|&j| all[j]).collect() };
        for (form, (most, tolerance)) in [Bend::Bumps, Bend::Sigmoids].into_iter().flat_map(|form| WAYS.map(|way| (form, way))) {
            let h = hyperparameters(form);
            let fit = Regression::with_pivots(&z, &t, &w, &h, false, most).unwrap();
            let weights = &fit.without(&z, &w, std::slice::from_ref(&group)).unwrap()[0];
            for query in [z.row(7).to_vec(), vec![0.4, 0.9]] {
                let wanted = twin(&z.select(&others), &pick(&t), &pick(&w), &h, Standard::of(&t), &query).0;
                let found = fit.predict_each(&[weights], &Points::from_rows(&[query]).unwrap()).0[0];
                assert!((found - wanted).abs() < tolerance, "{form:?}, {most}: {found} {wanted}");
            }
        }
    }

    #[test]
    fn few_points_change_neither_residuals_nor_predictions_by_a_share_of_the_noise_that_matters() {
        let (z, t, w) = data(400);
        for form in [Bend::Bumps, Bend::Sigmoids] {
            let h = hyperparameters(form);
            let [dense, few] = WAYS.map(|(most, _)| Regression::with_pivots(&z, &t, &w, &h, false, most).unwrap());
            assert!(few.order.len() < 120, "{}", few.order.len());
            let noise = dense.noise_variance(1.0).sqrt();
            let largest = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(largest(dense.residuals(), few.residuals()) < 5e-3 * noise);
            assert!(largest(&dense.predict(&z).0, &few.predict(&z).0) < 5e-3 * noise);
        }
    }
}
