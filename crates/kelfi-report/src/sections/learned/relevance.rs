//! Which statistics decide: bars of their relevance.

use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::short;
use crate::svg::{Anchor, Axis, Svg};
use kelfi::learning::StatisticReport;
use kelfi::simulations::scales::Dropped;

/// Bars drawn at most; the table has all statistics.
const BARS: usize = 25;

/// The bars, most relevant first.
pub fn figure(inputs: &ReportInputs<'_>, statistics: &[StatisticReport]) -> Figure {
    let order = ranking(statistics);
    let shown = &order[..order.len().min(BARS)];
    let (row, left, right) = (20.0, 150.0, 340.0);
    let mut svg = Svg::new(400.0, 30.0 + row * shown.len() as f64);
    let top = shown.first().map_or(1.0, |&i| statistics[i].relevance).max(1e-12);
    let x = Axis::new(0.0, top, left, right);
    for (k, &i) in shown.iter().enumerate() {
        let s = &statistics[i];
        let y = 8.0 + row * k as f64;
        let name = inputs.statistic(i);
        svg.label("", left - 6.0, y + 12.0, Anchor::End, &name, 22);
        svg.rect(
            "posterior-solid",
            left,
            y + 3.0,
            x.inside(s.relevance) - left,
            row - 8.0,
            &format!("{name}: relevance {}, ε = {} ({} spreads)", short(s.relevance), short(s.epsilon), short(s.relative_epsilon)),
        );
        svg.label("tick", x.inside(s.relevance) + 5.0, y + 12.0, Anchor::Start, &short(s.relevance), 9);
    }
    let mut numbers = Numbers::new(&["statistic", "epsilon", "relative_epsilon", "relevance"]);
    for &i in &order {
        let s = &statistics[i];
        numbers.named(&inputs.statistic(i), &[s.epsilon, s.relative_epsilon, s.relevance]);
    }
    let first: Vec<String> = order.iter().take(3).map(|&i| inputs.statistic(i)).collect();
    let caption = if shown.len() < order.len() {
        format!("The {} most relevant of {} statistics; the table has all.", shown.len(), order.len())
    } else {
        "Longer bars matter more.".to_string()
    };
    Figure::new(
        "relevance",
        "Relevance of each statistic",
        &caption,
        format!("Bars of relevance, most relevant first: {}.", first.join(", ")),
        false,
        &svg,
        &numbers,
    )
}

/// Indices of the statistics, most relevant first.
pub fn ranking(statistics: &[StatisticReport]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..statistics.len()).collect();
    order.sort_by(|&i, &j| statistics[j].relevance.total_cmp(&statistics[i].relevance));
    order
}

/// Why a statistic was left out; empty where it takes part.
pub fn dropped(inputs: &ReportInputs<'_>, s: &StatisticReport) -> String {
    match &s.scale.dropped {
        None => String::new(),
        Some(Dropped::Constant) => "left out: the same in every simulation".into(),
        Some(Dropped::Repeats(other)) => format!("left out: repeats {}", inputs.statistic(*other)),
    }
}
