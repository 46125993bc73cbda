//! The low-rank solver gives the exact solver's answers, says what it misses, and refuses where that would be too much.

mod support;

use kelfi::kernel::{Family, Kernel};
use kelfi::learning::evidence::gradient;
use kelfi::learning::{KernelMeansOptions, Objective, RegularizationChoice, learn, score};
use kelfi::model::{Model, Operator, PriorEmbedding};
use kelfi::samples::{Candidates, Herding, independent};
use kelfi::simulations::DataSets;
use kelfi::solver::{Accuracy, SolverChoice};
use kelfi::testing::check_gradient;
use kelfi::{
    Error, Fit, FitOptions, Hyperparameters, KERNEL_MEANS, KernelMeansLikelihood, Marginal, ModelChoice, Observation, Points, Posterior,
    Prior, Question, Recorded, Surrogate,
};
use std::sync::Arc;
use support::{Problem, Random, standard_prior};

/// Everyday size, and the one asked for.
const SIMULATIONS: usize = 1_500;
const MANY: usize = 5_000;

fn problem(m: usize, dimension: usize, prior: Prior) -> Problem {
    let mut problem = Problem::random(&mut Random::new(3), m, 2, prior);
    problem.hyperparameters.epsilon = vec![0.6, 0.6];
    problem.hyperparameters.length_scale = vec![0.7; dimension];
    problem.hyperparameters.regularization = 0.1 / m as f64;
    problem
}

fn bent_prior() -> Prior {
    support::independent(&[Marginal::Normal { mean: 1.0, std: 2.0 }, Marginal::Uniform { low: -1.0, high: 1.0 }])
}

fn with(problem: &Problem, solver: SolverChoice) -> KernelMeansLikelihood {
    let mut problem = problem.clone();
    problem.hyperparameters.solver = solver;
    problem.model().unwrap()
}

fn both(problem: &Problem) -> [KernelMeansLikelihood; 2] {
    [SolverChoice::Exact, SolverChoice::LowRank].map(|solver| with(problem, solver))
}

fn largest(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

fn size(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |size: f64, a| size.max(a.abs()))
}

/// ln q(y) to 1e-6 and within the bound that is told, mean and sd to 1e-4 sd.
fn agrees(m: usize) {
    let problem = problem(m, 2, bent_prior());
    let [exact, low] = both(&problem);
    let told = low.solver_report().unwrap();
    assert!(exact.solver_report().is_none());
    assert!(told.rank < m / 2 && told.error <= 1e-6, "{told}");
    let off = (exact.log_marginal_likelihood().unwrap() - low.log_marginal_likelihood().unwrap()).abs();
    let bound = told.evidence_error.unwrap();
    assert!(off < 1e-6 && off <= bound + 1e-9 && bound < 1e-5, "{off:e}, told {bound:e}");
    let [exact, low] = [exact, low].map(|model| Posterior::new(Arc::new(model), 1).unwrap());
    for d in 0..2 {
        let sd = exact.std(d).unwrap();
        let signed = |posterior: &Posterior| (posterior.signed_mean()[d], posterior.signed_covariance().row(d)[d].abs().sqrt());
        assert!((signed(&exact).0 - signed(&low).0).abs() < 1e-4 * sd && (signed(&exact).1 - signed(&low).1).abs() < 1e-4 * sd);
        assert!((exact.mean()[d] - low.mean()[d]).abs() < 0.03 * sd && (low.std(d).unwrap() / sd - 1.0).abs() < 0.03);
    }
    assert!((exact.negative_mass().ratio - low.negative_mass().ratio).abs() < 0.01);
}

#[test]
fn low_rank_agrees_with_exact_on_data_sets() {
    let prior = support::independent(&[Marginal::Normal { mean: 0.0, std: 1.0 }]);
    let theta = prior.draw(400, 2);
    let mut random = Random::new(5);
    let sets = theta.iter().map(|t| Some(Points::from_column((0..12).map(|_| t[0] + random.uniform(-1.0, 1.0)).collect()))).collect();
    let recorded = Recorded::DataSets(Arc::new(DataSets::new(theta, sets, vec![0.5]).unwrap()));
    let question = Question::new(&prior, &recorded, &Observation::DataSet(Points::from_column(vec![0.3, -0.4, 0.9, 0.2])));
    let [exact, low] = [SolverChoice::Exact, SolverChoice::LowRank].map(|solver| {
        let hyperparameters = Hyperparameters { solver, ..Hyperparameters::isotropic(0.2, 0.5, 1e-4) };
        KernelMeansLikelihood::new(&question, &hyperparameters).unwrap()
    });
    let told = low.solver_report().unwrap();
    assert!(told.rank < 100 && told.error <= 1e-6, "{told}");
    let off = (exact.log_marginal_likelihood().unwrap() - low.log_marginal_likelihood().unwrap()).abs();
    assert!(off < 1e-6 && off <= told.evidence_error.unwrap() + 1e-9, "{off:e}, {told}");
    let at = Points::from_column((-20..=20).map(|k| 0.1 * f64::from(k)).collect());
    let (a, b) = (exact.value(&at).unwrap(), low.value(&at).unwrap());
    assert!(largest(&a, &b) < 1e-5 * size(&a), "{:e}", largest(&a, &b));
}

#[test]
fn low_rank_agrees_with_exact() {
    agrees(SIMULATIONS);
}

#[test]
#[ignore = "takes a minute"]
fn low_rank_agrees_with_exact_at_five_thousand() {
    agrees(MANY);
}

#[test]
fn values_gradients_variances_embeddings_and_predictions_agree() {
    let problem = problem(SIMULATIONS, 2, bent_prior());
    let [exact, low] = both(&problem);
    let z = Points::from_rows(&[vec![0.0, 0.0], vec![0.7, -1.1], vec![-2.0, 1.5]]).unwrap();
    let values = exact.relative_values(&z);
    assert!(largest(&values, &low.relative_values(&z)) < 1e-5 * size(&values));
    let slopes = |model: &KernelMeansLikelihood| model.relative_gradient(&[0.3, -0.4]);
    assert!(largest(&slopes(&exact), &slopes(&low)) < 1e-5 * size(&slopes(&exact)));
    let variances = exact.operator().unit_variances(&z);
    assert!(largest(&variances, &low.operator().unit_variances(&z)) < 1e-6);
    let embedding = |model: &KernelMeansLikelihood| model.embedding(None, &z).unwrap();
    assert!(largest(&embedding(&exact), &embedding(&low)) < 1e-5 * size(&embedding(&exact)));
    let recorded: Vec<f64> = problem.x.iter().map(|x| x[0]).collect();
    let predicted = [&exact, &low].map(|model| model.predictive(&recorded, None).unwrap());
    assert!((predicted[0] - predicted[1]).abs() < 1e-5 * predicted[0].abs().max(1.0), "{predicted:?}");
    let modes = [exact, low].map(|model| Posterior::new(Arc::new(model), 1).unwrap().mode().unwrap());
    assert!(largest(&modes[0], &modes[1]) < 1e-3, "{modes:?}");
}

#[test]
fn leaving_out_agrees() {
    let [exact, low] = both(&problem(SIMULATIONS, 2, bent_prior()));
    let scores = [&exact, &low].map(|model| score(model, 1).unwrap());
    assert!(largest(&scores[0].of_each, &scores[1].of_each) < 1e-3);
    assert!((scores[0].negative_mass - scores[1].negative_mass).abs() < 1e-5);
    let shares = [&exact, &low].map(|model| model.shares(&Points::zeros(0, 2), 1).unwrap());
    assert_eq!(shares[0].indices, shares[1].indices);
    assert!(largest(shares[0].shares.values(), shares[1].shares.values()) < 1e-3);
    assert!(largest(&shares[0].joint, &shares[1].joint) < 5e-3);
}

#[test]
fn slopes_agree_with_the_exact_ones_and_with_differences() {
    let mut problem = problem(400, 2, standard_prior(2));
    problem.hyperparameters.length_scale = vec![0.9, 1.3];
    for family in [Family::Gaussian, Family::Matern52] {
        problem.hyperparameters.family = family;
        // Matérn matrices have no small rank: all points are pivots.
        problem.hyperparameters.regularization = if family == Family::Gaussian { 1e-4 } else { 1e-2 };
        let [exact, low] = both(&problem);
        let [a, b] = [&exact, &low].map(|model| gradient(model).unwrap());
        assert!(largest(&a.log_length_scale, &b.log_length_scale) < 1e-4 * size(&a.log_length_scale).max(1.0), "{family:?}");
        assert!((a.log_regularization - b.log_regularization).abs() < 1e-5 && largest(&a.log_epsilon, &b.log_epsilon) < 1e-5);
        for tied in [false, true] {
            let [a, b] = [&exact, &low].map(|model| model.operator().marginal_weight_slopes(tied));
            assert!(largest(&a, &b) < 1e-4 * size(&a), "{family:?}");
        }
    }
    problem.hyperparameters = kelfi::Hyperparameters { solver: SolverChoice::LowRank, ..problem.hyperparameters.clone() };
    problem.hyperparameters.family = Family::Gaussian;
    problem.hyperparameters.regularization = 1e-4;
    let function = |at: &[f64]| {
        let mut moved = problem.clone();
        moved.hyperparameters.length_scale = at[..2].iter().map(|b| b.exp()).collect();
        moved.hyperparameters.regularization = at[2].exp();
        let model = moved.model().unwrap();
        let g = gradient(&model).unwrap();
        (model.log_marginal_likelihood().unwrap(), [&g.log_length_scale[..], &[g.log_regularization]].concat())
    };
    // Pivots change along the differences, and with them what is missed.
    check_gradient(function, &[0.9_f64.ln(), 1.3_f64.ln(), 1e-4_f64.ln()], 1e-3).unwrap();
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let problem = problem(SIMULATIONS, 2, bent_prior());
    let run = |threads: usize| -> Vec<u64> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| {
            let model = with(&problem, SolverChoice::LowRank);
            let slopes = gradient(&model).unwrap();
            let rows = model.operator().solver().inverse_rows(&[0, 700, SIMULATIONS - 1]);
            let posterior = Posterior::new(Arc::new(model.clone()), 1).unwrap();
            let samples = independent(&posterior, 50, 1).unwrap().samples;
            let herded = Herding::new(Candidates::Prior(300)).super_samples(&posterior, 20).unwrap().samples;
            [model.relative_weights(), &slopes.log_length_scale, &rows, samples.values(), herded.values()].concat()
        });
        found.into_iter().map(f64::to_bits).collect()
    };
    let alone = run(1);
    assert!([2, 8].into_iter().all(|threads| run(threads) == alone));
}

#[test]
fn a_rank_that_is_too_large_is_refused_with_the_figures() {
    let mut problem = problem(2_600, 4, standard_prior(4));
    problem.hyperparameters.length_scale = vec![0.2; 4];
    problem.hyperparameters.solver = SolverChoice::LowRank;
    let error = problem.model().unwrap_err();
    assert!(matches!(&error, Error::TooManyPivots(told) if told.rank == 2_000 && told.error > told.accepted), "{error}");
    let message = error.to_string();
    assert!(message.contains("2000 pivots of 2600 simulations") && message.contains("larger λ") && message.contains("54 MB"), "{message}");
    problem.hyperparameters.regularization = 0.0;
    assert!(matches!(problem.model(), Err(Error::TooManyPivots(_))));
}

#[test]
fn memory_that_is_not_there_is_refused_before_it_is_taken() {
    let message = kelfi::memory::low_rank(1_000_000, 1_000).require_of(Some(4_000_000_000)).unwrap_err().to_string();
    assert!(message.starts_with("the low-rank solver of the kernel means model needs about 8.5 GB of memory for 1,000,000 simulations"));
}

#[test]
fn repeated_parameters_are_no_trouble() {
    let mut problem = problem(600, 2, bent_prior());
    (0..200).for_each(|j| problem.theta[j + 200] = problem.theta[j].clone());
    let [exact, low] = both(&problem);
    assert!((exact.log_marginal_likelihood().unwrap() - low.log_marginal_likelihood().unwrap()).abs() < 1e-6);
    let [a, b] = [&exact, &low].map(|model| score(model, 1).unwrap());
    assert!(largest(&a.of_each, &b.of_each) < 1e-3);
}

#[test]
fn auto_is_exact_for_few_and_of_low_rank_for_many() {
    let kernel = || Kernel::gaussian(vec![1.5]).unwrap();
    let prior = standard_prior(1);
    let operator = |m: usize, solver| {
        let embedding = PriorEmbedding::new(&prior.latent(), Family::Gaussian, 1, 0).unwrap();
        Operator::with_solver(prior.draw(m, 1), kernel(), 1e-3, embedding, solver, Accuracy::ANSWER).unwrap()
    };
    assert!(operator(5_000, SolverChoice::Auto).is_exact());
    assert!(!operator(5_001, SolverChoice::Auto).is_exact() && operator(5_001, SolverChoice::Auto).support().rows() < 60);
    assert!(!operator(300, SolverChoice::LowRank).is_exact());
}

/// Both objectives find what the exact solver finds, up to the accuracy of a search; what they found says how it was solved.
#[test]
fn learning_with_low_rank_finds_what_learning_exactly_finds() {
    let problem = problem(700, 2, bent_prior());
    let question = Question::new(&problem.prior, &problem.recorded().unwrap(), &Observation::Statistics(problem.y.clone()));
    for (objective, regularization) in
        [(Objective::LeaveOneOut, RegularizationChoice::Free), (Objective::Evidence, RegularizationChoice::Tied)]
    {
        let learned = [SolverChoice::Exact, SolverChoice::LowRank].map(|solver| {
            let settings = KernelMeansOptions { objective, regularization, solver, ..KernelMeansOptions::default() };
            learn(&question, &settings, &mut |_| true).unwrap()
        });
        let [(exact, of_exact), (low, of_low)] = &learned;
        let close = |a: f64, b: f64, tolerance: f64| (a - b).abs() < tolerance;
        assert!(close(of_exact.score.unwrap(), of_low.score.unwrap(), 0.02), "{objective:?}");
        let beta = |model: &KernelMeansLikelihood| model.hyperparameters().length_scale[0].ln();
        assert!(close(beta(exact), beta(low), 0.3), "{objective:?}: {} {}", beta(exact), beta(low));
        assert!(low.solver_report().unwrap().error <= 1e-6);
        assert_eq!(low.hyperparameters().solver, SolverChoice::LowRank);
        let saved = serde_json::to_value(low.hyperparameters()).unwrap();
        assert_eq!(saved["solver"], "low-rank");
        assert!(serde_json::to_value(&problem.hyperparameters).unwrap().get("solver").is_none());
    }
}

/// KELFI_SIZES=3000,10000,100000 and KELFI_PARAMETERS=2 say what is measured: a whole fit of the kernel means model with calibration and
/// 10,000 samples.
#[test]
#[ignore = "takes minutes; prints seconds"]
fn a_whole_fit_at_scale() {
    let number = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.into());
    let dimension: usize = number("KELFI_PARAMETERS", "2").parse().unwrap();
    for m in number("KELFI_SIZES", "3000,10000").split(',').map(|m| m.parse().unwrap()) {
        let mut random = Random::new(7);
        let prior = standard_prior(dimension);
        let theta = prior.draw(m, 1);
        let x = theta.values().iter().map(|t| t + 0.3 * t.sin() + 0.3 * random.normal()).collect();
        let x = Points::new(x, m, dimension).unwrap();
        let recorded = kelfi::Recorded::Statistics(Arc::new(kelfi::Simulations::new(theta, x).unwrap()));
        let question = Question::new(&prior, &recorded, &Observation::Statistics(vec![0.5; dimension]));
        let settings = FitOptions::of(ModelChoice::Use(&KERNEL_MEANS), 1);
        let began = std::time::Instant::now();
        let fit = Fit::new(&question, &settings, &mut |_| true).unwrap();
        let learned = began.elapsed().as_secs_f64();
        let samples = independent(&fit.posterior, 10_000, 1).unwrap();
        let sampled = began.elapsed().as_secs_f64();
        fit.calibration().unwrap();
        let checked = began.elapsed().as_secs_f64();
        let chosen = fit.model.chosen();
        let solver = chosen.low_rank.map_or_else(|| "exact".to_owned(), |low_rank| low_rank.to_string());
        println!("m = {m}: learned {learned:.1} s, 10,000 samples {:.1} s, calibrated {:.1} s", sampled - learned, checked - sampled);
        println!("  {solver}; length scale {:?}, λ = {:.1e}", chosen.length_scale[0], chosen.regularization);
        println!(
            "  mean {:.4}, sd {:.4}, effective {:.0}",
            fit.posterior.mean()[0],
            fit.posterior.std(0).unwrap(),
            samples.effective_sample_size
        );
    }
}
