//! A heat map over two logarithmic axes with a colour bar and numbered marks.

use super::axis::Axis;
use super::{Area, Axes, Drawn, on_sheet};
use anyhow::Result;
use plotters::prelude::*;
use std::path::Path;

/// Shades told apart.
const LEVELS: i32 = 40;
/// Width of the sheet's part for the colour bar.
const BAR: u32 = 110;

/// What is drawn.
pub struct HeatMap<'a> {
    /// Titles.
    pub axes: Axes<'a>,
    /// Columns.
    pub x: &'a [f64],
    /// Rows.
    pub y: &'a [f64],
    /// Value at (row, column), row after row; values below the best by more than `depth` are drawn as that.
    pub values: &'a [f64],
    /// What a value is, beside the colour bar.
    pub unit: &'a str,
    /// Range of values shown below the best.
    pub depth: f64,
    /// Marks: x, y and a label.
    pub marks: Vec<(f64, f64, String)>,
}

/// Draws a heat map into an SVG file.
pub fn heat_map(path: &Path, map: &HeatMap<'_>) -> Result<()> {
    on_sheet(path, (960, 600), |sheet| {
        let (left, right) = sheet.split_horizontally(960 - BAR);
        chart(&left, map)?;
        bar(&right, map)
    })
}

fn best(map: &HeatMap<'_>) -> f64 {
    map.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn chart(area: &Area<'_>, map: &HeatMap<'_>) -> Drawn {
    let best = best(map);
    let (x, y): (Vec<f64>, Vec<f64>) = (map.x.iter().map(|v| v.log10()).collect(), map.y.iter().map(|v| v.log10()).collect());
    let half = |axis: &[f64]| 0.5 * (axis[axis.len() - 1] - axis[0]) / (axis.len() - 1) as f64;
    let (hx, hy) = (half(&x), half(&y));
    let (x_range, y_range) = (x[0] - hx..x[x.len() - 1] + hx, y[0] - hy..y[y.len() - 1] + hy);
    let mut chart = ChartBuilder::on(area)
        .caption(map.axes.title, ("sans-serif", 20))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(Axis { range: x_range, log: true }, Axis { range: y_range, log: true })?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(map.axes.x)
        .y_desc(map.axes.y)
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()?;
    for (row, &b) in y.iter().enumerate() {
        // Runs of equal colour become one rectangle: a 100 × 100 map stays small.
        let shade = |column: usize| ((map.values[row * x.len() + column] - best) / map.depth + 1.0).clamp(0.0, 1.0);
        let level = |column: usize| (shade(column) * f64::from(LEVELS)).round() as i32;
        let mut start = 0;
        for column in 1..=x.len() {
            if column == x.len() || level(column) != level(start) {
                let rectangle = [(x[start] - hx, b - hy), (x[column - 1] + hx, b + hy)];
                chart.draw_series(std::iter::once(Rectangle::new(rectangle, colour_of(level(start)).filled())))?;
                start = column;
            }
        }
    }
    for (mx, my, label) in &map.marks {
        let at = (mx.log10(), my.log10());
        // White on a wider black: visible on the darkest and on the lightest ground.
        for (size, colour, width) in [(8, BLACK, 6), (6, WHITE, 3)] {
            chart.draw_series(std::iter::once(Cross::new(at, size, colour.stroke_width(width))))?;
        }
        let text = |dx: i32, dy: i32, colour: RGBColor| {
            let style = ("sans-serif", 18).into_font().style(FontStyle::Bold).color(&colour);
            EmptyElement::at(at) + Text::new(label.clone(), (10 + dx, -16 + dy), style)
        };
        let outline = [(-1, -1), (-1, 1), (1, -1), (1, 1)].map(|(dx, dy)| text(dx, dy, BLACK));
        chart.draw_series(outline)?;
        chart.draw_series([text(0, 0, WHITE)])?;
    }
    Ok(())
}

/// The colours with their values.
fn bar(area: &Area<'_>, map: &HeatMap<'_>) -> Drawn {
    let best = best(map);
    let range = best - map.depth..best;
    let mut chart = ChartBuilder::on(area)
        .margin_top(40)
        .margin_bottom(62)
        .margin_right(4)
        .right_y_label_area_size(76)
        .build_cartesian_2d(0.0..1.0, range.clone())?
        .set_secondary_coord(0.0..1.0, Axis { range, log: false });
    let step = map.depth / f64::from(LEVELS);
    chart.draw_series((0..LEVELS).map(|level| {
        let low = best - map.depth + f64::from(level) * step;
        Rectangle::new([(0.0, low), (1.0, low + step)], colour_of(level + 1).filled())
    }))?;
    chart.configure_secondary_axes().y_desc(map.unit).label_style(("sans-serif", 15)).axis_desc_style(("sans-serif", 17)).draw()?;
    Ok(())
}

/// From dark blue to yellow through green.
fn colour_of(level: i32) -> RGBColor {
    const STOPS: [(f64, f64, f64); 5] =
        [(68.0, 1.0, 84.0), (59.0, 82.0, 139.0), (33.0, 145.0, 140.0), (94.0, 201.0, 98.0), (253.0, 231.0, 37.0)];
    let position = f64::from(level) / f64::from(LEVELS) * 4.0;
    let index = (position as usize).min(3);
    let t = position - index as f64;
    let mix = |a: f64, b: f64| (a + t * (b - a)).round() as u8;
    let (a, b) = (STOPS[index], STOPS[index + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}
