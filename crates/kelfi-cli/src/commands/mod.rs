//! The commands, one a file.

pub mod ask;
pub mod check;
pub mod compare;
pub mod documents;
pub mod export;
pub mod import;
pub mod infer;
pub mod init;
pub mod inspect;
pub mod learn;
pub mod methods;
pub mod npz;
pub mod problems;
pub mod report;
pub mod run;
pub mod sample;
pub mod simulate;
pub mod tell;

use crate::arguments::{Place, Voice};
use crate::directory::Directory;
use crate::failure::Failure;
use crate::problem::ProblemFile;
use crate::summary::Simulations;
use kelfi::words::counted;
use kelfi_run::Store;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The problem with what was typed in place of what the file says, and where its results go.
fn problem(place: &Place, simulations: Option<u64>) -> Result<(ProblemFile, Directory), Failure> {
    let file = problem_file(&place.problem)?;
    let mut problem = ProblemFile::load(&file)?;
    problem.seed = place.seed.unwrap_or(problem.seed);
    problem.simulations = simulations.unwrap_or(problem.simulations);
    Ok((problem, Directory::of(&file, place.out.as_deref())))
}

/// The problem file that was meant: the one of a directory where a directory is given.
fn problem_file(typed: &Path) -> Result<PathBuf, Failure> {
    if !typed.is_dir() {
        return Ok(typed.to_path_buf());
    }
    let file = typed.join("problem.toml");
    if file.is_file() {
        return Ok(file);
    }
    Err(Failure::input(format!("there is no problem.toml in {}\n  give a problem file, or an existing run directory", typed.display())))
}

/// How many simulations there are now, said in the way asked for. `new` is how many this command brought.
fn say_counts(store: &Store, directory: &Directory, voice: &Voice, new: Option<usize>) -> Result<(), Failure> {
    let counts = Simulations::from(&store.counts()?);
    if voice.json {
        let mut object = json!({ "directory": directory.path(), "simulations": counts });
        if let (Some(new), Some(object)) = (new, object.as_object_mut()) {
            object.insert("new".into(), new.into());
        }
        return crate::show::print(&format!("{object:#}\n"));
    }
    if voice.quiet {
        return Ok(());
    }
    let brought = new.map_or_else(String::new, |new| format!("{new} new; "));
    crate::show::print(&format!(
        "{brought}{} succeeded, {} failed, in {}\n",
        counted(counts.ok, "simulation"),
        counts.failed,
        directory.path().display()
    ))
}
