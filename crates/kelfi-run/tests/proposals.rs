//! Parameters are kept when they are handed out, and every simulation says where its own come from; stores of older versions still open.

mod common;

use common::Bench;
use kelfi_run::store::{StoredProblem, Survey};
use kelfi_run::{Cancellation, Ended, Error, Function, Origin, Outcome, Proposal, Record, RunPlan, Seeds, Source, Store, Task, run};
use std::path::Path;

/// Both statistics are the parameter, so that every result says what it was made at.
fn echo() -> Function<impl Fn(&Task) -> Vec<f64> + Sync> {
    Function::new(vec!["a".into(), "b".into()], |task: &Task| vec![task.parameters[0]; 2])
}

fn make(store: &mut Store, indices: &[u64], theta: &(dyn Fn(u64) -> Vec<f64> + Sync)) -> Ended {
    let simulator = echo();
    let plan =
        RunPlan { simulator: &simulator, theta, seed: 1, seeds: Seeds::Short, jobs: 2, stop_after_alike: 0, abort_on_failure: false };
    run(&plan, indices, store, &Cancellation::new(), &mut |_| {}).unwrap().ended
}

fn result(index: u64, theta: f64, source: Source) -> Record {
    let outcome = Outcome::ok(vec![theta, theta]);
    Record { index, parameters: vec![theta], outcome, seed: None, seconds: None, source, origin: source.usual_origin() }
}

#[test]
fn a_run_simulates_at_what_was_proposed_whatever_is_drawn_later() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.hand_out(&[0, 1], &|index| vec![index as f64]).unwrap();
    let round = store.propose(Origin::Round(1), &[vec![10.5], vec![0.1 + 0.2]]).unwrap();
    let wide = store.propose(Origin::Wide(1), &[vec![-3.0]]).unwrap();
    assert_eq!((&round[..], &wide[..]), (&[2, 3][..], &[4][..]));
    drop(store);
    let mut store = Store::open(&bench.path().join("store.sqlite")).unwrap();
    assert_eq!(make(&mut store, &[0, 1, 2, 3, 4, 5], &|index| vec![100.0 + index as f64]), Ended::Completed);
    let records = store.records().unwrap();
    let found: Vec<(f64, Origin)> = records.iter().map(|record| (record.outcome.statistics.as_ref().unwrap()[0], record.origin)).collect();
    let expected = [
        (0.0, Origin::Prior),
        (1.0, Origin::Prior),
        (10.5, Origin::Round(1)),
        (0.1 + 0.2, Origin::Round(1)),
        (-3.0, Origin::Wide(1)),
        (105.0, Origin::Prior),
    ];
    assert_eq!(found, expected);
    assert_eq!(store.proposed_by(Origin::Round(1)).unwrap().len(), 2);
    assert_eq!(store.proposed(&[5]).unwrap()[&5].parameters, [105.0], "what the run drew itself is kept too");
    store.verify().unwrap();
}

#[test]
fn failures_that_are_forgotten_are_made_again_at_the_same_parameters() {
    let bench = Bench::new();
    let mut store = bench.store();
    let index = store.propose(Origin::Round(2), &[vec![7.25]]).unwrap()[0];
    let failed = Record { outcome: Outcome::failed(kelfi_run::Status::Timeout, "slow"), ..result(index, 7.25, Source::Run) };
    store.record(&[failed]).unwrap();
    assert_eq!(store.forget_failures().unwrap(), 1);
    make(&mut store, &[index], &|_| vec![0.0]);
    let again = &store.records().unwrap()[0];
    assert_eq!((&again.parameters[..], again.origin), (&[7.25][..], Origin::Round(2)));
}

#[test]
fn results_for_other_parameters_than_those_handed_out_are_refused() {
    let bench = Bench::new();
    let mut store = bench.store();
    store.hand_out(&[3], &|_| vec![0.5]).unwrap();
    let error = store.record(&[result(3, 0.25, Source::Import)]).unwrap_err();
    assert!(matches!(error, Error::NotProposed { index: 3 }), "{error}");
    store.record(&[result(3, 0.5, Source::Import), result(9, 0.25, Source::Import)]).unwrap();
    let origins: Vec<Origin> = store.records().unwrap().iter().map(|record| record.origin).collect();
    assert_eq!(origins, [Origin::Prior, Origin::File], "the store knows its own proposal");
    let message = |points: &[Vec<f64>], store: &mut Store| store.propose(Origin::Hand, points).unwrap_err().to_string();
    assert!(message(&[vec![1.0], vec![]], &mut store).contains("0 parameters were proposed, but the store has 1"));
    assert!(message(&[vec![f64::NAN]], &mut store).contains("`rate` of proposal 10 is not finite"));
    assert!(store.proposed_by(Origin::Hand).unwrap().is_empty(), "all of them or none");
}

fn sql(path: &Path, text: &str) {
    rusqlite::Connection::open(path).unwrap().execute_batch(text).unwrap();
}

#[test]
fn a_proposal_that_rots_or_is_lost_is_noticed_and_mended() {
    for damage in [
        "UPDATE proposal SET parameters = '[9.5]' WHERE id = 1",
        "UPDATE proposal SET origin = 'round 1' WHERE id = 1",
        "DELETE FROM proposal WHERE id = 1",
    ] {
        let bench = Bench::new();
        let mut store = bench.store();
        make(&mut store, &[0], &|_| vec![0.5]);
        store.hand_out(&[1], &|_| vec![0.75]).unwrap();
        let path = store.path().to_path_buf();
        drop(store);
        sql(&path, damage);
        let error = Store::read(&path).unwrap().verify().unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }) && error.to_string().contains("proposal"), "{damage}: {error}");
        assert!(!Survey::of(&path).unwrap().is_sound(), "{damage}");
        let mended = Store::mend(&path, &bench.problem(), &|_| true).unwrap().unwrap();
        assert_eq!((mended.kept, mended.lost), (1, 0), "{damage}");
        let mut store = Store::open(&path).unwrap();
        store.verify().unwrap();
        let known = Proposal { index: 0, parameters: vec![0.5], origin: Origin::Prior };
        assert_eq!(store.proposals().unwrap(), [known]);
        assert_eq!(store.hand_out(&[1], &|_| vec![0.75]).unwrap()[0].parameters, [0.75]);
    }
}

#[test]
fn an_origin_that_is_edited_is_damage() {
    let bench = Bench::new();
    let mut store = bench.store();
    make(&mut store, &[0], &|_| vec![0.5]);
    for origin in ["'round 1'", "NULL", "'dream'"] {
        sql(store.path(), &format!("UPDATE simulation SET origin = {origin}"));
        let error = store.records().unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{origin}: {error}");
    }
}

/// A store that version 3 wrote: twelve simulations of a run, one of them failed, three handed out of which one was told, one imported.
fn of_version_3(directory: &Path) -> std::path::PathBuf {
    let path = directory.join("store.sqlite");
    std::fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/store-version-3.sqlite"), &path).unwrap();
    path
}

#[test]
fn a_store_of_version_3_is_read_as_it_is_and_brought_up_to_date_by_a_writer() {
    let directory = tempfile::tempdir().unwrap();
    let path = of_version_3(directory.path());
    let before = Store::read(&path).unwrap();
    let records = before.records().unwrap();
    assert!(before.proposals().unwrap().is_empty());
    drop(before);
    let origin = |index: u64| records.iter().find(|record| record.index == index).unwrap().origin;
    assert_eq!((records.len(), origin(0), origin(12), origin(15)), (14, Origin::Prior, Origin::Prior, Origin::File));
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.records().unwrap(), records);
    assert_eq!(store.outstanding().unwrap(), [13, 14]);
    store.verify().unwrap();
    make(&mut store, &[16], &|_| vec![0.5]);
    store.tell(&[result(13, 1.25, Source::Tell)]).unwrap();
    store.verify().unwrap();
    drop(store);
    assert!(Survey::of(&path).unwrap().is_sound());
    assert_eq!(Store::read(&path).unwrap().counts().unwrap().all(), 16);
}

#[test]
fn a_damaged_store_of_version_3_is_mended() {
    let directory = tempfile::tempdir().unwrap();
    let path = of_version_3(directory.path());
    sql(&path, "UPDATE simulation SET parameters = '[0.5]' WHERE id = 4");
    let problem = Store::read(&path).unwrap().problem().clone();
    let mended = Store::mend(&path, &problem, &|_| true).unwrap().unwrap();
    assert_eq!((mended.kept, &mended.indices[..]), (13, &[4][..]));
    Store::open(&path).unwrap().verify().unwrap();
}

#[test]
fn a_store_of_version_2_is_brought_up_to_date() {
    let bench = Bench::new();
    let path = bench.path().join("store.sqlite");
    let StoredProblem { text, .. } = bench.problem();
    let hash = bench.problem().hash();
    sql(
        &path,
        &format!(
            "CREATE TABLE problem (id INTEGER PRIMARY KEY CHECK (id = 1), text TEXT NOT NULL, hash TEXT NOT NULL,
                 parameters TEXT NOT NULL, statistics TEXT NOT NULL, seed TEXT NOT NULL) STRICT;
             CREATE TABLE simulation (id INTEGER PRIMARY KEY CHECK (id >= 0), parameters TEXT NOT NULL, statistics TEXT,
                 status TEXT NOT NULL, seed TEXT, seconds REAL, message TEXT NOT NULL,
                 CHECK ((status = 'ok') = (statistics IS NOT NULL))) STRICT;
             ALTER TABLE simulation ADD COLUMN source TEXT NOT NULL DEFAULT 'run';
             CREATE TABLE asked (id INTEGER PRIMARY KEY CHECK (id >= 0), since TEXT NOT NULL) STRICT;
             INSERT INTO problem VALUES (1, '{text}', '{hash}', '[\"rate\"]', '[\"a\",\"b\"]', '1');
             INSERT INTO simulation VALUES (0, '[0.5]', '[0.5,0.5]', 'ok', NULL, NULL, '', 'tell');
             INSERT INTO simulation VALUES (1, '[0.25]', '[0.25,0.25]', 'ok', NULL, NULL, '', 'import');
             PRAGMA application_id = 0x4b454c46; PRAGMA user_version = 2;"
        ),
    );
    let expected = [result(0, 0.5, Source::Tell), result(1, 0.25, Source::Import)];
    assert_eq!(Store::read(&path).unwrap().records().unwrap(), expected);
    let mut store = Store::open(&path).unwrap();
    assert_eq!(store.records().unwrap(), expected);
    assert_eq!(store.propose(Origin::Hand, &[vec![2.0]]).unwrap(), [2]);
    store.verify().unwrap();
}
