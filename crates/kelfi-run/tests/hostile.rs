//! Tables, answers and stores of strangers: refused with a sentence or read, never a panic, never without end.

use kelfi::testing::Mutations;
use kelfi_run::store::StoredProblem;
use kelfi_run::{Origin, Outcome, Record, Source, Status, Store, import, output};

fn names() -> Vec<String> {
    vec!["a".into(), "b".into()]
}

fn problem() -> StoredProblem {
    StoredProblem { text: "{}".into(), parameters: vec!["rate".into()], statistics: names(), seed: 1 }
}

/// A message people can read and a terminal can show.
#[track_caller]
fn is_a_sentence(message: &str) {
    assert!(message.split_whitespace().count() > 2, "{message:?}");
    assert!(message.chars().all(|c| c == '\n' || !c.is_control()), "{message:?}");
    assert!(message.chars().count() < 2_000, "{} characters", message.chars().count());
}

#[test]
fn damaged_tables_are_refused_with_a_sentence_or_read() {
    let good = b"index,rate,a,b,status,seed,seconds\n1,0.5,1,2,ok,17,0.1\n2,0.25,,,timeout,18,\n3,1.5,NaN,4,,19,0.2\n";
    let (mut read, mut refused) = (0, 0);
    for bytes in Mutations::of(good, 3).take(4_000) {
        match import::read_csv(&bytes[..], &problem(), 0, Source::Import) {
            Ok(records) => {
                read += 1;
                assert!(records.iter().all(|record| record.parameters[0].is_finite()));
                let finite = |record: &Record| record.outcome.statistics.as_ref().is_none_or(|x| x.iter().all(|v| v.is_finite()));
                assert!(records.iter().all(finite));
            }
            Err(error) => {
                refused += 1;
                is_a_sentence(&error.to_string());
            }
        }
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn damaged_answers_are_failed_simulations_with_a_sentence_or_read() {
    let goods: [&[u8]; 3] = [b"1.5 2.5\n", b"{\"statistics\": {\"a\": 1.5, \"b\": [2]}, \"error\": \"x\"}", b"[1.5, NaN]"];
    for good in goods {
        for bytes in Mutations::of(good, 5).take(3_000) {
            for outcome in
                [output::from_text(&bytes, &names(), kelfi::Outputs::Statistics), output::from_json(&bytes, &names(), kelfi::Outputs::Rows)]
            {
                match outcome.status {
                    Status::Ok => assert!(outcome.statistics.is_some_and(|x| x.len() == 2 && x.iter().all(|v| v.is_finite()))),
                    _ => is_a_sentence(&outcome.message),
                }
            }
        }
    }
}

#[test]
fn answers_of_any_depth_and_length_end() {
    let deep = format!("{{\"statistics\": {}1", "[".repeat(200_000));
    let outcome = output::from_json(deep.as_bytes(), &names(), kelfi::Outputs::Statistics);
    assert_eq!(outcome.status, Status::BadOutput);
    is_a_sentence(&outcome.message);
    let many = "1 ".repeat(1_000_000);
    assert_eq!(output::from_text(many.as_bytes(), &names(), kelfi::Outputs::Statistics).status, Status::WrongCount);
    let key = format!("{{\"statistics\": {{\"{}\\u001b[31m\": 1}}}}", "k".repeat(1_000_000));
    is_a_sentence(&output::from_json(key.as_bytes(), &names(), kelfi::Outputs::Statistics).message);
}

#[test]
fn damaged_stores_are_refused_with_a_sentence_or_read() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store.sqlite");
    let mut store = Store::open_or_create(&path, &problem()).unwrap();
    let record = |index| Record {
        index,
        parameters: vec![index as f64 * 0.1],
        seed: Some(index),
        seconds: None,
        outcome: Outcome::ok(vec![1.0, index as f64]),
        source: Source::Import,
        origin: Origin::File,
    };
    store.record(&(0..60).map(record).collect::<Vec<_>>()).unwrap();
    drop(store);
    let good = std::fs::read(&path).unwrap();
    for (k, bytes) in Mutations::of(&good, 11).take(300).enumerate() {
        let damaged = directory.path().join(format!("d{k}.sqlite"));
        std::fs::write(&damaged, bytes).unwrap();
        let read = Store::read(&damaged).and_then(|store| {
            store.counts()?;
            store.records()?;
            store.verify()
        });
        if let Err(error) = read {
            is_a_sentence(&error.to_string());
        }
    }
}
