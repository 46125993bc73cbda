//! One self-contained HTML page on an inference: can I trust it, what are the parameter values, what mattered, what would more simulations improve.
//!
//! [`ReportInputs`] holds plain data; [`Report::new`] computes; [`Report::to_html`] writes the page, [`Report::all_figures`] its drawings.
//! [`ComparisonPage`] does the same for methods side by side. The pieces are for other pages too: draw with [`Svg`], [`Axis`] and
//! [`Frame`], wrap the drawing with its words and numbers in a [`Figure`] (SVG, PNG and CSV follow), put figures and tables into a
//! [`Section`], and sections into a [`Page`].
//!
//! ```
//! use kelfi_report::{Axis, Figure, Frame, Numbers, Page, Section, Svg, Conclusion};
//!
//! let points = [(1.0, 2.0), (10.0, 1.0), (100.0, 0.5)];
//! let mut numbers = Numbers::new(&["simulations", "error"]);
//! let edges = [50.0, 28.0, 390.0, 205.0]; // left, top, right, bottom
//! let frame = Frame { x: Axis::logarithmic(1.0, 100.0, 50.0, 390.0), y: Axis::new(0.0, 2.0, 205.0, 28.0), edges };
//! let mut svg = Svg::new(400.0, 250.0);
//! frame.draw(&mut svg, "simulations", "error");
//! for (x, y) in points {
//!     numbers.values(&[x, y]);
//!     svg.disc("posterior-solid", frame.x.at(x), frame.y.at(y), 4.0, &format!("{x} simulations: {y}"));
//! }
//! let description = "Falls from 2 to 0.5.".to_string();
//! let figure = Figure::new("error", "Error", "Lower is better.", description, false, &svg, &numbers);
//! assert!(figure.png()?.starts_with(b"\x89PNG"));
//!
//! let mut section = Section::new("result", "How does the error fall?");
//! section.figures(vec![figure]);
//! let verdict = Conclusion { status: "note".into(), headline: "Four times less.".into(), detail: String::new() };
//! let page = Page { kind: "an experiment", title: "Errors", description: "", verdict: &verdict, sections: &[section] };
//! assert!(page.to_html()?.contains("How does the error fall?"));
//! # Ok::<(), kelfi_report::Error>(())
//! ```

/// Methods side by side.
pub mod comparison;
/// What can go wrong.
pub mod error;
/// Drawings with their descriptions and numbers.
pub mod figure;
/// What a report is made from.
pub mod inputs;
/// Numbers as people read them.
pub mod numbers;
/// One HTML file with everything in it.
pub mod page;
/// Drawings as PNG files.
pub mod picture;
mod prior_line;
/// Everything computed, and written out.
pub mod report;
/// What pages are built from.
pub mod section;
mod sections;
/// Shapes, labels and axes.
pub mod svg;

pub use comparison::ComparisonPage;
pub use error::Error;
pub use figure::{Figure, Numbers};
pub use inputs::{Calls, ReportInputs};
pub use page::Page;
pub use report::Report;
pub use section::{Block, Cell, Conclusion, Section, Table};
pub use svg::{Anchor, Axis, Frame, Svg};
