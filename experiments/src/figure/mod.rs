//! Figures as SVG files: lines with bands, panels of them, intervals, and heat maps with marks.
//!
//! By plotters: still figures for the paper's tables. The report's own SVG writer is for pages that change their colours.

mod axis;
mod heat_map;
mod intervals;
mod lines;

pub use heat_map::{HeatMap, heat_map};
pub use intervals::{Group, intervals};
pub use lines::{Legend, Line, Panel, lines, panels};

use anyhow::{Context, Result, anyhow};
use plotters::coord::Shift;
use plotters::prelude::*;
use std::path::Path;

/// Titles and scales of a chart.
#[derive(Clone, Copy)]
pub struct Axes<'a> {
    /// Above the chart.
    pub title: &'a str,
    /// Below.
    pub x: &'a str,
    /// At the side.
    pub y: &'a str,
    /// Whether the ordinate is logarithmic (base 10).
    pub log_y: bool,
    /// Whether the abscissa is logarithmic (base 10).
    pub log_x: bool,
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), Box<dyn std::error::Error>>;

/// A white sheet of this size, filled by `paint` and written to `path`.
fn on_sheet(path: &Path, size: (u32, u32), paint: impl Fn(&Area<'_>) -> Drawn) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    }
    let sheet = SVGBackend::new(path, size).into_drawing_area();
    let painted = || -> Drawn {
        sheet.fill(&WHITE)?;
        paint(&sheet)?;
        Ok(sheet.present()?)
    };
    painted().map_err(|error| anyhow!("could not draw {}: {error}", path.display()))
}
