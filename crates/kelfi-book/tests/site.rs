//! The book becomes a site: mdbook builds it, and every chapter of the summary has a page with its own heading and its own text.

use mdbook_driver::MDBook;
use mdbook_driver::config::Config;
use std::fs;
use std::path::{Path, PathBuf};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Builds the book of this folder into another.
fn build(book: &Path, site: &Path) -> Result<(), String> {
    let mut config = Config::from_disk(book.join("book.toml")).map_err(|error| format!("{error:#}"))?;
    // mdbook would write an empty chapter for one that the summary names and nobody wrote.
    config.build.create_missing = false;
    config.build.build_dir = site.to_path_buf();
    MDBook::load_with_config(book, config).and_then(|book| book.build()).map_err(|error| format!("{error:#}"))
}

/// Chapters that the summary names.
fn chapters(book: &Path) -> Vec<PathBuf> {
    let summary = fs::read_to_string(book.join("src/SUMMARY.md")).unwrap();
    summary.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(PathBuf::from).collect()
}

/// What is wrong with the site of this book.
fn faults(book: &Path, site: &Path) -> Vec<String> {
    let mut found = vec![];
    for chapter in chapters(book) {
        let (source, page) = (book.join("src").join(&chapter), site.join(chapter.with_extension("html")));
        let (Ok(source), Ok(page)) = (fs::read_to_string(&source), fs::read_to_string(&page)) else {
            found.push(format!("{} has no page", chapter.display()));
            continue;
        };
        let own = page.split("<main>").nth(1).and_then(|rest| rest.split("</main>").next()).unwrap_or_default();
        for level in ["# ", "## "] {
            let (written, built) = (headings(&source, level), own.matches(&format!("<h{} ", level.trim().len())).count());
            if written != built {
                found.push(format!("{}: {written} headings `{level}` are written, {built} are on the page", chapter.display()));
            }
        }
        found.extend(broken_links(own, site, &chapter));
        if own.contains("{{#include") {
            found.push(format!("{}: a file that it includes was not found", chapter.display()));
        }
    }
    found
}

/// Links and pictures of a page's text that lead to no file of the site.
fn broken_links(text: &str, site: &Path, chapter: &Path) -> Vec<String> {
    let folder = site.join(chapter).parent().expect("a chapter is in a folder").to_path_buf();
    let targets = ["href=\"", "src=\""].into_iter().flat_map(|attribute| text.split(attribute).skip(1));
    targets
        .filter_map(|rest| rest.split('"').next())
        .filter(|target| !target.contains("://") && !target.starts_with('#'))
        .filter(|target| !folder.join(target.split('#').next().unwrap_or(target)).exists())
        .map(|target| format!("{}: {target} is not on the site", chapter.display()))
        .collect()
}

/// How many headings of this level stand outside fenced code.
fn headings(text: &str, level: &str) -> usize {
    text.split("```").step_by(2).flat_map(str::lines).filter(|line| line.starts_with(level)).count()
}

#[test]
fn mdbook_builds_a_page_of_every_chapter() {
    let site = tempfile::tempdir().unwrap();
    build(&docs(), site.path()).unwrap();
    assert!(chapters(&docs()).len() > 20);
    assert_eq!(faults(&docs(), site.path()), Vec::<String>::new());
    assert!(site.path().join("index.html").exists());
}

#[test]
fn a_book_with_a_missing_chapter_a_lost_page_or_a_lost_include_is_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let (book, site) = (folder.path().join("docs"), folder.path().join("site"));
    fs::create_dir_all(book.join("src")).unwrap();
    fs::copy(docs().join("book.toml"), book.join("book.toml")).unwrap();
    fs::write(book.join("src/SUMMARY.md"), "# Summary\n\n- [One](one.md)\n- [Two](two.md)\n").unwrap();
    fs::write(
        book.join("src/one.md"),
        "# One\n\n## Part\n\n{{#include nowhere.md}}\n\n[out](../../outside.md), [two](two.md#two), [web](https://example.org)\n",
    )
    .unwrap();
    assert!(build(&book, &site).is_err_and(|why| why.contains("two.md")), "the summary names a chapter that is not there");
    fs::write(book.join("src/two.md"), "# Two\n").unwrap();
    build(&book, &site).unwrap();
    fs::remove_file(site.join("two.html")).unwrap();
    let expected = [
        "one.md: ../../outside.html is not on the site",
        "one.md: two.html#two is not on the site",
        "one.md: a file that it includes was not found",
        "two.md has no page",
    ];
    assert_eq!(faults(&book, &site), expected);
}
