//! All golden cases: the paper's sums evaluated in 40-digit arithmetic.

use kelfi::learning::evidence::gradient;
use kelfi::samples::{Candidates, Herding};
use kelfi::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use serde::Deserialize;
use std::sync::Arc;

const RELATIVE: f64 = 1e-9;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    theta: Vec<Vec<f64>>,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
    prior_mean: Vec<f64>,
    prior_std: Vec<f64>,
    epsilon: Vec<f64>,
    length_scale: Vec<f64>,
    regularization: f64,
    query: Vec<Vec<f64>>,
    candidates: Vec<Vec<f64>>,
    expect: Expect,
}

#[derive(Deserialize)]
struct Expect {
    kappa: Vec<f64>,
    weights: Vec<f64>,
    marginal_weights: Vec<f64>,
    marginal_likelihood: f64,
    log_marginal_likelihood: Option<f64>,
    likelihood: Vec<f64>,
    posterior: Vec<f64>,
    posterior_embedding: Vec<f64>,
    prior_embedding: Vec<f64>,
    gradient: Gradient,
    herding_indices: Vec<usize>,
    posterior_mean: Vec<f64>,
    posterior_covariance: Vec<Vec<f64>>,
    loo_likelihood: Vec<f64>,
    loo_marginal_likelihood: Vec<f64>,
}

#[derive(Deserialize)]
struct Gradient {
    log_epsilon: Vec<f64>,
    log_length_scale: Vec<f64>,
    log_regularization: f64,
}

fn cases() -> Vec<Case> {
    let golden: Golden = serde_json::from_str(include_str!("data/golden.json")).unwrap();
    assert_eq!(golden.cases.len(), 24);
    golden.cases
}

fn model(case: &Case) -> KernelMeansLikelihood {
    let marginals = case.prior_mean.iter().zip(&case.prior_std).enumerate();
    let prior =
        Prior::independent(marginals.map(|(d, (&mean, &std))| (format!("theta_{d}"), Marginal::Normal { mean, std })).collect()).unwrap();
    let simulations = Simulations::new(Points::from_rows(&case.theta).unwrap(), Points::from_rows(&case.x).unwrap()).unwrap();
    let hyperparameters = Hyperparameters {
        epsilon: case.epsilon.clone(),
        length_scale: case.length_scale.iter().zip(&case.prior_std).map(|(b, s)| b / s).collect(),
        regularization: case.regularization,
        family: Default::default(),
        solver: Default::default(),
    };
    let recorded = Recorded::Statistics(Arc::new(simulations));
    KernelMeansLikelihood::new(&Question::new(&prior, &recorded, &Observation::Statistics(case.y.clone())), &hyperparameters).unwrap()
}

/// Every entry within RELATIVE of the largest.
fn close(name: &str, index: usize, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "case {index}: {name}");
    let largest = expected.iter().fold(f64::MIN_POSITIVE, |l, e| l.max(e.abs()));
    for (f, e) in found.iter().zip(expected) {
        assert!((f - e).abs() <= RELATIVE * largest, "case {index}: {name} is {f:e}, expected {e:e}");
    }
}

/// Every entry within RELATIVE of itself.
fn close_each(name: &str, index: usize, found: &[f64], expected: &[f64]) {
    for (f, e) in found.iter().zip(expected) {
        close(name, index, &[*f], &[*e]);
    }
    assert_eq!(found.len(), expected.len(), "case {index}: {name}");
}

#[test]
fn model_evidence_and_gradient_agree_with_the_golden_values() {
    for (index, case) in cases().iter().enumerate() {
        let model = model(case);
        let e = &case.expect;
        let scale = kelfi::Surrogate::ln_scale(&model).exp();
        let kappa: Vec<f64> = model.relative_kappa().iter().map(|k| k * scale).collect();
        close_each("kappa", index, &kappa, &e.kappa);
        close("weights", index, &model.weights(), &e.weights);
        close("marginal weights", index, model.operator().marginal_weights(), &e.marginal_weights);
        close_each("prior embedding", index, model.operator().prior_means(), &e.prior_embedding);
        close("marginal likelihood", index, &[model.marginal_likelihood()], &[e.marginal_likelihood]);
        if let Some(expected) = e.log_marginal_likelihood {
            close("log marginal likelihood", index, &[model.log_marginal_likelihood().unwrap()], &[expected]);
            let found = gradient(&model).unwrap();
            close("gradient in log epsilon", index, &found.log_epsilon, &e.gradient.log_epsilon);
            close("gradient in log length scale", index, &found.log_length_scale, &e.gradient.log_length_scale);
            close("gradient in log regularization", index, &[found.log_regularization], &[e.gradient.log_regularization]);
        }
        close("likelihood", index, &model.value(&Points::from_rows(&case.query).unwrap()).unwrap(), &e.likelihood);
    }
}

#[test]
fn leave_one_out_agrees_with_the_golden_values() {
    for (index, case) in cases().iter().enumerate().filter(|(_, case)| case.theta.len() > 1) {
        let found = model(case).leave_one_out().unwrap();
        close("leave-one-out likelihood", index, &found.likelihood, &case.expect.loo_likelihood);
        close("leave-one-out marginal likelihood", index, &found.marginal_likelihood, &case.expect.loo_marginal_likelihood);
    }
}

#[test]
fn posterior_embedding_and_super_samples_agree_with_the_golden_values() {
    for (index, case) in cases().iter().enumerate().filter(|(_, case)| case.expect.log_marginal_likelihood.is_some()) {
        let posterior = Posterior::new(Arc::new(model(case)), 1).unwrap();
        let e = &case.expect;
        let query = Points::from_rows(&case.query).unwrap();
        close("posterior", index, &posterior.value(&query).unwrap(), &e.posterior);
        close("posterior embedding", index, &posterior.embedding(None, &query).unwrap(), &e.posterior_embedding);
        close("posterior mean", index, &posterior.signed_mean(), &e.posterior_mean);
        let expected: Vec<f64> = e.posterior_covariance.concat();
        close("posterior covariance", index, posterior.signed_covariance().values(), &expected);
        let herding = Herding::new(Candidates::Given(Points::from_rows(&case.candidates).unwrap()));
        let found = herding.super_samples(&posterior, e.herding_indices.len()).unwrap();
        assert_eq!(found.indices, e.herding_indices, "case {index}: herding");
    }
}
