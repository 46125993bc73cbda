//! How long the core takes: Gram matrix, factorisation, evidence with gradient, herding, either solver.
//!
//! One thread, beside SciPy's factorisation of a matrix of the same order (run them in turns, machines are noisy):
//!
//! ```text
//! RAYON_NUM_THREADS=1 cargo bench -p kelfi --bench core
//! OPENBLAS_NUM_THREADS=1 python crates/kelfi/benches/scipy_cho_factor.py
//! ```

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use kelfi::kernel::Kernel;
use kelfi::learning::evidence::gradient;
use kelfi::linalg::Cholesky;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::samples::{Candidates, Herding};
use kelfi::solver::SolverChoice;
use kelfi::{Hyperparameters, KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use std::hint::black_box;
use std::sync::Arc;

const PARAMETERS: usize = 4;
const STATISTICS: usize = 10;
const SIZES: [usize; 2] = [500, 2_000];
const LENGTH_SCALE: f64 = 0.8;
const REGULARIZATION: f64 = 1e-4;
const SUPER_SAMPLES: usize = 10_000;

fn normals(rows: usize, columns: usize, seed: u64) -> Points {
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let values = (0..rows * columns).map(|_| standard_normal(&mut rng)).collect();
    Points::new(values, rows, columns).expect("as many values as the shape needs")
}

fn prior() -> Prior {
    let marginals = (0..PARAMETERS).map(|d| (format!("theta_{d}"), Marginal::Normal { mean: 0.0, std: 1.0 }));
    Prior::independent(marginals.collect()).expect("names differ and settings are valid")
}

/// Statistic i is θ_{i mod D} with noise.
fn simulations(m: usize) -> Recorded {
    let (theta, mut x) = (normals(m, PARAMETERS, 1), normals(m, STATISTICS, 2));
    for j in 0..m {
        for i in 0..STATISTICS {
            x.row_mut(j)[i] = theta.row(j)[i % PARAMETERS] + 0.5 * x.row(j)[i];
        }
    }
    Recorded::Statistics(Arc::new(Simulations::new(theta, x).expect("one row each")))
}

fn model(recorded: &Recorded, prior: &Prior) -> KernelMeansLikelihood {
    let hyperparameters = Hyperparameters::isotropic(1.0, LENGTH_SCALE, REGULARIZATION);
    let observation = Observation::Statistics(vec![0.3; STATISTICS]);
    KernelMeansLikelihood::new(&Question::new(prior, recorded, &observation), &hyperparameters).expect("a well-conditioned model")
}

fn gram_and_factor(criterion: &mut Criterion) {
    let kernel = Kernel::gaussian(vec![LENGTH_SCALE; PARAMETERS]).expect("positive length scales");
    for m in SIZES {
        let scaled = kernel.scale(&normals(m, PARAMETERS, 1));
        let ridge = m as f64 * REGULARIZATION;
        criterion.bench_function(&format!("gram/{m}"), |b| b.iter(|| black_box(kernel.gram(&scaled, ridge))));
        let gram = kernel.gram(&scaled, ridge);
        criterion.bench_function(&format!("factor/{m}"), |b| {
            b.iter_batched(|| gram.clone(), |gram| black_box(Cholesky::new(gram, m)), BatchSize::LargeInput);
        });
    }
}

fn evidence_with_gradient(criterion: &mut Criterion) {
    let prior = prior();
    for m in SIZES {
        let recorded = simulations(m);
        criterion.bench_function(&format!("evidence_with_gradient/{m}"), |b| {
            b.iter(|| {
                let model = model(&recorded, &prior);
                black_box((model.log_marginal_likelihood(), gradient(&model)))
            });
        });
    }
}

fn herding(criterion: &mut Criterion) {
    let posterior = Posterior::new(Arc::new(model(&simulations(500), &prior())), 1).expect("positive evidence");
    let herding = Herding::new(Candidates::Given(prior().draw(SUPER_SAMPLES, 3)));
    criterion.bench_function(&format!("herding/{SUPER_SAMPLES}"), |b| {
        b.iter(|| black_box(herding.super_samples(&posterior, SUPER_SAMPLES)));
    });
}

/// Evidence with gradient by either solver, two parameters.
fn solvers(criterion: &mut Criterion) {
    let prior = Prior::independent((0..2).map(|d| (format!("theta_{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect())
        .expect("names differ and settings are valid");
    for (m, solver) in [(3_000, SolverChoice::Exact), (3_000, SolverChoice::LowRank), (10_000, SolverChoice::LowRank)] {
        let (theta, noise) = (normals(m, 2, 1), normals(m, 2, 2));
        let x = Points::new(theta.values().iter().zip(noise.values()).map(|(t, e)| t + 0.5 * e).collect(), m, 2).expect("m rows");
        let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta, x).expect("one row each")));
        let question = Question::new(&prior, &recorded, &Observation::Statistics(vec![0.3; 2]));
        let hyperparameters = Hyperparameters { solver, ..Hyperparameters::isotropic(0.5, 0.5, 0.1 / m as f64) };
        criterion.bench_function(&format!("{solver:?}/{m}"), |b| {
            b.iter(|| {
                let model = KernelMeansLikelihood::new(&question, &hyperparameters).expect("a well-conditioned model");
                black_box((model.log_marginal_likelihood(), gradient(&model)))
            });
        });
    }
}

criterion_group! {
    name = core;
    config = Criterion::default().sample_size(10);
    targets = gram_and_factor, evidence_with_gradient, herding, solvers
}
criterion_main!(core);
