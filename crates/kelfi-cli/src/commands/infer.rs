//! `kelfi infer`: other questions to the simulations of a run directory, each answered in a folder of its own.

use crate::answer::{self, Asking};
use crate::answers::{self, Answers};
use crate::arguments::Infer;
use crate::directory::Directory;
use crate::failure::{Exit, Failure};
use crate::made::Made;
use crate::problem::ProblemFile;
use crate::question::{self, Changes};
use crate::summary::Summary;
use crate::{show, threads};
use kelfi::words::counted;
use serde_json::json;
use std::path::Path;

pub fn run(typed: &Infer) -> Result<(), Failure> {
    let directory = Directory::at(&typed.directory);
    let (problem, store) = directory.read()?;
    let asked = Changes {
        observation: typed.observation.as_deref().map(|text| question::observation(text, &problem)).transpose()?,
        prior: typed.prior.as_deref().map(|file| question::prior(file, &problem)).transpose()?,
        ignored: typed.ignore.clone(),
    };
    threads::use_threads(typed.learning.threads)?;
    let made = Made::read(&store)?;
    drop(store);
    let session = Session { typed, problem, made, answers: Answers::of(&directory) };
    match &typed.observations {
        Some(file) => session.many(&asked, file),
        None => session.one(&asked),
    }
}

/// A run directory that is asked.
struct Session<'a> {
    typed: &'a Infer,
    problem: ProblemFile,
    made: Made,
    answers: Answers,
}

impl Session<'_> {
    fn one(&self, asked: &Changes) -> Result<(), Failure> {
        let name = self.typed.name.as_deref().unwrap_or_default();
        let (summary, place) = self.answered(name, asked)?;
        self.say(&summary, &place)?;
        show::require_no_failed(&summary.checks)
    }

    /// An answer for each row of a file, and a table of all.
    fn many(&self, asked: &Changes, file: &Path) -> Result<(), Failure> {
        if self.problem.outputs.in_rows() {
            let advice = "ask once for each with --observation FILE.csv and a --name";
            return Err(Failure::input(format!(
                "--observations has one observation a row, and the outputs are data sets of many rows\n  {advice}"
            )));
        }
        let (names, rows) = question::table(file)?;
        let labels = answers::labels(&names, &rows, self.typed.name.as_deref(), &self.problem)?;
        let values = |at: usize| question::values(file, at + 2, &names, &rows[at], &self.problem);
        // Every row is read before the first answer is sought.
        let questions: Vec<Changes> =
            (0..rows.len()).map(|at| Ok(Changes { observation: Some(values(at)?), ..asked.clone() })).collect::<Result<_, Failure>>()?;
        questions.iter().try_for_each(|asked| asked.of(&self.problem).map(drop))?;
        let (mut found, mut worst) = (vec![], None);
        for (label, asked) in labels.iter().zip(&questions) {
            match self.answered(label, asked) {
                Ok((summary, _)) => {
                    if let Err(failure) = show::require_no_failed(&summary.checks) {
                        self.complain(label, &failure);
                        worst.get_or_insert(failure.exit);
                    }
                    found.push((label.clone(), Some(summary)));
                }
                Err(failure) if failure.exit == Exit::Inference => {
                    self.complain(label, &failure);
                    worst = Some(failure.exit);
                    found.push((label.clone(), None));
                }
                Err(failure) => return Err(failure),
            }
        }
        let table = self.answers.write_table(&self.problem, &labels, &questions, &found)?;
        self.say_all(&found, &table)?;
        match worst {
            None => Ok(()),
            Some(exit) => Err(Failure {
                exit,
                message: format!("some answers failed or have warnings\n  {} has the status of each", table.display()),
            }),
        }
    }

    fn complain(&self, label: &str, failure: &Failure) {
        show::say(&format!("{label}: {}", failure.message));
    }

    fn answered(&self, name: &str, asked: &Changes) -> Result<(Summary, Directory), Failure> {
        let problem = asked.of(&self.problem)?;
        let place = self.answers.make(name)?;
        let voice = &self.typed.voice;
        let print = self.typed.observations.is_none() && !voice.json && !voice.quiet;
        let asking = Asking { learning: &self.typed.learning, samples: self.typed.samples, quiet: voice.quiet, print };
        place.write("problem.toml", problem.as_run(place.path())?.as_bytes())?;
        let summary = answer::answer(&problem, &self.made, &place, &asking, None, None)?;
        Ok((summary, place))
    }

    fn say(&self, summary: &Summary, place: &Directory) -> Result<(), Failure> {
        match (self.typed.voice.json, self.typed.voice.quiet) {
            (true, _) => show::print(&format!("{}\n", summary.json()?)),
            (_, true) => Ok(()),
            _ => show::print(&show::examined(summary, place, &[&["problem.toml"], &answer::FILES[..]].concat())),
        }
    }

    fn say_all(&self, found: &[(String, Option<Summary>)], table: &Path) -> Result<(), Failure> {
        match (self.typed.voice.json, self.typed.voice.quiet) {
            (true, _) => {
                let answers: Vec<_> = found.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect();
                show::print(&format!("{:#}\n", json!({ "answers": answers, "table": table })))
            }
            (_, true) => Ok(()),
            _ => {
                let known = found.iter().filter_map(|(name, summary)| Some((name.as_str(), summary.as_ref()?)));
                show::print(&format!("{}\n{} in {}\n", answers::listed(known), counted(found.len() as u64, "answer"), table.display()))
            }
        }
    }
}
