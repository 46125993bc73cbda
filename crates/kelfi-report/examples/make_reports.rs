//! Writes three reports into a directory: the blowfly problem, a problem with two parameters and some failing simulations,
//! and 20 parameters with 50 statistics whose names try to break the page.

use kelfi::learning::LearnSettings;
use kelfi::random::{Purpose, standard_normal, stream};
use kelfi::{Inference, Marginal, Observation, Points, Prior, Recorded, Simulations};
use kelfi_problems::{Problem, by_name, simulate_many};
use kelfi_report::{Calls, Report, ReportInputs};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

fn main() -> anyhow::Result<()> {
    let directory = PathBuf::from(std::env::args().nth(1).unwrap_or_else(|| "target/reports".into()));
    std::fs::create_dir_all(&directory)?;
    write(&directory, "blowfly", 300, None)?;
    write(&directory, "banana", 400, Some(vec![0.2, 0.9]))?;
    write_hostile(&directory)
}

/// A name that is markup, quotes, emoji, long, or not printable.
fn hostile(k: usize) -> String {
    match k % 5 {
        0 => format!("<script>alert({k})</script>"),
        1 => format!("\"quotes' & </title></script> {k}"),
        2 => format!("🦋 émoji ✨ {k}"),
        3 => format!("{k}{}", "long".repeat(50)),
        _ => format!("tab\tand\u{7} {k}, with comma"),
    }
}

fn write_hostile(directory: &std::path::Path) -> anyhow::Result<()> {
    let marginals = (0..20).map(|k| (hostile(k), Marginal::Normal { mean: 0.0, std: 1.0 })).collect();
    let prior = Prior::independent(marginals)?;
    let theta = prior.draw(400, 5);
    let mut x = Points::zeros(400, 50);
    for j in 0..400 {
        let mut rng = stream(5, Purpose::Experiment, j as u64);
        for k in 0..50 {
            x.row_mut(j)[k] = theta.row(j)[k % 20] + 0.5 * standard_normal(&mut rng);
        }
    }
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(theta.clone(), x)?));
    let observation = Observation::Statistics((0..50).map(|k| 0.1 * f64::from(k % 7)).collect());
    let settings = LearnSettings::default();
    let start = Instant::now();
    let inference = Inference::new(&recorded, &observation, &prior, &settings, &mut |_| true)?;
    let learned = start.elapsed();
    let seconds = (0..400).map(|j| Some(0.1 * (1.0 + f64::from(j % 13)))).collect();
    let calls = Calls { theta, status: vec!["ok".into(); 400], seconds, message: vec![String::new(); 400] };
    let inputs = ReportInputs {
        statistic_names: (0..50).map(|k| hostile(k + 100)).collect(),
        calls: Some(calls),
        ..ReportInputs::new(&hostile(0), &inference, &observation, &settings)
    };
    let page = Report::new(&inputs)?.to_html()?;
    println!("hostile: learned in {learned:.1?}, report in {:.1?}, {} KB", start.elapsed() - learned, page.len() / 1024);
    Ok(std::fs::write(directory.join("hostile.html"), page)?)
}

fn write(directory: &std::path::Path, name: &str, count: usize, truth: Option<Vec<f64>>) -> anyhow::Result<()> {
    let problem = by_name(name)?;
    let simulated = simulate_many(&*problem, count, 1);
    let mut x = simulated.x.clone();
    let (mut status, mut message) = (vec!["ok".to_string(); count], vec![String::new(); count]);
    // The two-parameter problem fails where both parameters are large, so that failures have something to show.
    for j in (0..count).filter(|&j| name == "banana" && simulated.theta.row(j).iter().sum::<f64>() > 1.8) {
        x.row_mut(j).fill(f64::NAN);
        status[j] = "exit-code".into();
        message[j] = "exit code 3: the step size became too small".into();
    }
    let calls = Calls {
        theta: simulated.theta.clone(),
        status,
        seconds: (0..count).map(|j| Some(0.02 * (1.0 + simulated.theta.row(j)[0].abs()))).collect(),
        message,
    };
    let recorded = Recorded::Statistics(Arc::new(Simulations::new(simulated.theta, x)?));
    let observation = Observation::Statistics(problem.observation().to_vec());
    let settings = LearnSettings::default();
    let start = Instant::now();
    let inference = Inference::new(&recorded, &observation, problem.prior(), &settings, &mut |_| true)?;
    let learned = start.elapsed();
    let inputs = inputs(&*problem, &inference, &observation, &settings, calls, truth);
    let report = Report::new(&inputs)?;
    let page = report.to_html()?;
    println!("{name}: learned in {learned:.1?}, report in {:.1?}, {} KB", start.elapsed() - learned, page.len() / 1024);
    std::fs::write(directory.join(format!("{name}.html")), page)?;
    for (figure, svg) in report.figures() {
        std::fs::write(directory.join(format!("{name}-{figure}.svg")), svg)?;
    }
    Ok(())
}

fn inputs<'a>(
    problem: &dyn Problem,
    inference: &'a Inference,
    observation: &'a Observation,
    settings: &'a LearnSettings,
    calls: Calls,
    truth: Option<Vec<f64>>,
) -> ReportInputs<'a> {
    ReportInputs {
        description: problem.description().into(),
        statistic_names: problem.statistic_names().to_vec(),
        truth: truth.or_else(|| problem.truth().map(<[f64]>::to_vec)),
        calls: Some(calls),
        provenance: vec![
            ("kelfi".into(), env!("CARGO_PKG_VERSION").into()),
            ("seed".into(), "1".into()),
            ("command".into(), "make_reports".into()),
        ],
        ..ReportInputs::new(problem.name(), inference, observation, settings)
    }
}
