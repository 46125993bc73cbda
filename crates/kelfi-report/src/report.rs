//! The report: every section computed once, then written as a page or as figures.

use crate::error::Error;
use crate::figure::Figure;
use crate::inputs::ReportInputs;
use crate::page::Page;
use crate::section::{Conclusion, Section};
use crate::sections::verdict::verdict;
use crate::sections::{budget, calibration, calls, learned, methods, pairs, parameters, predictive, provenance, rounds};
use kelfi::checks::{Check, Status};

/// One page on an inference.
#[derive(Debug, Clone)]
pub struct Report {
    title: String,
    description: String,
    checks: Vec<Check>,
    verdict: Conclusion,
    sections: Vec<Section>,
}

impl Report {
    /// Computes everything the page shows: diagnostics, what was learned, and learning on subsets of the simulations.
    pub fn new(inputs: &ReportInputs<'_>) -> Result<Self, Error> {
        let table = parameters::parameters(inputs)?;
        // A fit that could not be calibrated says so in its checks.
        let calibration = inputs.fit.calibration().ok();
        let predicted = inputs.fit.predicted_statistics();
        let checks = inputs.fit.checks();
        let (verdict, first) = verdict(checks.clone());
        let mut sections = vec![first, parameters::section(inputs, &table)?, pairs::section(inputs, &table)?];
        sections.extend(rounds::section(inputs));
        sections.extend([
            learned::section(inputs)?,
            predictive::section(inputs, predicted.as_ref()),
            calibration::section(inputs, calibration.as_ref())?,
            budget::section(inputs, &table),
            calls::section(inputs),
            methods::section(inputs, &table, &checks),
            provenance::section(inputs),
        ]);
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

    /// Every figure, to be written as SVG, PNG or CSV.
    pub fn all_figures(&self) -> impl Iterator<Item = &Figure> {
        self.sections.iter().flat_map(Section::all_figures)
    }

    /// Every figure as a drawing of its own: name and SVG.
    pub fn figures(&self) -> Vec<(String, String)> {
        self.all_figures().map(|figure| (figure.id.clone(), figure.standalone())).collect()
    }

    /// The numbers of every figure and table: name and CSV.
    pub fn numbers(&self) -> Vec<(String, String)> {
        self.all_figures().map(|figure| (figure.id.clone(), figure.csv.clone())).collect()
    }

    /// The page: one file, nothing fetched from anywhere.
    pub fn to_html(&self) -> Result<String, Error> {
        let page = Page {
            kind: "kelfi report",
            title: &self.title,
            description: &self.description,
            verdict: &self.verdict,
            sections: &self.sections,
        };
        page.to_html()
    }
}
