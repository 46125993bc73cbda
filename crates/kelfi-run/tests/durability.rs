//! Stores that are cut short, rot, are edited, or are not what they seem.

mod common;

use common::Bench;
use kelfi_run::store::{StoredProblem, Survey, Told};
use kelfi_run::{Error, Origin, Outcome, Record, Source, Status, Store};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

fn record(index: u64) -> Record {
    let outcome = Outcome::ok(vec![index as f64 / 3.0, 1.0 / (1.0 + index as f64)]);
    let parameters = vec![(index as f64 * 0.37).sin()];
    Record { index, parameters, outcome, seed: Some(index * 7919), seconds: Some(0.25), source: Source::Run, origin: Origin::Prior }
}

fn failure(index: u64) -> Record {
    Record { outcome: Outcome::failed(Status::ExitCode, "exit code 1\nsingular"), ..record(index) }
}

/// A closed store with `count` simulations.
fn filled(bench: &Bench, count: u64) -> PathBuf {
    let mut store = bench.store();
    store.record(&(0..count).map(record).collect::<Vec<_>>()).unwrap();
    store.path().to_path_buf()
}

fn sql(path: &Path, text: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(text).unwrap();
}

fn mend(path: &Path, bench: &Bench) -> kelfi_run::store::Mended {
    Store::mend(path, &bench.problem(), &|_| true).unwrap().expect("there was damage")
}

#[test]
fn a_store_whose_making_was_cut_short_is_made_anew() {
    type Beginning = fn(&Path);
    let beginnings: [Beginning; 5] = [
        |path| std::fs::write(path, "").unwrap(),
        |path| std::fs::write(path, "SQLite").unwrap(),
        |path| std::fs::write(path, [b"SQLite format 3\0".as_slice(), &[0; 500]].concat()).unwrap(),
        |path| sql(path, "PRAGMA journal_mode = WAL"),
        |path| std::fs::write(path.with_file_name(".store.sqlite.77-0.tmp"), "half").unwrap(),
    ];
    for begin in beginnings {
        let bench = Bench::new();
        let path = bench.path().join("store.sqlite");
        begin(&path);
        assert!(!Store::exists(&path).unwrap());
        assert!(matches!(Store::read(&path).unwrap_err(), Error::Missing { .. }));
        bench.store().record(&[record(0)]).unwrap();
        assert_eq!(Store::read(&path).unwrap().records().unwrap(), [record(0)]);
        assert!(!bench.files().iter().any(|name| name.contains(".tmp")), "{:?}", bench.files());
    }
}

#[test]
fn what_stands_only_in_the_log_is_no_half_made_store() {
    let bench = Bench::new();
    filled(&bench, 3);
    let (old, new) = (bench.path().join("store.sqlite"), Bench::new());
    // The tables and rows of a store written into an empty database stay in its log while it is open: the main file has one page.
    let place = new.path().join("store.sqlite");
    let writer = rusqlite::Connection::open(&place).unwrap();
    writer.execute_batch("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0").unwrap();
    let schema: Vec<String> = {
        let source = rusqlite::Connection::open(&old).unwrap();
        let mut query = source.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").unwrap();
        query.query_map([], |row| row.get(0)).unwrap().flatten().collect()
    };
    writer.execute_batch(&schema.join(";")).unwrap();
    writer.execute("ATTACH ?1 AS old", [old.to_str().unwrap()]).unwrap();
    for table in ["problem", "simulation", "fact"] {
        writer.execute_batch(&format!("INSERT INTO {table} SELECT * FROM old.{table}")).unwrap();
    }
    writer.execute_batch("PRAGMA application_id = 0x4b454c46; PRAGMA user_version = 4").unwrap();
    let killed = Bench::new();
    for ending in ["", "-wal"] {
        let name = format!("store.sqlite{ending}");
        std::fs::copy(new.path().join(&name), killed.path().join(&name)).unwrap();
    }
    assert!(std::fs::metadata(killed.path().join("store.sqlite")).unwrap().len() <= 4096);
    assert!(Store::exists(&killed.path().join("store.sqlite")).unwrap());
    assert_eq!(killed.store().records().unwrap(), [record(0), record(1), record(2)]);
    drop(writer);
    // An empty file beside a log that is not: nobody can tell what was in it, so it is not made anew.
    std::fs::write(killed.path().join("store.sqlite"), "").unwrap();
    std::fs::write(killed.path().join("store.sqlite-wal"), "rows").unwrap();
    assert!(matches!(Store::open_or_create(&killed.path().join("store.sqlite"), &killed.problem()), Err(Error::Damaged { .. })));
    assert!(killed.path().join("store.sqlite-wal").exists());
}

/// Not a test of its own: makes the store of the directory in the environment and one simulation.
#[test]
#[ignore = "run by another test"]
fn begin_the_store_named_in_the_environment() {
    let Ok(directory) = std::env::var("KELFI_TEST_BEGIN") else { return };
    let problem: StoredProblem = Bench::new().problem();
    let mut store = Store::open_or_create(&Path::new(&directory).join("store.sqlite"), &problem).unwrap();
    store.record(&[record(0)]).unwrap();
}

fn begin(bench: &Bench, limit: &str) -> std::process::Child {
    let script = format!("{limit} exec \"$0\" --ignored --exact begin_the_store_named_in_the_environment");
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).env("KELFI_TEST_BEGIN", bench.path());
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

#[test]
fn a_kill_or_a_limit_while_the_store_is_made_leaves_a_directory_that_can_be_used() {
    for trial in 0..40 {
        let bench = Bench::new();
        let mut child = begin(&bench, "");
        std::thread::sleep(Duration::from_millis(trial));
        child.kill().unwrap();
        // Not waited for: a directory continued within milliseconds of a kill is not in use.
        let mut store = bench.store();
        store.record(&[record(0), record(1)]).unwrap();
        assert_eq!(store.records().unwrap(), [record(0), record(1)]);
        child.wait().unwrap();
    }
    for blocks in [0, 1, 2, 4, 8, 16, 24, 32, 48] {
        let bench = Bench::new();
        begin(&bench, &format!("ulimit -f {blocks};")).wait().unwrap();
        bench.store().record(&[record(0)]).unwrap();
    }
}

#[test]
fn no_flipped_bit_changes_what_is_read() {
    let bench = Bench::new();
    let path = filled(&bench, 150);
    let whole = std::fs::read(&path).unwrap();
    let expected = Store::read(&path).unwrap().records().unwrap();
    let (mut place, mut harmless, mut refused, mut mended) = (1_u64, 0, 0, 0);
    for _ in 0..150 {
        // A full-period generator of places.
        place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let bit = (place >> 20) as usize % (8 * whole.len());
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &bytes).unwrap();
        for ending in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{ending}", path.display()));
        }
        match Store::read(&path).and_then(|store| store.records()) {
            Ok(records) => {
                assert_eq!(records, expected, "bit {bit} changed the answer silently");
                harmless += 1;
            }
            Err(_) => match Store::mend(&path, &bench.problem(), &|_| true) {
                Ok(done) => {
                    let done = done.expect("what a reader refuses is damage");
                    let store = Store::open(&path).unwrap();
                    store.verify().unwrap();
                    let kept = store.records().unwrap();
                    assert!(kept.iter().all(|record| expected.contains(record)), "bit {bit}");
                    assert_eq!((kept.len() as u64, done.kept + done.lost), (done.kept, 150), "bit {bit}: {done:?}");
                    assert_eq!(std::fs::read(&done.former).unwrap(), bytes, "the damaged file is kept");
                    std::fs::remove_file(&done.former).unwrap();
                    mended += 1;
                }
                Err(error) => {
                    assert!(matches!(error, Error::Damaged { .. } | Error::NotAStore { .. } | Error::Newer { .. }), "bit {bit}: {error:?}");
                    refused += 1;
                }
            },
        }
    }
    assert!(mended > 40 && refused < 15, "{harmless} harmless, {mended} mended, {refused} refused");
}

#[test]
fn edited_lost_and_doubled_rows_are_found_named_and_left_out() {
    let edits = [
        ("UPDATE simulation SET parameters = '[0.5]' WHERE id = 7", vec![7]),
        ("UPDATE simulation SET statistics = '[1.0,2.0]' WHERE id = 3", vec![3]),
        ("UPDATE simulation SET seed = '1' WHERE id = 3", vec![3]),
        ("UPDATE simulation SET status = 'timeout', statistics = NULL WHERE id = 4", vec![4]),
        ("UPDATE simulation SET checksum = NULL WHERE id = 5", vec![5]),
        ("DELETE FROM simulation WHERE id IN (2, 9)", vec![2, 9]),
        ("UPDATE simulation SET id = 400 WHERE id = 6", vec![6]),
        ("UPDATE fact SET value = replace(value, '12', '11') WHERE name = 'tally'", vec![]),
        ("PRAGMA user_version = 2", vec![]),
        ("PRAGMA application_id = 7", vec![]),
    ];
    for (edit, lost) in edits {
        let bench = Bench::new();
        let path = filled(&bench, 12);
        assert!(Survey::of(&path).unwrap().is_sound());
        sql(&path, edit);
        let error = Store::read(&path).and_then(|store| store.records()).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{edit}: {error}");
        let survey = Survey::of(&path).unwrap();
        assert!(!survey.is_sound(), "{edit}");
        let done = mend(&path, &bench);
        assert_eq!(done.indices, lost, "{edit}");
        let store = Store::open(&path).unwrap();
        store.verify().unwrap();
        assert_eq!(store.counts().unwrap().all(), 12 - lost.len() as u64, "{edit}");
        assert!(Store::mend(&path, &bench.problem(), &|_| true).is_err(), "its lock is held");
        drop(store);
        assert!(Store::mend(&path, &bench.problem(), &|_| true).unwrap().is_none(), "mended once, sound from then on");
    }
}

#[test]
fn what_was_made_elsewhere_is_counted_apart_when_it_is_lost() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.record(&[record(0), Record { source: Source::Tell, ..record(1) }, Record { source: Source::Import, ..record(2) }]).unwrap();
    let path = store.path().to_path_buf();
    drop(store);
    sql(&path, "UPDATE simulation SET statistics = '[1.0,2.0]'");
    let done = mend(&path, &bench);
    assert_eq!((done.kept, done.lost, done.elsewhere, done.indices), (0, 3, 2, vec![0, 1, 2]));
}

#[test]
fn a_lock_file_that_leads_elsewhere_is_refused_and_what_it_leads_to_is_left_alone() {
    let bench = Bench::new();
    let (lock, precious) = (bench.path().join("store.sqlite.lock"), bench.path().join("precious"));
    let store = bench.path().join("store.sqlite");
    std::fs::write(&precious, "thesis").unwrap();
    let refused = |part: &str| {
        let message = Store::open_or_create(&store, &bench.problem()).unwrap_err().to_string();
        assert!(message.contains("store.sqlite.lock is ") && message.contains(part), "{message}");
        assert_eq!(std::fs::read_to_string(&precious).unwrap(), "thesis");
        std::fs::remove_file(&lock).unwrap();
    };
    symlink(&precious, &lock).unwrap();
    refused("a symbolic link");
    symlink(bench.path().join("nothing"), &lock).unwrap();
    refused("a symbolic link");
    std::fs::hard_link(&precious, &lock).unwrap();
    refused("a hard link to another file");
    pipe(&lock);
    refused("a pipe");
    assert!(!bench.path().join("nothing").exists());
    bench.store().record(&[record(0)]).unwrap();
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn pipes_devices_and_directories_are_no_stores() {
    let bench = Bench::new();
    let path = bench.path().join("store.sqlite");
    let began = Instant::now();
    let refused = |kind: &str| {
        for opened in [Store::open_or_create(&path, &bench.problem()), Store::open(&path), Store::read(&path)] {
            let error = opened.unwrap_err();
            assert!(matches!(error, Error::NotPlain { .. }) && error.to_string().contains(kind), "{error}");
        }
    };
    pipe(&path);
    refused("a pipe");
    std::fs::remove_file(&path).unwrap();
    for (target, kind) in [("/dev/zero", "a device"), ("/dev/full", "a device"), ("nowhere", "a link to nothing"), (".", "a directory")] {
        symlink(target, &path).unwrap();
        refused(kind);
        std::fs::remove_file(&path).unwrap();
    }
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[test]
fn views_triggers_and_other_tables_of_a_foreign_store_are_refused_before_they_are_read() {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n)";
    let changes = [
        format!(
            "DROP TABLE simulation; CREATE VIEW simulation AS {endless} SELECT i AS id, '[0.5]' AS parameters, '[1,2]' AS statistics, \
             'ok' AS status, '1' AS seed, 0.1 AS seconds, '' AS message, 'run' AS source, NULL AS simulator, NULL AS checksum FROM n"
        ),
        format!("DROP TABLE asked; CREATE VIEW asked AS {endless} SELECT i AS id, '' AS since FROM n"),
        "CREATE TRIGGER mischief AFTER INSERT ON simulation BEGIN DELETE FROM simulation; END".to_owned(),
        "CREATE TABLE notes (text TEXT)".to_owned(),
        "CREATE INDEX slow ON simulation (length(hex(zeroblob(1000))))".to_owned(),
    ];
    for change in changes {
        let bench = Bench::new();
        let path = filled(&bench, 2);
        sql(&path, &change);
        let began = Instant::now();
        for opened in [Store::open(&path), Store::read(&path)] {
            assert!(matches!(opened.unwrap_err(), Error::NotAStore { .. }), "{change}");
        }
        assert!(began.elapsed() < Duration::from_secs(5), "{change}");
    }
}

#[test]
fn a_lock_whose_owner_died_is_waited_for() {
    let bench = Bench::new();
    drop(bench.store());
    let mut dead = Command::new("true").spawn().unwrap();
    dead.wait().unwrap();
    let host = Command::new("hostname").output().map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let host = host.ok().filter(|host| !host.is_empty()).unwrap_or_else(|| std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap());
    let owner = serde_json::json!({ "pid": dead.id(), "host": host.trim(), "since": "2026-01-01T00:00:00Z" });
    let lock = bench.path().join("store.sqlite.lock");
    std::fs::write(&lock, owner.to_string()).unwrap();
    // As a program does that was just being started when its starter was killed.
    let held = std::fs::File::open(&lock).unwrap();
    held.lock().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(900));
            drop(held);
        });
        bench.store().record(&[record(0)]).unwrap();
    });
}

#[test]
fn a_failure_is_repaired_by_telling_again_and_a_success_never_changes() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.record(&[record(0), failure(1), failure(2)]).unwrap();
    let other = Record { outcome: Outcome::ok(vec![9.0, 9.0]), ..record(0) };
    let moved = Record { parameters: vec![0.5], ..record(2) };
    let short = Record { outcome: Outcome::ok(vec![9.0]), ..record(4) };
    let told = store.tell(&[record(0), record(1), moved, other, short, record(5), failure(0)]).unwrap();
    let words: Vec<&str> = told
        .iter()
        .map(|told| match told {
            Told::New => "new",
            Told::Repaired => "repaired",
            Told::Known => "known",
            Told::Refused(Error::Conflict { what, .. }) => what,
            Told::Refused(_) => "refused",
        })
        .collect();
    assert_eq!(words, ["known", "repaired", "parameters", "statistics", "refused", "new", "statistics"]);
    assert_eq!(store.records().unwrap(), [record(0), record(1), failure(2), record(5)]);
    store.verify().unwrap();
    let imported = Record { source: Source::Import, ..failure(8) };
    store.record(std::slice::from_ref(&imported)).unwrap();
    assert_eq!(store.forget_failures().unwrap(), 1, "an imported failure cannot be made again");
    assert_eq!(store.records().unwrap(), [record(0), record(1), record(5), imported]);
    store.verify().unwrap();
}

#[test]
fn simulations_know_which_state_of_the_simulator_made_them() {
    let bench = Bench::new();
    let state = |hash: &str| [("sim.py".to_owned(), hash.to_owned())].into();
    let mut store = bench.store();
    store.record(&[record(0)]).unwrap();
    for (index, hash) in [(1, "a"), (2, "a"), (3, "b"), (4, "a")] {
        store.made_by(&state(hash)).unwrap();
        store.record(&[record(index)]).unwrap();
        drop(store);
        store = bench.store();
    }
    let makers: Vec<_> = store.makers().unwrap().into_iter().map(|made| (made.files, made.simulations)).collect();
    assert_eq!(makers, [(state("a"), 2), (state("b"), 1), (state("a"), 1)]);
    sql(store.path(), "UPDATE simulation SET statistics = '[1.0,2.0]' WHERE id = 3");
    let path = store.path().to_path_buf();
    drop(store);
    mend(&path, &bench);
    assert_eq!(Store::read(&path).unwrap().makers().unwrap().len(), 2, "known also after mending");
}

#[test]
fn a_store_of_version_2_is_read_as_it_is_and_protected_from_the_next_write_on() {
    let bench = Bench::new();
    let path = filled(&bench, 3);
    let dumped: Vec<Record> = Store::read(&path).unwrap().records().unwrap();
    let old = Bench::new();
    let place = old.path().join("store.sqlite");
    sql(
        &place,
        &format!(
            "CREATE TABLE problem (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL, hash TEXT NOT NULL,
                 parameters TEXT NOT NULL, statistics TEXT NOT NULL, seed TEXT NOT NULL) STRICT;
             CREATE TABLE simulation (id INTEGER PRIMARY KEY CHECK (id >= 0), parameters TEXT NOT NULL, statistics TEXT,
                 status TEXT NOT NULL, seed TEXT, seconds REAL, message TEXT NOT NULL,
                 CHECK ((status = 'ok') = (statistics IS NOT NULL))) STRICT;
             ALTER TABLE simulation ADD COLUMN source TEXT NOT NULL DEFAULT 'run';
             CREATE TABLE asked (id INTEGER PRIMARY KEY CHECK (id >= 0), since TEXT NOT NULL) STRICT;
             ATTACH '{}' AS new;
             INSERT INTO problem SELECT * FROM new.problem;
             INSERT INTO simulation SELECT id, parameters, statistics, status, seed, seconds, message, source FROM new.simulation;
             PRAGMA application_id = 0x4b454c46; PRAGMA user_version = 2;",
            path.display()
        ),
    );
    let bytes = std::fs::read(&place).unwrap();
    assert_eq!(Store::read(&place).unwrap().records().unwrap(), dumped);
    let survey = Survey::of(&place).unwrap();
    assert!(survey.is_sound() && survey.unprotected == 3 && survey.sound == 3, "{survey:?}");
    assert_eq!(std::fs::read(&place).unwrap(), bytes, "reading changes nothing");
    let mut store = Store::open(&place).unwrap();
    store.record(&[record(3)]).unwrap();
    store.verify().unwrap();
    drop(store);
    let survey = Survey::of(&place).unwrap();
    assert!(survey.is_sound() && survey.unprotected == 3 && survey.sound == 4, "{survey:?}");
    sql(&place, "DELETE FROM simulation WHERE id = 1");
    assert!(Store::read(&place).unwrap().records().is_err(), "also old rows cannot vanish unnoticed");
}
