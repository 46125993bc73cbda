//! `kelfi export`: the simulations as a table, for other programs and for `kelfi import`.

mod npz;

use crate::arguments::Export;
use crate::directory::Directory;
use crate::failure::Failure;
use crate::show;
use kelfi::words::counted;
use kelfi_run::{Store, files};
use serde_json::json;
use std::path::Path;

pub fn run(typed: &Export) -> Result<(), Failure> {
    let store = Store::read(&Directory::at(&typed.directory).store())?;
    let Some(path) = &typed.out else {
        let mut bytes = Vec::new();
        store.export_csv(&mut bytes)?;
        return show::print(&String::from_utf8_lossy(&bytes));
    };
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("csv") => store.export_csv_file(path)?,
        Some("npz") => files::write_bytes_atomically(path, &npz::bytes(&store)?)?,
        _ => return Err(unknown(path)),
    }
    let count = store.counts()?.all();
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{:#}\n", json!({ "simulations": count, "file": path }))),
        (_, true) => Ok(()),
        _ => show::print(&format!("{} in {}\n", counted(count, "simulation"), path.display())),
    }
}

fn unknown(path: &Path) -> Failure {
    Failure::input(format!("{} ends in neither .csv nor .npz\n  the ending chooses the format", path.display()))
}
