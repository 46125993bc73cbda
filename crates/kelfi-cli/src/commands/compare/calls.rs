//! Every call of a simulator with what came of it, one a line: a comparison that is run again asks for none twice.

use crate::failure::Failure;
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Seed and bits of the parameters.
type Key = (u64, Vec<u64>);

/// A file that grows by a line for each call.
pub struct CallLog {
    inner: Mutex<Inner>,
}

struct Inner {
    file: File,
    known: HashMap<Key, Option<Vec<f64>>>,
}

impl CallLog {
    /// Opens the log of this simulator; one of another simulator is begun anew. A last line that was cut short is left out.
    pub fn open(path: &Path, simulator: &str) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::input(format!("{} cannot be written: {error}\n  choose another directory with `--out`", path.display()))
        };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(cannot)?;
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let heading = format!("calls of {simulator}\n");
        let mut known = HashMap::new();
        match text.strip_prefix(&heading) {
            Some(lines) => {
                let whole = lines.rfind('\n').map_or(0, |end| end + 1);
                known.extend(lines[..whole].lines().filter_map(read));
                // Where every call failed, something beside the simulator may have been wrong that is right now: a missing library, say.
                let all_failed = known.values().all(Option::is_none);
                if all_failed {
                    known.clear();
                }
                file.set_len((heading.len() + if all_failed { 0 } else { whole }) as u64).map_err(cannot)?;
            }
            None => {
                file.set_len(0).map_err(cannot)?;
                file.write_all(heading.as_bytes()).map_err(cannot)?;
            }
        }
        file.seek(SeekFrom::End(0)).map_err(cannot)?;
        Ok(Self { inner: Mutex::new(Inner { file, known }) })
    }

    /// What came of a call made before; the inner `None` is a failure.
    pub fn known(&self, seed: u64, theta: &[f64]) -> Option<Option<Vec<f64>>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner).known.get(&key(seed, theta)).cloned()
    }

    /// Writes a call down. A disk that is full costs the memory of it, not the call.
    pub fn add(&self, seed: u64, theta: &[f64], x: Option<&[f64]>) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = inner.file.write_all(line(seed, theta, x).as_bytes());
        inner.known.insert(key(seed, theta), x.map(<[f64]>::to_vec));
    }
}

fn key(seed: u64, theta: &[f64]) -> Key {
    (seed, theta.iter().map(|t| t.to_bits()).collect())
}

/// `seed;θ₁ θ₂;x₁ x₂`, nothing for the statistics of a failure. Numbers are the shortest that read back as the same bits.
fn line(seed: u64, theta: &[f64], x: Option<&[f64]>) -> String {
    let numbers = |values: &[f64]| values.iter().map(|v| format!("{v:?}")).collect::<Vec<_>>().join(" ");
    format!("{seed};{};{}\n", numbers(theta), x.map(numbers).unwrap_or_default())
}

fn read(line: &str) -> Option<(Key, Option<Vec<f64>>)> {
    let mut parts = line.split(';');
    let seed: u64 = parts.next()?.parse().ok()?;
    let numbers = |text: &str| text.split(' ').map(|v| v.parse::<f64>().ok()).collect::<Option<Vec<f64>>>();
    let theta = numbers(parts.next()?)?;
    let x = match parts.next()? {
        "" => None,
        text => Some(numbers(text)?),
    };
    Some((key(seed, &theta), x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_known_again_to_the_bit_and_a_torn_line_or_another_simulator_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.txt");
        let log = CallLog::open(&path, "a").unwrap();
        log.add(u64::MAX, &[0.1 + 0.2, -0.0], Some(&[1e-300, f64::MAX]));
        log.add(2, &[1.0, 2.0], None);
        drop(log);
        let torn = std::fs::read_to_string(&path).unwrap() + "3;1.0 2.0;4.0 5";
        std::fs::write(&path, torn).unwrap();
        let log = CallLog::open(&path, "a").unwrap();
        assert_eq!(log.known(u64::MAX, &[0.1 + 0.2, -0.0]), Some(Some(vec![1e-300, f64::MAX])));
        assert_eq!(log.known(u64::MAX, &[0.1 + 0.2, 0.0]), None, "other bits, another call");
        assert_eq!((log.known(2, &[1.0, 2.0]), log.known(3, &[1.0, 2.0])), (Some(None), None));
        log.add(3, &[1.0, 2.0], Some(&[4.0, 5.5]));
        drop(log);
        assert_eq!(CallLog::open(&path, "a").unwrap().known(3, &[1.0, 2.0]), Some(Some(vec![4.0, 5.5])));
        assert_eq!(CallLog::open(&path, "b").unwrap().known(3, &[1.0, 2.0]), None);
        // Calls that failed, every one, are made again.
        CallLog::open(&path, "b").unwrap().add(3, &[1.0, 2.0], None);
        assert_eq!(CallLog::open(&path, "b").unwrap().known(3, &[1.0, 2.0]), None);
    }
}
