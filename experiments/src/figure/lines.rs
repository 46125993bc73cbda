//! Lines with bands, on one chart or on a sheet of panels.

use super::axis::Axis;
use super::{Area, Axes, Drawn, on_sheet};
use anyhow::Result;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use std::ops::Range;
use std::path::Path;

/// Colours that differ in lightness too, for print.
pub const COLOURS: [RGBColor; 10] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
    RGBColor(128, 128, 128),
    RGBColor(110, 60, 170),
    RGBColor(120, 80, 30),
];
/// Lines of at most this many points show them.
const POINTS_SHOWN: usize = 20;

/// A named line, with a band around it if `low` and `high` are not empty.
#[derive(Clone)]
pub struct Line {
    /// Name for the legend; lines without one share the colour of the line before and are thin.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates.
    pub y: Vec<f64>,
    /// Lower edge of the band.
    pub low: Vec<f64>,
    /// Upper edge of the band.
    pub high: Vec<f64>,
    /// For what was not measured.
    pub dashed: bool,
}

impl Line {
    /// A line without a band.
    pub fn plain(name: &str, x: &[f64], y: Vec<f64>) -> Self {
        Self { name: name.into(), x: x.to_vec(), y, low: vec![], high: vec![], dashed: false }
    }

    /// A dashed one.
    pub fn dashed(name: &str, x: &[f64], y: Vec<f64>) -> Self {
        Self { dashed: true, ..Self::plain(name, x, y) }
    }
}

/// One chart of a sheet.
pub struct Panel<'a> {
    /// Titles and scales.
    pub axes: Axes<'a>,
    /// What is drawn.
    pub lines: Vec<Line>,
    /// Where the names are.
    pub legend: Legend,
}

/// Where the names of lines stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Legend {
    /// In the corner with the fewest points.
    Corner,
    /// At the right of the chart, in the order in which the lines end: for lines that leave no corner free.
    Beside,
}

/// Width of a legend beside its chart.
const LEGEND: u32 = 190;

/// Draws lines into an SVG file.
pub fn lines(path: &Path, axes: &Axes<'_>, lines: &[Line]) -> Result<()> {
    on_sheet(path, (900, 560), |sheet| chart(sheet, axes, lines, Legend::Corner))
}

/// Draws panels into an SVG file: in two columns, or below one another with their legends beside them.
pub fn panels(path: &Path, panels: &[Panel<'_>]) -> Result<()> {
    let beside = panels.iter().any(|panel| panel.legend == Legend::Beside);
    let (columns, width) = if beside { (1, 680 + LEGEND) } else { (2, 1100) };
    let rows = panels.len().div_ceil(columns);
    on_sheet(path, (width, 420 * rows as u32), |sheet| {
        sheet.split_evenly((rows, columns)).iter().zip(panels).try_for_each(|(area, panel)| match panel.legend {
            Legend::Corner => chart(area, &panel.axes, &panel.lines, panel.legend),
            Legend::Beside => {
                let (left, right) = area.split_horizontally(area.dim_in_pixel().0 - LEGEND);
                chart(&left, &panel.axes, &panel.lines, panel.legend)?;
                legend_beside(&right, &panel.lines)
            }
        })
    })
}

fn chart(area: &Area<'_>, axes: &Axes<'_>, lines: &[Line], legend_at: Legend) -> Drawn {
    let sx = |v: f64| if axes.log_x { v.log10() } else { v };
    let sy = |v: f64| if axes.log_y { v.log10() } else { v };
    let x = range(lines.iter().flat_map(|l| &l.x).map(|&v| sx(v)), 0.02);
    let y = range(lines.iter().flat_map(|l| l.y.iter().chain(&l.low).chain(&l.high)).map(|&v| sy(v)), 0.05);
    let emptiest = emptiest_corner(&x, &y, lines.iter().flat_map(|l| l.x.iter().zip(&l.y)).map(|(a, b)| (sx(*a), sy(*b))));
    let mut chart = ChartBuilder::on(area)
        .caption(axes.title, ("sans-serif", 20))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(Axis { range: x, log: axes.log_x }, Axis { range: y, log: axes.log_y })?;
    chart
        .configure_mesh()
        .x_desc(axes.x)
        .y_desc(axes.y)
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()?;
    let mut colour = COLOURS[0];
    let mut names = 0;
    for line in lines {
        if !line.name.is_empty() {
            colour = COLOURS[names % COLOURS.len()];
            names += 1;
        }
        let width = if line.name.is_empty() { 1 } else { 2 };
        if !line.low.is_empty() {
            let upper = line.x.iter().zip(&line.high).map(|(x, y)| (sx(*x), sy(*y)));
            let lower = line.x.iter().zip(&line.low).map(|(x, y)| (sx(*x), sy(*y))).rev();
            chart.draw_series(std::iter::once(Polygon::new(upper.chain(lower).collect::<Vec<_>>(), colour.mix(0.15))))?;
        }
        let points: Vec<(f64, f64)> = line.x.iter().zip(&line.y).map(|(x, y)| (sx(*x), sy(*y))).filter(|(_, y)| y.is_finite()).collect();
        if !line.dashed && points.len() <= POINTS_SHOWN {
            chart.draw_series(points.iter().map(|&at| Circle::new(at, 3, colour.filled())))?;
        }
        let style = colour.stroke_width(width);
        let legend = colour.stroke_width(3);
        let named = !line.name.is_empty();
        if line.dashed {
            let drawn = chart.draw_series(DashedLineSeries::new(points, 8, 5, style))?;
            if named {
                drawn.label(&line.name).legend(move |(x, y)| DashedPathElement::new(vec![(x, y), (x + 22, y)], 8, 5, legend));
            }
        } else {
            let drawn = chart.draw_series(LineSeries::new(points, style))?;
            if named {
                drawn.label(&line.name).legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 22, y)], legend));
            }
        }
    }
    if legend_at == Legend::Beside {
        return Ok(());
    }
    chart
        .configure_series_labels()
        .position(emptiest)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(190, 190, 190))
        .label_font(("sans-serif", 15))
        .draw()?;
    Ok(())
}

/// Names with the colours of their lines, the line that ends highest first.
fn legend_beside(area: &Area<'_>, lines: &[Line]) -> Drawn {
    let end = |line: &Line| line.y.last().copied().unwrap_or(f64::NEG_INFINITY);
    let mut named: Vec<(&Line, RGBColor)> =
        lines.iter().filter(|line| !line.name.is_empty()).zip(COLOURS.iter().copied().cycle()).collect();
    named.sort_by(|(a, _), (b, _)| end(b).total_cmp(&end(a)));
    for (place, (line, colour)) in named.into_iter().enumerate() {
        let y = 60 + 24 * place as i32;
        let style = colour.stroke_width(3);
        if line.dashed {
            area.draw(&DashedPathElement::new(vec![(0, y), (22, y)], 8, 5, style))?;
        } else {
            area.draw(&PathElement::new(vec![(0, y), (22, y)], style))?;
        }
        area.draw(&Text::new(line.name.clone(), (30, y - 9), ("sans-serif", 15)))?;
    }
    Ok(())
}

/// From the smallest to the largest finite value, and a little more.
pub fn range(values: impl Iterator<Item = f64>, margin: f64) -> Range<f64> {
    let (low, high) = values.filter(|v| v.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let pad = margin * (high - low).max(1e-9);
    low - pad..high + pad
}

/// The corner with the fewest points in it: there the legend hides least.
fn emptiest_corner(x: &Range<f64>, y: &Range<f64>, points: impl Iterator<Item = (f64, f64)>) -> SeriesLabelPosition {
    const SHARE: f64 = 0.4;
    let mut counts = [0_usize; 4];
    for (a, b) in points {
        let (across, up) = ((a - x.start) / (x.end - x.start), (b - y.start) / (y.end - y.start));
        let (right, left, upper, lower) = (across > 1.0 - SHARE, across < SHARE, up > 1.0 - SHARE, up < SHARE);
        let inside = [right && upper, left && upper, left && lower, right && lower];
        inside.iter().zip(&mut counts).for_each(|(inside, count)| *count += usize::from(*inside));
    }
    let corners =
        [SeriesLabelPosition::UpperRight, SeriesLabelPosition::UpperLeft, SeriesLabelPosition::LowerLeft, SeriesLabelPosition::LowerRight];
    let fewest = (0..4).min_by_key(|&corner| counts[corner]).unwrap_or(0);
    corners.into_iter().nth(fewest).unwrap_or(SeriesLabelPosition::UpperRight)
}
