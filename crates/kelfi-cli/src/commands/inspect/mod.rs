//! `kelfi inspect`: what is in a run directory. Reads only, also while another process writes.

mod stale;
mod verify;

use crate::answers::{self, Answers};
use crate::arguments::Inspect;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::show;
use crate::summary::{Simulations, Summary};
use kelfi_run::{Record, Status, Store};
use serde_json::json;
use std::fmt::Write as _;

pub fn run(typed: &Inspect) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    if typed.verify {
        return verify::run(&directory, typed.json);
    }
    let store = Store::read(&directory.store())?;
    let summary = Summary::read(&directory);
    let view = View {
        counts: Status::ALL.into_iter().map(|status| Ok((status, store.counts()?.of(status)))).collect::<Result<_, Failure>>()?,
        outstanding: store.outstanding()?.len(),
        failures: failures(&store, typed.failures)?,
        stale: stale::stale(&directory, &store, summary.as_ref())?,
        answers: Answers::of(&directory).all(),
        summary,
        store,
    };
    show::print(&if typed.json { view.json(&directory)? } else { view.text(&directory) })
}

struct View {
    store: Store,
    counts: Vec<(Status, u64)>,
    outstanding: usize,
    /// One failure of each kind, with how many there are of it.
    failures: Vec<(Record, u64)>,
    stale: Vec<String>,
    summary: Option<Summary>,
    /// Answers to other questions, by name.
    answers: Vec<(String, Summary)>,
}

impl View {
    fn json(&self, directory: &Directory) -> Result<String, Failure> {
        let statuses: serde_json::Map<_, _> = self.present().map(|(status, count)| (status.word().to_owned(), count.into())).collect();
        let failure = |(record, count): &(Record, u64)| {
            let parameters: serde_json::Map<String, serde_json::Value> =
                self.store.problem().parameters.iter().cloned().zip(record.parameters.iter().map(|&value| value.into())).collect();
            json!({ "index": record.index, "seed": record.seed, "status": record.outcome.status, "parameters": parameters, "message": record.outcome.message, "count": count })
        };
        let object = json!({
            "directory": directory.path(),
            "seed": self.store.problem().seed,
            "parameters": self.store.problem().parameters,
            "statistics": self.store.problem().statistics,
            "simulations": Simulations::from(&self.store.counts()?),
            "statuses": statuses,
            "outstanding": self.outstanding,
            "failures": self.failures.iter().map(failure).collect::<Vec<_>>(),
            "stale": self.stale,
            "summary": self.summary,
            "answers": self.answers.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect::<Vec<_>>(),
        });
        Ok(format!("{object:#}\n"))
    }

    fn text(&self, directory: &Directory) -> String {
        let problem = self.store.problem();
        let mut text = format!("{}\n", directory.path().display());
        let _ = writeln!(text, "  parameters: {}", problem.parameters.join(", "));
        let _ = writeln!(text, "  statistics: {}", problem.statistics.join(", "));
        let _ = writeln!(text, "  seed: {}", problem.seed);
        let counts: Vec<String> = self.present().map(|(status, count)| format!("{count} {status}")).collect();
        let _ = writeln!(text, "  simulations: {}", if counts.is_empty() { "none".into() } else { counts.join(", ") });
        if self.outstanding > 0 {
            let _ = writeln!(text, "  handed out by `kelfi ask`, without a result so far: {}", self.outstanding);
        }
        for (record, count) in &self.failures {
            let theta: Vec<String> = problem
                .parameters
                .iter()
                .zip(&record.parameters)
                .map(|(name, &value)| format!("{name} = {}", show::number(value)))
                .collect();
            let _ = writeln!(text, "\nsimulation {} failed ({}) at {}", record.index, record.outcome.status, theta.join(", "));
            if *count > 1 {
                let _ = writeln!(text, "  {} more failed in the same way", count - 1);
            }
            for line in record.outcome.message.trim_end().lines() {
                let _ = writeln!(text, "  {line}");
            }
        }
        if !self.stale.is_empty() {
            let _ = writeln!(text, "\nstale");
            for line in &self.stale {
                let _ = writeln!(text, "  {line}");
            }
        }
        text.push('\n');
        text.push_str(&match &self.summary {
            Some(summary) => format!("{}{}{}{}", show::posterior(summary), show::model(summary), learned(summary), show::checks(summary)),
            None => format!("no model yet; `kelfi learn {}` makes one\n", directory.path().display()),
        });
        if !self.answers.is_empty() {
            let listed = answers::listed(self.answers.iter().map(|(name, summary)| (name.as_str(), summary)));
            let _ = write!(text, "\nanswers to other questions (`kelfi infer`), in answers/\n{listed}");
        }
        text
    }

    fn present(&self) -> impl Iterator<Item = (Status, u64)> + '_ {
        self.counts.iter().copied().filter(|(_, count)| *count > 0)
    }
}

fn learned(summary: &Summary) -> String {
    let h = &summary.hyperparameters;
    let mut text = String::from("\nlearned\n");
    // A location-scale model has these for the shape of its residuals, and no length scale where that is the same everywhere.
    let scales: Vec<String> = h.length_scale.iter().flatten().map(|scale| show::number(*scale)).collect();
    if !scales.is_empty() {
        let _ = writeln!(text, "  length scales: {} prior standard deviations", scales.join(", "));
        let _ = writeln!(text, "  regularization: {}", show::number(h.regularization));
    }
    if let Some(low_rank) = &h.low_rank {
        let _ = writeln!(text, "  solver: {low_rank}");
    }
    if let Some(score) = h.score {
        let _ = writeln!(text, "  leave-one-out posterior score: {} nats over the prior", show::number(score));
    }
    if let Some(evidence) = h.log_marginal_likelihood {
        let _ = writeln!(text, "  log evidence: {}", show::number(evidence));
    }
    let mut rows = vec![["statistic", "observed", "tolerance", "relevance"].map(str::to_owned)];
    for (name, s) in &summary.statistics.0 {
        rows.push([name.clone(), show::number(s.observed), show::number(s.epsilon), show::number(s.relevance)]);
    }
    text.push('\n');
    text + &show::columns(&rows)
}

/// One failure of each kind, with how many there are of it: of each status first, then of each first line of the message, up to
/// `most` kinds where there are not more statuses.
fn failures(store: &Store, most: usize) -> Result<Vec<(Record, u64)>, Failure> {
    let mut kinds: Vec<(Record, u64)> = Vec::new();
    let kind = |record: &Record| (record.outcome.status, record.outcome.message.lines().next().unwrap_or_default().to_owned());
    store.for_each(|record| {
        if !record.outcome.status.is_ok() {
            match kinds.iter().position(|(known, _)| kind(known) == kind(&record)) {
                Some(at) => kinds[at].1 += 1,
                None if kinds.len() < KINDS => kinds.push((record, 1)),
                None => {}
            }
        }
        Ok(())
    })?;
    let mut seen = std::collections::BTreeSet::new();
    let (first, further): (Vec<_>, Vec<_>) = kinds.into_iter().partition(|(record, _)| seen.insert(record.outcome.status));
    let room = most.saturating_sub(first.len());
    Ok(if most == 0 { vec![] } else { first.into_iter().chain(further.into_iter().take(room)).collect() })
}

/// Most kinds of failures told apart; a simulator may say something else each time.
const KINDS: usize = 1000;
