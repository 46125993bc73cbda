//! Parameters that were handed out, kept from that moment on: what a simulation is made at is read here, never computed again.

use super::origin::Origin;
use super::row::numbers;
use super::{Store, fact};
use crate::Error;
use crate::checksum::Checksum;
use rusqlite::{Connection, OptionalExtension, params};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Parameters to simulate at.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Position j in the run.
    pub index: u64,
    /// θ_j.
    pub parameters: Vec<f64>,
    /// Where they come from.
    pub origin: Origin,
}

impl Store {
    /// Keeps `points` as the next simulations to be made, all of them or none, and returns their indices: the first ones above
    /// everything that is recorded, reserved or proposed. When this returns they survive a power loss, so that a round that is
    /// interrupted goes on with the same parameters ([`Self::proposed_by`]).
    pub fn propose(&mut self, origin: Origin, points: &[Vec<f64>]) -> Result<Vec<u64>, Error> {
        let all: Vec<(Origin, Vec<f64>)> = points.iter().map(|point| (origin, point.clone())).collect();
        Ok(self.propose_each(&all)?.iter().map(|proposal| proposal.index).collect())
    }

    /// The same where each has an origin of its own.
    pub fn propose_each(&mut self, points: &[(Origin, Vec<f64>)]) -> Result<Vec<Proposal>, Error> {
        let first = self.next_index()?;
        let proposals: Vec<Proposal> =
            (first..).zip(points).map(|(index, (origin, point))| Proposal { index, parameters: point.clone(), origin: *origin }).collect();
        self.keep(&proposals)?;
        Ok(proposals)
    }

    /// The proposals of these indices, in this order. Those that are not there yet are draws of the prior, which `theta` gives; they
    /// are kept before this returns.
    pub fn hand_out(&mut self, indices: &[u64], theta: &dyn Fn(u64) -> Vec<f64>) -> Result<Vec<Proposal>, Error> {
        let mut known = self.proposed(indices)?;
        let mut new = Vec::new();
        let mut draw = |index| {
            let drawn = Proposal { index, parameters: theta(index), origin: Origin::Prior };
            new.push(drawn.clone());
            drawn
        };
        let all = indices.iter().map(|&index| known.remove(&index).unwrap_or_else(|| draw(index))).collect();
        self.keep(&new)?;
        Ok(all)
    }

    /// Those of these indices that were proposed.
    pub fn proposed(&self, indices: &[u64]) -> Result<BTreeMap<u64, Proposal>, Error> {
        let mut found = BTreeMap::new();
        if !self.has_proposals() {
            return Ok(found);
        }
        for &index in indices {
            if let Some(row) = one(&self.connection, index.cast_signed()).map_err(self.failed())? {
                found.insert(index, self.sound(row)?);
            }
        }
        Ok(found)
    }

    /// Removes every proposal.
    pub(super) fn forget_proposals(&mut self) -> Result<(), Error> {
        if !self.has_proposals() {
            return Ok(());
        }
        let path = self.path.clone();
        let failed = |error| Error::database(&path, error);
        let transaction = self.connection.transaction().map_err(failed)?;
        transaction.execute("DELETE FROM proposal", []).map_err(failed)?;
        Count::default().write(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    /// Every proposal of this origin, in the order of their index.
    pub fn proposed_by(&self, origin: Origin) -> Result<Vec<Proposal>, Error> {
        Ok(self.proposals()?.into_iter().filter(|proposal| proposal.origin == origin).collect())
    }

    /// Every proposal, in the order of their index, compared with what the store is known to hold.
    pub fn proposals(&self) -> Result<Vec<Proposal>, Error> {
        if !self.has_proposals() {
            return Ok(vec![]);
        }
        let moment = self.connection.unchecked_transaction().map_err(self.failed())?;
        let rows = all(&moment).map_err(self.failed())?;
        let counted = Count::read(&moment).map_err(|detail| self.damaged(detail))?;
        if counted != Count::of(&rows) {
            return Err(self.damaged(format!("{} proposals were written but {} are present", counted.rows, rows.len())));
        }
        rows.into_iter().map(|row| self.sound(row)).collect()
    }

    /// Writes new proposals in one transaction.
    fn keep(&mut self, proposals: &[Proposal]) -> Result<(), Error> {
        self.require_writable()?;
        if proposals.is_empty() {
            return Ok(());
        }
        proposals.iter().try_for_each(|proposal| self.check_proposal(proposal))?;
        let path = self.path.clone();
        let failed = |error| Error::database(&path, error);
        let transaction = self.connection.transaction().map_err(failed)?;
        let mut count = Count::read(&transaction).map_err(|detail| Error::Damaged { path: path.clone(), detail })?;
        for proposal in proposals {
            let row = Row::of(proposal);
            row.write(&transaction).map_err(failed)?;
            count.add(&row);
        }
        count.write(&transaction).map_err(failed)?;
        transaction.commit().map_err(failed)
    }

    fn check_proposal(&self, proposal: &Proposal) -> Result<(), Error> {
        let (given, wanted) = (proposal.parameters.len(), self.problem.parameters.len());
        let fact = if given != wanted {
            format!("{given} parameters were proposed, but the store has {wanted}")
        } else if let Some(at) = proposal.parameters.iter().position(|value| !value.is_finite()) {
            format!("`{}` of proposal {} is not finite", self.problem.parameters[at], proposal.index)
        } else if i64::try_from(proposal.index).is_err() {
            format!("index {} is beyond 2^63 - 1", proposal.index)
        } else {
            return Ok(());
        };
        Err(Error::setting(fact, "propose one finite number for each parameter"))
    }

    fn sound(&self, row: Row) -> Result<Proposal, Error> {
        let proposal = row.proposal().map_err(|detail| self.damaged(detail))?;
        if proposal.parameters.len() == self.problem.parameters.len() {
            return Ok(proposal);
        }
        Err(self.damaged(format!("proposal {} has {} parameters", proposal.index, proposal.parameters.len())))
    }
}

/// A proposal as SQLite holds it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub index: i64,
    pub parameters: String,
    pub origin: String,
    pub checksum: i64,
}

impl Row {
    pub fn of(proposal: &Proposal) -> Self {
        let index = proposal.index.cast_signed();
        Self::new(index, numbers(&proposal.parameters), proposal.origin.to_string())
    }

    /// With its checksum.
    pub fn new(index: i64, parameters: String, origin: String) -> Self {
        let mut row = Self { index, parameters, origin, checksum: 0 };
        row.checksum = row.sum();
        row
    }

    fn sum(&self) -> i64 {
        let fields = Checksum::default().bytes(&self.index.to_le_bytes()).field(Some(self.parameters.as_bytes()));
        fields.field(Some(self.origin.as_bytes())).value().cast_signed()
    }

    /// What it means, once it is known to be what was written.
    pub fn proposal(&self) -> Result<Proposal, String> {
        let index = self.index;
        if self.checksum != self.sum() {
            return Err(format!("proposal {index} does not match its checksum"));
        }
        let parameters =
            serde_json::from_str(&self.parameters).map_err(|error| format!("proposal {index} is not a list of numbers: {error}"))?;
        let origin = self.origin.parse().map_err(|error| format!("proposal {index}: {error}"))?;
        Ok(Proposal { index: u64::try_from(index).map_err(|_| format!("proposal {index} has a negative index"))?, parameters, origin })
    }

    pub fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        let text = "INSERT INTO proposal (id, parameters, origin, checksum) VALUES (?1, ?2, ?3, ?4)";
        connection.prepare_cached(text)?.execute(params![self.index, self.parameters, self.origin, self.checksum])?;
        Ok(())
    }

    fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { index: row.get(0)?, parameters: row.get(1)?, origin: row.get(2)?, checksum: row.get(3)? })
    }
}

const SELECT: &str = "SELECT id, parameters, origin, checksum FROM proposal";

/// The proposal of this index, if there is one.
pub(super) fn one(connection: &Connection, index: i64) -> rusqlite::Result<Option<Row>> {
    connection.prepare_cached(&format!("{SELECT} WHERE id = ?1"))?.query_row([index], Row::read).optional()
}

/// Every row, in the order of their index.
pub(super) fn all(connection: &Connection) -> rusqlite::Result<Vec<Row>> {
    connection.prepare(&format!("{SELECT} ORDER BY id"))?.query_map([], Row::read)?.collect()
}

/// The name of the fact how many proposals there are.
pub(super) const FACT: &str = "proposals";

/// How many proposals a store must hold, and the sum of their checksums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Count {
    rows: u64,
    sum: u64,
}

impl Count {
    pub fn of(rows: &[Row]) -> Self {
        let mut count = Self::default();
        rows.iter().for_each(|row| count.add(row));
        count
    }

    fn add(&mut self, row: &Row) {
        self.rows += 1;
        self.sum = self.sum.wrapping_add(row.checksum.cast_unsigned());
    }

    pub fn read(connection: &Connection) -> Result<Self, String> {
        let text = fact::read(connection, FACT)?.ok_or("the number of its proposals is missing")?;
        serde_json::from_str(&text).map_err(|error| format!("the number of its proposals cannot be read: {error}"))
    }

    pub fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        fact::write(connection, FACT, &serde_json::json!(self).to_string())
    }
}
