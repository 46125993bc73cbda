//! Arrows go one way: a module of the library uses only those that stand above it in `lib.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The modules in the order of `lib.rs`, and which module each name at the root comes from.
struct Plan {
    order: Vec<String>,
    origins: BTreeMap<String, String>,
}

impl Plan {
    fn read(lib: &str) -> Self {
        let order: Vec<String> =
            lib.lines().filter_map(|line| Some(line.strip_prefix("pub mod ")?.strip_suffix(';')?.to_owned())).collect();
        let mut origins = BTreeMap::new();
        for line in lib.lines().filter_map(|line| line.strip_prefix("pub use ")) {
            let module = line.split("::").next().unwrap_or_default().to_owned();
            for name in names(line) {
                origins.insert(name, module.clone());
            }
        }
        Self { order, origins }
    }

    fn place(&self, module: &str) -> Option<usize> {
        self.order.iter().position(|known| known == module)
    }

    /// Modules above which nothing of `module` may look, that this text of it uses all the same.
    fn against(&self, module: &str, text: &str) -> Vec<String> {
        let own = self.place(module).unwrap_or_else(|| panic!("{module} is not in lib.rs"));
        let targets = used(text).into_iter().map(|name| self.origins.get(&name).cloned().unwrap_or(name));
        targets.filter(|target| self.place(target).is_some_and(|place| place > own)).collect()
    }
}

/// Words that start with a letter.
fn names(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(char::is_alphabetic)).map(str::to_owned).collect()
}

/// What follows every `crate::`: one name, or the first names of a list in braces. Tests and comments may look anywhere.
fn used(text: &str) -> Vec<String> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = vec![];
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            None => found.extend(names(rest).into_iter().take(1)),
            Some(list) => found.extend(firsts(list)),
        }
    }
    found
}

/// The first name of every entry of a list in braces, whose entries may have lists of their own.
fn firsts(list: &str) -> Vec<String> {
    let (mut depth, mut entry, mut entries) = (0, String::new(), vec![]);
    for letter in list.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => entries.push(std::mem::take(&mut entry)),
            _ => entry.push(letter),
        }
    }
    entries.push(entry);
    entries.iter().filter_map(|entry| names(entry).into_iter().next()).collect()
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

fn library() -> (PathBuf, Plan) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let plan = Plan::read(&fs::read_to_string(root.join("lib.rs")).unwrap());
    (root, plan)
}

#[test]
fn every_module_uses_only_those_above_it() {
    let (root, plan) = library();
    let mut wrong = vec![];
    for path in sources(&root) {
        let inside = path.strip_prefix(&root).unwrap();
        if inside == Path::new("lib.rs") {
            continue;
        }
        let module = inside.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned();
        for target in plan.against(&module, &fs::read_to_string(&path).unwrap()) {
            wrong.push(format!("{}: {module} uses {target}", inside.display()));
        }
    }
    assert!(wrong.is_empty(), "arrows against the order of lib.rs:\n{}", wrong.join("\n"));
}

#[test]
fn an_arrow_turned_round_is_found_however_it_is_written() {
    let (_, plan) = library();
    for (module, line, target) in [
        ("prior", "use crate::posterior::Posterior;", "posterior"),
        ("points", "use crate::{Error, Prior};", "prior"),
        ("kernel", "let x = crate::simulations::Simulations::new();", "simulations"),
        ("simulations", "use crate::{Points, model::{Surrogate, Kind}, prior};", "model"),
        ("model", "use crate::Posterior;", "posterior"),
    ] {
        assert_eq!(plan.against(module, line), [target], "{line}");
    }
    assert!(plan.against("posterior", "use crate::prior::Prior;\n#[cfg(test)]\nuse crate::Fit;").is_empty());
    assert!(plan.against("posterior", "/// See [`crate::Fit`].").is_empty());
}
