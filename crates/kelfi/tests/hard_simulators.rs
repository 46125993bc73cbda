//! The location-scale model where simulators are awkward: conflicts with the prior, oscillations, codes for failure, counts, no noise.

use kelfi::checks::Status;
use kelfi::model::LocationScaleLikelihood;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Marginal, Observation, Points, Posterior, Prior, Question, Recorded, Simulations};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use std::sync::Arc;

/// A prior, a simulator and ln p(y|θ).
struct Problem {
    prior: Marginal,
    simulate: fn(f64, &mut ChaCha8Rng) -> Vec<f64>,
    ln_likelihood: fn(f64, &[f64]) -> f64,
}

impl Problem {
    fn prior(&self) -> Prior {
        Prior::independent(vec![("a".into(), self.prior.clone())]).unwrap()
    }

    fn recorded(&self, m: usize, seed: u64) -> Recorded {
        let theta = self.prior().draw(m, seed);
        let mut rng = stream(seed, Purpose::Experiment, 0);
        let x: Vec<Vec<f64>> = theta.iter().map(|t| (self.simulate)(t[0], &mut rng)).collect();
        Recorded::Statistics(Arc::new(Simulations::new(theta, Points::from_rows(&x).unwrap()).unwrap()))
    }

    fn model(&self, y: &[f64], m: usize, seed: u64) -> LocationScaleLikelihood {
        let observation = Observation::Statistics(y.to_vec());
        LocationScaleLikelihood::learn(&Question::new(&self.prior(), &self.recorded(m, seed), &observation), seed, &|| true).unwrap()
    }

    fn posterior(&self, y: &[f64], m: usize, seed: u64) -> Posterior {
        Posterior::new(Arc::new(self.model(y, m, seed)), seed).unwrap()
    }

    /// Mean, standard deviation and ln evidence, by sums over prior quantiles in z.
    fn exact(&self, y: &[f64]) -> (f64, f64, f64) {
        let (prior, count) = (self.prior(), 40_001);
        let z: Vec<f64> = (0..count).map(|k| -8.0 + 16.0 * k as f64 / (count - 1) as f64).collect();
        let theta: Vec<f64> = z.iter().map(|&z| prior.from_latent(&[z])[0]).collect();
        let ln: Vec<f64> = theta.iter().zip(&z).map(|(&t, z)| (self.ln_likelihood)(t, y) + ln_normal(*z, 0.0, 1.0)).collect();
        let top = ln.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln.iter().map(|ln| (ln - top).exp()).collect();
        let total: f64 = weights.iter().sum();
        let expect = |f: &dyn Fn(f64) -> f64| weights.iter().zip(&theta).map(|(w, &t)| w * f(t)).sum::<f64>() / total;
        let mean = expect(&|t| t);
        (mean, expect(&|t| (t - mean).powi(2)).sqrt(), top + (total * 16.0 / (count - 1) as f64).ln())
    }

    /// (mean - exact)/sd and sd/exact.
    fn errors(&self, posterior: &Posterior, y: &[f64]) -> (f64, f64) {
        let (mean, std, _) = self.exact(y);
        ((posterior.mean()[0] - mean) / std, posterior.std(0).unwrap() / std)
    }

    fn assert_close(&self, y: &[f64], m: usize, seed: u64, shift: f64, ratio: f64) {
        let (off, wide) = self.errors(&self.posterior(y, m, seed), y);
        assert!(off.abs() < shift && (1.0 / ratio..ratio).contains(&wide), "m = {m}, seed {seed}: mean off by {off} sd, sd ratio {wide}");
    }
}

fn ln_normal(x: f64, mean: f64, std: f64) -> f64 {
    -0.5 * ((x - mean) / std).powi(2) - (std * std::f64::consts::TAU.sqrt()).ln()
}

fn status(posterior: &Posterior, name: &str) -> Option<Status> {
    posterior.checks().into_iter().find(|check| check.name == name).map(|check| check.status)
}

const LINEAR: Problem = Problem {
    prior: Marginal::Normal { mean: 0.0, std: 1.0 },
    simulate: |t, rng| vec![t + 0.5 * standard_normal(rng)],
    ln_likelihood: |t, y| ln_normal(y[0], t, 0.5),
};

#[test]
fn an_observation_four_predictive_standard_deviations_out_gets_its_exact_posterior() {
    let y = [4.0 * 1.25_f64.sqrt()];
    for (m, seed) in [(300, 1), (300, 2), (1_000, 3)] {
        LINEAR.assert_close(&y, m, seed, 0.3, 1.25);
    }
}

#[test]
fn a_posterior_that_rests_on_the_tail_of_the_shape_says_so() {
    // Noise on two values: no shape of residuals tells what lies five times as far out.
    let two = Problem {
        prior: Marginal::Normal { mean: 0.0, std: 1.0 },
        simulate: |t, rng| vec![0.2 * t + if rng.random::<f64>() < 0.5 { 1.0 } else { -1.0 } + 0.05 * standard_normal(rng)],
        ln_likelihood: |t, y| (0.5 * ln_normal(y[0], 0.2 * t + 1.0, 0.05).exp() + 0.5 * ln_normal(y[0], 0.2 * t - 1.0, 0.05).exp()).ln(),
    };
    assert_eq!(status(&two.posterior(&[0.95], 300, 1), "tail"), Some(Status::Ok));
    assert_ne!(status(&two.posterior(&[3.2], 300, 1), "tail"), Some(Status::Ok));
}

#[test]
fn a_fast_oscillation_is_followed() {
    let oscillating = Problem {
        prior: Marginal::Uniform { low: 0.0, high: 1.0 },
        simulate: |t, rng| vec![(40.0 * t).sin() + 0.1 * standard_normal(rng), t + 0.05 * standard_normal(rng)],
        ln_likelihood: |t, y| ln_normal(y[0], (40.0 * t).sin(), 0.1) + ln_normal(y[1], t, 0.05),
    };
    for seed in 1..4 {
        let model = oscillating.model(&[0.5, 0.4], 300, seed);
        assert_ne!(model.statistics()[0].mean().bend(), "straight", "seed {seed}");
        oscillating.assert_close(&[0.5, 0.4], 300, seed, 0.3, 1.3);
    }
}

/// How often the first statistic is a code.
fn coded(t: f64) -> f64 {
    0.05 + 0.3 / (1.0 + (-2.0 * t).exp())
}

/// The first statistic is -999 where a fit inside the simulator failed, the more often the larger θ.
const CODED: Problem = Problem {
    prior: Marginal::Normal { mean: 0.0, std: 1.0 },
    simulate: |t, rng| {
        let fit = if rng.random::<f64>() < coded(t) { -999.0 } else { t + 0.3 * standard_normal(rng) };
        vec![fit, t + 0.8 * standard_normal(rng)]
    },
    ln_likelihood: |t, y| {
        let first = if y[0] == -999.0 { coded(t).ln() } else { (1.0 - coded(t)).ln() + ln_normal(y[0], t, 0.3) };
        first + ln_normal(y[1], t, 0.8)
    },
};

#[test]
fn a_code_for_failed_fits_is_an_outcome_of_its_own() {
    for seed in 1..4 {
        CODED.assert_close(&[0.6, 0.2], 300, seed, 0.35, 1.25);
        CODED.assert_close(&[-999.0, 0.2], 600, seed, 0.35, 1.25);
    }
    let model = CODED.model(&[0.6, 0.2], 300, 1);
    let alike = model.residuals().rows();
    assert!((200..295).contains(&alike), "{alike}");
    assert!(model.condition(&Observation::Statistics(vec![0.1, 0.2])).is_ok());
    let error = model.condition(&Observation::Statistics(vec![-999.0, 0.2])).unwrap_err().to_string();
    assert!(error.contains("-999") && error.contains("learn again"), "{error}");
    let posterior = Posterior::new(Arc::new(model), 1).unwrap();
    assert_eq!(status(&posterior, "shared_values"), Some(Status::Ok));
    let failed = posterior.checks().into_iter().find(|check| check.name == "failed_simulations").unwrap();
    assert_eq!(failed.value, 0.0);
}

#[test]
fn an_observation_that_is_nothing_but_a_code_is_left_to_kernel_means() {
    let only = Problem { simulate: |t, rng| (CODED.simulate)(t, rng)[..1].to_vec(), ..CODED };
    let (recorded, observation) = (only.recorded(200, 1), Observation::Statistics(vec![-999.0]));
    let error =
        LocationScaleLikelihood::learn(&Question::new(&only.prior(), &recorded, &observation), 1, &|| true).unwrap_err().to_string();
    assert!(error.contains("share exactly") && error.contains("kernel means"), "{error}");
}

#[test]
fn noise_with_outliers_does_not_widen_the_posterior() {
    let outliers = Problem {
        prior: Marginal::Normal { mean: 0.0, std: 1.0 },
        simulate: |t, rng| vec![t + if rng.random::<f64>() < 0.1 { 5.0 } else { 0.2 } * standard_normal(rng)],
        ln_likelihood: |t, y| (0.1 * ln_normal(y[0], t, 5.0).exp() + 0.9 * ln_normal(y[0], t, 0.2).exp()).ln(),
    };
    for seed in 1..4 {
        outliers.assert_close(&[0.8], 300, seed, 0.35, 1.35);
    }
}

#[test]
fn draws_each_of_which_may_come_from_a_wide_noise_do_not_widen_the_posterior() {
    let draws = Problem {
        prior: Marginal::Normal { mean: 0.0, std: 1.0 },
        simulate: |t, rng| (0..6).map(|_| t + if rng.random::<f64>() < 0.5 { 5.0 } else { 0.3 } * standard_normal(rng)).collect(),
        ln_likelihood: |t, y| y.iter().map(|&y| (ln_normal(y, t, 5.0).exp() + ln_normal(y, t, 0.3).exp()).ln()).sum(),
    };
    let y = [0.55, 0.9, 6.0, -3.5, 0.4, 2.2];
    for seed in 1..3 {
        draws.assert_close(&y, 300, seed, 0.6, 1.6);
    }
    let as_different =
        Question::new(&draws.prior(), &draws.recorded(300, 1), &Observation::Statistics(y.to_vec())).with_repeats(1).unwrap();
    assert_eq!(LocationScaleLikelihood::learn(&as_different, 1, &|| true).unwrap().hyperparameters().factors.len(), 6);
    // Nobody has to say that they are repeats.
    assert_eq!(draws.model(&y, 300, 1).repeats(), 6);
}

fn poisson(rate: f64, rng: &mut ChaCha8Rng) -> f64 {
    let (mut count, mut product) = (0.0, rng.random::<f64>());
    while product > (-rate).exp() {
        count += 1.0;
        product *= rng.random::<f64>();
    }
    count
}

#[test]
fn posterior_means_from_counts_do_not_depend_on_the_seed() {
    let counts = Problem {
        prior: Marginal::Uniform { low: 2.0, high: 20.0 },
        simulate: |t, rng| vec![poisson(t, rng)],
        ln_likelihood: |t, y| y[0] * t.ln() - t,
    };
    let (recorded, observation) = (counts.recorded(300, 1), Observation::Statistics(vec![6.0]));
    let mean = |seed: u64| {
        let model = LocationScaleLikelihood::learn(&Question::new(&counts.prior(), &recorded, &observation), seed, &|| true).unwrap();
        Posterior::new(Arc::new(model), seed).unwrap().mean()[0]
    };
    let means: Vec<f64> = (1..6).map(mean).collect();
    let (exact, std, _) = counts.exact(&[6.0]);
    let spread = means.iter().copied().fold(f64::MIN, f64::max) - means.iter().copied().fold(f64::MAX, f64::min);
    assert!(spread < 0.1 * std, "{means:?}");
    assert!((means[0] - exact).abs() < 0.4 * std, "{} {exact} ± {std}", means[0]);
}

#[test]
fn a_simulator_without_noise_gets_a_narrow_posterior_around_the_truth_and_is_told_of() {
    let exact = Problem {
        prior: Marginal::Uniform { low: 0.0, high: 2.0 },
        simulate: |t, _| vec![t.exp(), (2.0 * t).sin()],
        ln_likelihood: |_, _| 0.0,
    };
    for m in [100, 300] {
        let posterior = exact.posterior(&[1.1_f64.exp(), 2.2_f64.sin()], m, 1);
        let (mean, std) = (posterior.mean()[0], posterior.std(0).unwrap());
        assert!(std < 0.02 && (mean - 1.1).abs() < 4.0 * std, "m = {m}: {mean} ± {std}");
        assert_eq!(status(&posterior, "noise"), Some(Status::Warn), "m = {m}");
        assert_eq!(status(&posterior, "chains"), Some(Status::Ok), "m = {m}");
    }
    assert_eq!(status(&LINEAR.posterior(&[0.3], 100, 1), "noise"), None);
}

#[test]
fn the_stated_error_of_the_evidence_is_the_real_one() {
    let two = Problem {
        prior: Marginal::Normal { mean: 0.0, std: 1.0 },
        simulate: |t, rng| vec![t + 0.3 * standard_normal(rng), t * t + 0.5 * standard_normal(rng)],
        ln_likelihood: |t, y| ln_normal(y[0], t, 0.3) + ln_normal(y[1], t * t, 0.5),
    };
    let (y, count) = ([0.9, 1.0], 12);
    let truth = two.exact(&y).2;
    let found: Vec<(f64, f64)> = (0..count)
        .map(|seed| {
            let posterior = two.posterior(&y, 150, 40 + seed);
            (posterior.log_evidence() - truth, posterior.log_evidence_error())
        })
        .collect();
    let root_mean_square = |values: &mut dyn Iterator<Item = f64>| (values.map(|v| v * v).sum::<f64>() / count as f64).sqrt();
    let (real, stated) = (root_mean_square(&mut found.iter().map(|f| f.0)), root_mean_square(&mut found.iter().map(|f| f.1)));
    assert!((0.4..2.5).contains(&(real / stated)), "real {real}, stated {stated}: {found:?}");
}
