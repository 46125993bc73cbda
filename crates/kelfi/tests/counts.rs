//! Tolerances and evidence of the kernel means model where statistics are counts.

use kelfi::learning::{KernelMeansOptions, Objective, learn};
use kelfi::random::{Purpose, stream};
use kelfi::{KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use rand::RngExt;
use std::sync::Arc;

fn prior() -> Prior {
    Prior::independent(vec![("share".into(), Marginal::Uniform { low: 0.0, high: 1.0 })]).unwrap()
}

const TRIALS: u32 = 20;

/// Successes of 20 trials, three times, `step` apart.
fn recorded(m: usize, seed: u64, step: f64) -> Recorded {
    let theta = prior().draw(m, seed);
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let mut count = |t: f64| step * (0..TRIALS).filter(|_| rng.random::<f64>() < t).count() as f64;
    let x: Vec<Vec<f64>> = theta.iter().map(|t| (0..3).map(|_| count(t[0])).collect()).collect();
    Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&x).unwrap()).unwrap()))
}

const OBSERVED: [f64; 3] = [6.0, 5.0, 7.0];

fn learned(objective: Objective, seed: u64, step: f64) -> KernelMeansLikelihood {
    let settings = KernelMeansOptions { objective, seed, ..KernelMeansOptions::default() };
    let observation = Observation::Statistics(OBSERVED.map(|y| step * y).to_vec());
    learn(&Question::new(&prior(), &recorded(200, seed, step), &observation), &settings, &mut |_| true).unwrap().0
}

/// ln ∫ Π_k Bin(y_k | 20, θ) dθ, by sums over a grid.
fn ln_probability() -> f64 {
    let ln_choose = |k: f64| (1..=k as u32).map(|i| (f64::from(TRIALS - i + 1) / f64::from(i)).ln()).sum::<f64>();
    let (successes, constant) = (OBSERVED.iter().sum::<f64>(), OBSERVED.map(ln_choose).iter().sum::<f64>());
    let at = |t: f64| (constant + successes * t.ln() + (3.0 * f64::from(TRIALS) - successes) * (1.0 - t).ln()).exp();
    ((0..10_000).map(|k| at((f64::from(k) + 0.5) / 1e4)).sum::<f64>() / 1e4).ln()
}

#[test]
fn learned_tolerances_of_counts_are_at_least_half_a_step_by_either_objective() {
    for (objective, step) in [(Objective::Evidence, 1.0), (Objective::Evidence, 250.0), (Objective::LeaveOneOut, 1.0)] {
        for seed in 1..4 {
            let epsilon = learned(objective, seed, step).hyperparameters().epsilon;
            assert!(epsilon.iter().all(|e| *e >= 0.5 * step), "{objective:?}, seed {seed}: {epsilon:?}");
        }
    }
}

#[test]
fn the_evidence_of_counts_is_their_probability_up_to_the_stated_error() {
    for seed in 1..4 {
        let posterior = Posterior::new(Arc::new(learned(Objective::LeaveOneOut, seed, 1.0)), 1).unwrap();
        let (found, error) = (posterior.log_evidence(), posterior.log_evidence_error());
        assert!(error > 0.05 && error < 1.0, "{error}");
        // The tolerance blurs.
        assert!((found - ln_probability()).abs() < 0.3 + 3.0 * error, "seed {seed}: {found} ± {error}, {}", ln_probability());
    }
}

#[test]
fn a_tolerance_that_was_given_is_kept_however_small() {
    use kelfi::learning::EpsilonChoice;
    let settings = KernelMeansOptions { epsilon: EpsilonChoice::Fixed(vec![0.1]), ..KernelMeansOptions::default() };
    let model =
        learn(&Question::new(&prior(), &recorded(100, 1, 1.0), &Observation::Statistics(OBSERVED.to_vec())), &settings, &mut |_| true)
            .unwrap()
            .0;
    assert_eq!(model.hyperparameters().epsilon, [0.1; 3]);
}
