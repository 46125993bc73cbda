//! The report: every section computed once, then written as a page or as figures.

use crate::figure::{Figure, STYLE, standalone_style};
use crate::inputs::ReportInputs;
use crate::sections::verdict::{Verdict, verdict};
use crate::sections::{Section, budget, calibration, calls, learned, pairs, parameters, predictive, provenance};
use kelfi::posterior::checks::{Check, Status};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};

const PAGE: &str = include_str!("page/page.html");
const PAGE_STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/script.js");

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The numbers could not be had.
    #[error(transparent)]
    Inference(#[from] kelfi::Error),
    /// The page could not be written.
    #[error("the page could not be written: {0}\n  this is a bug of the report; please tell us how it came about")]
    Page(#[from] minijinja::Error),
}

/// One page on an inference.
#[derive(Debug, Clone)]
pub struct Report {
    title: String,
    description: String,
    checks: Vec<Check>,
    verdict: Verdict,
    sections: Vec<Section>,
}

impl Report {
    /// Computes everything the page shows: diagnostics, profiles, and learning on subsets of the simulations.
    pub fn new(inputs: &ReportInputs<'_>) -> Result<Self, Error> {
        let table = parameters::parameters(inputs)?;
        let calibration = calibration::calibration(inputs)?;
        let predicted = predictive::predicted(inputs);
        let mut checks = inputs.inference.checks();
        checks.extend(calibration.as_ref().map(|c| c.check(inputs.parameter_names())));
        checks.extend(predicted.as_ref().map(|p| kelfi::diagnostics::predictive::check(&p.0, &inputs.statistic_names)));
        let (verdict, first) = verdict(checks.clone());
        let sections = vec![
            first,
            parameters::section(inputs, &table),
            pairs::section(inputs, &table)?,
            learned::section(inputs)?,
            predictive::section(inputs, predicted.as_ref()),
            calibration::section(inputs, calibration.as_ref()),
            budget::section(inputs, &table),
            calls::section(inputs),
            provenance::section(inputs),
        ];
        Ok(Self { title: inputs.title.clone(), description: inputs.description.clone(), checks, verdict, sections })
    }

    /// The same report with these checks instead, verdict included: for checks made elsewhere.
    pub fn with_checks(mut self, checks: Vec<Check>) -> Self {
        let (conclusion, section) = verdict(checks.clone());
        self.sections[0] = section;
        self.verdict = conclusion;
        self.checks = checks;
        self
    }

    /// All checks, those of the page included.
    pub fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// The worst status of all checks.
    pub fn status(&self) -> Status {
        self.checks.iter().map(|c| c.status).max().unwrap_or(Status::Ok)
    }

    /// Every figure as a drawing of its own: name and SVG.
    pub fn figures(&self) -> Vec<(String, String)> {
        self.all_figures().map(|figure| (figure.id.clone(), figure.standalone())).collect()
    }

    /// The numbers of every figure and table: name and CSV.
    pub fn numbers(&self) -> Vec<(String, String)> {
        self.all_figures().map(|figure| (figure.id.clone(), figure.csv.clone())).collect()
    }

    fn all_figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(Section::all_figures)
    }

    /// The page: one file, nothing fetched from anywhere.
    pub fn to_html(&self) -> Result<String, Error> {
        let mut environment = Environment::empty();
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("json", |text: String| Value::from_safe_string(script_json(&text)));
        environment.add_filter("raw", |text: String| Value::from_safe_string(text));
        environment.add_template("page.html", PAGE)?;
        let page = environment.get_template("page.html")?.render(context! {
            title => printable(&self.title),
            description => printable(&self.description),
            verdict => Value::from(Serde(&self.verdict)),
            sections => Value::from(Serde(&self.sections)),
            style => format!("{PAGE_STYLE}{STYLE}"),
            figure_style => standalone_style(),
            script => SCRIPT,
            version => env!("CARGO_PKG_VERSION"),
        })?;
        Ok(page)
    }
}

/// JSON that cannot end the script element it stands in.
fn script_json(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('<', "\\u003c").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
