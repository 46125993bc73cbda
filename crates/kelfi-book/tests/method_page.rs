//! The page on methods is that of the methods there are: its table comes from them, and the settings of each are explained.

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- table -->\n";
const END: &str = "<!-- end -->\n";

fn table() -> String {
    let row = |cells: [&str; 3]| format!("| {} |\n", cells.join(" | "));
    let mut table = row(["method", "how it works", "proposed by"]) + "|---|---|---|\n";
    for method in kelfi_baselines::all() {
        table += &row([&format!("`{}`", method.name()), method.description(), method.reference()]);
    }
    table
}

#[test]
fn the_page_on_methods_lists_every_method_and_explains_its_settings() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src/reference/methods.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (found, after) = rest.split_once(END).unwrap();
    if std::env::var_os("KELFI_RECORD").is_some() {
        fs::write(&path, [before, BEGIN, &table(), END, after].concat()).unwrap();
    } else {
        assert_eq!(found, table(), "KELFI_RECORD=1 writes the table anew");
    }
    for method in kelfi_baselines::all() {
        assert!(after.contains(&format!("`{}`", method.name())), "{} has no line on its settings", method.name());
    }
}
