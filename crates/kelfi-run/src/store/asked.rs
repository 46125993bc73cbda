//! Simulations handed out to be made elsewhere (Slurm, a laboratory, by hand), so that asking twice gives different ones.

use super::{Store, lock::now};
use crate::Error;

impl Store {
    /// Reserves the `count` smallest indices that are neither recorded nor reserved, durably, and returns them in order.
    pub fn ask(&mut self, count: usize) -> Result<Vec<u64>, Error> {
        self.ask_below(count, i64::MAX.unsigned_abs())
    }

    /// The same of those below `end`: fewer where there are no more.
    pub fn ask_below(&mut self, count: usize, end: u64) -> Result<Vec<u64>, Error> {
        self.require_writable()?;
        let path = self.path.clone();
        let failed = |error| Error::database(&path, error);
        let since = now();
        let transaction = self.connection.transaction().map_err(failed)?;
        let mut reserved = Vec::with_capacity(count);
        {
            let mut taken = transaction
                .prepare("SELECT EXISTS (SELECT 1 FROM simulation WHERE id = ?1) OR EXISTS (SELECT 1 FROM asked WHERE id = ?1)")
                .map_err(failed)?;
            let mut reserve = transaction.prepare("INSERT INTO asked (id, since) VALUES (?1, ?2)").map_err(failed)?;
            for index in 0_i64..i64::try_from(end).unwrap_or(i64::MAX) {
                if reserved.len() == count {
                    break;
                }
                if !taken.query_row([index], |row| row.get::<_, bool>(0)).map_err(failed)? {
                    reserve.execute((index, &since)).map_err(failed)?;
                    reserved.push(index.unsigned_abs());
                }
            }
        }
        transaction.commit().map_err(failed)?;
        Ok(reserved)
    }

    /// Reserved indices without a result yet, in order.
    pub fn outstanding(&self) -> Result<Vec<u64>, Error> {
        let text = "SELECT id FROM asked WHERE id NOT IN (SELECT id FROM simulation) ORDER BY id";
        let mut query = self.connection.prepare(text).map_err(self.failed())?;
        let rows = query.query_map([], |row| row.get::<_, i64>(0)).map_err(self.failed())?;
        rows.map(|row| row.map(i64::unsigned_abs).map_err(self.failed())).collect()
    }

    /// Gives up every reservation, so that those simulations can be asked for or run again. Returns how many were outstanding.
    pub fn withdraw(&mut self) -> Result<usize, Error> {
        self.require_writable()?;
        self.connection.execute("DELETE FROM asked WHERE id NOT IN (SELECT id FROM simulation)", []).map_err(self.failed())
    }

    /// The smallest index above every recorded, reserved and proposed one: where imported simulations begin.
    pub fn next_index(&self) -> Result<u64, Error> {
        self.require_writable()?;
        let text = "SELECT coalesce(max(id) + 1, 0) FROM (SELECT max(id) AS id FROM simulation UNION ALL SELECT max(id) FROM asked UNION ALL SELECT max(id) FROM proposal)";
        self.connection.query_row(text, [], |row| row.get::<_, i64>(0)).map(i64::unsigned_abs).map_err(self.failed())
    }
}
