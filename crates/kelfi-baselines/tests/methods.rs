//! Every method of the catalogue passes the kit, and comes near a posterior that is known.

use kelfi::method::calls::PriorSimulations;
use kelfi::method::{Calls, Method, Task};
use kelfi::testing::check_method;
use kelfi_baselines::all;
use kelfi_problems::{BenchmarkProblem, data_set};
use rand::Rng;
use rayon::prelude::*;
use std::ops::RangeInclusive;

#[test]
fn every_method_passes_the_conformance_kit() {
    let broken: Vec<String> = all().iter().filter_map(|m| Some(format!("{}: {}", m.name(), check_method(&**m).err()?))).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// Largest |posterior mean − exact mean| over the exact sd, and the geometric mean of sd over exact sd.
fn compared(method: &dyn Method, problem: &dyn BenchmarkProblem, budget: usize, seed: u64) -> (f64, f64) {
    let (_, observation) = data_set(problem, seed).unwrap();
    let simulator = |theta: &[f64], rng: &mut dyn Rng| problem.simulate(theta, rng).ok();
    let ready = PriorSimulations::new(problem.prior(), &simulator, problem.statistic_names().len(), seed);
    let calls = Calls::new(&simulator, &ready, budget, seed).unwrap();
    let task = Task { prior: problem.prior(), observation: &observation, calls: &calls, seed, go_on: &|| true };
    let samples = method.infer(&task).and_then(|answer| answer.samples(2_000, seed)).unwrap();
    let exact = problem.reference_samples(&observation, 5_000, seed).unwrap();
    let moments = |column: Vec<f64>| {
        let mean = column.iter().sum::<f64>() / column.len() as f64;
        (mean, (column.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / column.len() as f64).sqrt())
    };
    let (mut worst, mut ln_ratio) = (0.0_f64, 0.0);
    for d in 0..samples.columns() {
        let ((mean, sd), (exact_mean, exact_sd)) = (moments(samples.column(d)), moments(exact.column(d)));
        worst = worst.max((mean - exact_mean).abs() / exact_sd);
        ln_ratio += (sd / exact_sd).ln() / samples.columns() as f64;
    }
    (worst, ln_ratio.exp())
}

/// What is asked of a method on the linear Gaussian problem.
struct Bar {
    name: &'static str,
    /// Root mean square over observations of the worst error of a mean, in exact standard deviations, with 100 and with 400 calls. The
    /// prior has 2.1.
    error: [f64; 2],
    /// Least and greatest standard deviation over the exact one with 400 calls. The prior has 1.9.
    width: (f64, f64),
}

/// Found over ten observations (seeds 201 to 210), with a third more for errors and widths. Seeds 101 to 120 then found three errors to be
/// larger (both herded ones at 100 calls, mdn-proposals at 400): their bars are a third above those. Seeds 301 to 320 found the width of
/// synthetic-likelihood at 0.74 of at most 0.60: one chain of the ten that the bar was from had not moved, and a geometric mean counts it
/// much. Since then the exact width passes every bar: lower limits above 0.9 and upper ones below 1.1 became these, except for the method that
/// contracts by design. The slow test asks seeds 401 to 420.
#[rustfmt::skip]
const BARS: [Bar; 33] = [
    Bar { name: "kelfi", error: [0.3, 0.2], width: (0.74, 1.36) },
    Bar { name: "kelfi-rounds", error: [0.3, 0.2], width: (0.72, 1.33) },
    Bar { name: "kernel-means", error: [1.4, 0.9], width: (0.84, 1.55) },
    Bar { name: "kernel-means-mkml", error: [3.9, 3.0], width: (0.90, 3.36) }, // the marginal likelihood leaves the tolerance wide: no nearer than the prior
    Bar { name: "location-scale", error: [0.3, 0.2], width: (0.74, 1.36) },
    Bar { name: "rejection-regression", error: [0.6, 0.5], width: (0.69, 1.28) },
    Bar { name: "rejection", error: [1.8, 1.2], width: (0.80, 1.47) },
    Bar { name: "mcmc-abc", error: [1.7, 1.4], width: (0.68, 1.24) },
    Bar { name: "marginal-mcmc-abc", error: [2.0, 1.2], width: (0.90, 2.04) },
    Bar { name: "smc-abc", error: [1.5, 1.9], width: (0.90, 1.84) },
    Bar { name: "smc-abc-scheduled", error: [1.4, 1.6], width: (0.90, 1.79) },
    Bar { name: "synthetic-likelihood", error: [2.6, 0.9], width: (0.20, 1.10) },
    Bar { name: "adaptive-synthetic-likelihood", error: [2.5, 1.1], width: (0.51, 1.10) },
    Bar { name: "gps-abc", error: [0.7, 0.2], width: (0.73, 1.35) },
    Bar { name: "gpa-abc", error: [2.3, 1.8], width: (0.47, 1.10) },
    Bar { name: "kernel-abc", error: [1.5, 1.4], width: (0.90, 2.12) },
    Bar { name: "kernel-abc-scaled", error: [1.4, 1.0], width: (0.82, 1.50) },
    Bar { name: "kernel-abc-cross-validated", error: [1.8, 1.7], width: (0.90, 2.44) },
    Bar { name: "kernel-abc-herded", error: [1.2, 0.5], width: (0.67, 1.23) },
    Bar { name: "kernel-bayes", error: [1.6, 1.7], width: (0.90, 2.28) },
    Bar { name: "kernel-bayes-herded", error: [1.4, 1.1], width: (0.90, 1.84) },
    Bar { name: "kernel-recursive-abc", error: [1.9, 1.0], width: (0.02, 0.40) }, // contracts to a point by design
    Bar { name: "k2-abc", error: [1.5, 1.5], width: (0.90, 2.03) }, // three statistics as a sample of three values: little of the question is left
    Bar { name: "k2-abc-linear", error: [2.3, 2.6], width: (0.90, 2.35) }, // half of the pairs: less still
    Bar { name: "k2-abc-features", error: [1.4, 1.8], width: (0.90, 1.66) },
    Bar { name: "distribution-regression-abc", error: [2.0, 1.7], width: (0.90, 1.70) },
    Bar { name: "av-abc", error: [1.8, 1.0], width: (0.76, 1.40) },
    Bar { name: "vbil", error: [1.8, 1.1], width: (0.84, 1.55) },
    Bar { name: "vbsl", error: [2.0, 1.1], width: (0.89, 1.64) },
    Bar { name: "lfvi", error: [2.4, 0.6], width: (0.74, 1.37) },
    Bar { name: "mdn", error: [1.1, 0.5], width: (0.74, 1.36) },
    Bar { name: "mdn-proposals", error: [2.8, 1.0], width: (0.60, 1.11) },
    Bar { name: "prior", error: [3.7, 3.7], width: (0.90, 2.58) },
];

fn bar(name: &str) -> &'static Bar {
    BARS.iter().find(|bar| bar.name == name).unwrap_or_else(|| panic!("{name} has no bar"))
}

/// Root mean square of the worst error, and the geometric mean of the width, over observations.
fn over(method: &dyn Method, budget: usize, seeds: RangeInclusive<u64>) -> (f64, f64) {
    let problem = kelfi_problems::by_name("linear_gaussian").unwrap();
    let n = seeds.clone().count() as f64;
    let found: Vec<(f64, f64)> = seeds.into_par_iter().map(|seed| compared(method, &*problem, budget, seed)).collect();
    let error = (found.iter().map(|(worst, _)| worst * worst).sum::<f64>() / n).sqrt();
    (error, (found.iter().map(|(_, ratio)| ratio.ln()).sum::<f64>() / n).exp())
}

/// kelfi's own take seconds each.
fn is_slow(name: &str) -> bool {
    ["kelfi", "kelfi-rounds", "kernel-means", "kernel-means-mkml", "location-scale", "gps-abc", "lfvi"].contains(&name)
}

/// Few observations leave chance: over them an error may be twice its bar, which is for twenty, and a width half or twice.
const CHANCE: f64 = 2.0;

#[test]
fn every_method_comes_near_the_linear_gaussian_posterior() {
    let mut far = vec![];
    for method in all() {
        let bar = bar(method.name());
        let (error, width) = over(&*method, 400, 1..=if is_slow(method.name()) { 1 } else { 4 });
        if error > CHANCE * bar.error[1] || width < bar.width.0 / CHANCE || width > bar.width.1 * CHANCE {
            far.push(format!("{}: error {error:.2} of {}, width {width:.2} of {:?}", method.name(), bar.error[1], bar.width));
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}

/// More calls do not bring these nearer: what keeps them away is not chance.
fn does_not_gain(name: &str) -> bool {
    ["kernel-means-mkml", "prior"].contains(&name)
}

#[test]
#[ignore = "twenty observations with every method, some minutes: run with --ignored"]
fn every_method_passes_its_bar_on_twenty_other_observations_and_gains_by_calls() {
    let mut far = vec![];
    for method in all() {
        let (name, bar) = (method.name(), bar(method.name()));
        let [few, many] = [100, 400].map(|budget| over(&*method, budget, 401..=420));
        println!("{name}: error {:.2} and {:.2}, width {:.2}", few.0, many.0, many.1);
        for (k, (error, _)) in [few, many].into_iter().enumerate().filter(|(k, (error, _))| *error > bar.error[*k]) {
            far.push(format!("{name}: error {error:.2} of {}", bar.error[k]));
        }
        if !(bar.width.0..=bar.width.1).contains(&many.1) {
            far.push(format!("{name}: width {:.2} of {:?}", many.1, bar.width));
        }
        if many.0 >= few.0 && !does_not_gain(name) {
            far.push(format!("{name}: error {:.2} with 100 calls and {:.2} with 400", few.0, many.0));
        }
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
}

#[test]
#[ignore = "prints what the bars were found from"]
fn what_the_bars_are_found_from() {
    for method in all() {
        let [(few, _), (error, width)] = [100, 400].map(|budget| over(&*method, budget, 201..=210));
        println!("{} {few:.3} {error:.3} {width:.3}", method.name());
    }
}

/// Six parameters and ten statistics: steps as long as the pilot's nearest draws lie apart are never accepted there, so that the two
/// synthetic likelihoods once answered with the same point.
#[test]
fn chains_on_the_blowflies_move_and_say_so_when_they_hardly_do() {
    let problem = kelfi_problems::by_name("blowfly").unwrap();
    let simulator = |theta: &[f64], rng: &mut dyn Rng| problem.simulate(theta, rng).ok();
    for seed in 1..=3 {
        let answers = ["synthetic-likelihood", "adaptive-synthetic-likelihood", "mcmc-abc", "marginal-mcmc-abc"].map(|name| {
            let ready = PriorSimulations::new(problem.prior(), &simulator, problem.statistic_names().len(), seed);
            let calls = Calls::new(&simulator, &ready, 300, seed).unwrap();
            let task = Task { prior: problem.prior(), observation: problem.observation(), calls: &calls, seed, go_on: &|| true };
            let answer = kelfi_baselines::by_name(name).unwrap().infer(&task).unwrap();
            let remark = answer.remark().unwrap_or_default();
            assert!(!remark.contains("a point, not a posterior"), "{name}, seed {seed}: {remark}");
            answer.samples(10, seed).unwrap()
        });
        assert_ne!(answers[0], answers[1], "both synthetic likelihoods give the same samples");
    }
}
