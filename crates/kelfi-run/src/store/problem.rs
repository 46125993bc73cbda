//! The problem a store was made for: its text, and what a changed one changes.

use super::fact;
use crate::checksum::Checksum;
use kelfi::Outputs;
use rusqlite::{Connection, params};
use serde_json::Value;
use std::collections::BTreeMap;

/// What identifies the problem of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredProblem {
    /// The whole problem, as JSON if differences are to be named by key. Kept, compared, never acted upon.
    pub text: String,
    /// Names of the parameters, in order.
    pub parameters: Vec<String>,
    /// Names of the statistics, in order.
    pub statistics: Vec<String>,
    /// Seed of the run.
    pub seed: u64,
}

/// The key in a problem's text that says what one simulation gives; stores without it hold statistics.
pub const OUTPUTS: &str = "outputs";

impl StoredProblem {
    /// What one simulation gives, as the text says it.
    pub fn outputs(&self) -> Outputs {
        let text = serde_json::from_str::<Value>(&self.text).ok();
        let said = text.and_then(|mut text| Some(text.get_mut(OUTPUTS)?.take()));
        said.and_then(|said| serde_json::from_value(said).ok()).unwrap_or_default()
    }

    /// A short fingerprint of the text: FNV-1a, 64 bits, as 16 hexadecimal digits. Tells problems apart; no protection from forgery.
    pub fn hash(&self) -> String {
        Checksum::of(self.text.as_bytes()).hex()
    }

    /// The checksum of text, names and seed.
    fn checksum(&self) -> String {
        let names = |sum: Checksum, names: &[String]| names.iter().fold(sum, |sum, name| sum.field(Some(name.as_bytes()))).field(None);
        let sum = Checksum::default().field(Some(self.text.as_bytes())).bytes(&self.seed.to_le_bytes());
        names(names(sum, &self.parameters), &self.statistics).hex()
    }

    /// One line for everything that differs from `stored`: key, stored value, value now.
    pub fn differences_from(&self, stored: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut note = |key: &str, before: String, now: String| {
            if before != now {
                differences.push(format!("{key}: {before} in the store, {now} now"));
            }
        };
        note("parameters", stored.parameters.join(", "), self.parameters.join(", "));
        note("statistics", stored.statistics.join(", "), self.statistics.join(", "));
        note("seed", stored.seed.to_string(), self.seed.to_string());
        let (before, now) = (leaves(&stored.text), leaves(&self.text));
        let keys: std::collections::BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let shown = |leaf: Option<&String>| leaf.map_or_else(|| "absent".to_owned(), Clone::clone);
        for key in keys {
            note(key, shown(before.get(key)), shown(now.get(key)));
        }
        differences.sort();
        differences.dedup();
        differences
    }
}

/// Every value of a JSON text by its path; of any other text, every line by its number.
fn leaves(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    match serde_json::from_str::<Value>(text) {
        Ok(value) => collect("", &value, &mut found),
        Err(_) => found.extend(text.lines().enumerate().map(|(at, line)| (format!("line {}", at + 1), format!("{line:?}")))),
    }
    found
}

fn collect(path: &str, value: &Value, found: &mut BTreeMap<String, String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) if !object.is_empty() => object.iter().for_each(|(key, value)| collect(&below(key), value, found)),
        Value::Array(array) if !array.is_empty() => {
            array.iter().enumerate().for_each(|(at, value)| collect(&format!("{path}[{at}]"), value, found));
        }
        leaf => drop(found.insert(path.to_owned(), leaf.to_string())),
    }
}

/// The name of the fact that is the problem's checksum.
pub(super) const FACT: &str = "problem";

/// Writes the one row of the problem, and its checksum.
pub(super) fn write(connection: &Connection, problem: &StoredProblem) -> rusqlite::Result<()> {
    let names = |names: &[String]| Value::from(names).to_string();
    connection.execute(
        "INSERT OR REPLACE INTO problem (id, text, hash, parameters, statistics, seed) VALUES (1, ?1, ?2, ?3, ?4, ?5)",
        params![problem.text, problem.hash(), names(&problem.parameters), names(&problem.statistics), problem.seed.to_string()],
    )?;
    fact::write(connection, FACT, &problem.checksum())
}

/// Reads it back, or says what is wrong with it. Stores of older versions have no facts.
pub(super) fn read(connection: &Connection, has_facts: bool) -> Result<StoredProblem, String> {
    let row = connection.query_row("SELECT text, hash, parameters, statistics, seed FROM problem WHERE id = 1", [], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, String>(1)?,
            row.get::<_, String>(2)?,
            row.get::<_, String>(3)?,
            row.get::<_, String>(4)?,
        ))
    });
    let (text, hash, parameters, statistics, seed) = row.map_err(|error| format!("the problem cannot be read: {error}"))?;
    let names = |json: &str| serde_json::from_str(json).map_err(|error| format!("names cannot be read: {error}"));
    let seed = seed.parse().map_err(|_| format!("the seed is {seed:?}"))?;
    let problem = StoredProblem { text, parameters: names(&parameters)?, statistics: names(&statistics)?, seed };
    if problem.hash() != hash {
        return Err(format!("the problem's fingerprint is {} but {hash} was stored", problem.hash()));
    }
    if has_facts && fact::read(connection, FACT)?.is_some_and(|stored| stored != problem.checksum()) {
        return Err("the problem's names or seed do not match their checksum".into());
    }
    Ok(problem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str) -> StoredProblem {
        StoredProblem { text: text.into(), parameters: vec!["rate".into()], statistics: vec!["mean".into()], seed: 1 }
    }

    #[test]
    fn differences_are_named_by_key_with_both_values() {
        let before = problem(r#"{"prior":{"rate":{"low":0.1,"high":10}},"command":["a","b"]}"#);
        let now = problem(r#"{"prior":{"rate":{"low":0.2,"high":10}},"command":["a","b","c"]}"#);
        let expected = ["command[2]: absent in the store, \"c\" now", "prior.rate.low: 0.1 in the store, 0.2 now"];
        assert_eq!(now.differences_from(&before), expected);
        assert!(now.differences_from(&now).is_empty());
    }

    #[test]
    fn layout_and_order_of_keys_make_no_difference() {
        assert!(problem(r#"{"a":1,"b":2}"#).differences_from(&problem("{ \"b\": 2,\n\"a\": 1 }")).is_empty());
    }

    #[test]
    fn another_seed_is_a_difference_and_plain_text_is_compared_by_line() {
        let changed = StoredProblem { seed: 2, ..problem("x\ny") };
        assert_eq!(changed.differences_from(&problem("x\nz")), ["line 2: \"z\" in the store, \"y\" now", "seed: 1 in the store, 2 now"]);
    }
}
