//! Figures as SVG files: lines with bands, and heat maps with marks.

use anyhow::{Result, anyhow};
use plotters::prelude::*;
use std::path::Path;

/// Colours that differ in lightness too, for print.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 0, 0),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(230, 159, 0),
];

/// A named line, with a band around it if `low` and `high` are not empty.
pub struct Line {
    /// Name for the legend.
    pub name: String,
    /// Abscissae.
    pub x: Vec<f64>,
    /// Ordinates.
    pub y: Vec<f64>,
    /// Lower edge of the band.
    pub low: Vec<f64>,
    /// Upper edge of the band.
    pub high: Vec<f64>,
}

impl Line {
    /// A line without a band.
    pub fn plain(name: &str, x: &[f64], y: Vec<f64>) -> Self {
        Self { name: name.into(), x: x.to_vec(), y, low: vec![], high: vec![] }
    }
}

/// Titles and scales of a chart.
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

/// Draws lines into an SVG file.
pub fn lines(path: &Path, axes: &Axes<'_>, lines: &[Line]) -> Result<()> {
    draw(path, axes, lines).map_err(|error| anyhow!("could not draw {}: {error}", path.display()))
}

fn draw(path: &Path, axes: &Axes<'_>, lines: &[Line]) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let sx = |v: f64| if axes.log_x { v.log10() } else { v };
    let sy = |v: f64| if axes.log_y { v.log10() } else { v };
    let all_x: Vec<f64> = lines.iter().flat_map(|l| &l.x).map(|&v| sx(v)).filter(|v| v.is_finite()).collect();
    let all_y: Vec<f64> =
        lines.iter().flat_map(|l| l.y.iter().chain(&l.low).chain(&l.high)).map(|&v| sy(v)).filter(|v| v.is_finite()).collect();
    let range = |values: &[f64], margin: f64| {
        let (low, high) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
        let pad = margin * (high - low).max(1e-9);
        low - pad..high + pad
    };
    let root = SVGBackend::new(path, (900, 560)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(axes.title, ("sans-serif", 22))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(range(&all_x, 0.02), range(&all_y, 0.05))?;
    let label = |log: bool| move |v: &f64| if log { short(10_f64.powf(*v)) } else { short(*v) };
    chart
        .configure_mesh()
        .x_desc(axes.x)
        .y_desc(axes.y)
        .light_line_style(RGBColor(235, 235, 235))
        .x_label_formatter(&label(axes.log_x))
        .y_label_formatter(&label(axes.log_y))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()?;
    for (index, line) in lines.iter().enumerate() {
        let colour = COLOURS[index % COLOURS.len()];
        if !line.low.is_empty() {
            let upper = line.x.iter().zip(&line.high).map(|(x, y)| (sx(*x), sy(*y)));
            let lower = line.x.iter().zip(&line.low).map(|(x, y)| (sx(*x), sy(*y))).rev();
            chart.draw_series(std::iter::once(Polygon::new(upper.chain(lower).collect::<Vec<_>>(), colour.mix(0.15))))?;
        }
        let points = line.x.iter().zip(&line.y).map(|(x, y)| (sx(*x), sy(*y))).filter(|(_, y)| y.is_finite());
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
            .label(&line.name)
            .legend(move |(x, y)| PathElement::new(vec![(x, y), (x + 22, y)], colour.stroke_width(3)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(190, 190, 190))
        .label_font(("sans-serif", 15))
        .draw()?;
    root.present()?;
    Ok(())
}

/// A heat map over two logarithmic axes with numbered marks.
pub struct HeatMap<'a> {
    /// Titles.
    pub axes: Axes<'a>,
    /// Columns.
    pub x: &'a [f64],
    /// Rows.
    pub y: &'a [f64],
    /// Value at (row, column), row after row; values below the best by more than `depth` are drawn as that.
    pub values: &'a [f64],
    /// Range of values shown below the best.
    pub depth: f64,
    /// Marks: x, y and a label.
    pub marks: Vec<(f64, f64, String)>,
}

/// Draws a heat map into an SVG file.
pub fn heat_map(path: &Path, map: &HeatMap<'_>) -> Result<()> {
    draw_map(path, map).map_err(|error| anyhow!("could not draw {}: {error}", path.display()))
}

fn draw_map(path: &Path, map: &HeatMap<'_>) -> Result<(), Box<dyn std::error::Error>> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let best = map.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (x, y): (Vec<f64>, Vec<f64>) = (map.x.iter().map(|v| v.log10()).collect(), map.y.iter().map(|v| v.log10()).collect());
    let half = |axis: &[f64]| 0.5 * (axis[axis.len() - 1] - axis[0]) / (axis.len() - 1) as f64;
    let (hx, hy) = (half(&x), half(&y));
    let root = SVGBackend::new(path, (900, 600)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(map.axes.title, ("sans-serif", 20))
        .margin(14)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(x[0] - hx..x[x.len() - 1] + hx, y[0] - hy..y[y.len() - 1] + hy)?;
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(map.axes.x)
        .y_desc(map.axes.y)
        .x_label_formatter(&|v| short(10_f64.powf(*v)))
        .y_label_formatter(&|v| short(10_f64.powf(*v)))
        .label_style(("sans-serif", 15))
        .axis_desc_style(("sans-serif", 17))
        .draw()?;
    for (row, &b) in y.iter().enumerate() {
        // Runs of equal colour become one rectangle: a 100 × 100 map stays small.
        let shade = |column: usize| ((map.values[row * x.len() + column] - best) / map.depth + 1.0).clamp(0.0, 1.0);
        let level = |column: usize| (shade(column) * 40.0).round() as i32;
        let mut start = 0;
        for column in 1..=x.len() {
            if column == x.len() || level(column) != level(start) {
                let rectangle = [(x[start] - hx, b - hy), (x[column - 1] + hx, b + hy)];
                chart.draw_series(std::iter::once(Rectangle::new(rectangle, colour_of(f64::from(level(start)) / 40.0).filled())))?;
                start = column;
            }
        }
    }
    for (mx, my, label) in &map.marks {
        let at = (mx.log10(), my.log10());
        chart.draw_series(std::iter::once(Cross::new(at, 6, WHITE.stroke_width(3))))?;
        chart.draw_series(std::iter::once(
            EmptyElement::at(at) + Text::new(label.clone(), (9, -8), ("sans-serif", 16).into_font().color(&WHITE)),
        ))?;
    }
    root.present()?;
    Ok(())
}

/// From dark blue to yellow through green.
fn colour_of(share: f64) -> RGBColor {
    const STOPS: [(f64, f64, f64); 5] =
        [(68.0, 1.0, 84.0), (59.0, 82.0, 139.0), (33.0, 145.0, 140.0), (94.0, 201.0, 98.0), (253.0, 231.0, 37.0)];
    let position = share.clamp(0.0, 1.0) * 4.0;
    let index = (position as usize).min(3);
    let t = position - index as f64;
    let mix = |a: f64, b: f64| (a + t * (b - a)).round() as u8;
    let (a, b) = (STOPS[index], STOPS[index + 1]);
    RGBColor(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}
