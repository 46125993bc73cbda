//! NPZ archives and the NPY arrays in them: bytes are tried as an archive and, beginning after them, as an array in one.
#![no_main]

#[path = "../../crates/kelfi-cli/src/commands/npz/mod.rs"]
mod npz;

use libfuzzer_sys::fuzz_target;
use std::io::{Cursor, Write};
use zip::write::SimpleFileOptions;

fuzz_target!(|bytes: &[u8]| {
    let name = "r".to_owned();
    let _ = npz::as_csv(bytes, &[&name]);
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    writer.start_file("r.npy", options).expect("a name that an archive takes");
    writer.write_all(bytes).expect("memory takes everything");
    let archive = writer.finish().expect("memory takes everything").into_inner();
    if let Err(message) = npz::as_csv(&archive, &[&name]) {
        assert!(message.contains("\n  "), "no advice in {message:?}");
    }
});
