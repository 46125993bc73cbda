//! Laws that hold whatever the data: each on a thousand random problems.

mod support;

use kelfi::kernel::Kernel;
use kelfi::learning::evidence::gradient;
use kelfi::model::saved::SavedModel;
use kelfi::samples::{Candidates, Herding};
use kelfi::{Hyperparameters, KernelMeansLikelihood, Observation, Points, Posterior, Prior, Question, Recorded, Simulations, Surrogate};
use proptest::prelude::*;
use std::sync::Arc;
use support::{Problem, Random, assert_all_close, assert_close, normal_prior, random_normal_prior};

/// Rounding through a matrix with a condition number of at most 1e5, evidence kept away from zero.
const LAW: f64 = 1e-8;
const CASES: u32 = 1_000;

fn config() -> ProptestConfig {
    ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() }
}

/// A problem with normal priors; some of its simulations have failed.
fn problem(seed: u64) -> Problem {
    let mut random = Random::new(seed);
    let d = random.integer(1, 3);
    let (m, n) = (random.integer(2, 15), random.integer(1, 3));
    let prior = random_normal_prior(&mut random, d);
    let mut problem = Problem::random(&mut random, m, n, prior);
    if random.uniform(0.0, 1.0) < 0.3 {
        problem.x[1][0] = f64::NAN;
    }
    problem
}

fn queries(problem: &Problem) -> Points {
    problem.prior.draw(7, 42)
}

/// Sum of |v_j μ_j| relative to q(y): how much rounding the signs amplify. `None` when the evidence is not comfortably positive.
fn comfortable(model: &KernelMeansLikelihood) -> bool {
    let terms = model.relative_weights().iter().zip(model.operator().prior_means());
    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), (v, mu)| (sum + v * mu, size + (v * mu).abs()));
    sum > 0.01 * size
}

/// What the posterior says about θ, without its scale: values at the queries and mean, in prior standard deviations.
fn answers(problem: &Problem, model: &KernelMeansLikelihood, theta: &Points) -> Vec<f64> {
    let q = model.relative_evidence();
    let z = problem.prior.to_latent_points(theta).unwrap();
    let values = model.relative_values(&z).into_iter().map(|value| value / q);
    let embedding = model.embedding(None, &z).unwrap();
    let mixture = model.signed_mixture().unwrap();
    values.chain(embedding).chain(mixture.mean()).chain(mixture.covariance().values().iter().copied()).collect()
}

/// Compares two models of the same question; gradients in the same hyperparameters too.
fn same_answers(first: (&Problem, &Points), second: (&Problem, &Points)) {
    let (a, b) = (first.0.model().unwrap(), second.0.model().unwrap());
    if comfortable(&a) {
        assert_all_close("answers", &answers(second.0, &b, second.1), &answers(first.0, &a, first.1), LAW);
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn permuting_the_simulations_changes_nothing(seed: u64) {
        let before = problem(seed);
        let order = Random::new(seed ^ 1).permutation(before.theta.len());
        let mut after = before.clone();
        after.theta = order.iter().map(|&j| before.theta[j].clone()).collect();
        after.x = order.iter().map(|&j| before.x[j].clone()).collect();
        same_answers((&before, &queries(&before)), (&after, &queries(&before)));
        let (a, b) = (before.model().unwrap(), after.model().unwrap());
        let weights = a.weights();
        assert_all_close("weights", &b.weights(), &order.iter().map(|&j| weights[j]).collect::<Vec<f64>>(), LAW);
        if comfortable(&a) {
            let (g, h) = (gradient(&a).unwrap(), gradient(&b).unwrap());
            assert_all_close("gradient in ln ε", &h.log_epsilon, &g.log_epsilon, LAW);
            assert_all_close("gradient in ln β", &h.log_length_scale, &g.log_length_scale, LAW);
            assert_close("gradient in ln λ", h.log_regularization, g.log_regularization, LAW, 1.0);
        }
    }

    #[test]
    fn duplicating_every_simulation_halves_the_weights_and_changes_nothing_else(seed: u64) {
        let before = problem(seed);
        let mut after = before.clone();
        after.theta.extend(before.theta.clone());
        after.x.extend(before.x.clone());
        same_answers((&before, &queries(&before)), (&after, &queries(&before)));
        let (a, b) = (before.model().unwrap(), after.model().unwrap());
        let halves: Vec<f64> = a.weights().iter().chain(&a.weights()).map(|v| 0.5 * v).collect();
        assert_all_close("weights", &b.weights(), &halves, LAW);
        let scale = a.weights().iter().fold(0.0_f64, |l, v| l.max(v.abs()));
        assert_close("evidence", b.marginal_likelihood(), a.marginal_likelihood(), LAW, scale);
    }

    #[test]
    fn rescaling_a_statistic_with_its_tolerance_changes_only_the_unit_of_the_evidence(seed: u64) {
        let before = problem(seed);
        let mut random = Random::new(seed ^ 2);
        let (i, factor) = (random.integer(0, before.y.len() - 1), random.log_uniform(1e-6, 1e6));
        let mut after = before.clone();
        after.x.iter_mut().for_each(|x| x[i] *= factor);
        after.y[i] *= factor;
        after.hyperparameters.epsilon[i] *= factor;
        same_answers((&before, &queries(&before)), (&after, &queries(&before)));
        let (a, b) = (before.model().unwrap(), after.model().unwrap());
        if comfortable(&a) {
            let expected = a.log_marginal_likelihood().unwrap() - factor.ln();
            assert_close("log evidence", b.log_marginal_likelihood().unwrap(), expected, LAW, 1.0);
        }
    }

    #[test]
    fn rescaling_a_parameter_with_its_prior_changes_only_the_unit_of_the_density(seed: u64) {
        let mut random = Random::new(seed);
        let (mean, std) = (random.normal(), random.log_uniform(0.1, 10.0));
        let before = Problem::random(&mut random, 9, 2, normal_prior(&[mean, 0.0], &[std, 1.0]));
        let (factor, shift) = (random.log_uniform(1e-4, 1e4), random.normal());
        let moved = |theta: &[f64]| vec![factor * (theta[0] + shift * std), theta[1]];
        let mut after = before.clone();
        after.theta = before.theta.iter().map(|theta| moved(theta)).collect();
        after.prior = normal_prior(&[factor * (mean + shift * std), 0.0], &[factor * std, 1.0]);
        let asked = queries(&before);
        let asked_after = asked.map_rows(2, moved);
        same_answers((&before, &asked), (&after, &asked_after));
        let (a, b) = (before.model().unwrap(), after.model().unwrap());
        if comfortable(&a) {
            let (p, q) = (Posterior::new(Arc::new(a), 1).unwrap(), Posterior::new(Arc::new(b), 1).unwrap());
            let densities: Vec<f64> = p.value(&asked).unwrap().iter().map(|value| value / factor).collect();
            assert_all_close("density", &q.value(&asked_after).unwrap(), &densities, LAW);
            let unit = factor * std;
            let moved = |mean: f64| mean * factor + factor * shift * std;
            assert_close("signed mean", q.signed_mean()[0], moved(p.signed_mean()[0]), LAW, unit);
            let variance = p.signed_covariance().row(0)[0] * factor * factor;
            assert_close("signed variance", q.signed_covariance().row(0)[0], variance, LAW, unit * unit);
        }
    }

    /// A statistic that misses the observation by the same amount everywhere multiplies every κ by the same number.
    #[test]
    fn rescaling_kappa_changes_nothing_in_the_posterior(seed: u64) {
        let before = problem(seed);
        let miss = Random::new(seed ^ 3).uniform(0.0, 60.0);
        let mut after = before.clone();
        after.x.iter_mut().for_each(|x| x.push(1.0));
        after.y.push(1.0 + miss);
        after.hyperparameters.epsilon.push(1.0);
        same_answers((&before, &queries(&before)), (&after, &queries(&before)));
    }

    #[test]
    fn replicates_are_averaged_inside_kappa_and_a_failed_one_counts_as_zero(seed: u64) {
        let base = problem(seed);
        let mut random = Random::new(seed ^ 4);
        let counts: Vec<usize> = base.theta.iter().map(|_| random.integer(1, 3)).collect();
        let n = base.y.len();
        let mut rows: Vec<Vec<f64>> = counts.iter().flat_map(|&c| (0..c).map(|_| random.normals(n)).collect::<Vec<_>>()).collect();
        rows[0][0] = f64::INFINITY;
        rows.push(random.normals(n));
        let mut counts = counts;
        *counts.last_mut().unwrap() += 1;
        let theta = Points::from_rows(&base.theta).unwrap();
        let recorded = Simulations::with_replicates(theta, Points::from_rows(&rows).unwrap(), &counts).unwrap();
        let epsilon = &base.hyperparameters.epsilon;
        let kappa = |x: &[f64]| -> f64 {
            if x.iter().any(|value| !value.is_finite()) {
                return 0.0;
            }
            let one = |i: usize| (-0.5 * ((base.y[i] - x[i]) / epsilon[i]).powi(2)).exp() / (epsilon[i] * (2.0 * std::f64::consts::PI).sqrt());
            (0..x.len()).map(one).product()
        };
        let mut expected = vec![];
        let mut start = 0;
        for &count in &counts {
            expected.push(rows[start..start + count].iter().map(|x| kappa(x)).sum::<f64>() / count as f64);
            start += count;
        }
        let recorded = Recorded::Statistics(Arc::new(recorded));
        let observation = Observation::Statistics(base.y.clone());
        let model = KernelMeansLikelihood::new(&Question::new(&base.prior, &recorded, &observation), &base.hyperparameters).unwrap();
        let found: Vec<f64> = model.relative_kappa().iter().map(|k| k * model.ln_scale().exp()).collect();
        assert_all_close("κ", &found, &expected, 1e-12);
    }

    #[test]
    fn a_failed_simulation_is_one_that_matches_nothing(seed: u64) {
        let before = problem(seed);
        let mut failed = before.clone();
        failed.x[0][0] = f64::NAN;
        let mut far = before.clone();
        far.x[0][0] = 1e9;
        prop_assume!(failed.model().is_ok());
        let (a, b) = (failed.model().unwrap(), far.model().unwrap());
        prop_assert_eq!(a.relative_kappa()[0], 0.0);
        assert_all_close("weights", &a.weights(), &b.weights(), LAW);
    }

    #[test]
    fn conditioning_is_building_anew(seed: u64) {
        let first = problem(seed);
        let mut second = first.clone();
        second.y = Random::new(seed ^ 5).normals(first.y.len());
        let conditioned = first.model().unwrap().condition(&Observation::Statistics(second.y.clone())).unwrap();
        prop_assert_eq!(bits(&conditioned.weights()), bits(&second.model().unwrap().weights()));
        let back = conditioned.condition(&Observation::Statistics(first.y.clone())).unwrap();
        prop_assert_eq!(bits(&back.weights()), bits(&first.model().unwrap().weights()));
        let epsilon = vec![0.7; first.y.len()];
        let mut retuned = first.clone();
        retuned.hyperparameters.epsilon = epsilon.clone();
        prop_assert_eq!(bits(&first.model().unwrap().with_epsilon(&epsilon).unwrap().weights()), bits(&retuned.model().unwrap().weights()));
    }

    #[test]
    fn a_saved_model_loads_with_the_same_bits(seed: u64) {
        let mut problem = problem(seed);
        if seed % 4 == 0 {
            let draws = problem.prior.draw(20, 3);
            problem.prior = Prior::samples(support::names(problem.dimension()), draws).unwrap();
        }
        let model = Arc::new(problem.model().unwrap());
        let text = SavedModel::new(model.as_ref()).to_json().unwrap();
        let loaded = SavedModel::from_json(&text).unwrap().build(None).unwrap();
        let loaded = loaded.as_any().downcast_ref::<kelfi::KernelMeansLikelihood>().expect("the same kind of model");
        prop_assert_eq!(bits(&loaded.weights()), bits(&model.weights()));
        prop_assert_eq!(loaded.marginal_likelihood().to_bits(), model.marginal_likelihood().to_bits());
        let theta = queries(&problem);
        prop_assert_eq!(bits(&loaded.value(&theta).unwrap()), bits(&model.value(&theta).unwrap()));
    }
}

proptest! {
    // Each case builds a posterior with its Monte Carlo estimate of the negative mass.
    #![proptest_config(ProptestConfig { cases: CASES / 5, ..config() })]

    #[test]
    fn herding_continued_is_herding_at_once(seed: u64) {
        let problem = problem(seed);
        let model = problem.model().unwrap();
        prop_assume!(comfortable(&model));
        let posterior = Posterior::new(Arc::new(model), 1).unwrap();
        let mut random = Random::new(seed ^ 6);
        let mut herding = Herding::new(Candidates::Given(problem.prior.draw(30, 8)));
        if random.uniform(0.0, 1.0) < 0.5 {
            herding.kernel = Some(Kernel::gaussian(vec![random.log_uniform(0.1, 3.0); problem.dimension()]).unwrap());
        }
        let (first, rest) = (random.integer(1, 10), random.integer(1, 10));
        let at_once = herding.super_samples(&posterior, first + rest).unwrap();
        let start = herding.super_samples(&posterior, first).unwrap();
        prop_assert_eq!(&start.indices[..], &at_once.indices[..first]);
        herding.continued = Some(start.samples);
        let end = herding.super_samples(&posterior, rest).unwrap();
        prop_assert_eq!(&end.indices[..], &at_once.indices[first..]);
    }
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn one_tolerance_or_length_scale_stands_for_all() {
    let mut problem = problem(3);
    let (n, d) = (problem.y.len(), problem.dimension());
    problem.hyperparameters = Hyperparameters::isotropic(0.8, 0.6, 1e-3);
    let short = problem.model().unwrap();
    problem.hyperparameters.epsilon = vec![0.8; n];
    problem.hyperparameters.length_scale = vec![0.6; d];
    assert_eq!(bits(&short.weights()), bits(&problem.model().unwrap().weights()));
    assert_eq!(short.hyperparameters(), problem.hyperparameters);
}
