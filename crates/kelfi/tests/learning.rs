//! Learning: its gradient, its laws, and what it finds on data whose answer is known.

use kelfi::kernel::Kernel;
use kelfi::learning::leave_one_out::LeaveOneOutScore;
use kelfi::learning::pairs::Pairs;
use kelfi::learning::surface::surface;
use kelfi::learning::{EpsilonChoice, KernelMeansOptions, Learned, LengthScaleChoice, Objective, RegularizationChoice, learn};
use kelfi::model::{Operator, PriorEmbedding};
use kelfi::prior::quadrature::PriorPoints;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::simulations::local_set::LocalSet;
use kelfi::simulations::scales::Dropped;
use kelfi::{Error, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use std::sync::Arc;

struct Data {
    prior: Prior,
    theta: Points,
    x: Vec<Vec<f64>>,
    y: Vec<f64>,
}

/// θ ~ U(-2, 2)^D; x = θ + 0.3 noise for each parameter, then `noise` statistics that know nothing.
fn data(m: usize, dimension: usize, noise: usize, seed: u64) -> Data {
    let marginals = (0..dimension).map(|d| (format!("p{d}"), Marginal::Uniform { low: -2.0, high: 2.0 }));
    let prior = Prior::independent(marginals.collect()).unwrap();
    let theta = prior.draw(m, seed);
    let output = |theta: &[f64], index: u64| -> Vec<f64> {
        let mut rng = stream(seed, Purpose::Simulator, index);
        let mut x: Vec<f64> = theta.iter().map(|t| t + 0.3 * standard_normal(&mut rng)).collect();
        x.extend((0..noise).map(|_| standard_normal(&mut rng)));
        x
    };
    let x = theta.iter().enumerate().map(|(j, t)| output(t, j as u64)).collect();
    let y = output(&vec![0.5; dimension], u64::MAX);
    Data { prior, theta, x, y }
}

impl Data {
    fn recorded(&self) -> Recorded {
        Recorded::Statistics(Arc::new(Simulations::new(self.theta.clone(), Points::from_rows(&self.x).unwrap()).unwrap()))
    }

    fn observation(&self) -> Observation {
        Observation::Statistics(self.y.clone())
    }

    fn learn(&self, settings: &KernelMeansOptions) -> (Posterior, Learned) {
        let question = Question::new(&self.prior, &self.recorded(), &self.observation());
        let (model, learned) = learn(&question, settings, &mut |_| true).unwrap();
        (Posterior::new(Arc::new(model), settings.seed).unwrap(), learned)
    }

    fn evidence(&self) -> KernelMeansOptions {
        KernelMeansOptions { objective: Objective::Evidence, epsilon: EpsilonChoice::Isotropic, ..KernelMeansOptions::default() }
    }
}

#[test]
fn gradient_of_the_score_agrees_with_differences() {
    for seed in 1..=5 {
        let mut data = data(60, 2, 1, seed);
        data.x[3][0] = f64::NAN; // a failed simulation takes part as κ = 0
        let recorded = data.recorded();
        let observation = data.observation();
        let local = LocalSet::new(&recorded, &observation, &[1.0, 1.0, 1.0], 3).unwrap();
        let pairs = Pairs::new(&recorded, &observation, &local).unwrap();
        let z = data.prior.to_latent_points(&data.theta).unwrap();
        let (mean, std) = local.spread(&z);
        let points = PriorPoints::new(&data.prior.latent(), &mean, &std, 64, seed);
        let latent = data.prior.latent();
        let embedding = PriorEmbedding::new(&latent, kelfi::kernel::Family::Gaussian, 0, 0).unwrap();
        let operator = Operator::new(z, Kernel::gaussian(vec![0.7, 0.9]).unwrap(), 1e-3, embedding).unwrap();
        let score = LeaveOneOutScore::new(&operator, &local, &pairs, &points).unwrap();
        let objective = |ln: &[f64]| score.evaluate(&ln.iter().map(|e| e.exp()).collect::<Vec<f64>>(), true);
        let at = [-0.6, -0.4, 0.8];
        let gradient = objective(&at).gradient;
        for k in 0..3 {
            // Short steps: the clipped parts of the posterior change sign in places, where the score has kinks.
            let shifted = |by: f64| {
                let mut at = at;
                at[k] += by;
                objective(&at).objective
            };
            let difference = (shifted(1e-6) - shifted(-1e-6)) / 2e-6;
            assert!(
                (gradient[k] - difference).abs() < 1e-6 * difference.abs().max(1.0),
                "seed {seed}, {k}: {} and {difference}",
                gradient[k]
            );
        }
    }
}

#[test]
fn rescaling_statistics_and_parameters_changes_no_quantile() {
    let original = data(150, 2, 1, 3);
    let factor = 1e4;
    let marginals = (0..2).map(|d| (format!("p{d}"), Marginal::Uniform { low: -2.0 * factor, high: 2.0 * factor }));
    let rescaled = Data {
        prior: Prior::independent(marginals.collect()).unwrap(),
        theta: original.theta.map_rows(2, |row| row.iter().map(|t| t * factor).collect()),
        x: original.x.iter().map(|row| vec![row[0] * factor, row[1], row[2] / factor]).collect(),
        y: vec![original.y[0] * factor, original.y[1], original.y[2] / factor],
    };
    // λ is tied for the evidence: left free it goes to its bound of 1e-12, where the condition number alone costs six digits.
    let evidence = KernelMeansOptions { regularization: RegularizationChoice::Tied, ..original.evidence() };
    for settings in [KernelMeansOptions::default(), evidence] {
        let (a, b) = (original.learn(&settings).0, rescaled.learn(&settings).0);
        for d in 0..2 {
            let sd = a.std(d).unwrap();
            let probabilities = [0.025, 0.5, 0.975];
            let (qa, qb) = (a.quantile(d, &probabilities).unwrap(), b.quantile(d, &probabilities).unwrap());
            for (qa, qb) in qa.iter().zip(&qb) {
                assert!((qa - qb / factor).abs() < 1e-6 * sd, "{qa} became {}", qb / factor);
            }
        }
    }
}

#[test]
fn the_statistic_that_knows_something_is_ranked_first() {
    for seed in 1..=5 {
        let data = data(200, 1, 3, seed);
        let (_, learned) = data.learn(&KernelMeansOptions::default());
        assert_eq!(learned.ranking()[0], 0, "seed {seed}: {:?}", learned.statistics);
        assert!(learned.statistics[0].relevance > 2.0 * learned.statistics[1].relevance, "seed {seed}");
    }
}

#[test]
fn own_tolerances_never_score_below_the_common_one() {
    for seed in 1..=4 {
        let data = data(120, 1, 2, seed);
        let common = data.learn(&KernelMeansOptions { epsilon: EpsilonChoice::Isotropic, ..KernelMeansOptions::default() }).1;
        let own = data.learn(&KernelMeansOptions::default()).1;
        assert!(own.optima[0].objective >= common.optima[0].objective - 1e-9, "seed {seed}");
    }
}

#[test]
fn constant_and_repeated_statistics_are_left_out_and_named() {
    let mut data = data(120, 1, 0, 1);
    for row in &mut data.x {
        let value = row[0];
        row.extend([7.0, 3.0 - 2.0 * value]);
    }
    data.y = vec![data.y[0], 7.0, 3.0 - 2.0 * data.y[0]];
    let (posterior, learned) = data.learn(&KernelMeansOptions::default());
    assert_eq!(learned.statistics[1].scale.dropped, Some(Dropped::Constant));
    assert_eq!(learned.statistics[2].scale.dropped, Some(Dropped::Repeats(0)));
    assert_eq!((learned.statistics[1].relevance, learned.statistics[2].relevance), (0.0, 0.0));
    let alone = Data {
        x: data.x.iter().map(|row| vec![row[0]]).collect(),
        y: vec![data.y[0]],
        prior: data.prior.clone(),
        theta: data.theta.clone(),
    };
    let (expected, _) = alone.learn(&KernelMeansOptions::default());
    let probabilities = [0.1, 0.5, 0.9];
    for (a, b) in posterior.quantile(0, &probabilities).unwrap().iter().zip(expected.quantile(0, &probabilities).unwrap()) {
        assert!((a - b).abs() < 1e-6, "{a} and {b}");
    }
}

#[test]
fn exact_matches_of_a_discrete_simulator_do_not_drive_the_tolerance_to_zero() {
    let mut data = data(300, 1, 0, 2);
    data.x.iter_mut().for_each(|row| row[0] = (2.0 * row[0]).round());
    data.y = vec![1.0];
    for settings in [KernelMeansOptions::default(), data.evidence()] {
        let (posterior, learned) = data.learn(&settings);
        assert!(learned.statistics[0].epsilon > 0.05, "{:?}", learned.hyperparameters);
        let sd = posterior.std(0).unwrap();
        assert!(sd > 0.05 && sd < 1.5, "sd {sd}");
    }
}

#[test]
fn evidence_search_reports_its_optima_best_first_and_beats_a_grid() {
    let data = data(100, 1, 0, 5);
    for regularization in [RegularizationChoice::Tied, RegularizationChoice::Free] {
        let settings = KernelMeansOptions { regularization, ..data.evidence() };
        let (_, learned) = data.learn(&settings);
        assert!(learned.optima.windows(2).all(|pair| pair[0].objective >= pair[1].objective));
        let found = learned.log_marginal_likelihood.unwrap();
        assert!((found - learned.optima[0].objective).abs() < 1e-9);
        let spaced = |low: f64, high: f64| -> Vec<f64> { (0..40).map(|k| low * (high / low).powf(f64::from(k) / 39.0)).collect() };
        let tied = KernelMeansOptions { regularization: RegularizationChoice::Tied, ..settings };
        let grid = surface(
            &Question::new(&data.prior, &data.recorded(), &data.observation()),
            &tied,
            &spaced(0.05, 2.0),
            &spaced(0.2, 5.0),
            &mut |_| true,
        )
        .unwrap();
        assert_eq!(grid.factorisations, 40);
        let best = grid.log_marginal_likelihood.values().iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(found >= best - 0.05, "{regularization:?}: {found} below the grid's {best}");
    }
}

#[test]
fn fixed_hyperparameters_stay_as_given() {
    let data = data(80, 2, 0, 1);
    for objective in [Objective::LeaveOneOut, Objective::Evidence] {
        let settings = KernelMeansOptions {
            objective,
            epsilon: EpsilonChoice::Fixed(vec![0.3, 0.6]),
            length_scale: LengthScaleChoice::Fixed(vec![0.7, 1.1]),
            regularization: RegularizationChoice::Fixed(2e-3),
            ..KernelMeansOptions::default()
        };
        let h = data.learn(&settings).1.hyperparameters;
        assert_eq!((h.epsilon, h.length_scale, h.regularization), (vec![0.3, 0.6], vec![0.7, 1.1], 2e-3));
    }
}

#[test]
fn per_parameter_length_scales_follow_what_the_outputs_depend_on() {
    // The output depends on the first parameter only: its length scale must be the shorter one.
    let mut data = data(150, 2, 0, 4);
    data.x.iter_mut().for_each(|row| row.truncate(1));
    data.y.truncate(1);
    for objective in [Objective::LeaveOneOut, Objective::Evidence] {
        let settings = KernelMeansOptions {
            objective,
            length_scale: LengthScaleChoice::PerParameter,
            regularization: if objective == Objective::Evidence { RegularizationChoice::Tied } else { RegularizationChoice::Free },
            ..KernelMeansOptions::default()
        };
        let scales = data.learn(&settings).1.hyperparameters.length_scale;
        assert!(scales[1] > scales[0], "{objective:?}: {scales:?}");
    }
}

#[test]
fn learning_stops_when_asked_and_reports_progress() {
    let data = data(80, 1, 0, 1);
    let mut calls = 0;
    let stop_after_five = &mut |_| {
        calls += 1;
        calls < 5
    };
    let outcome =
        learn(&Question::new(&data.prior, &data.recorded(), &data.observation()), &KernelMeansOptions::default(), stop_after_five);
    assert_eq!(outcome.map(|_| ()), Err(Error::Interrupted));
    assert_eq!(calls, 5);
}

#[test]
fn learning_from_two_simulations_is_refused_with_advice() {
    let data = data(2, 1, 0, 1);
    let error = learn(&Question::new(&data.prior, &data.recorded(), &data.observation()), &KernelMeansOptions::default(), &mut |_| true)
        .map(|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("at least 3"), "{error}");
}

#[test]
fn the_same_bits_for_one_and_four_threads() {
    let data = data(150, 2, 1, 6);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| (data.learn(&KernelMeansOptions::default()).1, data.learn(&data.evidence()).1))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn raw_data_sets_are_learned_by_their_discrepancy() {
    // θ is the mean of 30 normal values; the posterior mean must come near the observed mean.
    let prior = Prior::independent(vec![("mean".into(), Marginal::Normal { mean: 0.0, std: 2.0 })]).unwrap();
    let set = |centre: f64, index: u64| {
        let mut rng = stream(9, Purpose::Simulator, index);
        Points::from_column((0..30).map(|_| centre + standard_normal(&mut rng)).collect())
    };
    let theta = prior.draw(150, 1);
    let sets = theta.iter().enumerate().map(|(j, t)| if j == 7 { None } else { Some(set(t[0], j as u64)) }).collect();
    let recorded = Recorded::DataSets(Arc::new(kelfi::simulations::DataSets::new(theta, sets, vec![1.4]).unwrap()));
    let observed = set(1.0, 12_345);
    let mean = observed.values().iter().sum::<f64>() / 30.0;
    let question = Question::new(&prior, &recorded, &Observation::DataSet(observed));
    let (model, _) = learn(&question, &KernelMeansOptions::default(), &mut |_| true).unwrap();
    let posterior = Posterior::new(Arc::new(model), 0).unwrap();
    assert!((posterior.mean()[0] - mean).abs() < 0.25, "{} beside {mean}", posterior.mean()[0]);
    assert!(posterior.std(0).unwrap() < 0.6);
}
