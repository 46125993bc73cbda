//! What tests of pages share: a problem to solve, names that try to break out, and the first words of a page.
#![allow(dead_code, reason = "each test takes what it needs")]

use kelfi::chains::modes;
use kelfi::checks::{Check, Status};
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Marginal, Points, Prior, Recorded, Simulations, infer};
use kelfi_report::Report;
use std::sync::Arc;

/// D normal parameters, n statistics: sums of neighbouring parameters with noise.
pub fn problem(names: Vec<String>, statistics: usize, count: usize) -> (Prior, Recorded) {
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

/// Draws in two heaps.
pub fn two_modes() -> Check {
    let heaps = Points::from_column((0..2_000).map(|i| f64::from(i % 2) * 50.0 + f64::from(i) / 2_000.0).collect());
    modes::check(&modes::modes(&heaps), &["a".to_string()])
}

/// Simulations in another place than prior and posterior.
pub fn elsewhere() -> Check {
    let prior = Prior::independent(vec![("a".into(), Marginal::Normal { mean: 0.0, std: 1.0 })]).unwrap();
    let theta: Vec<f64> = (0..100).map(|i| 2.0 + 0.005 * f64::from(i)).collect();
    let x = Points::from_column(theta.iter().zip(0..).map(|(t, i)| t + 0.3 * f64::from(i % 7) - 0.9).collect());
    let fit = infer(Points::from_column(theta), x, &[-1.0], &prior).unwrap();
    fit.checks().into_iter().find(|check| check.name == "prior_draws").unwrap()
}

/// The text of the verdict and of the first check on the page.
pub fn first_words(html: &str) -> (String, String) {
    let verdict = html.split("class=\"verdict").nth(1).unwrap().split("</div>").next().unwrap();
    let first = html.split("<li class=\"check").nth(1).unwrap().split("</li>").next().unwrap();
    (verdict.to_string(), first.to_string())
}

/// Each bad check in the place of the one of its name stands first on the page, with advice that the verdict repeats.
pub fn each_stands_first_with_advice(report: &Report, failing: Vec<Check>) {
    let fine: Vec<Check> = report.checks().iter().map(|c| Check { status: Status::Ok, advice: String::new(), ..c.clone() }).collect();
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
    let (verdict, _) = first_words(&report.clone().with_checks(fine).to_html().unwrap());
    assert!(verdict.contains("All checks passed"), "{verdict}");
}

pub fn hostile(k: usize) -> String {
    match k % 5 {
        0 => format!("<script>alert({k})</script>"),
        1 => format!("\"quotes' & </title></script> {k}"),
        2 => format!("🦋 émoji ✨ {k}"),
        3 => format!("{k}{}", "long".repeat(50)),
        _ => format!("tab\tand\u{0}control\u{7} {k}, with comma"),
    }
}

/// Every element is closed in order and no bare < stands in text.
pub fn well_formed(svg: &str) -> bool {
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
