//! The blowfly and Lotka-Volterra problems against deterministic inputs and outputs, and means over many runs, of an
//! independent implementation (`checks.json`).

use kelfi_problems::blowfly::{self, Blowfly};
use kelfi_problems::lotka_volterra::{self, LotkaVolterra, Pilot};
use kelfi_problems::{BenchmarkProblem, replicate, simulate_many};
use serde_json::Value;

/// Two implementations of the same formulas differ by the order of their sums; counts of maxima must agree exactly.
const ROUNDING: f64 = 1e-9;
/// Bound on |difference of means| in joint standard errors: 58 comparisons, about 1 in 2,500 such tests would fail by chance.
const STANDARD_ERRORS: f64 = 4.5;

fn checks() -> Value {
    serde_json::from_str(include_str!("checks.json")).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|number| number.as_f64().unwrap()).collect()
}

fn assert_close(ours: &[f64], theirs: &[f64], what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (index, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= ROUNDING * b.abs().max(1.0), "{what}[{index}]: {a} against {b}");
    }
}

#[test]
fn blowfly_series_and_statistics_follow_from_the_same_noise() {
    let checks = checks();
    for case in checks["blowfly"].as_array().unwrap() {
        let logs: [f64; 6] = numbers(&case["log_theta"]).try_into().unwrap();
        let mut noise = numbers(&case["birth_noise"]).into_iter().zip(numbers(&case["death_noise"]));
        let series = blowfly::series::series(&blowfly::series::Parameters::from_logs(logs), || noise.next().unwrap());
        assert!(noise.next().is_none(), "all 230 noise pairs are used");
        assert_close(&series, &numbers(&case["series"]), "series");
        assert_close(&blowfly::statistics::statistics(&series), &numbers(&case["statistics"]), "statistics");
    }
}

#[test]
fn blowfly_observation_is_the_published_one() {
    let series = blowfly::observed_series();
    assert_eq!((series.len(), series[0], series[179], series[121], series[169]), (180, 948.0, 1346.0, 1306.0, 5345.0));
    let published = include_str!("../data/blowfly_prior_mse.csv");
    let column: Vec<f64> = published.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().parse().unwrap()).collect();
    assert_close(Blowfly::new().observation(), &column, "observation");
}

#[test]
fn lotka_volterra_statistics_follow_from_the_same_states() {
    let checks = checks();
    for case in checks["lotka_volterra"].as_array().unwrap() {
        let statistics = lotka_volterra::statistics::statistics(&numbers(&case["predators"]), &numbers(&case["prey"]));
        assert_close(&statistics, &numbers(&case["statistics"]), "statistics");
    }
}

/// Means within the bound, and standard deviations too: their standard error is sd √((kurtosis − 1)/4n).
fn assert_same_distribution(ours: &kelfi::Points, case: &Value, their_runs: f64) {
    let (means, sds) = (numbers(&case["mean"]), numbers(&case["sd"]));
    for k in 0..means.len() {
        let values = ours.column(k);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let moment = |power: i32| values.iter().map(|v| (v - mean).powi(power)).sum::<f64>() / n;
        let (sd, kurtosis) = (moment(2).sqrt(), moment(4) / moment(2).powi(2));
        let runs = (1.0 / n + 1.0 / their_runs).sqrt();
        let (mean_error, sd_error) = (sds[k] * runs, sds[k] * runs * ((kurtosis - 1.0) / 4.0).sqrt());
        assert!((mean - means[k]).abs() < STANDARD_ERRORS * mean_error, "mean {k}: {mean} against {} ± {mean_error}", means[k]);
        assert!((sd - sds[k]).abs() < STANDARD_ERRORS * sd_error, "sd {k}: {sd} against {} ± {sd_error}", sds[k]);
    }
}

#[test]
fn blowfly_runs_have_the_reference_means_and_spreads() {
    let checks = checks();
    for case in checks["blowfly_at_theta"].as_array().unwrap() {
        let x = replicate(&Blowfly::new(), &numbers(&case["log_theta"]), 10_000, 11).x;
        assert_same_distribution(&x, case, case["runs"].as_f64().unwrap());
    }
}

#[test]
fn lotka_volterra_runs_at_the_truth_have_the_reference_means_spreads_and_failures() {
    let checks = checks();
    let case = &checks["lotka_volterra_at_truth"];
    let problem = LotkaVolterra::raw();
    let runs = replicate(&problem, problem.truth().unwrap(), 8_000, 5);
    assert_same_distribution(&runs.successes().1, case, 4_000.0);
    // 0.75 % over 120,000 reference runs: binomial sd 0.001 here.
    let failed = runs.failures.len() as f64 / 8_000.0;
    assert!((failed - 0.0075).abs() < 0.004, "{failed}");
}

#[test]
fn lotka_volterra_observation_is_the_published_one_normalised() {
    let published = include_str!("../data/lotka_volterra_pilot.csv");
    let column: Vec<f64> = published.lines().skip(1).map(|line| line.split(',').nth(4).unwrap().parse().unwrap()).collect();
    assert_close(LotkaVolterra::new().observation(), &column, "observation");
    let pilot = Pilot::published();
    assert_close(&pilot.denormalise(LotkaVolterra::new().observation()), LotkaVolterra::raw().observation(), "observation in raw units");
}

#[test]
fn seven_eighths_of_lotka_volterra_prior_runs_finish_and_give_the_published_pilot() {
    let runs = simulate_many(&LotkaVolterra::raw(), 4_000, 2);
    let finished = 1.0 - runs.failures.len() as f64 / 4_000.0;
    assert!((finished - 0.875).abs() < 0.025, "{finished}");
    let (ours, published) = (lotka_volterra::own_pilot(1_000, 2).unwrap(), Pilot::published());
    for k in 2..9 {
        // Two pilots of 1,000: means differ by about sd √(2/1000), five of those allowed. The first two have heavy tails.
        assert!((ours.mean[k] - published.mean[k]).abs() < 0.22 * published.std[k], "mean {k}");
        assert!((ours.std[k] / published.std[k] - 1.0).abs() < 0.25, "sd {k}: {} against {}", ours.std[k], published.std[k]);
    }
}

#[test]
fn nmse_gives_the_reference_scores_at_two_points() {
    let problem = Blowfly::new();
    let score = |theta: &[f64]| blowfly::nmse(&problem, theta, 1_000, 9).unwrap();
    // The reference with these denominators: 6.09 % at the prior mean, 0.87 % (0.79 to 0.97) at a good point.
    let prior_mean = score(&[2.0, -1.5, 6.0, -1.0, -1.0, 15_f64.ln()]);
    let good = score(&[3.765, -1.033, 5.466, -0.401, -0.963, 7_f64.ln()]);
    assert!((prior_mean - 6.09).abs() < 0.25, "{prior_mean}");
    assert!((good - 0.87).abs() < 0.12, "{good}");
}

#[test]
fn blowfly_prior_runs_are_all_finite() {
    assert!(simulate_many(&Blowfly::new(), 10_000, 4).failures.is_empty());
}
