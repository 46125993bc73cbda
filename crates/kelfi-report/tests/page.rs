//! The page says what is wrong first and what to do, survives hostile names, and stays small.

use kelfi::checks::{self, Check, Status};
use kelfi::diagnostics::predictive::{Predicted, check as predictive_check};
use kelfi::diagnostics::{Calibration, range};
use kelfi::learning::{EpsilonChoice, KernelMeansOptions};
use kelfi::{Fit, FitOptions, KERNEL_MEANS, ModelChoice, Observation, Points, Question, Recorded, Simulations};
use kelfi_report::{Calls, Report, ReportInputs};
use std::sync::Arc;
use std::time::{Duration, Instant};

mod common;
use common::{each_stands_first_with_advice, elsewhere, first_words, hostile, problem, two_modes, well_formed};

fn simulations() -> Arc<Simulations> {
    let (_, Recorded::Statistics(simulations)) = problem(vec!["a".into()], 1, 150) else { unreachable!("statistics were made") };
    simulations
}

fn small_report(observed: f64) -> Report {
    let (prior, recorded) = problem(vec!["a".into()], 1, 150);
    let (observation, settings) = (Observation::Statistics(vec![observed]), FitOptions::of(ModelChoice::Use(&KERNEL_MEANS), 0));
    let fit = Fit::new(&Question::new(&prior, &recorded, &observation), &settings, &mut |_| true).unwrap();
    Report::new(&ReportInputs::new("small", &fit, &settings)).unwrap()
}

#[test]
fn each_failing_check_stands_first_and_says_what_to_do() {
    let report = small_report(0.4);
    let narrow = Calibration::of_shares(Points::from_column((0..200).map(|i| f64::from(i % 2)).collect()));
    let far = |observed: f64| Predicted { observed, quantiles: [-2.0, -1.0, 0.0, 1.0, 2.0], below: 1.0 };
    let failing: Vec<Check> = vec![
        checks::negative_mass(0.5),
        checks::support(&[40.0, 50.0], 1),
        kelfi::diagnostics::steadiness::effective_simulations(None, Some(1.0), 150),
        checks::conditioning(1e16),
        checks::failed_simulations(10, 11),
        checks::hyperparameter_at_bound(&["epsilon".to_string()], KERNEL_MEANS.words.at_bound),
        range::check(&simulations(), &[90.0], &["s".to_string()]),
        narrow.check(&["a".to_string()]),
        predictive_check(&[far(9.0), far(8.0)], &["s".to_string(), "t".to_string()]),
        two_modes(),
        elsewhere(),
    ];
    each_stands_first_with_advice(&report, failing);
}

#[test]
fn an_observation_far_from_every_simulation_is_refused_in_words() {
    let report = small_report(60.0);
    assert_ne!(report.status(), Status::Ok);
    let (verdict, _) = first_words(&report.to_html().unwrap());
    assert!(!verdict.contains("All checks passed"), "{verdict}");
}

#[test]
fn hostile_names_with_20_parameters_and_50_statistics_give_a_readable_page_in_seconds() {
    let (prior, recorded) = problem((0..20).map(hostile).collect(), 50, 400);
    let observation = Observation::Statistics((0..50).map(|k| 0.1 * f64::from(k % 7)).collect());
    let learn = KernelMeansOptions { epsilon: EpsilonChoice::Isotropic, ..KernelMeansOptions::default() };
    let settings = FitOptions { model: ModelChoice::Use(&KERNEL_MEANS), learn };
    let fit = Fit::new(&Question::new(&prior, &recorded, &observation), &settings, &mut |_| true).unwrap();
    let calls = Calls {
        theta: recorded.theta().clone(),
        status: (0..400).map(|j| if j % 9 == 0 { "<b>odd" } else { "ok" }.to_string()).collect(),
        seconds: vec![Some(0.5); 400],
        message: (0..400).map(hostile).collect(),
    };
    let inputs = ReportInputs {
        statistic_names: (0..50).map(|k| hostile(k + 100)).collect(),
        description: hostile(1),
        truth: Some(vec![0.1; 20]),
        calls: Some(calls),
        provenance: vec![("command".into(), hostile(0))],
        ..ReportInputs::new(&hostile(0), &fit, &settings)
    };
    let start = Instant::now();
    let report = Report::new(&inputs).unwrap();
    let html = report.to_html().unwrap();
    println!("{:?}, {} KB", start.elapsed(), html.len() / 1024);
    // Generous, for slow machines under load; a few seconds on an idle one.
    assert!(start.elapsed() < Duration::from_secs(60), "{:?}", start.elapsed());
    assert!(html.len() < 3_000_000, "{} bytes", html.len());
    assert!(!html.contains("<script>alert"), "no name becomes an element");
    assert!(!html.contains("<b>odd"));
    assert_eq!(html.matches("<script").count(), html.matches("</script>").count());
    assert!(html.contains("&lt;script&gt;alert(0)"), "the name itself is shown");
    assert!(html.contains("Shown are the 8 of 20 parameters"));
    for (name, svg) in report.figures() {
        assert!(well_formed(&svg), "{name}");
        assert!(!svg.contains('\u{0}') && !svg.contains("var("), "{name}");
    }
    for (name, csv) in report.numbers() {
        assert!(csv.lines().count() > 1, "{name} has numbers");
    }
}

#[test]
fn the_page_asks_nothing_of_the_network_and_is_the_same_twice() {
    let html = small_report(0.4).to_html().unwrap();
    for outside in ["src=", "@import", "url(", "https://"] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert_eq!(html.replace("http://www.w3.org/2000/svg", "").matches("http").count(), 0);
    assert_eq!(html, small_report(0.4).to_html().unwrap());
}
