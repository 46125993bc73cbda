//! What is released: every file that a recipe names exists, versions and bounds agree, and crates are published in an order that works.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

const WORKFLOW: &str = ".github/workflows/release.yml";
const RECIPE: &str = "packaging/conda/meta.yaml";
const SCRIPTS: [&str; 5] = ["packaging/linux-binary", "packaging/wheel", "packaging/crates", "packaging/try-bare", "packaging/try-wheel"];

/// What stands between quotes and the first one after `key`.
fn quoted_after(text: &str, key: &str) -> String {
    let rest = text.split(key).nth(1).unwrap_or_else(|| panic!("there is no {key}"));
    rest.split(['"', '\'']).nth(1).unwrap_or_else(|| panic!("nothing is quoted after {key}")).to_owned()
}

/// Words of a recipe that are files of this project.
fn named(text: &str) -> Vec<String> {
    let of_comments = |line: &str| line.trim_start().starts_with('#');
    let lines: Vec<&str> = text.lines().filter(|line| !of_comments(line)).collect();
    let words = lines.join("\n");
    let words = words.split(|c: char| c.is_whitespace() || "\"'()[]{},;|`".contains(c)).map(|word| word.trim_start_matches("./"));
    let ours = |word: &&str| {
        let files = ["README.md", "CITATION.cff", "LICENSE-MIT", "LICENSE-APACHE", "python"];
        files.contains(word) || ["packaging/", "crates/", "examples/", "docs/"].iter().any(|folder| word.starts_with(folder))
    };
    words.filter(ours).map(str::to_owned).collect()
}

#[test]
fn every_file_that_a_recipe_names_exists_and_its_scripts_can_run() {
    use std::os::unix::fs::PermissionsExt;
    for recipe in [WORKFLOW, RECIPE].into_iter().chain(SCRIPTS) {
        for name in named(&read(recipe)) {
            let path = root().join(&name);
            assert!(path.exists(), "{recipe} names {name}, which does not exist");
            if SCRIPTS.contains(&name.as_str()) {
                assert!(path.metadata().unwrap().permissions().mode() & 0o111 != 0, "{name} cannot be executed");
            }
        }
    }
    assert!(named(&read(WORKFLOW)).iter().filter(|name| SCRIPTS.contains(&name.as_str())).count() >= 5, "the workflow runs the scripts");
    assert_eq!(named("run: packaging/none dist/x README.md # y"), ["packaging/none", "README.md"]);
}

#[test]
fn the_version_is_the_same_wherever_it_stands() {
    let version = quoted_after(&read("Cargo.toml"), "[workspace.package]\nversion");
    assert_eq!(quoted_after(&read(RECIPE), "set version"), version);
    assert!(read("CITATION.cff").contains(&format!("\nversion: {version}\n")));
    for text in ["README.md", "docs/src/start/install.md", "python/README.md"] {
        let found: Vec<String> = read(text)
            .split("kelfi-")
            .skip(1)
            .map(|rest| rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>())
            .map(|number| number.trim_end_matches('.').to_owned())
            .filter(|number| number.contains('.'))
            .collect();
        assert!(!found.is_empty(), "{text} names the files of a release");
        assert!(found.iter().all(|number| *number == version), "{text} has {found:?}, the version is {version}");
    }
}

#[test]
fn archives_are_laid_out_as_cargo_binstall_expects_them() {
    let manifest = read("crates/kelfi-cli/Cargo.toml");
    assert_eq!(quoted_after(&manifest, "bin-dir"), "kelfi-{ version }-{ target }/{ bin }{ binary-ext }");
    assert_eq!(quoted_after(&manifest, "pkg-fmt"), "tgz");
    assert_eq!(quoted_after(&manifest, "[[bin]]\nname"), "kelfi");
    let (script, workflow) = (read("packaging/linux-binary"), read(WORKFLOW));
    assert!(script.contains("name=kelfi-$version-$target\n") && script.contains("\"dist/$name/kelfi\""));
    assert!(workflow.contains("name=kelfi-${GITHUB_REF_NAME#v}-${{ matrix.target }}\n") && workflow.contains("release/kelfi "));
}

#[test]
fn python_and_maturin_have_the_same_bounds_everywhere() {
    let (project, recipe) = (read("python/pyproject.toml"), read(RECIPE));
    let maturin = quoted_after(&project, "requires = [").replace("maturin", "");
    assert!(recipe.contains(&format!("maturin {maturin}\n")), "the recipe does not want maturin {maturin}");
    assert!(read("packaging/wheel").contains(&format!("'maturin{maturin}'")), "the script does not want maturin {maturin}");
    assert_eq!(quoted_after(&project, "requires-python"), ">=3.9");
    assert!(recipe.contains("py<39") && read("crates/kelfi-python/Cargo.toml").contains("abi3-py39"));
}

/// Published crates with the published crates they depend on.
fn published() -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let manifest = read(&format!("crates/{name}/Cargo.toml"));
        if !manifest.contains("publish = false") {
            let needed = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default().split("\n[").next().unwrap_or_default();
            let ours = needed.lines().filter_map(|line| line.split(['.', ' ']).next()).filter(|word| word.starts_with("kelfi"));
            found.insert(name, ours.map(str::to_owned).collect());
        }
    }
    found
}

#[test]
fn crates_are_published_after_those_they_need() {
    let script = read("packaging/crates");
    let order: Vec<&str> = script.split("-p ").skip(1).filter_map(|rest| rest.split_whitespace().next()).collect();
    let published = published();
    assert_eq!(order.len(), published.len(), "{order:?} are packed, {:?} are published", published.keys());
    for (at, name) in order.iter().enumerate() {
        let needed = published.get(*name).unwrap_or_else(|| panic!("{name} is not published"));
        assert!(needed.iter().all(|other| order[..at].contains(&other.as_str())), "{name} needs {needed:?} before it");
    }
}
