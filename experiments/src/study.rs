//! What every experiment has: a folder of results with its settings beside them, progress, and runs that are never computed twice.

use crate::table::Table;
use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs::{File, create_dir_all};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// Options that all studies share.
#[derive(clap::Args)]
pub struct StudyOptions {
    /// A smaller experiment of the same kind, in minutes; goes to target/quick unless --out says otherwise.
    #[arg(long)]
    pub quick: bool,
    /// Start over instead of continuing from the runs that are already in the folder.
    #[arg(long)]
    pub fresh: bool,
    /// Folder of the results [default: experiments/results/EXPERIMENT].
    #[arg(long)]
    pub out: Option<PathBuf>,
}

/// A folder of results.
pub struct Study {
    name: String,
    prefix: String,
    folder: PathBuf,
    /// Whether runs found in the folder were made with these settings.
    continues: bool,
    /// Files of runs that this study has begun.
    begun: Mutex<Vec<String>>,
}

/// A file of runs: which columns name a run, which hold what it gave, and how many rows each run has.
pub struct Runs<'a> {
    /// Name of the CSV file.
    pub file: &'a str,
    /// Columns that name a run.
    pub keys: &'a [&'a str],
    /// Columns of what it gave.
    pub values: &'a [&'a str],
    /// Rows of a finished run.
    pub rows_each: usize,
}

impl Study {
    /// Opens the folder of an experiment and writes `settings.json` into it. `settings` decide what a run gives: runs made with other
    /// ones are an error, unless they are to be made afresh. `extent` says which runs there are: it may change.
    pub fn open(options: &StudyOptions, name: &str, settings: impl Serialize, extent: impl Serialize) -> Result<Self> {
        Self::open_part(options, name, "", settings, extent)
    }

    /// The same for one of several studies in a folder; their files begin with `part`.
    pub fn open_part(options: &StudyOptions, name: &str, part: &str, settings: impl Serialize, extent: impl Serialize) -> Result<Self> {
        let parent = if options.quick { "target/quick" } else { "experiments/results" };
        let folder = options.out.clone().unwrap_or_else(|| PathBuf::from(parent).join(name));
        create_dir_all(&folder).with_context(|| format!("could not make {}", folder.display()))?;
        let prefix = if part.is_empty() { String::new() } else { format!("{part}-") };
        let mut study = Self { name: name.into(), prefix, folder, continues: false, begun: Mutex::default() };
        let now = json!({
            "experiment": name, "version": env!("CARGO_PKG_VERSION"),
            "settings": serde_json::to_value(settings)?, "extent": serde_json::to_value(extent)?,
        });
        let path = study.path("settings.json");
        if !path.exists() && study.path("runs.csv").exists() && !options.fresh {
            bail!(
                "{} has runs, but {} is missing, so nobody knows what they were made with\n  name another folder by --out, or start over with --fresh",
                study.folder.display(),
                path.display()
            );
        }
        if path.exists() && !options.fresh {
            let text = std::fs::read_to_string(&path).with_context(|| format!("could not read {}", path.display()))?;
            let before: Value = serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
            if let Some(difference) = difference(&before, &now) {
                bail!(
                    "{} has results of other settings ({difference})\n  name another folder by --out, or start over with --fresh",
                    study.folder.display()
                );
            }
            study.continues = true;
        }
        std::fs::write(&path, serde_json::to_string_pretty(&now)? + "\n").with_context(|| format!("could not write {}", path.display()))?;
        Ok(study)
    }

    /// A file of the results.
    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.join(format!("{}{file}", self.prefix))
    }

    /// Says something on the way.
    pub fn say(&self, what: &str) {
        eprintln!("[{}] {what}", self.name);
    }

    /// All runs with these keys, in their order. Those in the file already are read, the others computed, several at a time, and added to
    /// the file as they come; `one` gets the index of a key. Cells hold no comma.
    pub fn compute(&self, runs: &Runs<'_>, keys: &[Vec<String>], one: impl Fn(usize) -> Result<Vec<Vec<String>>> + Sync) -> Result<Table> {
        let path = self.path(runs.file);
        let columns: Vec<&str> = runs.keys.iter().chain(runs.values).copied().collect();
        let mut begun = self.begun.lock().expect("nobody panics while they look");
        let goes_on = self.continues || begun.iter().any(|file| file == runs.file);
        begun.push(runs.file.into());
        drop(begun);
        let mut before = if goes_on && path.exists() { Table::read(&path)? } else { Table::new(&columns) };
        if before.columns() != columns {
            bail!(
                "{} has other columns ({}) than these runs\n  start over with --fresh, or name another folder by --out",
                path.display(),
                before.columns().join(", ")
            );
        }
        before = finished(&before, &columns, runs);
        before.write(&path)?;
        let done = by_key(&before, runs);
        let missing: Vec<usize> = (0..keys.len()).filter(|&k| !done.contains_key(&keys[k])).collect();
        self.say(&format!("{} runs, {} of them done before", keys.len(), keys.len() - missing.len()));
        let file = File::options().append(true).open(&path).with_context(|| format!("could not add to {}", path.display()))?;
        let (written, start) = (Mutex::new((file, 0_usize)), Instant::now());
        let fresh: Vec<(Vec<String>, Vec<Vec<String>>)> = missing
            .par_iter()
            .map(|&k| -> Result<_> {
                let rows: Vec<Vec<String>> =
                    one(k)?.into_iter().map(|cells| keys[k].iter().cloned().chain(cells).collect::<Vec<String>>()).collect();
                if rows.len() != runs.rows_each || rows.iter().any(|row| row.len() != columns.len()) {
                    bail!("a run of {} gave {} rows that do not fit its columns", runs.file, rows.len());
                }
                let text: String = rows.iter().map(|row| row.join(",") + "\n").collect();
                let mut written = written.lock().expect("no thread panics while it writes");
                written.0.write_all(text.as_bytes()).with_context(|| format!("could not add to {}", path.display()))?;
                written.1 += 1;
                self.say(&format!(
                    "{} of {}: {} ({})",
                    written.1,
                    missing.len(),
                    keys[k].join(", "),
                    time_left(start, written.1, missing.len())
                ));
                Ok((keys[k].clone(), rows))
            })
            .collect::<Result<_>>()?;
        let mut all = done;
        all.extend(fresh);
        let mut wanted = Table::new(&columns);
        keys.iter().flat_map(|key| all[key].clone()).for_each(|row| wanted.row(row));
        // The file: these runs in their order, whatever order they came in, then the others that were there.
        let mut file = wanted.clone();
        before.rows().iter().filter(|row| !keys.contains(&row[..runs.keys.len()].to_vec())).for_each(|row| file.row(row.clone()));
        file.write(&path)?;
        Ok(wanted)
    }
}

/// Rows of every key, in order.
fn by_key(table: &Table, runs: &Runs<'_>) -> HashMap<Vec<String>, Vec<Vec<String>>> {
    let mut found: HashMap<Vec<String>, Vec<Vec<String>>> = HashMap::new();
    for row in table.rows() {
        found.entry(row[..runs.keys.len()].to_vec()).or_default().push(row.clone());
    }
    found
}

/// Without the rows of a run that was cut off.
fn finished(table: &Table, columns: &[&str], runs: &Runs<'_>) -> Table {
    let counts = by_key(table, runs);
    let mut kept = Table::new(columns);
    table.rows().iter().filter(|row| counts[&row[..runs.keys.len()]].len() == runs.rows_each).for_each(|row| kept.row(row.clone()));
    kept
}

/// The first thing apart from the extent that differs, in words.
fn difference(before: &Value, now: &Value) -> Option<String> {
    let differs = |name: &str, before: &Value, now: &Value| (before != now).then(|| format!("{name}: {before} there, {now} here"));
    let (old, new) = (&before["settings"], &now["settings"]);
    let names = [old, new].into_iter().filter_map(Value::as_object).flat_map(|settings| settings.keys());
    ["experiment", "version"]
        .into_iter()
        .find_map(|name| differs(name, &before[name], &now[name]))
        .or_else(|| names.into_iter().find_map(|name| differs(name, &old[name.as_str()], &new[name.as_str()])))
        .or_else(|| differs("settings", old, new))
}

fn time_left(start: Instant, done: usize, all: usize) -> String {
    let seconds = start.elapsed().as_secs_f64() / done as f64 * (all - done) as f64;
    if seconds < 90.0 { format!("{seconds:.0} s left") } else { format!("{:.0} min left", seconds / 60.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const RUNS: Runs<'_> = Runs { file: "runs.csv", keys: &["size"], values: &["square"], rows_each: 2 };

    fn options(folder: &tempfile::TempDir) -> StudyOptions {
        StudyOptions { quick: false, fresh: false, out: Some(folder.path().to_path_buf()) }
    }

    fn open(options: &StudyOptions, seed: u64) -> Result<Study> {
        Study::open(options, "test", json!({ "seed": seed }), json!({}))
    }

    /// Squares of the sizes, two rows each; gives the table and how many runs were computed.
    fn squares(study: &Study, sizes: &[u64]) -> (Table, usize) {
        let calls = AtomicUsize::new(0);
        let keys: Vec<Vec<String>> = sizes.iter().map(|size| vec![size.to_string()]).collect();
        let one = |k: usize| {
            calls.fetch_add(1, Ordering::Relaxed);
            Ok(vec![vec![(sizes[k] * sizes[k]).to_string()]; 2])
        };
        (study.compute(&RUNS, &keys, one).unwrap(), calls.into_inner())
    }

    #[test]
    fn runs_in_the_file_are_not_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let (first, computed) = squares(&open(&options(&folder), 1).unwrap(), &[3, 1]);
        assert_eq!((first.numbers("square").unwrap(), computed), (vec![9.0, 9.0, 1.0, 1.0], 2));
        let study = open(&options(&folder), 1).unwrap();
        let (again, computed) = squares(&study, &[1, 2, 3]);
        assert_eq!((again.numbers("square").unwrap(), computed), (vec![1.0, 1.0, 4.0, 4.0, 9.0, 9.0], 1));
        assert_eq!(squares(&open(&options(&folder), 1).unwrap(), &[2]).1, 0);
        let kept = Table::read(&study.path("runs.csv")).unwrap();
        assert_eq!(kept.numbers("size").unwrap(), [2.0, 2.0, 1.0, 1.0, 3.0, 3.0], "runs outside the extent stay in the file");
    }

    #[test]
    fn a_new_study_that_computes_twice_keeps_what_it_has() {
        let folder = tempfile::tempdir().unwrap();
        let study = open(&options(&folder), 1).unwrap();
        assert_eq!([squares(&study, &[3, 1]).1, squares(&study, &[3, 1, 2]).1], [2, 1]);
    }

    #[test]
    fn a_run_that_was_cut_off_is_computed_again() {
        let folder = tempfile::tempdir().unwrap();
        let study = open(&options(&folder), 1).unwrap();
        std::fs::write(study.path("runs.csv"), "size,square\n1,1\n1,1\n2,4\n2,").unwrap();
        let (table, computed) = squares(&open(&options(&folder), 1).unwrap(), &[1, 2]);
        assert_eq!((table.numbers("square").unwrap(), computed), (vec![1.0, 1.0, 4.0, 4.0], 1));
    }

    #[test]
    fn runs_of_other_settings_are_refused_or_made_afresh() {
        let folder = tempfile::tempdir().unwrap();
        squares(&open(&options(&folder), 1).unwrap(), &[1, 2]);
        let message = open(&options(&folder), 2).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("seed: 1 there, 2 here") && message.contains("--fresh"), "{message}");
        let fresh = StudyOptions { fresh: true, ..options(&folder) };
        assert_eq!(squares(&open(&fresh, 2).unwrap(), &[1, 2]).1, 2);
        assert_eq!(squares(&open(&options(&folder), 2).unwrap(), &[1, 2]).1, 0);
    }

    #[test]
    fn runs_without_their_settings_are_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let study = open(&options(&folder), 1).unwrap();
        squares(&study, &[1]);
        std::fs::remove_file(study.path("settings.json")).unwrap();
        let message = open(&options(&folder), 1).map(|_| ()).unwrap_err().to_string();
        assert!(message.contains("settings.json is missing") && message.contains("--fresh"), "{message}");
        let fresh = StudyOptions { fresh: true, ..options(&folder) };
        assert_eq!(squares(&open(&fresh, 1).unwrap(), &[1]).1, 1);
    }

    #[test]
    fn runs_with_other_columns_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let study = open(&options(&folder), 1).unwrap();
        std::fs::write(study.path("runs.csv"), "size,cube\n1,1\n").unwrap();
        let again = open(&options(&folder), 1).unwrap();
        let message = again.compute(&RUNS, &[vec!["1".into()]], |_| Ok(vec![])).unwrap_err().to_string();
        assert!(message.contains("other columns (size, cube)") && message.contains("--fresh"), "{message}");
    }

    #[test]
    fn parts_of_a_study_have_files_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let part = |name: &str| Study::open_part(&options(&folder), "test", name, json!({ "part": name }), json!({})).unwrap();
        assert_eq!(squares(&part("a"), &[1]).1 + squares(&part("b"), &[1]).1, 2);
        assert_eq!(squares(&part("a"), &[1]).1, 0);
    }
}
