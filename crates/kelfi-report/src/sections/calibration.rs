//! Do the intervals have the coverage they claim? Leave-one-out ranks and coverage with their bands.

use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{number, percent, short};
use crate::section::{Cell, Section, Table};
use crate::svg::{Anchor, Axis, Frame, Svg};
use kelfi::Error;
use kelfi::diagnostics::calibration::PROBABILITY;
use kelfi::diagnostics::{Calibration, Verdict};

/// Histograms drawn at most.
const SHOWN: usize = 12;

/// The section.
pub fn section(inputs: &ReportInputs<'_>, calibration: Option<&Calibration>) -> Result<Section, Error> {
    let mut section = Section::new("calibration", "Do the intervals have the coverage they claim?");
    let Some(calibration) = calibration else {
        section.text("Calibration could not be assessed; the check above says why.");
        return Ok(section);
    };
    let count = calibration.shares.rows();
    let kept = inputs.fit.model.family().words.left_out;
    section.text(format!(
        "The {count} simulations nearest to the observation have known parameters, so each can stand in for the observation. Calibrated intervals cover these parameters as often as they claim: lines stay inside the shaded bands."
    ));
    section.method(format!(
        "Each of the {count} simulations nearest to the observation stood in for the observation in turn, and its posterior was computed without it, {kept}. If intervals are calibrated, the true values are uniformly distributed over the quantiles of their posteriors. A calibrated posterior stays inside all shaded bands, for all parameters and both figures together, in {} of cases. The verdict gives near simulations more weight than far ones and also tests all parameters jointly; it rejects a calibrated posterior in at most 2 % of cases.{}{}",
        percent(PROBABILITY),
        if calibration.by_simulated { " The simulated parameters are not distributed like the prior; they were taken as the prior here, so this says nothing about parameters outside the simulated region." } else { "" },
        if calibration.skipped > 0 { format!(" {} more could not be judged: no other simulation comes near them.", calibration.skipped) } else { String::new() }
    ));
    section.figures(vec![coverage(inputs, calibration), histograms(inputs, calibration)]);
    section.table(intervals(inputs, calibration)?);
    Ok(section)
}

/// Intervals of the posterior beside those that leaving out makes of them.
fn intervals(inputs: &ReportInputs<'_>, calibration: &Calibration) -> Result<Table, Error> {
    let posterior = &inputs.fit.posterior;
    let mut numbers = Numbers::new(&[
        "parameter",
        "low_95",
        "high_95",
        "calibrated_low_50",
        "calibrated_high_50",
        "calibrated_low_95",
        "calibrated_high_95",
    ]);
    let mut rows = vec![];
    for (d, name) in inputs.parameter_names().iter().enumerate() {
        let own = posterior.interval(d, 0.95)?;
        let (half, most) = (calibration.interval(posterior, d, 0.5)?, calibration.interval(posterior, d, 0.95)?);
        let range = |(low, high): (f64, f64)| Cell::number(format!("{} to {}", number(low), number(high)));
        rows.push(vec![Cell::text(name), range(own), range(half), range(most), Cell::text(word(calibration.verdict(d)))]);
        numbers.named(name, &[own.0, own.1, half.0, half.1, most.0, most.1]);
    }
    Ok(Table {
        id: "calibrated-intervals".into(),
        caption:
            "Calibrated intervals: where those of the posterior are too narrow or shifted, their ends are moved according to the left-out simulations"
                .into(),
        columns: ["parameter", "95 % interval of the posterior", "calibrated 50 %", "calibrated 95 %", "the posterior's intervals are"]
            .map(String::from)
            .to_vec(),
        rows,
        folded: (0..inputs.parameter_names().len()).all(|d| calibration.verdict(d) == Verdict::Calibrated),
        csv: numbers.csv().into(),
    })
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Calibrated => "calibrated",
        Verdict::TooNarrow => "too narrow",
        Verdict::TooWide => "wider than necessary",
        Verdict::Shifted => "shifted",
        Verdict::Uneven => "uneven",
    }
}

fn coverage(inputs: &ReportInputs<'_>, calibration: &Calibration) -> Figure {
    let names = inputs.parameter_names();
    let mut svg = Svg::new(400.0, 330.0);
    let edges = [50.0, 28.0, 390.0, 285.0];
    let frame = Frame { x: Axis::new(0.0, 1.0, edges[0], edges[2]), y: Axis::new(0.0, 1.0, edges[3], edges[1]), edges };
    let n = calibration.shares.rows().max(1) as f64;
    let band = &calibration.coverage_band;
    let edge = |counts: &[usize]| -> Vec<(f64, f64)> {
        band.points.iter().zip(counts).map(|(p, c)| (frame.x.at(*p), frame.y.at(*c as f64 / n))).collect()
    };
    let commands: Vec<String> =
        edge(&band.low).iter().chain(edge(&band.high).iter().rev()).map(|(x, y)| format!("{x:.1} {y:.1}")).collect();
    svg.path("band", &format!("M{}Z", commands.join("L")));
    frame.draw(&mut svg, "size of the interval", "share of true values inside");
    svg.line("diagonal", edges[0], edges[3], edges[2], edges[1]);
    let mut header = vec!["interval".to_string(), "band_low".into(), "band_high".into()];
    header.extend(names.iter().cloned());
    let mut numbers = Numbers::new(&header);
    let covered: Vec<Vec<usize>> = (0..names.len()).map(|d| calibration.covered(d)).collect();
    for (d, name) in names.iter().enumerate() {
        let flagged = matches!(calibration.verdict(d), Verdict::TooNarrow | Verdict::TooWide | Verdict::Shifted);
        svg.polyline(if flagged { "fail" } else { "faint" }, &edge(&covered[d]));
        for (k, point) in band.points.iter().enumerate().filter(|(k, _)| k % 2 == 1) {
            let share = covered[d][k] as f64 / n;
            svg.disc(
                if flagged { "fail-solid" } else { "posterior-solid" },
                frame.x.at(*point),
                frame.y.at(share),
                2.6,
                &format!("{name}: {} intervals cover {}", percent(*point), percent(share)),
            );
        }
    }
    for (k, point) in band.points.iter().enumerate() {
        let mut row = vec![*point, band.low[k] as f64 / n, band.high[k] as f64 / n];
        row.extend(covered.iter().map(|c| c[k] as f64 / n));
        numbers.values(&row);
    }
    let describe = |d: usize| format!("{}: {}", names[d], word(calibration.verdict(d)));
    let description = format!("Coverage of central intervals. {}.", (0..names.len()).map(describe).collect::<Vec<_>>().join("; "));
    let caption =
        "One line per parameter; red where calibration fails. Below the band intervals are too narrow, above it wider than necessary.";
    Figure::new("coverage", "Coverage of intervals of every size", caption, description, false, &svg, &numbers)
}

fn histograms(inputs: &ReportInputs<'_>, calibration: &Calibration) -> Figure {
    let names = inputs.parameter_names();
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&d| calibration.verdict(d) == Verdict::Calibrated);
    order.truncate(SHOWN);
    let columns = if order.len() == 1 {
        1
    } else if order.len() <= 4 {
        2
    } else {
        3
    };
    let (width, height) = (400.0 / columns as f64, if columns == 1 { 290.0 } else { 130.0 });
    let mut svg = Svg::new(400.0, 10.0 + height * order.len().div_ceil(columns) as f64);
    let mut header = vec!["parameter".to_string()];
    header.extend((0..calibration.histogram_band.bins).map(|b| format!("bin_{}", b + 1)));
    let mut numbers = Numbers::new(&header);
    for d in 0..names.len() {
        numbers.named(&names[d], &calibration.histogram(d).iter().map(|&c| c as f64).collect::<Vec<_>>());
    }
    let band = calibration.histogram_band;
    numbers.named("band low", &vec![band.low as f64; band.bins]);
    numbers.named("band high", &vec![band.high as f64; band.bins]);
    for (k, &d) in order.iter().enumerate() {
        let panel = histogram(calibration, d, &names[d], width - 14.0, height - 34.0);
        svg.place(&panel, 6.0 + width * (k % columns) as f64, 22.0 + height * (k / columns) as f64);
    }
    let caption = format!(
        "Share of the leave-one-out posterior below the true value, ten bins; shaded: the range expected of a calibrated posterior ({} to {}). Peaks at both ends: too narrow; in the middle: too wide; on one side: shifted.{}",
        band.low,
        band.high,
        if order.len() < names.len() { " Parameters outside their band come first; the CSV has all." } else { "" }
    );
    let describe = |d: &usize| format!("{}: {}", names[*d], word(calibration.verdict(*d)));
    let description = format!("Rank histograms. {}.", order.iter().map(describe).collect::<Vec<_>>().join("; "));
    Figure::new("ranks", "Quantiles of the true values in their posteriors", &caption, description, false, &svg, &numbers)
}

fn histogram(calibration: &Calibration, d: usize, name: &str, width: f64, height: f64) -> Svg {
    let (counts, band) = (calibration.histogram(d), calibration.histogram_band);
    let top = counts.iter().copied().chain([band.high]).max().unwrap_or(1).max(1) as f64 * 1.05;
    let y = Axis::new(0.0, top, height, 0.0);
    let mut svg = Svg::new(width, height);
    svg.label("strong", 0.0, -6.0, Anchor::Start, name, (width / 6.8) as usize);
    svg.rect("band", 0.0, y.at(band.high as f64), width, y.at(band.low as f64) - y.at(band.high as f64), "");
    let bar = width / counts.len() as f64;
    for (k, &count) in counts.iter().enumerate() {
        let inside = band.low <= count && count <= band.high;
        let tip = format!(
            "{name}: {count} true values between {} and {} of their posteriors",
            short(k as f64 / 10.0),
            short((k + 1) as f64 / 10.0)
        );
        let class = if inside { "posterior-fill bar" } else { "fail-solid" };
        svg.rect(class, bar * k as f64 + 1.0, y.at(count as f64), bar - 2.0, height - y.at(count as f64), &tip);
    }
    svg.line("axis", 0.0, height, width, height);
    svg
}
