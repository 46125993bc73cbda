//! A naive twin of Algorithm 1: explicit inverses, plain sums, θ units throughout, the paper's own form of h.

mod support;

use kelfi::samples::{Candidates, Herding};
use kelfi::{KernelMeansLikelihood, Points, Posterior, Prior};
use std::sync::Arc;
use support::{Problem, Random, assert_all_close, assert_close, normal_prior};

/// Rounding of two different ways through a matrix with a condition number of at most 1e4.
const TWIN: f64 = 1e-9;
const BY_HAND: f64 = 1e-12;

type Matrix = Vec<Vec<f64>>;

/// How the twin integrates over the prior, in θ units.
enum Integral {
    Normal { mean: Vec<f64>, std: Vec<f64> },
    Draws(Matrix),
}

struct Twin {
    theta: Matrix,
    beta: Vec<f64>,
    integral: Integral,
    weights: Vec<f64>,
    evidence: f64,
}

/// A⁻¹ by Gauss-Jordan elimination with pivoting.
fn inverse(mut a: Matrix) -> Matrix {
    let m = a.len();
    for (i, row) in a.iter_mut().enumerate() {
        row.extend((0..m).map(|j| if i == j { 1.0 } else { 0.0 }));
    }
    for k in 0..m {
        let pivot = (k..m).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        let head = a[k][k];
        a[k].iter_mut().for_each(|value| *value /= head);
        let row = a[k].clone();
        for (i, other) in a.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let factor = other[k];
            assert!(i != k);
            other.iter_mut().zip(&row).for_each(|(value, r)| *value -= factor * r);
        }
    }
    a.into_iter().map(|row| row[m..].to_vec()).collect()
}

fn times(a: &Matrix, b: &[f64]) -> Vec<f64> {
    a.iter().map(|row| row.iter().zip(b).map(|(x, y)| x * y).sum()).collect()
}

fn kernel(a: &[f64], b: &[f64], beta: &[f64]) -> f64 {
    (-0.5 * (0..a.len()).map(|d| ((a[d] - b[d]) / beta[d]).powi(2)).sum::<f64>()).exp()
}

impl Integral {
    /// μ(θ) = ∫ ℓ(θ, t) p(t) dt.
    fn mean(&self, theta: &[f64], beta: &[f64]) -> f64 {
        match self {
            Self::Normal { mean, std } => (0..theta.len())
                .map(|d| {
                    let nu2 = beta[d] * beta[d] + std[d] * std[d];
                    beta[d] / nu2.sqrt() * (-0.5 * (theta[d] - mean[d]).powi(2) / nu2).exp()
                })
                .product(),
            Self::Draws(draws) => draws.iter().map(|t| kernel(theta, t, beta)).sum::<f64>() / draws.len() as f64,
        }
    }

    /// h(θ, θ*) = ∫ ℓ(θ, t) ℓ(t, θ*) p(t) dt, in the paper's letters.
    fn product(&self, theta: &[f64], other: &[f64], beta: &[f64]) -> f64 {
        match self {
            Self::Normal { mean, std } => (0..theta.len())
                .map(|d| {
                    let gamma2 = (beta[d] / std[d]).powi(2);
                    let s2 = 1.0 / (2.0 / beta[d].powi(2) + 1.0 / std[d].powi(2));
                    let (t, u) = (theta[d] - mean[d], other[d] - mean[d]);
                    let a = (t * t + u * u) / (2.0 + gamma2);
                    let b = (t + u) / (2.0 + gamma2);
                    s2.sqrt() / std[d] * (-(a - b * b) / (2.0 * s2)).exp()
                })
                .product(),
            Self::Draws(draws) => draws.iter().map(|t| kernel(theta, t, beta) * kernel(t, other, beta)).sum::<f64>() / draws.len() as f64,
        }
    }
}

impl Twin {
    /// `beta` and `integral` in θ units.
    fn new(problem: &Problem, beta: Vec<f64>, integral: Integral) -> Self {
        let m = problem.theta.len();
        let kappa: Vec<f64> = problem.x.iter().map(|x| kappa(&problem.y, x, &problem.hyperparameters.epsilon)).collect();
        let ridge = m as f64 * problem.hyperparameters.regularization;
        let entry = |i: usize, j: usize| kernel(&problem.theta[i], &problem.theta[j], &beta) + if i == j { ridge } else { 0.0 };
        let a: Matrix = (0..m).map(|i| (0..m).map(|j| entry(i, j)).collect()).collect();
        let weights = times(&inverse(a), &kappa);
        let evidence = problem.theta.iter().zip(&weights).map(|(t, v)| v * integral.mean(t, &beta)).sum();
        Self { theta: problem.theta.clone(), beta, integral, weights, evidence }
    }

    fn likelihood(&self, theta: &[f64]) -> f64 {
        self.theta.iter().zip(&self.weights).map(|(t, v)| v * kernel(t, theta, &self.beta)).sum()
    }

    fn embedding(&self, theta: &[f64]) -> f64 {
        let sum: f64 = self.theta.iter().zip(&self.weights).map(|(t, v)| v * self.integral.product(t, theta, &self.beta)).sum();
        sum / self.evidence
    }
}

fn kappa(y: &[f64], x: &[f64], epsilon: &[f64]) -> f64 {
    let density = |i: usize| {
        let e = epsilon[i];
        (-0.5 * ((y[i] - x[i]) / e).powi(2)).exp() / (e * (2.0 * std::f64::consts::PI).sqrt())
    };
    (0..y.len()).map(density).product()
}

/// Compares everything Algorithm 1 makes. False when the evidence is not positive and there is no posterior.
fn compare(problem: &Problem, twin: &Twin, seed: u64) -> bool {
    let model: KernelMeansLikelihood = problem.model().unwrap();
    assert_all_close("weights", &model.weights(), &twin.weights, TWIN);
    let scale = twin.theta.iter().zip(&twin.weights).map(|(t, v)| (v * twin.integral.mean(t, &twin.beta)).abs()).sum::<f64>();
    assert_close("evidence", model.marginal_likelihood(), twin.evidence, TWIN, scale);
    let queries = problem.prior.draw(40, seed ^ 0xA5A5);
    let expected: Vec<f64> = queries.iter().map(|t| twin.likelihood(t)).collect();
    assert_all_close("likelihood", &model.value(&queries).unwrap(), &expected, TWIN);
    if twin.evidence < 1e-3 * scale {
        return false;
    }
    let posterior = Posterior::new(Arc::new(model), seed).unwrap();
    let embedding: Vec<f64> = queries.iter().map(|t| twin.embedding(t)).collect();
    assert_all_close("embedding", &posterior.embedding(None, &queries).unwrap(), &embedding, TWIN / 1e-3);
    if let Ok(values) = posterior.value(&queries) {
        let density = |t: &[f64]| twin.likelihood(t) * problem.prior.ln_density(t).unwrap().exp() / twin.evidence;
        assert_all_close("posterior", &values, &queries.iter().map(density).collect::<Vec<f64>>(), TWIN / 1e-3);
    }
    compare_herding(&posterior, twin, &queries, &embedding);
    true
}

/// Each pick must be the twin's own, unless two candidates tie to rounding.
fn compare_herding(posterior: &Posterior, twin: &Twin, queries: &Points, embedding: &[f64]) {
    const PICKS: usize = 25;
    let found = Herding::new(Candidates::Given(queries.clone())).super_samples(posterior, PICKS).unwrap();
    let mut sums = vec![0.0; queries.rows()];
    let largest = embedding.iter().fold(1.0_f64, |l, e| l.max(e.abs()));
    for (s, &pick) in found.indices.iter().enumerate() {
        let objective: Vec<f64> = (0..sums.len()).map(|r| embedding[r] - sums[r] / (s + 1) as f64).collect();
        let best = objective.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(objective[pick] >= best - 1e-6 * TWIN.sqrt() * largest, "pick {s}: {} is not the best {best}", objective[pick]);
        assert_all_close("super-sample", found.samples.row(s), queries.row(pick), 1e-12);
        sums.iter_mut().zip(queries.iter()).for_each(|(sum, t)| *sum += kernel(t, queries.row(pick), &twin.beta));
    }
}

#[test]
fn the_closed_form_agrees_with_its_naive_twin() {
    let mut posteriors = 0;
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let d = random.integer(1, 3);
        let std: Vec<f64> = (0..d).map(|_| random.log_uniform(0.05, 20.0)).collect();
        let mean: Vec<f64> = std.iter().map(|s| s * random.normal()).collect();
        let (m, n) = (random.integer(1, 15), random.integer(1, 3));
        let problem = Problem::random(&mut random, m, n, normal_prior(&mean, &std));
        let beta = problem.hyperparameters.length_scale.iter().zip(&std).map(|(b, s)| b * s).collect();
        let twin = Twin::new(&problem, beta, Integral::Normal { mean, std });
        posteriors += usize::from(compare(&problem, &twin, seed));
    }
    assert!(posteriors > 200, "only {posteriors} of 300 problems had a posterior to compare");
}

#[test]
fn the_sample_form_agrees_with_its_naive_twin() {
    let mut posteriors = 0;
    for seed in 0..100 {
        let mut random = Random::new(1_000 + seed);
        let d = random.integer(1, 3);
        let offset = random.normals(d);
        let draws: Matrix = (0..50).map(|_| (0..d).map(|k| offset[k] + (k + 1) as f64 * random.normal()).collect()).collect();
        let prior = Prior::samples(support::names(d), Points::from_rows(&draws).unwrap()).unwrap();
        let (m, n) = (random.integer(1, 12), random.integer(1, 2));
        let problem = Problem::random(&mut random, m, n, prior);
        let std = |k: usize| {
            let mean = draws.iter().map(|t| t[k]).sum::<f64>() / draws.len() as f64;
            (draws.iter().map(|t| (t[k] - mean).powi(2)).sum::<f64>() / draws.len() as f64).sqrt()
        };
        let beta = (0..d).map(|k| problem.hyperparameters.length_scale[k] * std(k)).collect();
        let twin = Twin::new(&problem, beta, Integral::Draws(draws.clone()));
        posteriors += usize::from(compare(&problem, &twin, seed));
    }
    assert!(posteriors > 60, "only {posteriors} of 100 problems had a posterior to compare");
}

#[test]
fn one_simulation_gives_one_gaussian_exactly() {
    for seed in 0..50 {
        let mut random = Random::new(2_000 + seed);
        let (mean, std) = (random.normal(), random.log_uniform(0.1, 10.0));
        let problem = Problem::random(&mut random, 1, 1, normal_prior(&[mean], &[std]));
        let (epsilon, beta, lambda) =
            (problem.hyperparameters.epsilon[0], problem.hyperparameters.length_scale[0] * std, problem.hyperparameters.regularization);
        let theta = problem.theta[0][0];
        let kappa = kappa(&problem.y, &problem.x[0], &[epsilon]);
        let v = kappa / (1.0 + lambda);
        let nu2 = beta * beta + std * std;
        let mu = beta / nu2.sqrt() * (-0.5 * (theta - mean).powi(2) / nu2).exp();
        let model = problem.model().unwrap();
        assert_close("weight", model.weights()[0], v, BY_HAND, 0.0);
        assert_close("evidence", model.marginal_likelihood(), v * mu, BY_HAND, 0.0);
        assert_close("log evidence", model.log_marginal_likelihood().unwrap(), (v * mu).ln(), BY_HAND, 1.0);
        let gradient = kelfi::learning::evidence::gradient(&model).unwrap();
        assert_close("∂ ln ε", gradient.log_epsilon[0], ((problem.y[0] - problem.x[0][0]) / epsilon).powi(2) - 1.0, BY_HAND, 1.0);
        let slope = std * std / nu2 + (beta * (theta - mean) / nu2).powi(2);
        assert_close("∂ ln β", gradient.log_length_scale[0], slope, BY_HAND, 1.0);
        assert_close("∂ ln λ", gradient.log_regularization, -lambda / (1.0 + lambda), BY_HAND, 0.0);

        // The posterior is N(centre, variance).
        let variance = 1.0 / (1.0 / (beta * beta) + 1.0 / (std * std));
        let centre = variance * (theta / (beta * beta) + mean / (std * std));
        let posterior = Posterior::new(Arc::new(model), 1).unwrap();
        let scale = mean.abs() + std;
        assert_close("mean", posterior.mean()[0], centre, BY_HAND, scale);
        assert_close("variance", posterior.covariance().row(0)[0], variance, BY_HAND, 0.0);
        assert_close("median", posterior.quantile(0, &[0.5]).unwrap()[0], centre, BY_HAND, scale);
        let upper = centre + variance.sqrt() * 1.959_963_984_540_054_2;
        assert_close("quantile", posterior.quantile(0, &[0.975]).unwrap()[0], upper, BY_HAND, scale);
        assert_close("share", posterior.cdf(0, &[upper]).unwrap()[0], 0.975, BY_HAND, 0.0);
        assert_close("mode", posterior.mode().unwrap()[0], centre, 1e-6, scale);
        assert!(posterior.negative_mass().ratio < BY_HAND);
        let at = centre + 0.7 * variance.sqrt();
        let density = (-0.5_f64 * 0.49).exp() / (variance * 2.0 * std::f64::consts::PI).sqrt();
        let point = Points::from_column(vec![at]);
        for (what, found) in [
            ("value", posterior.value(&point).unwrap()[0]),
            ("pdf", posterior.pdf(&point).unwrap()[0]),
            ("exp log_prob", posterior.log_prob(&point).unwrap()[0].exp()),
            ("marginal", posterior.marginal(0, &[at]).unwrap()[0]),
        ] {
            assert_close(what, found, density, BY_HAND, 0.0);
        }
        // ∫ ℓ(t, at) N(t | centre, variance) dt
        let wide = beta * beta + variance;
        let embedding = beta / wide.sqrt() * (-0.5 * (at - centre).powi(2) / wide).exp();
        assert_close("embedding", posterior.embedding(None, &point).unwrap()[0], embedding, BY_HAND, 0.0);
        // One recorded output is its own mean.
        assert_close("predictive", posterior.predictive(&[3.0]).unwrap(), 3.0, BY_HAND, 0.0);
    }
}
