//! What simulators print, as text and as JSON.
#![no_main]

use kelfi_run::output;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let names = ["a".to_owned(), "b".to_owned()];
    for outcome in [output::from_text(bytes, &names), output::from_json(bytes, &names)] {
        match outcome.statistics {
            Some(values) if outcome.status.is_ok() => assert!(values.len() == 2 && values.iter().all(|value| value.is_finite())),
            _ => assert!(!outcome.message.is_empty()),
        }
    }
});
