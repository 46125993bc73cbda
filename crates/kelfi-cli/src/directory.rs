//! A run directory: where its files are, and how its store is opened without ever mixing two problems.

use crate::failure::{Exit, Failure};
use crate::made::Made;
use crate::problem::{ProblemFile, identity};
use kelfi::words::counted;
use kelfi_run::store::Mended;
use kelfi_run::{Origin, Record, Seeds, Source, Store, files};
use std::path::{Path, PathBuf};

/// A run directory.
#[derive(Debug, Clone)]
pub struct Directory(PathBuf);

impl Directory {
    /// The directory at this path, which may not exist yet.
    pub fn at(path: &Path) -> Self {
        Self(path.to_path_buf())
    }

    /// Where results of a problem file go: as told, else beside it and named after it. The problem file of a run directory belongs
    /// to that directory.
    pub fn of(problem: &Path, out: Option<&Path>) -> Self {
        let folder = problem.parent().map(Path::to_path_buf).unwrap_or_default();
        match out {
            Some(out) => Self::at(out),
            None if problem.file_name().is_some_and(|name| name == "problem.toml") && folder.join("store.sqlite").is_file() => {
                Self(if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder })
            }
            None => Self(match problem.extension() {
                Some(_) => problem.with_extension(""),
                None => PathBuf::from(format!("{}.run", problem.display())),
            }),
        }
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The store.
    pub fn store(&self) -> PathBuf {
        self.file("store.sqlite")
    }

    /// Opens or makes the store of this problem for writing, and keeps the problem beside it. Another prior, simulator or seed is
    /// refused; another observation is taken over.
    pub fn open(&self, problem: &ProblemFile) -> Result<Store, Failure> {
        if Store::exists(&self.store())? {
            return self.adopt(problem, Store::open(&self.store())?);
        }
        self.check_free()?;
        self.adopt(problem, Store::open_or_create(&self.store(), &problem.identity(Seeds::Short))?)
    }

    /// [`Self::open`], where simulations can be made again: a damaged store is mended first. What was lost is told; where it cannot be
    /// made again here, that is the end of it. Gives what the store holds too, so that nobody needs to read it again.
    pub fn open_mended(&self, problem: &ProblemFile) -> Result<(Store, Made), Failure> {
        if Store::exists(&self.store())? {
            let examined = |store: Store| store.proposals().and_then(|_| store.records()).map(|records| (store, records));
            match Store::open(&self.store()).and_then(examined) {
                Err(kelfi_run::Error::Damaged { .. }) => self.mend(problem)?,
                opened => {
                    let (store, records) = opened?;
                    let made = Made::of(&store, records)?;
                    let store = self.adopt(problem, store)?;
                    let counts = store.counts()?;
                    // A run that begins again has forgotten its failures.
                    let made = if counts.ok() + counts.failed() == 0 { Made::read(&store)? } else { made };
                    return Ok((store, made));
                }
            }
        }
        let store = self.open(problem)?;
        let made = Made::read(&store)?;
        Ok((store, made))
    }

    fn mend(&self, problem: &ProblemFile) -> Result<(), Failure> {
        let belongs = |record: &Record| match record.origin {
            Origin::Prior if record.source != Source::Import => record.parameters == problem.theta(record.index),
            _ => problem.prior.to_latent(&record.parameters).is_ok(),
        };
        let Some(mended) = Store::mend(&self.store(), &problem.identity(Seeds::Short), &belongs)? else { return Ok(()) };
        let fact = format!("{} was damaged: {}", self.store().display(), told(&mended));
        if mended.elsewhere == 0 {
            eprintln!("warning: {fact}; lost simulations are made again");
            return Ok(());
        }
        let message = format!(
            "{fact}\n  {} of the lost simulations had been told or imported: bring them in again with `kelfi tell` or `kelfi import`, \
             or restore a backup; then run again",
            mended.elsewhere
        );
        Err(Failure { exit: Exit::Store, message })
    }

    /// Takes over another observation, refuses everything else that changed, and keeps the problem beside the store.
    fn adopt(&self, problem: &ProblemFile, mut store: Store) -> Result<Store, Failure> {
        let now = problem.identity(Seeds::of(store.problem()));
        let (grave, harmless) = identity::differences(&now, store.problem());
        if !grave.is_empty() {
            let begun = store.begin_again(&problem.identity(Seeds::Short))?;
            if !begun {
                return Err(kelfi_run::Error::ChangedProblem { differences: grave }.into());
            }
            crate::show::say("note: the problem has changed and no simulation had succeeded; the run begins again");
        } else if harmless {
            store.replace_problem(&now)?;
        }
        let text = problem.as_run(&self.0)?;
        if std::fs::read(self.file("problem.toml")).ok().as_deref() != Some(text.as_bytes()) {
            files::write_bytes_atomically(&self.file("problem.toml"), text.as_bytes())?;
        }
        Ok(store)
    }

    /// Refuses a place where a new run would be in somebody's way.
    fn check_free(&self) -> Result<(), Failure> {
        let refuse = |fact: String| Err(Failure::input(format!("{fact}\n  choose another directory with `--out`")));
        if self.0.exists() && !self.0.is_dir() {
            return refuse(format!("{} is not a directory", self.0.display()));
        }
        // With a store whose making was cut short, it is this run's own.
        if self.file("problem.toml").exists() && !self.store().exists() {
            return refuse(format!("{} contains another problem file, which this run would overwrite", self.0.display()));
        }
        Ok(())
    }

    /// The problem of an existing run directory.
    pub fn problem(&self) -> Result<ProblemFile, Failure> {
        if !Store::exists(&self.store())? {
            return Err(kelfi_run::Error::Missing { path: self.store() }.into());
        }
        ProblemFile::load(&self.file("problem.toml"))
    }

    /// ProblemFile and store of an existing run directory, for reading.
    pub fn read(&self) -> Result<(ProblemFile, Store), Failure> {
        let problem = self.problem()?;
        let store = Store::read(&self.store())?;
        let (grave, _) = identity::differences(&problem.identity(Seeds::of(store.problem())), store.problem());
        if grave.is_empty() { Ok((problem, store)) } else { Err(kelfi_run::Error::ChangedProblem { differences: grave }.into()) }
    }

    /// Removes a file of the directory, if it is there.
    pub fn remove(&self, name: &str) -> Result<(), Failure> {
        let path = self.file(name);
        match std::fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(kelfi_run::Error::File { path, source }.into()),
            _ => Ok(()),
        }
    }

    /// Makes the directory where it is not there yet.
    pub fn make(&self) -> Result<(), Failure> {
        std::fs::create_dir_all(&self.0).map_err(|error| {
            Failure::input(format!("{} cannot be created: {error}\n  choose another directory with `--out`", self.0.display()))
        })
    }

    /// Writes a file of the directory, whole or not at all.
    pub fn write(&self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        Ok(files::write_bytes_atomically(&self.file(name), contents)?)
    }
}

fn told(mended: &Mended) -> String {
    let named = if mended.indices.is_empty() { String::new() } else { format!(" ({})", listed(&mended.indices)) };
    let simulations = format!("{} lost", counted(mended.lost, "simulation"));
    format!("{simulations}{named}, {} kept; the damaged file is {}", mended.kept, mended.former.display())
}

/// Indices for people: the first of them, and how many more there are.
pub fn listed(indices: &[u64]) -> String {
    const SHOWN: usize = 20;
    let mut text = indices.iter().take(SHOWN).map(u64::to_string).collect::<Vec<_>>().join(", ");
    if indices.len() > SHOWN {
        text.push_str(&format!(" and {} more", indices.len() - SHOWN));
    }
    text
}
