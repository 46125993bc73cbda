//! `kelfi methods`: what `kelfi compare` can compare.

use crate::arguments::Methods;
use crate::failure::Failure;
use crate::show;
use serde_json::json;
use std::fmt::Write as _;

pub fn run(typed: &Methods) -> Result<(), Failure> {
    let methods = kelfi_baselines::all();
    if typed.json {
        let all: Vec<_> =
            methods.iter().map(|m| json!({ "name": m.name(), "description": m.description(), "reference": m.reference() })).collect();
        return show::print(&format!("{:#}\n", serde_json::Value::from(all)));
    }
    let width = methods.iter().map(|method| method.name().len()).max().unwrap_or(0);
    let mut text = String::new();
    for method in &methods {
        let _ = writeln!(text, "{:<width$}  {}\n{:<width$}  {}", method.name(), method.description(), "", method.reference());
    }
    show::print(&(text + "\ncompare some with `kelfi compare PROBLEM --methods A,B,..`\n"))
}
