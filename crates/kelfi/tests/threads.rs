//! The same bits for 1, 2 and 8 threads.

mod support;

use kelfi::kernel::Family;
use kelfi::learning::evidence::{gradient, prior_gradient};
use kelfi::linalg::Cholesky;
use kelfi::samples::{Candidates, Herding, independent};
use kelfi::{Marginal, Posterior};
use std::sync::Arc;
use support::{Problem, Random};

/// Crosses several panels of the factorisation, with a remainder.
const SIMULATIONS: usize = 700;

/// Runs `work` in pools of 1, 2 and 8 threads and compares everything it gives, bit by bit.
fn same_bits(what: &str, work: impl Fn() -> Vec<f64> + Sync) {
    let run = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&work).into_iter().map(f64::to_bits).collect()
    };
    let alone = run(1);
    assert!(!alone.is_empty());
    for threads in [2, 8] {
        assert_eq!(run(threads), alone, "{what} with {threads} threads");
    }
}

fn problem() -> Problem {
    let prior = support::independent(&[
        Marginal::Normal { mean: 1.0, std: 2.0 },
        Marginal::Gamma { shape: 2.0, rate: 1.0 },
        Marginal::Uniform { low: -1.0, high: 1.0 },
    ]);
    let mut problem = Problem::random(&mut Random::new(5), SIMULATIONS, 3, prior);
    problem.hyperparameters.regularization = 1e-4;
    problem
}

#[test]
fn the_factor_and_its_solves_have_the_same_bits() {
    let model = problem().model().unwrap();
    let operator = model.operator();
    let gram = operator.kernel().gram(operator.scaled(), operator.ridge());
    let right: Vec<f64> = Random::new(1).normals(SIMULATIONS * 70);
    same_bits("factor", || {
        let factor = Cholesky::new(gram.clone(), SIMULATIONS).unwrap();
        let mut solved = right.clone();
        factor.solve_in_place(&mut solved);
        solved.extend((0..SIMULATIONS).map(|i| factor.pivot(i)));
        solved.extend(factor.inverse_rows(&[0, 350, 699]));
        solved
    });
}

#[test]
fn evidence_and_gradient_have_the_same_bits() {
    for family in [Family::Gaussian, Family::Matern32] {
        let mut problem = problem();
        problem.hyperparameters.family = family;
        if family == Family::Matern32 {
            problem.theta.truncate(150);
            problem.x.truncate(150);
        }
        same_bits("evidence and gradient", || {
            let model = problem.model().unwrap();
            let g = gradient(&model).unwrap();
            let mut all = vec![model.log_marginal_likelihood().unwrap(), g.log_regularization];
            all.extend(g.log_epsilon.iter().chain(&g.log_length_scale).chain(&model.weights()));
            all.extend(model.uncertainty(&problem.prior.draw(40, 2)).unwrap());
            all
        });
    }
    let mut normal = problem();
    normal.prior = support::standard_prior(3);
    same_bits("gradient in the prior", || {
        let g = prior_gradient(&normal.model().unwrap()).unwrap();
        [g.mean, g.log_std].concat()
    });
}

#[test]
fn posterior_summaries_have_the_same_bits() {
    let problem = problem();
    same_bits("posterior", || {
        let posterior = problem.posterior().unwrap();
        let theta = problem.prior.draw(300, 4);
        let mut all = posterior.mean();
        all.extend(posterior.covariance().values());
        all.extend((0..3).flat_map(|d| posterior.quantile(d, &[0.025, 0.5, 0.975]).unwrap()));
        all.extend(posterior.mode().unwrap());
        all.extend([posterior.log_evidence(), posterior.negative_mass().ratio, posterior.negative_mass().standard_error]);
        all.extend(posterior.value(&theta).unwrap());
        all.extend(posterior.log_prob(&theta).unwrap());
        all.push(posterior.predictive(&theta_first(&problem)).unwrap());
        all.extend(posterior.checks().iter().map(|check| check.value));
        all
    });
}

#[test]
fn samples_have_the_same_bits() {
    let problem = problem();
    let posterior = Posterior::new(Arc::new(problem.model().unwrap()), 1).unwrap();
    same_bits("independent samples", || independent(&posterior, 300, 7).unwrap().samples.values().to_vec());
    same_bits("super-samples", || {
        let found = Herding::new(Candidates::Posterior(500)).super_samples(&posterior, 100).unwrap();
        found.samples.values().iter().copied().chain(found.indices.iter().map(|&i| i as f64)).collect()
    });
    let mut refined = Herding::new(Candidates::Prior(100));
    refined.refine = true;
    same_bits("refined super-samples", || refined.super_samples(&posterior, 4).unwrap().samples.values().to_vec());
}

fn theta_first(problem: &Problem) -> Vec<f64> {
    problem.theta.iter().map(|theta| theta[0]).collect()
}
