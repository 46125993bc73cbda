//! The book is whole: every chapter is compiled, and every link leads somewhere.

use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    fs::read_to_string(root().join(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.as_ref().display()))
}

/// Targets of `[text](target)` outside fenced code, without web addresses and anchors.
fn links(text: &str) -> Vec<String> {
    let mut targets = vec![];
    for (index, prose) in text.split("```").enumerate() {
        if index % 2 == 0 {
            targets.extend(prose.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(String::from));
        }
    }
    targets.retain(|target| !target.contains("://") && !target.starts_with('#'));
    targets
}

/// Paths from the root of the README, CONTRIBUTING and all files of the book.
fn documents() -> Vec<PathBuf> {
    let mut found = vec![PathBuf::from("README.md"), PathBuf::from("CONTRIBUTING.md")];
    let mut folders = vec![PathBuf::from("docs/src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap() {
            let path = folder.join(entry.unwrap().file_name());
            if root().join(&path).is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn every_chapter_is_in_the_summary_and_its_snippets_are_compiled() {
    let (summary, compiled) = (links(&read("docs/src/SUMMARY.md")), read("crates/kelfi-book/src/lib.rs"));
    let chapters: Vec<PathBuf> = documents().into_iter().filter(|path| path.starts_with("docs/src")).collect();
    assert!(chapters.len() > 20, "only {} chapters were found", chapters.len());
    for path in chapters.iter().filter(|path| !path.ends_with("SUMMARY.md")) {
        let name = path.strip_prefix("docs/src").unwrap().to_str().unwrap();
        assert!(summary.iter().any(|target| target == name), "{name} is not in docs/src/SUMMARY.md");
        assert!(compiled.contains(&format!("\"docs/src/{name}\"")), "{name} is not in crates/kelfi-book/src/lib.rs");
    }
}

#[test]
fn every_relative_link_leads_to_a_file() {
    for path in documents() {
        let folder = path.parent().unwrap();
        for target in links(&read(&path)) {
            let file = target.split('#').next().unwrap();
            assert!(root().join(folder).join(file).exists(), "{}: {target} does not exist", path.display());
        }
    }
}

/// The anchors of a document's headings, as mdbook and GitHub make them: lower case, blanks as hyphens, no punctuation.
fn anchors(text: &str) -> Vec<String> {
    let heading = |line: &str| line.starts_with('#').then(|| line.trim_start_matches('#').trim().to_lowercase());
    let anchor = |heading: String| -> String {
        heading.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    prose.join("\n").lines().filter_map(heading).map(anchor).collect()
}

#[test]
fn every_link_to_a_heading_leads_to_one() {
    for path in documents() {
        let text = read(&path);
        for target in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()).filter(|target| !target.contains("://")) {
            let Some((file, anchor)) = target.split_once('#') else { continue };
            let there = if file.is_empty() { text.clone() } else { read(path.parent().unwrap().join(file)) };
            assert!(anchors(&there).iter().any(|found| found == anchor), "{}: there is no heading for {target}", path.display());
        }
    }
}

#[test]
fn every_included_file_exists() {
    let mut included = 0;
    for path in documents() {
        for rest in read(&path).split("{{#include ").skip(1) {
            let file = rest.split("}}").next().unwrap();
            assert!(root().join(path.parent().unwrap()).join(file).exists(), "{} includes {file}, which does not exist", path.display());
            included += 1;
        }
    }
    assert!(included > 0, "the results of the adversary are included");
}

#[test]
fn every_check_and_error_is_in_the_reference() {
    // Names are read from the sources, so that a new one without its row is noticed.
    let checks = read("docs/src/reference/checks.md");
    let source = read("crates/kelfi/src/checks/meaning.rs");
    let names: Vec<&str> =
        source.split("name: \"").skip(1).filter_map(|rest| rest.split('"').next()).filter(|name| !name.is_empty()).collect();
    assert!(names.len() > 15 && names.contains(&"negative_mass"), "{names:?}");
    for name in names {
        assert!(checks.contains(&format!("| `{name}` |")), "the check {name} has no row");
    }
    let errors = read("docs/src/reference/errors.md");
    for variant in variants(&read("crates/kelfi/src/error.rs"), "pub enum Error {") {
        assert!(errors.contains(&format!("| `{variant}` |")), "the error {variant} has no row");
    }
}

#[test]
fn every_prior_family_and_kernel_is_in_the_reference() {
    let priors = read("docs/src/reference/priors.md");
    for family in variants(&read("crates/kelfi/src/prior/marginal/mod.rs"), "\nfamilies! {") {
        assert!(priors.contains(&format!("| `{family}` |")), "the family {family} has no row");
    }
    let kernels = read("docs/src/reference/kernels.md");
    for family in kelfi::kernel::Family::ALL {
        let integrals = if family.has_closed_form() { "closed form" } else { "means over prior draws" };
        let row = format!("| `Family::{family:?}` | {} | `\"{}\"` | {integrals} |", family.formula(), family.name());
        assert!(kernels.contains(&row), "the reference has no row\n{row}");
    }
    let names: Vec<String> = kelfi::kernel::Family::ALL.iter().map(|family| format!("`\"{}\"`", family.name())).collect();
    let options = format!("| `kernel` | {} |", names.join(", "));
    assert!(read("docs/src/reference/python.md").contains(&options), "the Python reference has no row\n{options}");
}

/// Names of the variants of the enum that begins with this line: what stands at the first level of indentation.
fn variants(source: &str, opening: &str) -> Vec<String> {
    let body = source.split(opening).nth(1).and_then(|rest| rest.split("\n}").next()).unwrap_or_else(|| panic!("no {opening}"));
    let names = body.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| line.starts_with(char::is_uppercase));
    let found: Vec<String> = names.map(|line| line.chars().take_while(|c| c.is_alphanumeric()).collect()).collect();
    assert!(found.len() >= 3, "{opening} has variants");
    found
}
