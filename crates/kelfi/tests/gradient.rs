//! The gradient of ln q(y) against extrapolated differences, and the conformance kits on our own kernels.

mod support;

use kelfi::kernel::{Family, Kernel};
use kelfi::learning::evidence::{gradient, prior_gradient};
use kelfi::testing::{check_gradient, check_kernel};
use kelfi::{KernelMeansLikelihood, Marginal, Points, Prior};
use support::{Problem, Random, normal_prior};

/// What the issue asks for, relative to the larger of one and the largest partial derivative.
const TOLERANCE: f64 = 1e-6;
const POINTS: u64 = 200;

/// Problems whose evidence is comfortably positive, so that its logarithm is smooth where the differences are taken.
fn smooth(model: &KernelMeansLikelihood) -> bool {
    let terms = model.relative_weights().iter().zip(model.operator().prior_means());
    let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), (v, mu)| (sum + v * mu, size + (v * mu).abs()));
    sum > 0.1 * size
}

/// ln q(y) and its gradient as functions of (ln ε, ln β, ln λ).
fn log_evidence(problem: &Problem, at: &[f64]) -> (f64, Vec<f64>) {
    let (n, d) = (problem.y.len(), problem.dimension());
    let mut moved = problem.clone();
    moved.hyperparameters.epsilon = at[..n].iter().map(|e| e.exp()).collect();
    moved.hyperparameters.length_scale = at[n..n + d].iter().map(|b| b.exp()).collect();
    moved.hyperparameters.regularization = at[n + d].exp();
    let model = moved.model().unwrap();
    let Ok(value) = model.log_marginal_likelihood() else { return (f64::NAN, vec![]) };
    let g = gradient(&model).unwrap();
    (value, [&g.log_epsilon[..], &g.log_length_scale, &[g.log_regularization]].concat())
}

fn logarithms(problem: &Problem) -> Vec<f64> {
    let h = &problem.hyperparameters;
    [&h.epsilon[..], &h.length_scale, &[h.regularization]].concat().iter().map(|value| value.ln()).collect()
}

/// Checks `POINTS` smooth problems made by `make`.
fn check_points(make: impl Fn(&mut Random) -> Problem) {
    let (mut checked, mut seed) = (0, 0);
    while checked < POINTS {
        assert!(seed < 10 * POINTS, "too few smooth problems");
        let problem = make(&mut Random::new(seed));
        seed += 1;
        if smooth(&problem.model().unwrap()) {
            let outcome = check_gradient(|at| log_evidence(&problem, at), &logarithms(&problem), TOLERANCE);
            assert_eq!(outcome, Ok(()), "seed {}", seed - 1);
            checked += 1;
        }
    }
}

#[test]
fn gradient_of_the_closed_form_agrees_with_differences() {
    check_points(|random| {
        let d = random.integer(1, 4);
        let (m, n) = (random.integer(1, 25), random.integer(1, 4));
        let prior = support::random_normal_prior(random, d);
        Problem::random(random, m, n, prior)
    });
}

#[test]
fn gradient_under_curved_and_mixture_priors_agrees_with_differences() {
    check_points(|random| {
        let (m, n) = (random.integer(1, 15), random.integer(1, 2));
        let prior = if random.uniform(0.0, 1.0) < 0.5 {
            support::independent(&[Marginal::Gamma { shape: 2.0, rate: 0.5 }, Marginal::Uniform { low: -1.0, high: 3.0 }])
        } else {
            let component = |weight: f64, random: &mut Random| kelfi::prior::GaussianComponent {
                weight,
                mean: vec![3.0 * random.normal(), random.normal()],
                std: vec![random.log_uniform(0.3, 2.0), random.log_uniform(0.3, 2.0)],
            };
            let components = vec![component(0.3, random), component(0.7, random)];
            Prior::gaussian_mixture(support::names(2), components).unwrap()
        };
        Problem::random(random, m, n, prior)
    });
}

#[test]
fn gradient_of_the_sample_form_agrees_with_differences_for_every_family() {
    for &family in Family::ALL {
        check_points(|random| {
            let d = random.integer(1, 3);
            let draws: Vec<Vec<f64>> = (0..60).map(|_| random.normals(d)).collect();
            let prior = Prior::samples(support::names(d), Points::from_rows(&draws).unwrap()).unwrap();
            let (m, n) = (random.integer(1, 15), random.integer(1, 3));
            let mut problem = Problem::random(random, m, n, prior);
            problem.hyperparameters.family = family;
            problem
        });
    }
}

/// ln q(y) as a function of the prior's mean (in its standard deviations) and ln std, the kernel kept in θ units.
#[test]
fn gradient_in_the_prior_agrees_with_differences() {
    let (mut checked, mut seed) = (0, 0);
    while checked < POINTS {
        let mut random = Random::new(seed);
        seed += 1;
        let d = random.integer(1, 3);
        let std: Vec<f64> = (0..d).map(|_| random.log_uniform(0.1, 10.0)).collect();
        let mean: Vec<f64> = std.iter().map(|s| s * random.normal()).collect();
        let (m, n) = (random.integer(1, 20), random.integer(1, 3));
        let problem = Problem::random(&mut random, m, n, normal_prior(&mean, &std));
        if !smooth(&problem.model().unwrap()) {
            continue;
        }
        let function = |at: &[f64]| {
            let mut moved = problem.clone();
            let shifted: Vec<f64> = (0..d).map(|k| mean[k] + std[k] * at[k]).collect();
            let stretched: Vec<f64> = (0..d).map(|k| std[k] * at[d + k].exp()).collect();
            moved.prior = normal_prior(&shifted, &stretched);
            moved.hyperparameters.length_scale = (0..d).map(|k| problem.hyperparameters.length_scale[k] / at[d + k].exp()).collect();
            let model = moved.model().unwrap();
            let g = prior_gradient(&model).unwrap();
            // The library's mean slope is per standard deviation of the prior it was asked about.
            let per_original = (0..d).map(|k| g.mean[k] / at[d + k].exp());
            (model.log_marginal_likelihood().unwrap(), per_original.chain(g.log_std.iter().copied()).collect())
        };
        assert_eq!(check_gradient(function, &vec![0.0; 2 * d], TOLERANCE), Ok(()), "seed {}", seed - 1);
        checked += 1;
    }
}

#[test]
fn the_gradient_of_the_likelihood_in_z_agrees_with_differences() {
    use kelfi::Surrogate;
    for seed in 0..POINTS {
        let mut random = Random::new(seed);
        let d = random.integer(1, 3);
        let mut problem = Problem::random(&mut random, 12, 2, support::standard_prior(d));
        problem.hyperparameters.family = Family::ALL[seed as usize % Family::ALL.len()];
        let model = problem.model().unwrap();
        let function = |z: &[f64]| (model.relative_values(&Points::new(z.to_vec(), 1, z.len()).unwrap())[0], model.relative_gradient(z));
        assert_eq!(check_gradient(function, &random.normals(d), TOLERANCE), Ok(()), "seed {seed}");
    }
}

#[test]
fn our_kernels_pass_their_conformance_kit() {
    for &family in Family::ALL {
        for scales in [vec![1.0], vec![0.01, 3.0], vec![2.0, 0.5, 1e3], vec![1.0; 10]] {
            let kernel = Kernel::new(family, scales.clone()).unwrap();
            assert_eq!(check_kernel(&kernel), Ok(()), "{family:?} {scales:?}");
        }
    }
}
