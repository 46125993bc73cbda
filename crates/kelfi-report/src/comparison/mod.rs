//! The page of `kelfi compare`: which method answers best, how much it varies, what it costs.

mod curves;
mod strips;
mod table;
mod verdict;

pub use table::measured;

use crate::error::Error;
use crate::figure::{Figure, Numbers};
use crate::page::Page;
use crate::section::{Cell, Conclusion, Section, Table};
use kelfi::words::counted;
use kelfi_baselines::comparison::{Comparison, EXACT, MethodFacts, Observations, Row, Run, Score};

/// A number that methods are compared by.
pub(crate) struct Measure {
    /// Name of its figures.
    id: &'static str,
    title: &'static str,
    /// Name of the axis.
    axis: &'static str,
    caption: &'static str,
    caption_by_budget: &'static str,
    /// Of one run.
    of: fn(&Run) -> Option<f64>,
    /// A value to aim at, marked by a line.
    ideal: Option<f64>,
    logarithmic: bool,
}

fn score(run: &Run, of: impl Fn(&Score) -> Option<f64>) -> Option<f64> {
    run.score.as_ref().and_then(of)
}

const MEASURES: [Measure; 9] = [
    Measure {
        id: "error",
        title: "Error of the posterior mean",
        axis: "error, in prior standard deviations",
        caption: "Root mean square over the parameters. Further left is better. The error of the exact posterior is what the observation leaves undetermined.",
        caption_by_budget: "Lower is better.",
        of: |run| score(run, |s| s.error),
        ideal: None,
        logarithmic: false,
    },
    Measure {
        id: "nmse",
        title: "Error of simulations at the posterior mean",
        axis: "normalised mean squared error, %",
        caption: "1,000 simulations at the posterior mean, compared with the real data; the prior scores about 100 %. Further left is better.",
        caption_by_budget: "Lower is better.",
        of: |run| score(run, |s| s.nmse),
        ideal: None,
        logarithmic: true,
    },
    Measure {
        id: "c2st",
        title: "Distinguishable from the exact posterior",
        axis: "share of samples classified correctly",
        caption: "A nearest-neighbour classifier tries to tell samples of the method from samples of the exact posterior. At the line, 50 %, it can only guess; at 100 % they do not overlap.",
        caption_by_budget: "50 % is perfect.",
        of: |run| score(run, |s| s.c2st),
        ideal: Some(0.5),
        logarithmic: false,
    },
    Measure {
        id: "total-variation",
        title: "Distance of marginals from the exact ones",
        axis: "total variation, mean over parameters",
        caption: "Half the sum of |p − q| over twenty bins that are equally likely under the exact posterior. Further left is better; 2,000 samples of the exact posterior itself score about 0.055.",
        caption_by_budget: "Lower is better.",
        of: |run| score(run, |s| s.total_variation),
        ideal: None,
        logarithmic: false,
    },
    Measure {
        id: "predictive",
        title: "Simulations at posterior samples",
        axis: "distance from the observation, in spreads of the statistics",
        caption: "Median over 20 simulations at samples of the posterior. Further left is better, down to the simulator's own noise.",
        caption_by_budget: "Lower is better.",
        of: |run| score(run, |s| s.predictive),
        ideal: None,
        logarithmic: false,
    },
    Measure {
        id: "left-out",
        title: "Density at left-out simulations",
        axis: "ln of posterior over prior density, nats",
        caption: "Simulations near the observation, each left out in turn: how much density the posterior gives to the parameters that produced it. Further right is better; the prior has 0. Methods that choose where to simulate are not scored: it would cost them their whole budget again.",
        caption_by_budget: "Higher is better; the prior has 0.",
        of: |run| score(run, |s| s.left_out),
        ideal: Some(0.0),
        logarithmic: false,
    },
    Measure {
        id: "gain",
        title: "Density at the true parameters",
        axis: "ln of posterior over prior density, nats",
        caption: "Further right is better; at the line, 0, the posterior is no better than the prior. Posteriors that nearly exclude the truth are penalised most (at most −20).",
        caption_by_budget: "Higher is better; the prior has 0.",
        of: |run| score(run, |s| s.gain),
        ideal: Some(0.0),
        logarithmic: false,
    },
    Measure {
        id: "width",
        title: "Width of the posterior",
        axis: "posterior over prior standard deviation",
        caption: "Median over the parameters. A narrow posterior is good only if its intervals have the coverage they claim.",
        caption_by_budget: "A narrow posterior is good only if its intervals have the coverage they claim.",
        of: |run| score(run, |s| Some(s.width)),
        ideal: None,
        logarithmic: true,
    },
    Measure {
        id: "seconds",
        title: "Time for inference",
        axis: "seconds, without the simulations",
        caption: "Learning and 2,000 samples, one method at a time on this machine.",
        caption_by_budget: "Without the simulations.",
        of: |run| (run.method != EXACT).then_some(run.seconds.max(1e-6)),
        ideal: None,
        logarithmic: true,
    },
];

/// One page on a comparison.
#[derive(Debug, Clone)]
pub struct ComparisonPage {
    title: String,
    description: String,
    verdict: Conclusion,
    sections: Vec<Section>,
}

impl ComparisonPage {
    /// Draws everything. `provenance` says where the result comes from, as names and values.
    pub fn new(comparison: &Comparison, provenance: &[(String, String)]) -> Self {
        let rows = comparison.summary();
        let mut sections = vec![answer(comparison, &rows), repeats(comparison)];
        sections.extend(curves::section(comparison, &MEASURES));
        sections.extend(failures(comparison));
        sections.extend(remarks(&rows));
        sections.push(methods(comparison));
        sections.push(origin(comparison, provenance));
        Self {
            title: comparison.problem.clone(),
            description: description(comparison),
            verdict: verdict::verdict(comparison, &rows),
            sections,
        }
    }

    /// Every figure, to be written as SVG, PNG or CSV.
    pub fn all_figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(Section::all_figures)
    }

    /// The page: one file, nothing fetched from anywhere.
    pub fn to_html(&self) -> Result<String, Error> {
        let page = Page {
            kind: "kelfi comparison",
            title: &self.title,
            description: &self.description,
            verdict: &self.verdict,
            sections: &self.sections,
        };
        page.to_html()
    }
}

fn description(comparison: &Comparison) -> String {
    format!(
        "{}. {}, {}; {}{}.",
        comparison.description,
        counted(comparison.parameters as u64, "parameter"),
        counted(comparison.statistics as u64, "statistic"),
        counted(comparison.repeats as u64, "repeat"),
        match comparison.observations {
            Observations::FromPrior => ", each with its own observation, simulated at parameters from the prior",
            Observations::Own => " with the problem's own observation and new simulations each time",
        }
    )
}

fn answer(comparison: &Comparison, rows: &[Row]) -> Section {
    let mut section = Section::new("table", "Which method is best?");
    section.text("All methods get the same observations and the same simulations, and are judged by 2,000 samples each. Numbers after ± are standard errors over the repeats.");
    if comparison.methods.iter().any(|method| method.name == EXACT) {
        section
            .text("The exact posterior comes last: on average no method can do better, and with few repeats it shows how much is chance.");
    }
    if comparison.repeats < comparison.planned {
        section.text(format!("Stopped early: {} of {} repeats were carried out.", comparison.repeats, comparison.planned));
    }
    section.table(table::table(rows));
    section
}

fn repeats(comparison: &Comparison) -> Section {
    let mut section = Section::new("repeats", "How much does it vary?");
    let largest = comparison.budgets.iter().copied().max().unwrap_or(0);
    section.text(format!(
        "Each dot is a repeat; the diamond is their mean, with a bar of two standard errors either way, at {largest} simulations."
    ));
    let mut figures: Vec<Figure> = strips::coverage(comparison, largest).into_iter().collect();
    let drawn: Vec<Figure> = MEASURES.iter().filter_map(|measure| strips::strip(comparison, measure, largest)).collect();
    figures.splice(0..0, drawn.iter().take(1).cloned());
    figures.extend(drawn.into_iter().skip(1));
    section.figures(figures);
    section
}

fn failures(comparison: &Comparison) -> Option<Section> {
    let failed: Vec<&Run> = comparison.runs.iter().filter(|run| run.failure.is_some()).collect();
    if failed.is_empty() {
        return None;
    }
    let mut section = Section::new("failures", "Which runs gave no answer?");
    section.text("Means are over the repeats with an answer only.");
    let mut numbers = Numbers::new(&["method", "budget", "repeat", "reason"]);
    let mut rows = vec![];
    for run in failed {
        let reason = run.failure.clone().unwrap_or_default();
        numbers.row(&[run.method.clone(), run.budget.to_string(), run.repeat.to_string(), reason.clone()]);
        let counts = [run.budget, run.repeat].map(|count| Cell::number(count.to_string()));
        rows.push([vec![Cell::text(&run.method)], counts.to_vec(), vec![Cell::text(reason)]].concat());
    }
    section.table(Table {
        id: "failures-table".into(),
        caption: "Every run without an answer".into(),
        columns: ["method", "simulations", "repeat", "reason"].map(String::from).to_vec(),
        rows,
        folded: false,
        csv: numbers.csv().into(),
    });
    Some(section)
}

/// What methods say about answers of their own: a chain that never moved, say.
fn remarks(rows: &[Row]) -> Option<Section> {
    let told: Vec<(String, String)> =
        rows.iter().filter_map(|row| Some((format!("{}, {} simulations", row.method, row.budget), row.remark.clone()?))).collect();
    let title = "Which answers need a second look?";
    (!told.is_empty()).then(|| named_rows("remarks", title, "Remarks of methods on their own answers", &["method", "remark"], &told))
}

fn methods(comparison: &Comparison) -> Section {
    let told = |m: &MethodFacts| match m.reference.as_str() {
        "" => m.description.clone(),
        reference => format!("{}. {reference}", m.description),
    };
    let rows: Vec<(String, String)> = comparison.methods.iter().map(|m| (m.name.clone(), told(m))).collect();
    named_rows("methods", "What was compared?", "The methods", &["method", "how it works"], &rows)
}

fn origin(comparison: &Comparison, provenance: &[(String, String)]) -> Section {
    let mut rows = provenance.to_vec();
    rows.push(("seed".into(), comparison.seed.to_string()));
    rows.push(("repeats".into(), comparison.repeats.to_string()));
    rows.push(("simulations".into(), comparison.budgets.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")));
    named_rows("provenance", "How can this be reproduced?", "What is needed to reproduce this result", &["what", "value"], &rows)
}

fn named_rows(id: &str, title: &str, caption: &str, columns: &[&str], rows: &[(String, String)]) -> Section {
    let mut section = Section::new(id, title);
    let mut numbers = Numbers::new(columns);
    rows.iter().for_each(|(name, value)| numbers.row(&[name.clone(), value.clone()]));
    section.table(Table {
        id: format!("{id}-table"),
        caption: caption.into(),
        columns: columns.iter().map(|&column| column.into()).collect(),
        rows: rows.iter().map(|(name, value)| vec![Cell::text(name), Cell::text(value)]).collect(),
        folded: false,
        csv: numbers.csv().into(),
    });
    section
}
