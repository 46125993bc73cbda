//! Stores: writers and readers, damage, versions, strangers' files, full disks.

mod common;

use common::Bench;
use kelfi_run::store::StoredProblem;
use kelfi_run::{Error, Origin, Outcome, Record, Source, Status, Store};
use std::path::Path;

fn record(index: u64, value: f64) -> Record {
    let outcome = Outcome::ok(vec![value, -0.0]);
    Record {
        index,
        parameters: vec![0.1 + 0.2],
        outcome,
        seed: Some(u64::MAX - index),
        seconds: Some(0.5),
        source: Source::Run,
        origin: Origin::Prior,
    }
}

fn failure(index: u64) -> Record {
    Record {
        outcome: Outcome::failed(Status::ExitCode, "exit code 1\nsingular"),
        seed: None,
        seconds: None,
        source: Source::Tell,
        ..record(index, 0.0)
    }
}

#[test]
fn records_come_back_to_the_bit_in_the_order_of_their_index() {
    let bench = Bench::new();
    let mut store = bench.store();
    let records = [record(5, f64::MIN_POSITIVE / 8.0), record(0, 1e308), failure(2)];
    assert_eq!(store.record(&records).unwrap(), 3);
    drop(store);
    let store = Store::read(&bench.path().join("store.sqlite")).unwrap();
    assert_eq!(store.records().unwrap(), [records[1].clone(), records[2].clone(), records[0].clone()]);
    assert!(store.records().unwrap()[0].outcome.statistics.as_ref().unwrap()[1].is_sign_negative(), "-0.0 keeps its sign");
    assert_eq!(store.missing(7).unwrap(), [1, 3, 4, 6]);
    assert_eq!((store.counts().unwrap().ok(), store.counts().unwrap().of(Status::ExitCode)), (2, 1));
}

#[test]
fn a_result_told_twice_counts_once_and_a_different_one_is_refused_whole() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.record(&[record(1, 1.0)]).unwrap();
    assert_eq!(store.record(&[record(1, 1.0), record(2, 2.0)]).unwrap(), 1);
    let error = store.record(&[record(3, 3.0), record(2, 9.0)]).unwrap_err();
    assert!(matches!(error, Error::Conflict { index: 2, what: "statistics" }), "{error}");
    assert_eq!(store.counts().unwrap().all(), 2, "nothing of the refused group is written");
    let moved = Record { parameters: vec![0.5], ..record(1, 1.0) };
    assert!(matches!(store.record(&[moved]).unwrap_err(), Error::Conflict { index: 1, what: "parameters" }));
}

#[test]
fn what_is_no_result_is_refused() {
    let bench = Bench::new();
    let mut store = bench.store();
    let refused = |store: &mut Store, record: Record, part: &str| {
        let message = store.record(&[record]).unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(&mut store, Record { parameters: vec![], ..record(0, 1.0) }, "0 parameters, but the store has 1");
    refused(&mut store, Record { parameters: vec![f64::NAN], ..record(0, 1.0) }, "not finite");
    refused(&mut store, record(0, f64::INFINITY), "do not match");
    refused(&mut store, record(u64::MAX, 1.0), "2^63");
    refused(&mut store, Record { outcome: Outcome::failed(Status::Interrupted, ""), ..record(0, 1.0) }, "interrupted");
    assert_eq!(store.counts().unwrap().all(), 0);
}

#[test]
fn a_second_writer_is_refused_with_the_owner_named_while_readers_go_on() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.record(&[record(0, 1.0)]).unwrap();
    for second in [Store::open(store.path()), Store::open_or_create(store.path(), &bench.problem())] {
        match second.unwrap_err() {
            Error::InUse { owner, .. } => {
                assert_eq!(owner.pid, std::process::id());
                assert!(!owner.host.is_empty() && owner.since.starts_with("20") && owner.since.ends_with('Z'), "{owner}");
            }
            other => panic!("{other}"),
        }
    }
    let mut reader = Store::read(store.path()).unwrap();
    store.record(&[record(1, 1.0)]).unwrap();
    assert_eq!(reader.counts().unwrap().all(), 2);
    assert!(matches!(reader.record(&[record(2, 1.0)]).unwrap_err(), Error::NotWritable { .. }));
    let path = store.path().to_path_buf();
    drop((store, reader));
    assert!(Store::open(&path).is_ok(), "free again");
    assert_eq!(bench.files(), ["store.sqlite", "work"], "no lock, log or temporary file is left");
}

#[test]
fn a_lock_file_without_a_living_owner_is_taken_over() {
    let bench = Bench::new();
    drop(bench.store());
    std::fs::write(bench.path().join("store.sqlite.lock"), r#"{"pid":1,"host":"gone","since":"long ago"}"#).unwrap();
    assert!(Store::open(&bench.path().join("store.sqlite")).is_ok());
}

#[test]
fn a_changed_problem_is_refused_with_its_differences_and_leaves_the_store_alone() {
    let bench = Bench::new();
    drop(bench.store());
    let path = bench.path().join("store.sqlite");
    let changed = StoredProblem { text: "{\"name\":\"other\"}".into(), seed: 2, ..bench.problem() };
    let message = Store::open_or_create(&path, &changed).unwrap_err().to_string();
    assert!(message.contains("name: \"test\" in the store, \"other\" now") && message.contains("seed: 1 in the store, 2 now"), "{message}");
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.problem(), &bench.problem());
    assert!(store.replace_problem(&changed).is_err(), "another seed changes the simulations");
    let allowed = StoredProblem { text: "{\"name\":\"other\"}".into(), ..bench.problem() };
    store.replace_problem(&allowed).unwrap();
    drop(store);
    assert_eq!(Store::read(&path).unwrap().problem(), &allowed);
}

#[test]
fn asking_twice_gives_different_simulations_and_told_ones_are_no_longer_outstanding() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.record(&[record(1, 1.0)]).unwrap();
    assert_eq!(store.ask(2).unwrap(), [0, 2]);
    assert_eq!(store.ask(2).unwrap(), [3, 4]);
    store.record(&[failure(2)]).unwrap();
    assert_eq!(store.outstanding().unwrap(), [0, 3, 4]);
    assert_eq!(store.next_index().unwrap(), 5);
    assert_eq!(store.withdraw().unwrap(), 3);
    assert_eq!(store.ask(1).unwrap(), [0]);
}

#[test]
fn a_store_of_version_1_is_brought_up_to_date_by_writers_and_readers() {
    for open in [Store::open, Store::read] {
        let bench = Bench::new();
        let path = bench.path().join("store.sqlite");
        let problem = bench.problem();
        let old = rusqlite::Connection::open(&path).unwrap();
        old.execute_batch(&format!(
            "CREATE TABLE problem (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL, hash TEXT NOT NULL,
                 parameters TEXT NOT NULL, statistics TEXT NOT NULL, seed TEXT NOT NULL) STRICT;
             CREATE TABLE simulation (id INTEGER PRIMARY KEY CHECK (id >= 0), parameters TEXT NOT NULL, statistics TEXT,
                 status TEXT NOT NULL, seed TEXT, seconds REAL, message TEXT NOT NULL,
                 CHECK ((status = 'ok') = (statistics IS NOT NULL))) STRICT;
             INSERT INTO problem VALUES (1, '{}', '{}', '[\"rate\"]', '[\"a\",\"b\"]', '1');
             INSERT INTO simulation VALUES (4, '[0.30000000000000004]', '[7.0,-0.0]', 'ok', '18446744073709551611', 0.5, '');
             PRAGMA application_id = 0x4b454c46; PRAGMA user_version = 1;",
            problem.text,
            problem.hash()
        ))
        .unwrap();
        drop(old);
        let store = open(&path).unwrap();
        assert_eq!(store.problem(), &problem);
        assert_eq!(store.records().unwrap(), [record(4, 7.0)]);
        assert!(store.outstanding().unwrap().is_empty());
    }
}

fn with_store(change: impl FnOnce(&Path)) -> Error {
    let bench = Bench::new();
    let mut store = bench.store();
    store.record(&(0..2000).map(|index| record(index, 1.0)).collect::<Vec<_>>()).unwrap();
    let path = store.path().to_path_buf();
    drop(store);
    change(&path);
    let reading = Store::read(&path).and_then(|store| store.records().map(drop));
    let writing = Store::open(&path).map(drop);
    let error = writing.expect_err("damage is found by a writer");
    assert!(reading.is_err(), "damage is found by a reader");
    assert!(error.to_string().contains("store.sqlite"), "{error}");
    error
}

fn sql(path: &Path, text: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(text).unwrap();
}

#[test]
fn damage_is_found_and_named() {
    let damaged = |error: Error| assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    damaged(with_store(|path| sql(path, "DROP TABLE simulation")));
    damaged(with_store(|path| sql(path, "UPDATE problem SET text = 'x'")));
    damaged(with_store(|path| sql(path, "DELETE FROM problem")));
    damaged(with_store(|path| sql(path, "PRAGMA user_version = 0")));
    damaged(with_store(|path| {
        let mut bytes = std::fs::read(path).unwrap();
        bytes[8192..40_000].fill(0xa5);
        std::fs::write(path, bytes).unwrap();
    }));
    damaged(with_store(|path| {
        let bytes = std::fs::read(path).unwrap();
        std::fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
    }));
}

#[test]
fn strangers_files_and_later_versions_are_named_and_left_alone() {
    let other = |error: Error| assert!(matches!(error, Error::NotAStore { .. }), "{error:?}");
    other(with_store(|path| std::fs::write(path, "a diary, not a database, long enough to be looked at\n".repeat(100)).unwrap()));
    other(with_store(|path| sql(path, "PRAGMA application_id = 7; DROP TABLE asked; CREATE TABLE diary (day TEXT)")));
    assert!(matches!(with_store(|path| sql(path, "PRAGMA user_version = 99")), Error::Newer { found: 99, supported: 4, .. }));
    assert!(matches!(with_store(|path| std::fs::remove_file(path).unwrap()), Error::Missing { .. }));
    assert!(matches!(with_store(|path| std::fs::write(path, "").unwrap()), Error::Missing { .. }));
}

#[test]
fn a_row_that_makes_no_sense_is_damage_not_a_panic() {
    for change in ["status = 'splendid', statistics = NULL", "parameters = 'x'", "statistics = '[1]'", "seed = '-1'", "source = 'dream'"] {
        let bench = Bench::new();
        let mut store = bench.store();
        store.record(&[record(0, 1.0)]).unwrap();
        sql(store.path(), &format!("UPDATE simulation SET {change}"));
        let error = store.records().unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{change}: {error}");
    }
}

#[test]
fn a_file_abandoned_before_its_first_commit_is_begun_anew() {
    let bench = Bench::new();
    let path = bench.path().join("store.sqlite");
    sql(&path, "PRAGMA journal_mode = WAL");
    assert!(Store::open_or_create(&path, &bench.problem()).is_ok());
}

#[test]
fn names_with_quotes_commas_and_semicolons_are_only_names() {
    let bench = Bench::new();
    let name = "x'); DROP TABLE simulation; --\",";
    let problem = StoredProblem { parameters: vec![name.into()], ..bench.problem() };
    let mut store = Store::open_or_create(&bench.path().join("store.sqlite"), &problem).unwrap();
    store.record(&[record(0, 1.0)]).unwrap();
    let mut bytes = Vec::new();
    store.export_csv(&mut bytes).unwrap();
    let reread = kelfi_run::import::read_csv(&bytes[..], &problem, 0, Source::Run).unwrap();
    assert_eq!(
        (&reread[0].parameters, &reread[0].outcome, reread[0].seed),
        (&record(0, 1.0).parameters, &record(0, 1.0).outcome, Some(u64::MAX))
    );
}

#[test]
fn a_place_that_cannot_be_written_is_a_typed_error() {
    let bench = Bench::new();
    std::fs::write(bench.path().join("file"), "x").unwrap();
    let below_a_file = Store::open_or_create(&bench.path().join("file/out/store.sqlite"), &bench.problem()).unwrap_err();
    assert!(matches!(below_a_file, Error::File { .. } | Error::NotWritable { .. }), "{below_a_file:?}");
    // The kernel's own tree refuses new files, also to the superuser.
    let kernel = Store::open_or_create(Path::new("/sys/kernel/store.sqlite"), &bench.problem()).unwrap_err();
    assert!(matches!(kernel, Error::NotWritable { .. } | Error::File { .. }), "{kernel:?}");
}

/// Not a test of its own: what an ordinary user meets in a directory that is not to be written.
#[test]
#[ignore = "run by another test"]
fn look_at_the_directory_named_in_the_environment() {
    let Ok(directory) = std::env::var("KELFI_TEST_READ_ONLY") else { return };
    let path = Path::new(&directory).join("store.sqlite");
    assert_eq!(Store::read(&path).unwrap().counts().unwrap().all(), 1);
    assert!(matches!(Store::open(&path).unwrap_err(), Error::NotWritable { .. }));
    let new = Path::new(&directory).join("new/store.sqlite");
    let problem = StoredProblem { text: String::new(), parameters: vec![], statistics: vec![], seed: 1 };
    assert!(matches!(Store::open_or_create(&new, &problem).unwrap_err(), Error::NotWritable { .. }));
    let file = kelfi_run::files::write_bytes_atomically(&Path::new(&directory).join("summary.json"), b"x");
    assert!(matches!(file.unwrap_err(), Error::NotWritable { .. }));
}

#[test]
fn a_read_only_directory_can_be_read_and_refuses_writers_with_a_typed_error() {
    use std::os::unix::{fs::PermissionsExt, process::CommandExt};
    const NOBODY: u32 = 65_534;
    let bench = Bench::new();
    bench.store().record(&[record(0, 1.0)]).unwrap();
    // The superuser may write anywhere, so the look is taken as nobody, by a copy of this program that nobody may read.
    let program = bench.path().join("look");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::set_permissions(bench.path(), std::fs::Permissions::from_mode(0o555)).unwrap();
    let mut command = std::process::Command::new(&program);
    command.args(["--ignored", "--exact", "look_at_the_directory_named_in_the_environment"]).env("KELFI_TEST_READ_ONLY", bench.path());
    // SAFETY: a system call without arguments.
    if unsafe { libc::geteuid() } == 0 {
        command.uid(NOBODY);
    }
    let output = command.output().unwrap();
    std::fs::set_permissions(bench.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert!(String::from_utf8_lossy(&output.stdout).contains("1 passed"));
}
