//! One self-contained HTML page on an inference: can I trust it, what are the parameters, what mattered, what would more simulations buy.
//!
//! [`ReportInputs`] holds plain data; [`Report::new`] computes; [`Report::to_html`] writes the page, [`Report::figures`] its drawings.

/// Drawings with their descriptions and numbers.
pub mod figure;
/// What a report is made from.
pub mod inputs;
mod numbers;
mod prior_line;
/// Everything computed, and written out.
pub mod report;
mod sections;
mod svg;

pub use figure::Figure;
pub use inputs::{Calls, ReportInputs};
pub use report::{Error, Report};
