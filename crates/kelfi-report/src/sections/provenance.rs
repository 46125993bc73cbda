//! Where does it come from? Version, seed, command, hashes.

use crate::figure::Numbers;
use crate::inputs::ReportInputs;
use crate::section::{Block, Cell, Section, Table};
use kelfi::KernelMeansLikelihood;

/// The section.
pub fn section(inputs: &ReportInputs<'_>) -> Section {
    let mut section = Section::new("provenance", "How can this be reproduced?");
    let mut rows: Vec<(String, String)> = inputs.provenance.clone();
    rows.push(("model".into(), inputs.fit.model.family().name.into()));
    rows.push(("simulations used".into(), inputs.fit.question().recorded.theta().rows().to_string()));
    if let Some(learned) = inputs.fit.model_as::<KernelMeansLikelihood>().and_then(KernelMeansLikelihood::learned) {
        rows.push(("matrices factored while learning".into(), learned.factorisations.to_string()));
    }
    let mut numbers = Numbers::new(&["what", "value"]);
    rows.iter().for_each(|(what, value)| numbers.row(&[what.clone(), value.clone()]));
    section.table(Table {
        id: "provenance-table".into(),
        caption: "What is needed to reproduce this result".into(),
        columns: vec!["what".into(), "value".into()],
        rows: rows.into_iter().map(|(what, value)| vec![Cell::text(what), Cell::text(value)]).collect(),
        folded: false,
        csv: numbers.csv().into(),
    });
    if let Some((name, text)) = &inputs.problem_file {
        section.blocks.push(Block::File { name: name.clone(), text: text.clone() });
    }
    section
}
