//! The page says what is wrong first and what to do, survives hostile names, and stays small.

use kelfi::diagnostics::Calibration;
use kelfi::diagnostics::predictive::{Predicted, check as predictive_check};
use kelfi::learning::{EpsilonChoice, LearnSettings};
use kelfi::posterior::checks::{self, Check, Status};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Inference, Marginal, Observation, Points, Prior, Recorded, Simulations};
use kelfi_report::{Calls, Report, ReportInputs};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// D normal parameters, n statistics: sums of neighbouring parameters with noise.
fn problem(names: Vec<String>, statistics: usize, count: usize) -> (Prior, Recorded) {
    let dimension = names.len();
    let prior = Prior::independent(names.into_iter().map(|n| (n, Marginal::Normal { mean: 0.0, std: 1.0 })).collect()).unwrap();
    let theta = prior.draw(count, 5);
    let mut x = Points::zeros(count, statistics);
    for j in 0..count {
        let mut rng = stream(5, Purpose::Experiment, j as u64);
        for k in 0..statistics {
            x.row_mut(j)[k] = theta.row(j)[k % dimension] + 0.5 * standard_normal(&mut rng);
        }
    }
    (prior, Recorded::Statistics(Arc::new(Simulations::new(theta, x).unwrap())))
}

fn small_report(observed: f64) -> Report {
    let (prior, recorded) = problem(vec!["a".into()], 1, 150);
    let (observation, settings) = (Observation::Statistics(vec![observed]), LearnSettings::default());
    let inference = Inference::new(&recorded, &observation, &prior, &settings, &mut |_| true).unwrap();
    Report::new(&ReportInputs::new("small", &inference, &observation, &settings)).unwrap()
}

/// The text of the verdict and of the first check on the page.
fn first_words(html: &str) -> (String, String) {
    let verdict = html.split("class=\"verdict").nth(1).unwrap().split("</div>").next().unwrap();
    let first = html.split("<li class=\"check").nth(1).unwrap().split("</li>").next().unwrap();
    (verdict.to_string(), first.to_string())
}

#[test]
fn each_failing_check_stands_first_and_says_what_to_do() {
    let report = small_report(0.4);
    let narrow = Calibration::of_shares(Points::from_column((0..200).map(|i| f64::from(i % 2)).collect()));
    let far = |observed: f64| Predicted { observed, quantiles: [-2.0, -1.0, 0.0, 1.0, 2.0], below: 1.0 };
    let failing: Vec<Check> = vec![
        checks::negative_mass(0.5),
        checks::support(&[40.0, 50.0], 1),
        checks::effective_simulations(&[1.0, 1e-9]),
        checks::conditioning(1e16),
        checks::failed_simulations(10, 11),
        checks::hyperparameter_at_bound(&["epsilon".to_string()]),
        narrow.check(&["a".to_string()]),
        predictive_check(&[far(9.0), far(8.0)], &["s".to_string(), "t".to_string()]),
    ];
    let fine: Vec<Check> = report.checks().iter().map(|c| Check { status: Status::Ok, ..c.clone() }).collect();
    assert_eq!(fine.len(), failing.len(), "every check of the page is tried");
    for bad in failing {
        let mut all: Vec<Check> = fine.iter().filter(|c| c.name != bad.name).cloned().collect();
        assert_eq!(all.len(), fine.len() - 1, "{} is a check of the page", bad.name);
        all.push(bad.clone());
        let html = report.clone().with_checks(all).to_html().unwrap();
        let (verdict, first) = first_words(&html);
        let expected = if bad.status == Status::Fail { "Do not use this result yet" } else { "Use with care" };
        assert!(verdict.contains(expected), "{}: {verdict}", bad.name);
        assert!(first.contains(&format!("data-check=\"{}\"", bad.name)), "{first}");
        let advice = first
            .split("What to do:</strong> ")
            .nth(1)
            .unwrap_or_else(|| panic!("{} has no advice", bad.name))
            .split("</p>")
            .next()
            .unwrap();
        assert!(advice.len() > 20, "{advice}");
        assert!(verdict.contains(advice), "the verdict of {} repeats what to do: {verdict}", bad.name);
    }
    let (verdict, _) = first_words(&report.with_checks(fine).to_html().unwrap());
    assert!(verdict.contains("Nothing speaks against this result"), "{verdict}");
}

#[test]
fn an_observation_far_from_every_simulation_is_refused_in_words() {
    let report = small_report(60.0);
    assert_ne!(report.status(), Status::Ok);
    let (verdict, _) = first_words(&report.to_html().unwrap());
    assert!(!verdict.contains("Nothing speaks against"), "{verdict}");
}

fn hostile(k: usize) -> String {
    match k % 5 {
        0 => format!("<script>alert({k})</script>"),
        1 => format!("\"quotes' & </title></script> {k}"),
        2 => format!("🦋 émoji ✨ {k}"),
        3 => format!("{k}{}", "long".repeat(50)),
        _ => format!("tab\tand\u{0}control\u{7} {k}, with comma"),
    }
}

#[test]
fn hostile_names_with_20_parameters_and_50_statistics_give_a_readable_page_in_seconds() {
    let (prior, recorded) = problem((0..20).map(hostile).collect(), 50, 400);
    let observation = Observation::Statistics((0..50).map(|k| 0.1 * f64::from(k % 7)).collect());
    let settings = LearnSettings { epsilon: EpsilonChoice::Isotropic, ..LearnSettings::default() };
    let inference = Inference::new(&recorded, &observation, &prior, &settings, &mut |_| true).unwrap();
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
        ..ReportInputs::new(&hostile(0), &inference, &observation, &settings)
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
    assert!(html.contains("Of 20 parameters the 8 are drawn"));
    for (name, svg) in report.figures() {
        assert!(well_formed(&svg), "{name}");
        assert!(!svg.contains('\u{0}') && !svg.contains("var("), "{name}");
    }
    for (name, csv) in report.numbers() {
        assert!(csv.lines().count() > 1, "{name} has numbers");
    }
}

/// Every element is closed in order and no bare < stands in text.
fn well_formed(svg: &str) -> bool {
    let mut open: Vec<&str> = vec![];
    for piece in svg.split('<').skip(1) {
        let Some((tag, _)) = piece.split_once('>') else { return false };
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap_or("");
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return false;
            }
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    open.is_empty()
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
