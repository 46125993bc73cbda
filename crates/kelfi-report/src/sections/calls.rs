//! How did the simulations go? Failures by status and where in parameter space, and run times.

use crate::figure::{Figure, Numbers};
use crate::inputs::{Calls, ReportInputs};
use crate::numbers::{percent, seconds, short};
use crate::section::{Cell, Section, Table};
use crate::svg::{Anchor, Axis, Frame, Svg, fit};
use std::collections::BTreeMap;

const BINS: usize = 8;
const SHOWN: usize = 6;
/// Characters of a message that are shown.
const MESSAGE: usize = 300;

/// From, to and share of failures of a stretch of one parameter.
type Bin = (f64, f64, f64);

/// The section.
pub fn section(inputs: &ReportInputs<'_>) -> Section {
    let mut section = Section::new("simulations", "How did the simulations go?");
    let calls = inputs.calls.clone().unwrap_or_else(|| recorded_calls(inputs));
    let failed = (0..calls.len()).filter(|&j| !calls.succeeded(j)).count();
    section.text(match failed {
        0 => format!("All {} simulations succeeded.", calls.len()),
        n => format!(
            "{n} of {} simulations failed ({}). {}, so the posterior avoids regions where the simulator fails.",
            calls.len(),
            percent(n as f64 / calls.len() as f64),
            inputs.fit.model.family().words.failures
        ),
    });
    let mut figures = vec![];
    if failed > 0 {
        figures.push(where_failed(inputs, &calls));
    }
    figures.extend(run_times(&calls));
    section.table(statuses(&calls));
    section.figures(figures);
    section
}

/// Where nothing is known about the calls: which outputs are missing.
fn recorded_calls(inputs: &ReportInputs<'_>) -> Calls {
    let recorded = &inputs.fit.question().recorded;
    let m = recorded.theta().rows();
    let status = (0..m).map(|j| if recorded.has_failed(j) { "failed" } else { "ok" }.to_string()).collect();
    Calls { theta: recorded.theta().clone(), status, seconds: vec![None; m], message: vec![String::new(); m] }
}

fn statuses(calls: &Calls) -> Table {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (j, status) in calls.status.iter().enumerate() {
        groups.entry(status).or_default().push(j);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, members)| std::cmp::Reverse(members.len()));
    let mut numbers = Numbers::new(&["status", "count", "median_seconds"]);
    let mut rows = vec![];
    for (status, members) in groups {
        let typical = median(members.iter().filter_map(|&j| calls.seconds.get(j).copied().flatten()).collect());
        numbers.named(status, &[members.len() as f64, typical]);
        let message = members.iter().filter_map(|&j| calls.message.get(j)).find(|m| !m.trim().is_empty());
        rows.push(vec![
            Cell::text(status),
            Cell::number(members.len().to_string()),
            Cell::number(percent(members.len() as f64 / calls.len() as f64)),
            Cell::number(seconds(typical)),
            Cell::text(message.map_or(String::new(), |m| fit(m.trim(), MESSAGE))),
        ]);
    }
    let columns = ["status", "count", "share", "median time", "first message"].map(String::from).to_vec();
    Table {
        id: "statuses".into(),
        caption: "How the calls of the simulator ended".into(),
        columns,
        rows,
        folded: false,
        csv: numbers.csv().into(),
    }
}

/// Share of failures along each parameter, in bins of equally many calls; the most telling parameters first.
fn where_failed(inputs: &ReportInputs<'_>, calls: &Calls) -> Figure {
    let names = inputs.parameter_names();
    let mut lines: Vec<(usize, Vec<Bin>)> = (0..names.len()).map(|d| (d, shares(calls, d))).collect();
    let contrast = |line: &[Bin]| {
        let (low, high) = line.iter().fold((1.0_f64, 0.0_f64), |(l, h), b| (l.min(b.2), h.max(b.2)));
        high - low
    };
    lines.sort_by(|a, b| contrast(&b.1).total_cmp(&contrast(&a.1)));
    let mut numbers = Numbers::new(&["parameter", "from", "to", "share_failed"]);
    for (d, line) in &lines {
        line.iter().for_each(|b| numbers.named(&names[*d], &[b.0, b.1, b.2]));
    }
    lines.truncate(SHOWN);
    let columns = if lines.len() == 1 { 1 } else { 2 };
    let (width, height) = (400.0 / columns as f64, 120.0);
    let mut svg = Svg::new(400.0, 10.0 + height * lines.len().div_ceil(columns) as f64);
    for (k, (d, line)) in lines.iter().enumerate() {
        let (w, h) = (width - 16.0, height - 44.0);
        let mut panel = Svg::new(w, h);
        panel.label("strong", 0.0, -6.0, Anchor::Start, &names[*d], (w / 6.8) as usize);
        let y = Axis::new(0.0, 1.0, h, 0.0);
        panel.rect("frame", 0.0, 0.0, w, h, "");
        for (b, (from, to, share)) in line.iter().enumerate() {
            let tip = format!("{} from {} to {}: {} failed", names[*d], short(*from), short(*to), percent(*share));
            let x = w * b as f64 / line.len() as f64;
            panel.rect("fail-solid", x + 1.0, y.at(*share), w / line.len() as f64 - 2.0, h - y.at(*share), "");
            panel.rect("hit", x, 0.0, w / line.len() as f64, h, &tip);
        }
        if let (Some(first), Some(last)) = (line.first(), line.last()) {
            panel.label("tick", 0.0, h + 12.0, Anchor::Start, &short(first.0), 9);
            panel.label("tick", w, h + 12.0, Anchor::End, &short(last.1), 9);
        }
        svg.place(&panel, 6.0 + width * (k % columns) as f64, 20.0 + height * (k / columns) as f64);
    }
    let caption =
        "Share of failures (0 to 100 %) along each parameter, in bins of equally many simulations; the most informative parameters first.";
    let description = lines.first().map_or(String::new(), |(d, line)| {
        let worst = line.iter().max_by(|a, b| a.2.total_cmp(&b.2));
        worst.map_or(String::new(), |b| {
            format!("Most failures, {}, for {} between {} and {}.", percent(b.2), names[*d], short(b.0), short(b.1))
        })
    });
    Figure::new("failures", "Where simulations fail", caption, description, false, &svg, &numbers)
}

/// Bins with equally many calls.
fn shares(calls: &Calls, d: usize) -> Vec<Bin> {
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by(|&i, &j| calls.theta.row(i)[d].total_cmp(&calls.theta.row(j)[d]));
    let bins = BINS.min(order.len());
    let bin = |k: usize| {
        let members = &order[k * order.len() / bins..(k + 1) * order.len() / bins];
        let failed = members.iter().filter(|&&j| !calls.succeeded(j)).count();
        let value = |j: usize| calls.theta.row(j)[d];
        (value(members[0]), value(members[members.len() - 1]), failed as f64 / members.len() as f64)
    };
    (0..bins).map(bin).collect()
}

fn run_times(calls: &Calls) -> Option<Figure> {
    let mut times: Vec<f64> = calls.seconds.iter().flatten().copied().filter(|s| *s > 0.0 && s.is_finite()).collect();
    if times.len() < 2 {
        return None;
    }
    times.sort_by(f64::total_cmp);
    let (low, high) = (times[0], times[times.len() - 1] * 1.000_001);
    const COLUMNS: usize = 24;
    let mut counts = [0_usize; COLUMNS];
    let bin = |t: f64| if high / low > 1.001 { ((t / low).ln() / (high / low).ln() * COLUMNS as f64) as usize } else { COLUMNS / 2 };
    times.iter().for_each(|t| counts[bin(*t).min(COLUMNS - 1)] += 1);
    let mut svg = Svg::new(400.0, 250.0);
    let edges = [50.0, 28.0, 385.0, 205.0];
    let frame = Frame {
        x: Axis::logarithmic(low, high, edges[0], edges[2]),
        y: Axis::new(0.0, counts.iter().copied().max().unwrap_or(1) as f64 * 1.05, edges[3], edges[1]),
        edges,
    };
    frame.draw(&mut svg, "seconds", "calls");
    let width = (edges[2] - edges[0]) / COLUMNS as f64;
    let mut numbers = Numbers::new(&["from_seconds", "to_seconds", "calls"]);
    for (k, &count) in counts.iter().enumerate() {
        let end = |k: usize| low * (high / low).powf(k as f64 / COLUMNS as f64);
        numbers.values(&[end(k), end(k + 1), count as f64]);
        let y = frame.y.at(count as f64);
        svg.rect(
            "posterior-solid",
            edges[0] + width * k as f64 + 0.5,
            y,
            width - 1.0,
            edges[3] - y,
            &format!("{} to {}: {count} calls", seconds(end(k)), seconds(end(k + 1))),
        );
    }
    let total: f64 = times.iter().sum();
    let caption = format!(
        "Median {}, longest {}, all together {} of simulator time.",
        seconds(median(times.clone())),
        seconds(times[times.len() - 1]),
        seconds(total)
    );
    Some(Figure::new("run-times", "Run times", &caption, caption.clone(), false, &svg, &numbers))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}
