//! Intervals with means, a group of thin bars for each name, beside a line at the truth.

use super::axis::Axis;
use super::lines::{COLOURS, range};
use super::{Area, Drawn, on_sheet};
use anyhow::Result;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::path::Path;

/// Pixels of a bar, between groups, and of the margins with title and axis.
const BAR: u32 = 5;
const GAP: u32 = 14;
const MARGINS: u32 = 110;
/// Width of the sheet and of its part for names.
const WIDTH: u32 = 900;
const NAMES: u32 = 210;

/// Intervals of one name.
pub struct Group {
    /// At the left, beside its bars.
    pub name: String,
    /// Lower end, mean and upper end of each.
    pub intervals: Vec<[f64; 3]>,
}

/// Draws groups of intervals into an SVG file, from top to bottom.
pub fn intervals(path: &Path, title: &str, x: &str, groups: &[Group], truth: f64) -> Result<()> {
    let height: u32 = groups.iter().map(|group| GAP + BAR * group.intervals.len() as u32).sum();
    on_sheet(path, (WIDTH, height + MARGINS), |sheet| chart(sheet, (title, x), groups, (truth, height)))
}

fn chart(area: &Area<'_>, (title, label): (&str, &str), groups: &[Group], (truth, height): (f64, u32)) -> Drawn {
    let x = range(groups.iter().flat_map(|group| group.intervals.iter().flatten().copied()).chain([truth]), 0.02);
    let bottom = -f64::from(height);
    let mut chart = ChartBuilder::on(area)
        .caption(title, ("sans-serif", 20))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(NAMES)
        .build_cartesian_2d(Axis { range: x.clone(), log: false }, bottom..0.0)?;
    chart
        .configure_mesh()
        .x_desc(label)
        .disable_y_mesh()
        .disable_y_axis()
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()?;
    let mut top = 0.0;
    for (group, colour) in groups.iter().zip(COLOURS.iter().cycle()) {
        let room = f64::from(BAR) * group.intervals.len() as f64;
        let first = top - f64::from(GAP) / 2.0 - f64::from(BAR) / 2.0;
        for (k, &[low, mean, high]) in group.intervals.iter().enumerate() {
            let y = first - f64::from(BAR) * k as f64;
            chart.draw_series(LineSeries::new([(low, y), (high, y)], colour.stroke_width(2)))?;
            chart.draw_series([Circle::new((mean, y), 3, colour.filled())])?;
        }
        let style = ("sans-serif", 15).into_font().color(&BLACK).pos(Pos::new(HPos::Right, VPos::Center));
        let middle = top - 0.5 * (f64::from(GAP) + room);
        chart.draw_series([EmptyElement::at((x.start, middle)) + Text::new(group.name.clone(), (-10, 0), style)])?;
        top -= f64::from(GAP) + room;
    }
    chart.draw_series(DashedLineSeries::new([(truth, 0.0), (truth, bottom)], 6, 4, RGBColor(120, 80, 30).stroke_width(2)))?;
    Ok(())
}
