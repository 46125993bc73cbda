//! Mending a damaged store: what is sound goes into a new one, the damaged file is kept beside it.

use super::lock::Lock;
use super::problem::{self, StoredProblem};
use super::proposal::{self, Count};
use super::survey::Survey;
use super::tally::{self, Tally};
use super::{Store, companion, connect, create, make_durable, schema};
use crate::{Error, Record, Seeds};
use rusqlite::{Connection, OpenFlags};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// What mending did.
#[derive(Debug)]
pub struct Mended {
    /// Simulations that were kept.
    pub kept: u64,
    /// Simulations that were lost.
    pub lost: u64,
    /// Their indices, where they can be told.
    pub indices: Vec<u64>,
    /// How many of them were told or imported, so that nobody here can make them again.
    pub elsewhere: u64,
    /// Where the damaged file is.
    pub former: PathBuf,
}

impl Store {
    /// How many simulations that had been told or imported were lost to damage and have not been brought again.
    pub fn lost_elsewhere(&self) -> Result<u64, Error> {
        let Some(before) = self.fact(tally::ELSEWHERE)?.and_then(|text| text.parse::<u64>().ok()) else { return Ok(0) };
        let now = Tally::read(&self.connection).map_err(|detail| self.damaged(detail))?;
        Ok(before.saturating_sub(now.elsewhere))
    }

    /// Puts a new store with everything that is sound in place of a damaged one, which is kept beside it. Where the stored
    /// problem cannot be read, `problem` takes its place, and `belongs` says of a record whether it can be a simulation of it. `None`
    /// where nothing is damaged.
    pub fn mend(path: &Path, problem: &StoredProblem, belongs: &dyn Fn(&Record) -> bool) -> Result<Option<Mended>, Error> {
        let lock = Lock::acquire(path)?;
        let mut survey = Survey::of(path)?;
        if survey.is_sound() {
            return Ok(None);
        }
        let before = survey.rows.len();
        if survey.problem.is_none() {
            survey.rows.retain(|(_, record)| belongs(record));
        }
        let strange = (before - survey.rows.len()) as u64;
        let former = keep(path)?;
        create::put_in_place(path, |temporary| {
            let failed = |error| Error::database(path, error);
            let connection = connect(temporary, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
            let lost = || Seeds::told_by(survey.rows.iter().map(|(_, record)| record), problem);
            schema::create(&connection, &survey.problem.clone().unwrap_or_else(lost)).map_err(failed)?;
            fill(&connection, &survey).map_err(failed)?;
            make_durable(&connection).map_err(failed)?;
            connection.close().map_err(|(_, error)| failed(error))
        })?;
        drop(lock);
        let kept = survey.rows.len() as u64;
        Ok(Some(Mended { kept, lost: survey.lost + strange, indices: survey.damaged, elsewhere: survey.lost_elsewhere, former }))
    }
}

fn fill(connection: &Connection, survey: &Survey) -> rusqlite::Result<()> {
    let transaction = connection.unchecked_transaction()?;
    let mut tally = Tally::default();
    for (row, record) in &survey.rows {
        row.write(&transaction)?;
        tally.add(record.index, row.checksum, record.source);
    }
    tally.write(&transaction)?;
    for proposal in &survey.proposals {
        proposal.write(&transaction)?;
    }
    Count::of(&survey.proposals).write(&transaction)?;
    for (index, since) in &survey.asked {
        transaction.execute("INSERT OR IGNORE INTO asked (id, since) VALUES (?1, ?2)", (index, since))?;
    }
    if survey.lost_elsewhere > 0 {
        super::fact::write(&transaction, tally::ELSEWHERE, &(tally.elsewhere + survey.lost_elsewhere).to_string())?;
    }
    for (name, value) in survey
        .facts
        .iter()
        .filter(|(name, _)| !tally::is_own(name) && ![problem::FACT, proposal::FACT].contains(&name.as_str()) && name != tally::ELSEWHERE)
    {
        super::fact::write(&transaction, name, value)?;
    }
    transaction.commit()
}

/// Gives the damaged file, and its log, a second name.
fn keep(path: &Path) -> Result<PathBuf, Error> {
    for number in 1.. {
        let former = companion(path, &if number == 1 { ".damaged".to_owned() } else { format!(".damaged-{number}") });
        match std::fs::hard_link(path, &former) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            Err(_) if !former.exists() => drop(std::fs::copy(path, &former).map_err(|error| Error::file(&former, error))?),
            Err(error) => return Err(Error::file(&former, error)),
            Ok(()) => {}
        }
        let log = companion(path, "-wal");
        if log.exists() {
            let kept = companion(&former, "-wal");
            std::fs::copy(&log, &kept).map_err(|error| Error::file(&kept, error))?;
        }
        return Ok(former);
    }
    Err(Error::file(path, ErrorKind::AlreadyExists.into()))
}
