//! Which state of the simulator's files made which simulations, so that a changed script is noticed.

use super::{Store, fact};
use crate::Error;
use std::collections::BTreeMap;

/// The files a simulator consists of, by name, with a fingerprint of each.
pub type Files = BTreeMap<String, String>;

const PREFIX: &str = "simulator.";

/// A state of the simulator and how many simulations it made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MadeBy {
    /// Its files.
    pub files: Files,
    /// How many simulations.
    pub simulations: u64,
}

impl Store {
    /// Marks all simulations of this process's own from here on as made by these files.
    pub fn made_by(&mut self, files: &Files) -> Result<(), Error> {
        self.require_writable()?;
        let known = self.states()?;
        let last = known.last().filter(|(_, last)| last == files).map(|(number, _)| *number);
        let number = match last {
            Some(number) => number,
            None => {
                let number = known.last().map_or(1, |(number, _)| number + 1);
                let text = serde_json::to_string(files).map_err(|error| self.damaged(error.to_string()))?;
                self.set_fact(&format!("{PREFIX}{number:06}"), &text)?;
                number
            }
        };
        self.simulator = Some(number);
        Ok(())
    }

    /// The states of the simulator that made simulations of this store, oldest first. Simulations of older versions of this
    /// library, and those made elsewhere, are not among them.
    pub fn makers(&self) -> Result<Vec<MadeBy>, Error> {
        if !self.has_facts() {
            return Ok(vec![]);
        }
        let text = "SELECT simulator, count(*) FROM simulation WHERE simulator IS NOT NULL GROUP BY simulator";
        let mut query = self.connection.prepare(text).map_err(self.failed())?;
        let rows = query.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?))).map_err(self.failed())?;
        let counts: BTreeMap<i64, i64> = rows.collect::<Result<_, _>>().map_err(self.failed())?;
        let states = self.states()?.into_iter();
        let made = |(number, files): (i64, Files)| Some(MadeBy { files, simulations: counts.get(&number)?.unsigned_abs() });
        Ok(states.filter_map(made).collect())
    }

    fn states(&self) -> Result<Vec<(i64, Files)>, Error> {
        let facts = fact::all(&self.connection).map_err(self.failed())?;
        let state = |(name, value): (String, String)| {
            let number = name.strip_prefix(PREFIX)?.parse().ok()?;
            Some((number, serde_json::from_str(&value).ok()?))
        };
        Ok(facts.into_iter().filter_map(state).collect())
    }
}
