//! `kelfi init`: a commented problem file and a small simulator to start from.

use crate::arguments::Init;
use crate::failure::Failure;
use crate::show;
use kelfi_run::files;
use serde_json::json;

const PROBLEM: &str = include_str!("init/problem.toml");
const SIMULATOR: &str = include_str!("init/simulate.py");

pub fn run(typed: &Init) -> Result<(), Failure> {
    let written = [("problem.toml", PROBLEM), ("simulate.py", SIMULATOR)];
    for (name, _) in written {
        let path = typed.directory.join(name);
        if path.exists() {
            return Err(Failure::input(format!("{} already exists\n  choose another directory; nothing was written", path.display())));
        }
    }
    std::fs::create_dir_all(&typed.directory)
        .map_err(|error| Failure::input(format!("{} cannot be created: {error}\n  choose another directory", typed.directory.display())))?;
    for (name, text) in written {
        files::write_bytes_atomically(&typed.directory.join(name), text.as_bytes())?;
    }
    let problem = typed.directory.join("problem.toml");
    match (typed.voice.json, typed.voice.quiet) {
        (true, _) => show::print(&format!("{:#}\n", json!({ "problem": problem, "simulator": typed.directory.join("simulate.py") }))),
        (_, true) => Ok(()),
        _ => show::print(&format!("wrote {0} and simulate.py\ntry it: kelfi run {0}\n", problem.display())),
    }
}
