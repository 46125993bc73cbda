//! How did the rounds find the posterior? Where simulations were made, how intervals shrank, what the last round changed.

use super::verdict::sentence;
use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{number, short};
use crate::section::{Cell, Section, Table};
use crate::svg::{Axis, Frame, Svg};
use kelfi::rounds::{History, Round, Stopped};

/// Parameters whose intervals are drawn.
const DRAWN: usize = 8;
/// Simulations drawn, at most.
const SHOWN: usize = 1_500;

/// The section; `None` where there was one round.
pub fn section(inputs: &ReportInputs<'_>) -> Option<Section> {
    let history = inputs.fit.history()?;
    let mut section = Section::new("rounds", "How did the rounds find the posterior?");
    section.text(format!(
        "Simulations were made in {} rounds: the first from the prior, each later one around the posterior found so far, with a tenth of them spread more widely in case a mode was missed. {} {}",
        history.rounds.len(),
        match history.stopped {
            Some(Stopped::Settled) => "Two rounds in a row changed the posterior no more than chance would, so no more were made.",
            _ => "The last one used up the number of simulations allowed.",
        },
        history.statement().map_or_else(String::new, |text| sentence(&text)),
    ));
    let mut figures: Vec<Figure> = (0..inputs.parameter_names().len().min(DRAWN)).map(|d| intervals(inputs, history, d)).collect();
    figures.extend(where_made(inputs, history));
    section.figures(figures);
    section.table(table(inputs, history));
    Some(section)
}

/// The 90 % interval of parameter `d` after every round.
fn intervals(inputs: &ReportInputs<'_>, history: &History, d: usize) -> Figure {
    let name = &inputs.parameter_names()[d];
    let ends: Vec<(f64, f64)> = history.rounds.iter().map(|round| round.intervals[d]).collect();
    let (low, high) = ends.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), end| (l.min(end.0), h.max(end.1)));
    let (margin, edges) = (0.05 * (high - low).max(f64::MIN_POSITIVE), [60.0, 20.0, 385.0, 175.0]);
    let frame = Frame {
        x: Axis::new(0.5, ends.len() as f64 + 0.5, edges[0], edges[2]),
        y: Axis::new(low - margin, high + margin, edges[3], edges[1]),
        edges,
    };
    let mut svg = Svg::new(400.0, 220.0);
    frame.draw(&mut svg, "round", name);
    let mut numbers = Numbers::new(&["round", "q05", "q95"]);
    for (round, (low, high)) in (1..).zip(&ends) {
        let x = frame.x.at(f64::from(round));
        let tip = format!("round {round}: {} to {}", short(*low), short(*high));
        svg.rect("posterior-solid", x - 7.0, frame.y.at(*high), 14.0, (frame.y.at(*low) - frame.y.at(*high)).max(1.0), &tip);
        numbers.values(&[f64::from(round), *low, *high]);
    }
    let (first, last) = (ends[0], ends[ends.len() - 1]);
    let description = format!(
        "From {} to {} after the first round; from {} to {} after the last.",
        short(first.0),
        short(first.1),
        short(last.0),
        short(last.1)
    );
    Figure::new(&format!("interval-by-round-{d}"), name, "Central 90 % interval after each round.", description, false, &svg, &numbers)
}

/// The first two parameters of every simulation, those of the first round apart from the others.
fn where_made(inputs: &ReportInputs<'_>, history: &History) -> Option<Figure> {
    let (names, theta) = (inputs.parameter_names(), inputs.fit.question().recorded.theta());
    if names.len() < 2 || theta.rows() == 0 {
        return None;
    }
    let range = |d: usize| theta.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), row| (f64::min(l, row[d]), f64::max(h, row[d])));
    let ((left, right), (low, high)) = (range(0), range(1));
    let edges = [60.0, 20.0, 385.0, 255.0];
    let frame = Frame { x: Axis::new(left, right, edges[0], edges[2]), y: Axis::new(low, high, edges[3], edges[1]), edges };
    let mut svg = Svg::new(400.0, 300.0);
    frame.draw(&mut svg, &names[0], &names[1]);
    let round_of = rounds_of(&history.rounds, theta.rows());
    let mut numbers = Numbers::new(&["round", names[0].as_str(), names[1].as_str()]);
    for j in (0..theta.rows()).step_by((theta.rows() / SHOWN).max(1)) {
        let (row, round) = (theta.row(j), round_of[j]);
        let class = if round == 0 { "prior-solid" } else { "posterior-solid" };
        let tip = format!("round {}: {}, {}", round + 1, short(row[0]), short(row[1]));
        svg.disc(class, frame.x.at(row[0]), frame.y.at(row[1]), 1.8, &tip);
        numbers.values(&[(round + 1) as f64, row[0], row[1]]);
    }
    let description = format!("{} and {} of {} simulations.", names[0], names[1], theta.rows());
    let caption = "Grey: the first round, from the prior; blue: later rounds.";
    Some(Figure::new("simulations-by-round", "Where simulations were made", caption, description, false, &svg, &numbers))
}

/// The round of each simulation, which stand round after round.
fn rounds_of(rounds: &[Round], count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = rounds.iter().enumerate().flat_map(|(k, round)| vec![k; round.simulations]).collect();
    all.resize(count, rounds.len().saturating_sub(1));
    all
}

fn table(inputs: &ReportInputs<'_>, history: &History) -> Table {
    let names = inputs.parameter_names();
    let mut columns: Vec<String> = ["round", "simulations", "wide", "used", "moved (sd)"].map(String::from).to_vec();
    columns.extend(names.iter().map(|name| format!("{name}, 90 %")));
    let mut headers: Vec<String> = ["round", "simulations", "wide", "used", "moved"].map(String::from).to_vec();
    headers.extend(names.iter().flat_map(|name| [format!("{name}_q05"), format!("{name}_q95")]));
    let mut numbers = Numbers::new(&headers);
    let mut rows = vec![];
    for (k, round) in history.rounds.iter().enumerate() {
        let moved = round.movement.map_or(f64::NAN, |movement| movement.shift);
        let counts = [k + 1, round.simulations, round.wide, round.used].map(|count| count as f64);
        let ends = round.intervals.iter().flat_map(|(low, high)| [*low, *high]);
        numbers.values(&counts.into_iter().chain([moved]).chain(ends).collect::<Vec<f64>>());
        let mut row: Vec<Cell> = counts.iter().map(|count| Cell::number(format!("{count:.0}"))).collect();
        row.push(Cell::number(if moved.is_nan() { "–".into() } else { format!("{moved:.2}") }));
        row.extend(round.intervals.iter().map(|(low, high)| Cell::number(format!("{} to {}", number(*low), number(*high)))));
        rows.push(row);
    }
    Table {
        id: "rounds-table".into(),
        caption:
            "Every round: simulations made, how many of them spread widely, how many the following fit used, how far it moved the posterior means"
                .into(),
        columns,
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}
