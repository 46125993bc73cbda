//! Tolerances and evidence of the kernel means model where statistics are counts.

use kelfi::learning::{LearnSettings, Objective, learn};
use kelfi::random::{Purpose, stream};
use kelfi::{KernelMeansLikelihood, Marginal, Observation, Points, Posterior, Prior, Recorded, Simulations};
use rand::RngExt;
use std::sync::Arc;

fn prior() -> Prior {
    Prior::independent(vec![("share".into(), Marginal::Uniform { low: 0.0, high: 1.0 })]).unwrap()
}

/// Successes of 20 trials, `step` apart: each count has a probability of 1/21 under a uniform prior of the share.
fn recorded(m: usize, seed: u64, step: f64) -> Recorded {
    let theta = prior().draw(m, seed);
    let mut rng = stream(seed, Purpose::Experiment, 0);
    let x = theta.iter().map(|t| step * (0..20).filter(|_| rng.random::<f64>() < t[0]).count() as f64).collect();
    Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_column(x)).unwrap()))
}

fn learned(objective: Objective, seed: u64, step: f64) -> KernelMeansLikelihood {
    let settings = LearnSettings { objective, seed, ..LearnSettings::default() };
    learn(&recorded(200, seed, step), &Observation::Statistics(vec![6.0 * step]), &prior(), &settings, &mut |_| true).unwrap().0
}

#[test]
fn learned_tolerances_of_counts_are_at_least_half_a_step_by_either_objective() {
    for (objective, step) in [(Objective::Evidence, 1.0), (Objective::Evidence, 250.0), (Objective::LeaveOneOut, 1.0)] {
        for seed in 1..4 {
            let epsilon = learned(objective, seed, step).hyperparameters().epsilon[0];
            assert!(epsilon >= 0.5 * step, "{objective:?}, seed {seed}: {epsilon}");
        }
    }
}

#[test]
fn the_evidence_of_a_count_is_its_probability_up_to_the_stated_error() {
    for objective in [Objective::Evidence, Objective::LeaveOneOut] {
        let posterior = Posterior::new(Arc::new(learned(objective, 1, 1.0)), 1).unwrap();
        let (found, error) = (posterior.log_evidence(), posterior.log_evidence_error());
        assert!(error > 0.03 && error < 0.5, "{error}");
        assert!((found - (1.0_f64 / 21.0).ln()).abs() < 0.3 + 3.0 * error, "{objective:?}: {found} ± {error}");
    }
}

#[test]
fn a_tolerance_that_was_given_is_kept_however_small() {
    use kelfi::learning::EpsilonChoice;
    let settings = LearnSettings { epsilon: EpsilonChoice::Fixed(vec![0.1]), ..LearnSettings::default() };
    let model = learn(&recorded(100, 1, 1.0), &Observation::Statistics(vec![6.0]), &prior(), &settings, &mut |_| true).unwrap().0;
    assert_eq!(model.hyperparameters().epsilon, [0.1]);
}
