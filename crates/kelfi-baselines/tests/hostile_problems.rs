//! Problems nobody wishes for: every method answers with numbers, or says in a sentence why it does not.

use kelfi::method::calls::{PriorSimulations, Simulator};
use kelfi::method::{Calls, Method, Task};
use kelfi::{Marginal, Prior};
use kelfi_baselines::all;
use rand::{Rng, RngExt};
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A prior, a simulator and an observation.
struct Hostile {
    name: &'static str,
    prior: Prior,
    simulator: Box<Simulator<'static>>,
    observation: Vec<f64>,
}

fn normal(count: usize) -> Prior {
    Prior::independent((0..count).map(|d| (format!("a{d}"), Marginal::Normal { mean: 0.0, std: 1.0 })).collect()).unwrap()
}

fn noise(rng: &mut dyn Rng) -> f64 {
    rng.random::<f64>() - 0.5
}

fn problems() -> Vec<Hostile> {
    let of = |name, prior, observation: &[f64], simulator: Box<Simulator<'static>>| Hostile {
        name,
        prior,
        simulator,
        observation: observation.to_vec(),
    };
    vec![
        of("every call fails", normal(2), &[0.0], Box::new(|_, _| None)),
        of(
            "nineteen of twenty fail",
            normal(2),
            &[0.0, 0.0],
            Box::new(|t, rng| (rng.random::<f64>() < 0.05).then(|| vec![t[0] + noise(rng), t[1] + noise(rng)])),
        ),
        of("fails near the observation", normal(1), &[0.0], Box::new(|t, rng| (t[0].abs() > 0.7).then(|| vec![t[0] + 0.1 * noise(rng)]))),
        of("one parameter and one statistic", normal(1), &[0.3], Box::new(|t, rng| Some(vec![t[0] + noise(rng)]))),
        of("a constant statistic", normal(1), &[5.0], Box::new(|_, _| Some(vec![5.0]))),
        of("a constant statistic that was not observed", normal(1), &[6.0], Box::new(|_, _| Some(vec![5.0]))),
        of("one of two statistics constant", normal(2), &[0.1, 5.0], Box::new(|t, rng| Some(vec![t[0] + t[1] + noise(rng), 5.0]))),
        of(
            "a statistic twice",
            normal(1),
            &[0.1, 0.1],
            Box::new(|t, rng| {
                let x = t[0] + noise(rng);
                Some(vec![x, x])
            }),
        ),
        of("no noise", normal(2), &[0.1, 0.2], Box::new(|t, _| Some(vec![t[0], t[1]]))),
        of("an observation far away", normal(1), &[1e9], Box::new(|t, rng| Some(vec![t[0] + noise(rng)]))),
        of("huge numbers", normal(1), &[1e300], Box::new(|t, rng| Some(vec![1e300 * (t[0] + noise(rng))]))),
        of("tiny numbers", normal(1), &[1e-300], Box::new(|t, rng| Some(vec![1e-300 * (t[0] + noise(rng))]))),
        of("more statistics than calls", normal(1), &[0.0; 40], Box::new(|t, rng| Some((0..40).map(|_| t[0] + noise(rng)).collect()))),
        of("mostly one value", normal(1), &[0.0], Box::new(|t, _| Some(vec![if t[0] > 2.0 { 1.0 } else { 0.0 }]))),
        of(
            "an observation at the prior's edge",
            Prior::independent(vec![("a".into(), Marginal::Uniform { low: 0.0, high: 1.0 })]).unwrap(),
            &[1.0],
            Box::new(|t, rng| Some(vec![t[0] + 1e-3 * noise(rng)])),
        ),
    ]
}

/// Whether a refusal says what to do, after a fact: on a line of its own, or after a semicolon.
fn is_sentence(message: &str) -> bool {
    !message.contains("NaN") && message.contains(['\n', ';'])
}

/// What is wrong with how a method takes a problem, if anything.
fn complaint(method: &dyn Method, hostile: &Hostile, budget: usize) -> Option<String> {
    let asked = || -> Result<String, String> {
        let ready = PriorSimulations::new(&hostile.prior, &*hostile.simulator, hostile.observation.len(), 1);
        let calls = Calls::new(&*hostile.simulator, &ready, budget, 1).unwrap();
        let task = Task { prior: &hostile.prior, observation: &hostile.observation, calls: &calls, seed: 1, go_on: &|| true };
        let answer = match method.infer(&task) {
            Ok(answer) => answer,
            Err(error) => return Ok(error.to_string()),
        };
        let samples = match answer.samples(50, 1) {
            Ok(samples) => samples,
            Err(error) => return Ok(error.to_string()),
        };
        if samples.rows() != 50 || samples.values().iter().any(|v| !v.is_finite()) {
            return Err("samples that are not numbers".into());
        }
        match answer.gain(samples.row(0)) {
            Ok(gain) if gain.is_nan() => Err("a gain that is not a number".into()),
            Err(error) => Err(format!("no gain: {error}")),
            _ => Ok(String::new()),
        }
    };
    match catch_unwind(AssertUnwindSafe(asked)) {
        Err(panic) => {
            Some(format!("panics: {:?}", panic.downcast_ref::<String>().cloned().or(panic.downcast_ref::<&str>().map(|s| (*s).into()))))
        }
        Ok(Err(wrong)) => Some(wrong),
        Ok(Ok(message)) if !message.is_empty() && !is_sentence(&message) => Some(format!("says: {message}")),
        Ok(Ok(_)) => None,
    }
}

/// Methods that take seconds with some dozen calls.
fn is_slow(name: &str) -> bool {
    ["kelfi", "kelfi-rounds", "kernel-means", "kernel-means-mkml", "location-scale", "gps-abc", "gpa-abc", "lfvi", "mdn", "mdn-proposals"]
        .contains(&name)
}

#[test]
fn every_method_answers_hostile_problems_with_numbers_or_a_sentence() {
    let (problems, methods) = (problems(), all());
    let mut asked: Vec<(&Hostile, &dyn Method, usize)> = vec![];
    for hostile in &problems {
        for method in &methods {
            let budgets: &[usize] = if is_slow(method.name()) { &[1, 3, 21] } else { &[1, 2, 5, 10, 21, 60] };
            asked.extend(budgets.iter().map(|&budget| (hostile, &**method, budget)));
        }
    }
    let found = asked.into_par_iter().filter_map(|(hostile, method, budget)| {
        Some(format!("{}, {}, {budget} calls: {}", method.name(), hostile.name, complaint(method, hostile, budget)?))
    });
    let wrong: Vec<String> = found.collect();
    assert!(wrong.is_empty(), "{} complaints\n{}", wrong.len(), wrong.join("\n"));
}
