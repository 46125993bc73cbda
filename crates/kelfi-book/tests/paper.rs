//! Chapters say what the committed results say: their tables are rows of CSV files, their figures are theirs.
//!
//! A table below a line `<!-- csv: PATH -->` is checked: its columns are named as in the file, except those whose name begins with
//! "paper", which quote the paper.

use std::fs;
use std::path::{Path, PathBuf};

const CHAPTER: &str = "docs/src/understand/paper.md";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Column names and rows.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn of_csv(text: &str) -> Self {
        let mut lines = text.lines().map(|line| line.split(',').map(String::from).collect::<Vec<String>>());
        Self { columns: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    /// A Markdown table; its second line is the rule below the names.
    fn of_markdown<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let cells =
            |line: &str| line.trim().trim_matches('|').split('|').map(|cell| cell.trim().replace("**", "")).collect::<Vec<String>>();
        let mut lines = lines.take_while(|line| line.trim_start().starts_with('|')).map(cells);
        let columns = lines.next().unwrap_or_default();
        Self { columns, rows: lines.skip(1).collect() }
    }

    fn place(&self, column: &str) -> usize {
        self.columns.iter().position(|name| name == column).unwrap_or_else(|| panic!("there is no column {column:?}"))
    }

    /// The number under `column` in the only row with these cells.
    fn number(&self, wanted: &[(&str, &str)], column: &str) -> f64 {
        let fits = |row: &&Vec<String>| wanted.iter().all(|(name, cell)| row[self.place(name)] == *cell);
        let rows: Vec<&Vec<String>> = self.rows.iter().filter(fits).collect();
        assert_eq!(rows.len(), 1, "rows with {wanted:?}");
        rows[0][self.place(column)].parse().unwrap()
    }
}

/// Whether what is written is what was measured, rounded to as many digits as are written.
fn says(written: &str, measured: &str) -> bool {
    let (Ok(number), Ok(exact)) = (written.parse::<f64>(), measured.parse::<f64>()) else { return written == measured };
    let decimals = written.split('.').nth(1).map_or(0, str::len) as i32;
    (number - exact).abs() <= 0.5 * 10_f64.powi(-decimals) + 1e-9
}

/// What is wrong with a table of the chapter, if anything.
fn complaint(chapter: &Table, csv: &Table) -> Option<String> {
    let checked: Vec<(usize, usize)> = (0..chapter.columns.len())
        .filter(|&c| !chapter.columns[c].starts_with("paper"))
        .map(|c| (c, csv.place(&chapter.columns[c])))
        .collect();
    let found = |row: &Vec<String>| csv.rows.iter().any(|measured| checked.iter().all(|&(c, d)| says(&row[c], &measured[d])));
    let wrong = chapter.rows.iter().find(|row| row.len() != chapter.columns.len() || !found(row));
    wrong.map(|row| format!("no row of the file says {row:?}"))
}

#[test]
fn every_table_of_the_chapters_is_in_the_committed_results() {
    for (name, least) in
        [(CHAPTER, 13), ("README.md", 1), ("docs/src/understand/default-model.md", 1), ("docs/src/understand/location-scale.md", 7)]
    {
        let text = read(name);
        let mut tables = 0;
        for rest in text.split("<!-- csv: ").skip(1) {
            let (path, below) = rest.split_once(" -->").unwrap();
            let chapter = Table::of_markdown(below.trim_start().lines());
            assert!(!chapter.rows.is_empty(), "no table below the mention of {path}");
            if let Some(complaint) = complaint(&chapter, &Table::of_csv(&read(path))) {
                panic!("{name}, {path}: {complaint}");
            }
            tables += 1;
        }
        assert!(tables >= least, "only {tables} tables of {name} are checked");
    }
}

#[test]
fn a_table_that_differs_from_its_file_is_noticed() {
    let csv = Table::of_csv("method,m,error\nours,300,1.094\nours,1000,0.596\n");
    let complaint = |text: &str| complaint(&Table::of_markdown(text.lines()), &csv);
    assert_eq!(complaint("| method | m | error | paper |\n|---|---|---|---|\n| ours | 300 | **1.09** | below 1 |\n"), None);
    assert!(complaint("| method | m | error |\n|---|---|---|\n| ours | 300 | 1.10 |\n").is_some(), "another number");
    assert!(complaint("| method | m | error |\n|---|---|---|\n| ours | 300 | 0.60 |\n").is_some(), "a number of another row");
    assert!(complaint("| method | m | error |\n|---|---|---|\n| theirs | 300 | 1.09 |\n").is_some(), "another name");
}

/// Cells of the table of scale that say what a row of the file does not, each with what is written and measured.
fn scale_complaints(written: &[String], csv: &Table, measured: &[String]) -> Vec<String> {
    let of = |column: &str| measured[csv.place(column)].clone();
    let gigabytes = (of("peak_mb").parse::<f64>().unwrap() / 1_000.0).to_string();
    let (narrowest, widest) = written[7].split_once('–').expect("a range of widths");
    let pairs = [
        (written[3].as_str(), of("cpu_seconds")),
        (written[4].trim_end_matches(" GB"), gigabytes),
        (&written[5], of("r_hat")),
        (&written[6], of("mean_error")),
        (narrowest, of("narrowest")),
        (widest, of("widest")),
    ];
    pairs.iter().filter(|(written, measured)| !says(written, measured)).map(|(w, m)| format!("{w} is written, {m} was measured")).collect()
}

#[test]
fn the_table_of_scale_is_the_committed_one() {
    let text = read("docs/src/understand/scale.md");
    let chapter = Table::of_markdown(text[text.find("| parameters |").expect("a table")..].lines());
    let csv = Table::of_csv(&read("experiments/results/scale/scale.csv"));
    let of_model = |name: &str| csv.rows.iter().filter(|row| row[csv.place("model")] == name).collect::<Vec<_>>();
    let rows = of_model("location-scale");
    assert_eq!(chapter.rows.len(), rows.len(), "rows of the table and of the file");
    for written in &chapter.rows {
        let plain: Vec<String> = written[..3].iter().map(|cell| cell.replace(',', "")).collect();
        let measured = rows.iter().find(|row| row[..3] == plain).unwrap_or_else(|| panic!("no row of the file is of {plain:?}"));
        assert_eq!(scale_complaints(written, &csv, measured), Vec::<String>::new(), "{written:?}");
        let mut wrong = written.clone();
        wrong[5] = "9.999".into();
        assert_eq!(scale_complaints(&wrong, &csv, measured).len(), 1, "another number would be noticed");
    }
    let [low_rank] = of_model("kernel-means")[..] else { panic!("one row of kernel means by low rank") };
    for (column, written, unit) in
        [("cpu_seconds", "250", 1.0), ("peak_mb", "2.4", 1_000.0), ("narrowest", "1.3", 1.0), ("widest", "1.7", 1.0)]
    {
        let measured = low_rank[csv.place(column)].parse::<f64>().unwrap() / unit;
        assert!(says(written, &measured.to_string()), "{column}: {written} is written, {measured} was measured");
    }
    let sentence = text.split("Kernel means by low rank takes").nth(1).expect("the sentence on low rank");
    assert!(sentence.starts_with(" 250 processor seconds and 2.4 GB") && sentence.contains("1.3 to 1.7 times as wide"));
}

#[test]
fn every_figure_of_the_chapter_is_the_committed_one() {
    // The book keeps copies because a book cannot show files from outside itself.
    let folder = root().join("docs/src/understand/figures");
    let mut figures = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let (experiment, figure) = name.rsplit_once("--").unwrap_or_else(|| panic!("{name} is not EXPERIMENT--FIGURE.svg"));
        let results = format!("experiments/results/{experiment}/{figure}");
        assert!(read(&results) == read(&format!("docs/src/understand/figures/{name}")), "{name} differs from {results}; copy it again");
        assert!(read(CHAPTER).contains(&format!("figures/{name}")), "the chapter does not show {name}");
        figures += 1;
    }
    assert!(figures >= 11, "only {figures} figures");
}

#[test]
fn blowfly_errors_are_below_the_bar_with_a_reach_of_twenty_and_not_without() {
    for (file, column) in [("nmse", "nmse mean %"), ("confirmation", "nmse mean %")] {
        let table = Table::of_csv(&read(&format!("experiments/results/blowfly/{file}.csv")));
        let at = |method: &str, m: &str| table.number(&[("method", method), ("simulations", m)], column);
        assert!(at("mkml reach 20", "300") <= 1.3 && at("mkml reach 20", "1000") < 1.0, "{file}");
        // The chapter says that the plain objective misses it; if that changes, so must the chapter.
        assert!(at("mkml (paper)", "300") > 1.3 && at("mkml (paper)", "1000") > 1.0, "{file}");
    }
}

#[test]
fn blowfly_tolerances_fall_with_the_number_of_simulations() {
    let table = Table::of_csv(&read("experiments/results/blowfly/nmse.csv"));
    for method in ["mkml (paper)", "mkml reach 20"] {
        let epsilon = |m: &str| table.number(&[("method", method), ("simulations", m)], "epsilon");
        assert!(epsilon("50") > epsilon("200") && epsilon("200") > epsilon("1000"), "{method}");
    }
}

/// The rows of the chapter's table that is checked against this file.
fn table_of(path: &str) -> Table {
    let text = read(CHAPTER);
    let below = text.split(&format!("<!-- csv: {path} -->")).nth(1).unwrap_or_else(|| panic!("the chapter has no table of {path}"));
    Table::of_markdown(below.trim_start().lines())
}

#[test]
fn every_method_is_in_the_tables_of_the_arena() {
    for (experiment, file) in [("arena-blowfly", "table"), ("arena-toy", "table")] {
        let path = format!("experiments/results/{experiment}/{file}.csv");
        let (chapter, csv) = (table_of(&path), Table::of_csv(&read(&path)));
        let names = |table: &Table| {
            let mut names: Vec<String> = table.rows.iter().map(|row| row[table.place("method")].clone()).collect();
            names.sort();
            names
        };
        assert_eq!(names(&chapter), names(&csv), "{path}");
    }
    // One rate of the four is in the table: every method with it.
    let path = "experiments/results/arena-lotka-volterra/intervals.csv";
    assert_eq!(4 * table_of(path).rows.len(), Table::of_csv(&read(path)).rows.len());
}

#[test]
fn the_chapter_ranks_the_paper_s_eight_methods_as_the_arena_does() {
    let table = Table::of_csv(&read("experiments/results/arena-blowfly/table.csv"));
    let place_of_kelfi = |calls: &str| {
        let of_paper =
            |row: &&Vec<String>| row[table.place("method")].ends_with("(paper)") || row[table.place("method")].contains("(paper;");
        let error = |row: &Vec<String>| row[table.place(&format!("nmse % at {calls}"))].parse::<f64>().unwrap();
        let own = table.number(&[("method", "KELFI (paper)")], &format!("nmse % at {calls}"));
        let eight: Vec<f64> = table.rows.iter().filter(of_paper).map(error).collect();
        assert_eq!(eight.len(), 8);
        1 + eight.iter().filter(|other| **other < own).count()
    };
    assert_eq!([place_of_kelfi("300"), place_of_kelfi("1000")], [7, 2]);
    assert!(read(CHAPTER).contains("seventh of the eight at 300 calls, second at 1,000"), "the summary says so");
    for (method, below) in [("kelfi", 0.25), ("kelfi-rounds", 0.2)] {
        assert!(table.number(&[("method", method)], "nmse % at 300") < below, "{method}");
    }
}

#[test]
fn lotka_volterra_intervals_by_leave_one_out_hold_the_truth() {
    let table = Table::of_csv(&read("experiments/results/lotka-volterra/coverage.csv"));
    let parameters: Vec<&Vec<String>> = table.rows.iter().filter(|row| row[table.place("learner")] == "loo").collect();
    assert_eq!(parameters.len(), 4);
    for row in parameters {
        let inside = |column: &str| row[table.place(column)].parse::<u32>().unwrap();
        assert!(inside("seeds") == 5 && inside("truth inside") >= 4, "{row:?}");
    }
}

#[test]
fn every_fitted_rate_is_at_least_as_steep_as_the_theorems() {
    let table = Table::of_csv(&read("experiments/results/rates/rates.csv"));
    for quantity in ["likelihood", "evidence", "posterior", "embedding"] {
        assert!(table.number(&[("m", "slope")], quantity) <= -0.25, "{quantity}");
    }
}
