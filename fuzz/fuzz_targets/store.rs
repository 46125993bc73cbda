//! Stores of strangers, opened for reading.
#![no_main]

use kelfi_run::Store;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let directory = tempfile::tempdir().expect("a directory for the store");
    let path = directory.path().join("store.sqlite");
    std::fs::write(&path, bytes).expect("room for the store");
    if let Ok(store) = Store::read(&path) {
        let _ = (store.counts(), store.records(), store.verify());
    }
});
