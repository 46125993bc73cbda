//! Exact samplers, densities and quadrature against each other and against closed forms.

use kelfi_problems::exponential_gamma::{ExponentialGamma, Statistic};
use kelfi_problems::linear_gaussian::LinearGaussian;
use kelfi_problems::moving_average::MovingAverage;
use kelfi_problems::{BenchmarkProblem, GridDensity, Reference, all, by_name, data_set, replicate, sbibm, simulate_many};

/// Means over 20,000 draws differ from quadrature by at most this many standard errors.
const STANDARD_ERRORS: f64 = 4.5;
const DRAWS: usize = 20_000;
const QUADRATURE: f64 = 1e-6;

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn sd(values: &[f64]) -> f64 {
    let centre = mean(values);
    (values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / values.len() as f64).sqrt()
}

#[test]
fn exact_samplers_of_one_and_two_parameters_agree_with_quadrature() {
    for name in ["exponential_gamma", "linear_gaussian", "sbibm_gaussian_mixture", "sbibm_two_moons"] {
        let problem = by_name(name).unwrap();
        assert_eq!(problem.reference(), Reference::Sampler);
        let y = problem.observation();
        let grid = GridDensity::posterior(&*problem, y, 500).unwrap();
        let samples = problem.reference_samples(y, DRAWS, 3).unwrap();
        let (means, stds) = (grid.mean(), grid.std());
        for d in 0..samples.columns() {
            let values = samples.column(d);
            let error = stds[d] / (DRAWS as f64).sqrt();
            assert!((mean(&values) - means[d]).abs() < STANDARD_ERRORS * error, "{name}: mean {d}");
            assert!((sd(&values) / stds[d] - 1.0).abs() < 0.03, "{name}: sd {d} {} against {}", sd(&values), stds[d]);
        }
    }
}

#[test]
fn gaussian_linear_posterior_is_half_the_data_with_variance_a_twentieth() {
    let problem = by_name("sbibm_gaussian_linear").unwrap();
    let y = problem.observation();
    let samples = problem.reference_samples(y, DRAWS, 1).unwrap();
    for d in 0..10 {
        let values = samples.column(d);
        assert!((mean(&values) - 0.5 * y[d]).abs() < STANDARD_ERRORS * 0.05_f64.sqrt() / (DRAWS as f64).sqrt());
        assert!((sd(&values).powi(2) / 0.05 - 1.0).abs() < 0.05);
    }
    // ln p(θ|y) has slope (y/2 − θ)/0.05 whatever its constant is.
    let at = |shift: f64| {
        let mut theta: Vec<f64> = y.iter().map(|y| 0.5 * y).collect();
        theta[3] += shift;
        problem.ln_posterior(&theta, y).unwrap()
    };
    assert!((at(0.0) - at(0.1) - 0.5 * 0.01 / 0.05).abs() < 1e-9);
}

#[test]
fn gaussian_linear_uniform_posterior_stays_in_the_box() {
    let problem = sbibm::task("gaussian_linear_uniform", Some(vec![0.9; 10])).unwrap();
    let samples = problem.reference_samples(problem.observation(), DRAWS, 1).unwrap();
    assert!(samples.values().iter().all(|value| value.abs() <= 1.0));
    // N(0.9, 0.1) cut to [−1, 1]: mean 0.9 − √0.1 (φ(b) − φ(a))/(Φ(b) − Φ(a)), b = 0.1/√0.1, a = −1.9/√0.1: 0.70766.
    assert!((mean(samples.values()) - 0.70766).abs() < 0.005, "{}", mean(samples.values()));
}

#[test]
fn exponential_gamma_posterior_is_the_textbook_gamma() {
    for (statistic, noise) in [(Statistic::Mean, 0), (Statistic::LogMean, 3)] {
        let problem = ExponentialGamma::new(2.0, 0.5, 15, 0.25, statistic, noise).unwrap();
        let y = problem.observation();
        assert_eq!(y.len(), 1 + noise);
        assert_eq!(problem.posterior(y), (17.0, 4.25));
        let grid = GridDensity::posterior(&problem, y, 4_000).unwrap();
        assert!(grid.total_variation(|theta| problem.ln_posterior_density(theta[0], y).exp()) < QUADRATURE);
        assert!((grid.mean()[0] - 4.0).abs() < QUADRATURE);
    }
}

#[test]
fn linear_gaussian_posterior_agrees_with_quadrature() {
    let problem = LinearGaussian::standard();
    let (mean, covariance) = problem.posterior_moments(problem.observation());
    let grid = GridDensity::posterior(&problem, problem.observation(), 400).unwrap();
    for d in 0..2 {
        assert!((grid.mean()[d] - mean[d]).abs() < QUADRATURE);
        assert!((grid.std()[d] - covariance[d * 3].sqrt()).abs() < QUADRATURE);
    }
}

#[test]
fn total_variation_of_two_normals_is_the_textbook_value() {
    let axes = vec![kelfi_problems::Axis { low: -12.0, high: 12.0, cells: 20_000 }];
    let ln_normal = |x: f64, centre: f64| -0.5 * (x - centre).powi(2) - 0.5 * std::f64::consts::TAU.ln();
    let grid = GridDensity::new(axes.clone(), |x| ln_normal(x[0], 0.0)).unwrap();
    // 2 Φ(½) − 1 for unit normals one apart.
    assert!((grid.total_variation(|x| ln_normal(x[0], 1.0).exp()) - 0.382_924_922_548).abs() < QUADRATURE);
    assert!(grid.ln_total().abs() < QUADRATURE);
    // A density wholly outside the grid is at distance one.
    assert!((grid.total_variation(|_| 0.0) - 1.0).abs() < QUADRATURE);
}

#[test]
fn bimodal_posterior_has_two_equal_modes_and_the_banana_bends() {
    let bimodal = by_name("bimodal").unwrap();
    let grid = GridDensity::posterior(&*bimodal, bimodal.observation(), 2_000).unwrap();
    assert!(grid.mean()[0].abs() < QUADRATURE);
    assert!((grid.std()[0] - 1.0).abs() < 0.02, "modes near −1 and 1");
    let banana = by_name("banana").unwrap();
    let grid = GridDensity::posterior(&*banana, banana.observation(), 300).unwrap();
    assert!(grid.mean()[0].abs() < QUADRATURE, "symmetric in a");
    let points = grid.points();
    let weight = |cell: usize| grid.values()[cell] * grid.cell_volume();
    let moment = |f: &dyn Fn(&[f64]) -> f64| (0..points.rows()).map(|cell| weight(cell) * f(points.row(cell))).sum::<f64>();
    let covariance = moment(&|p| p[0].powi(2) * p[1]) - moment(&|p| p[0].powi(2)) * moment(&|p| p[1]);
    assert!(covariance < -0.05, "b falls as a² grows: {covariance}");
}

#[test]
fn grid_samples_and_marginals_have_the_moments_of_the_grid() {
    let banana = by_name("banana").unwrap();
    let grid = GridDensity::posterior(&*banana, banana.observation(), 200).unwrap();
    let samples = grid.sample(DRAWS, 5);
    for d in 0..2 {
        let marginal = grid.marginal(d);
        assert!((marginal.mean()[0] - grid.mean()[d]).abs() < 1e-12 && (marginal.std()[0] - grid.std()[d]).abs() < 1e-12);
        assert!((mean(&samples.column(d)) - grid.mean()[d]).abs() < STANDARD_ERRORS * grid.std()[d] / (DRAWS as f64).sqrt());
    }
}

#[test]
fn moving_average_raw_posterior_covers_its_truth() {
    let problem = MovingAverage::new();
    let grid = GridDensity::raw_posterior(&problem, 200).unwrap();
    for d in 0..2 {
        let distance = (grid.mean()[d] - problem.truth().unwrap()[d]).abs();
        assert!(distance < 3.0 * grid.std()[d] && grid.std()[d] < 0.3);
    }
}

#[test]
fn likelihoods_of_the_benchmark_are_calibrated_against_their_simulators() {
    // E_θ of the score is zero: the mean slope of ln p(x|θ) over simulations at θ vanishes.
    for name in ["gaussian_linear", "gaussian_linear_uniform", "gaussian_mixture", "slcp", "bernoulli_glm", "sir", "lotka_volterra"] {
        let task = sbibm::task(name, None).unwrap();
        let theta = task.truth().unwrap().to_vec();
        let runs = replicate(&task, &theta, 1_000, 8).x;
        for d in 0..theta.len() {
            let h = 1e-4 * theta[d].abs().max(1e-2);
            let at = |sign: f64, x: &[f64]| {
                let mut moved = theta.clone();
                moved[d] += sign * h;
                task.ln_likelihood(&moved, x).unwrap()
            };
            let scores: Vec<f64> = runs.iter().map(|x| (at(1.0, x) - at(-1.0, x)) / (2.0 * h)).collect();
            let error = sd(&scores) / (scores.len() as f64).sqrt();
            assert!(mean(&scores).abs() < STANDARD_ERRORS * error, "{name}, parameter {d}: {} ± {error}", mean(&scores));
        }
    }
}

#[test]
fn two_moons_density_integrates_to_one_over_the_data() {
    let task = sbibm::task("two_moons", None).unwrap();
    let theta = [0.3, -0.7];
    let axes = vec![kelfi_problems::Axis { low: -0.3, high: 0.3, cells: 600 }, kelfi_problems::Axis { low: -1.0, high: -0.4, cells: 600 }];
    let grid = GridDensity::new(axes, |x| task.ln_likelihood(&theta, x).unwrap()).unwrap();
    // The edge u = 0 cuts cells in half, an error of the order of a cell.
    assert!(grid.ln_total().abs() < 0.01, "{}", grid.ln_total());
}

#[test]
fn ranks_of_the_truth_among_exact_samples_are_uniform() {
    const SETS: usize = 400;
    const SAMPLES: usize = 19;
    for name in ["exponential_gamma", "linear_gaussian", "sbibm_gaussian_linear_uniform", "sbibm_gaussian_mixture", "sbibm_two_moons"] {
        let problem = by_name(name).unwrap();
        let mut counts = [0.0_f64; SAMPLES + 1];
        for set in 0..SETS as u64 {
            let (theta, y) = data_set(&*problem, set).unwrap();
            let samples = problem.reference_samples(&y, SAMPLES, set).unwrap().column(0);
            counts[samples.iter().filter(|&&sample| sample < theta[0]).count()] += 1.0;
        }
        let expected = SETS as f64 / (SAMPLES + 1) as f64;
        let chi_squared: f64 = counts.iter().map(|count| (count - expected).powi(2) / expected).sum();
        // 19 degrees of freedom: 43.8 is the 99.9 % point.
        assert!(chi_squared < 43.8, "{name}: {chi_squared}");
    }
}

#[test]
fn every_problem_is_whole() {
    for problem in all() {
        let name = problem.name();
        let runs = simulate_many(&*problem, 200, 1);
        assert_eq!(runs.x.columns(), problem.statistic_names().len(), "{name}");
        assert_eq!(problem.observation().len(), problem.statistic_names().len(), "{name}");
        assert!(problem.observation().iter().all(|value| value.is_finite()), "{name}");
        assert!(runs.failures.len() < 60, "{name}: {} failures", runs.failures.len());
        assert!(!problem.description().is_empty());
        let theta = problem.prior().draw(1, 1);
        match problem.reference() {
            Reference::Sampler | Reference::Density => {
                assert!(problem.ln_posterior(theta.row(0), problem.observation()).is_some(), "{name}")
            }
            Reference::RawDensity => assert!(problem.ln_raw_posterior(theta.row(0)).is_some(), "{name}"),
            Reference::TruthOnly(why) => assert!(problem.truth().is_some() && !why.is_empty(), "{name}"),
            Reference::Unknown(why) => assert!(problem.truth().is_none() && !why.is_empty(), "{name}"),
        }
        if let Some(truth) = problem.truth() {
            assert!(problem.prior().ln_density(truth).unwrap().is_finite(), "{name}: truth inside the prior");
        }
    }
}

#[test]
fn impossible_parameters_are_failures_not_panics_or_numbers() {
    for problem in all() {
        let name = problem.name();
        let dimension = problem.prior().dimension();
        let call = |theta: &[f64]| problem.simulate(theta, &mut kelfi::random::stream(1, kelfi::random::Purpose::Experiment, 0));
        assert!(call(&[]).is_err(), "{name}: empty θ");
        assert!(call(&vec![f64::NAN; dimension]).is_err(), "{name}: NaN");
        for huge in [1e300, -1e300] {
            if let Ok(x) = call(&vec![huge; dimension]) {
                assert!(x.iter().all(|value| value.is_finite()), "{name}: {huge}");
            }
        }
    }
}

#[test]
fn observed_data_too_short_for_the_statistics_are_refused() {
    assert!(MovingAverage::with_series(vec![1.0, 2.0], None).is_err());
    assert!(kelfi_problems::ricker::Ricker::with_counts(&[1.0; 49], None).is_err());
    assert!(kelfi_problems::g_and_k::GAndK::with_data(vec![1.0, f64::NAN], None).is_err());
    assert!(kelfi_problems::queue::Queue::with_intervals(Vec::new(), None).is_err());
    assert!(ExponentialGamma::new(2.0, 0.5, 0, 0.25, Statistic::Mean, 0).is_err());
}

#[test]
fn simulations_are_the_same_bits_for_any_number_of_threads() {
    let pool = |threads: usize| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for problem in all() {
        let run = || {
            let runs = simulate_many(&*problem, 100, 7);
            runs.x.values().iter().map(|value| value.to_bits()).collect::<Vec<_>>()
        };
        assert_eq!(pool(1).install(run), pool(2).install(run), "{}", problem.name());
    }
}

#[test]
fn a_longer_batch_begins_with_the_shorter_one() {
    let problem = by_name("blowfly").unwrap();
    let (short, long) = (simulate_many(&*problem, 20, 3), simulate_many(&*problem, 50, 3));
    assert_eq!(short.x.values(), &long.x.values()[..short.x.values().len()]);
}

#[test]
fn an_observation_of_the_wrong_length_and_an_unknown_task_are_refused() {
    let message = |outcome: Result<sbibm::Sbibm, sbibm::TaskError>| outcome.err().unwrap().to_string();
    assert!(message(sbibm::task("two_moons", Some(vec![0.0; 3]))).contains("1 × 3"));
    assert!(message(sbibm::task("two_mons", None)).contains("two_moons"));
}
