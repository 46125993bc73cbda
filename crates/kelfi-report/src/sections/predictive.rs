//! Would the fitted model produce the observation? Each observed statistic inside its posterior predictive.

use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{number, percent, short};
use crate::section::{Cell, Section, Table};
use crate::svg::{Anchor, Axis, Svg};
use kelfi::diagnostics::predictive::{Predicted, disagreeing};
use kelfi::fit::PredictedStatistics;

/// Predicted standard deviations beyond which values are drawn at the edge.
const FARTHEST: f64 = 6.0;

/// The section.
pub fn section(inputs: &ReportInputs<'_>, predicted: Option<&PredictedStatistics>) -> Section {
    let mut section = Section::new("predictive", "Would the fitted model produce the observation?");
    let Some(PredictedStatistics { of_each: predicted, effective }) = predicted else {
        section.text("The predictive check compares statistics; these simulations have none, or none of them has a positive weight.");
        return section;
    };
    let outputs = inputs.fit.model.family().words.predicted.replace("{}", &short(*effective));
    section.text("Bars: central 50 % and 95 % of the values that the fitted model predicts; diamond: observed.");
    section.method(format!(
        "{outputs} A statistic disagrees if a value that far out has a probability below 0.5 % divided by the number of statistics."
    ));
    section.figures(vec![figure(inputs, predicted)]);
    section.table(table(inputs, predicted));
    section
}

fn figure(inputs: &ReportInputs<'_>, predicted: &[Predicted]) -> Figure {
    let (row, left, right, top) = (22.0, 190.0, 700.0, 26.0);
    let bottom = top + row * predicted.len() as f64;
    let mut svg = Svg::new(730.0, bottom + 44.0);
    // Every statistic in units of its own predicted spread around its median.
    let unit = |p: &Predicted| ((p.quantiles[4] - p.quantiles[0]) / 3.92).max(1e-300);
    let place = |p: &Predicted, v: f64| ((v - p.quantiles[2]) / unit(p)).clamp(-FARTHEST, FARTHEST);
    let reach = predicted.iter().map(|p| place(p, p.observed).abs()).fold(3.5_f64, f64::max) + 0.3;
    let x = Axis::new(-reach, reach, left, right);
    for t in x.ticks(8) {
        svg.line("grid", x.at(t), top, x.at(t), bottom);
        svg.label("tick", x.at(t), bottom + 15.0, Anchor::Middle, &short(t), 6);
    }
    let out = disagreeing(predicted);
    let mut numbers = Numbers::new(&["statistic", "observed", "q025", "q25", "q50", "q75", "q975", "share_below", "tail"]);
    for (i, p) in predicted.iter().enumerate() {
        let (y, name) = (top + row * (i as f64 + 0.5), inputs.statistic(i));
        svg.label("", left - 10.0, y + 4.0, Anchor::End, &name, 28);
        svg.line("posterior-thin", x.at(place(p, p.quantiles[0])), y, x.at(place(p, p.quantiles[4])), y);
        svg.line("posterior-thick", x.at(place(p, p.quantiles[1])), y, x.at(place(p, p.quantiles[3])), y);
        let class = if out.contains(&i) { "fail-solid" } else { "truth-solid" };
        let tip =
            format!("{name}: observed {}, predicted {} to {} (95 %)", number(p.observed), number(p.quantiles[0]), number(p.quantiles[4]));
        svg.diamond(class, x.at(place(p, p.observed)), y, 6.0, &tip);
        svg.rect("hit", left, y - 0.5 * row, right - left, row, &tip);
        let mut values = vec![p.observed];
        values.extend(p.quantiles);
        values.extend([p.below, p.tail()]);
        numbers.named(&name, &values);
    }
    svg.label(
        "name",
        0.5 * (left + right),
        bottom + 33.0,
        Anchor::Middle,
        "distance from the predicted median, in predicted standard deviations",
        80,
    );
    let description = format!("{} of {} observed statistics lie outside their predicted range.", out.len(), predicted.len());
    let beyond =
        predicted.iter().any(|p| [p.observed, p.quantiles[0], p.quantiles[4]].into_iter().any(|value| place(p, value).abs() >= FARTHEST));
    let caption =
        if beyond { "Values farther out than six predicted standard deviations are drawn there; the table has them all." } else { "" };
    Figure::new("predictive-check", "Observed statistics and their predictive distributions", caption, description, true, &svg, &numbers)
}

fn table(inputs: &ReportInputs<'_>, predicted: &[Predicted]) -> Table {
    let out = disagreeing(predicted);
    let mut numbers = Numbers::new(&["statistic", "observed", "q025", "q50", "q975", "tail"]);
    let mut rows = vec![];
    for (i, p) in predicted.iter().enumerate() {
        let name = inputs.statistic(i);
        numbers.named(&name, &[p.observed, p.quantiles[0], p.quantiles[2], p.quantiles[4], p.tail()]);
        rows.push(vec![
            Cell::text(name),
            Cell::number(number(p.observed)),
            Cell::number(number(p.quantiles[2])),
            Cell::number(format!("{} to {}", number(p.quantiles[0]), number(p.quantiles[4]))),
            Cell::number(percent(p.tail())),
            Cell::text(if out.contains(&i) { "disagrees" } else { "agrees" }),
        ]);
    }
    let columns = ["statistic", "observed", "predicted median", "predicted 95 %", "probability of being as far out", "verdict"];
    Table {
        id: "predictive-table".into(),
        caption: "Observed and predicted statistics".into(),
        columns: columns.map(String::from).to_vec(),
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}
