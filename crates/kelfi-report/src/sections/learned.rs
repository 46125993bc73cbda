//! What mattered? Tolerances and relevance of the statistics, length scales, λ, and both objectives around the choice.

use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{number, short};
use crate::section::{Cell, Section, Table};
use crate::svg::{Anchor, Axis, Frame, Svg};
use kelfi::learning::leave_one_out::LeaveOneOutScore;
use kelfi::learning::local_set::LocalSet;
use kelfi::learning::pairs::Pairs;
use kelfi::learning::quadrature::PriorPoints;
use kelfi::learning::setting::Setting;
use kelfi::learning::statistics::Dropped;
use kelfi::learning::surface::{Surface, surface};
use kelfi::learning::{LearnSettings, Objective, RegularizationChoice, StatisticReport};
use kelfi::{Error, Recorded};
use std::sync::Arc;

/// Bars drawn at most; the table has all statistics.
const BARS: usize = 25;
/// Factors on the learned tolerances along the profile.
const PROFILE: usize = 33;
const PROFILE_REACH: f64 = 20.0;
const SURFACE: usize = 24;
/// Simulations the surface is drawn from at most: each of its rows factors a matrix of this order.
const SURFACE_SIMULATIONS: usize = 500;
/// Points for the negative mass in the score, as in learning.
const POINTS: usize = 128;

/// The section.
pub fn section(inputs: &ReportInputs<'_>) -> Result<Section, Error> {
    let learned = &inputs.inference.learned;
    let mut section = Section::new("learned", "What mattered?");
    let by = match learned.objective {
        Objective::LeaveOneOut => {
            "the leave-one-out posterior score (how much posterior density each simulation near the observation gives to its own parameters, made without it)"
        }
        Objective::Evidence => "the marginal likelihood ln q(y)",
    };
    section.text(format!(
        "Hyperparameters were chosen by {by}. Score {} ± {} nats over the prior; ln q(y) = {}. Regularization λ = {}.",
        learned.score.map_or("–".into(), short),
        learned.score_standard_error.map_or("–".into(), short),
        learned.log_marginal_likelihood.map_or("–".into(), number),
        short(learned.hyperparameters.regularization),
    ));
    section.text("A statistic with a small tolerance ε relative to its spread decides about the parameters; one with a large tolerance is ignored. Relevance is spread over ε.");
    let mut figures = vec![relevance(inputs)];
    figures.extend(profile(inputs)?);
    figures.extend(surface_figure(inputs)?);
    section.figures(figures);
    section.table(statistics_table(inputs));
    section.table(length_scales(inputs));
    Ok(section)
}

fn relevance(inputs: &ReportInputs<'_>) -> Figure {
    let learned = &inputs.inference.learned;
    let order = learned.ranking();
    let shown = &order[..order.len().min(BARS)];
    let (row, left, right) = (20.0, 150.0, 340.0);
    let mut svg = Svg::new(400.0, 30.0 + row * shown.len() as f64);
    let top = shown.first().map_or(1.0, |&i| learned.statistics[i].relevance).max(1e-12);
    let x = Axis::new(0.0, top, left, right);
    for (k, &i) in shown.iter().enumerate() {
        let s = &learned.statistics[i];
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
        let s = &learned.statistics[i];
        numbers.named(&inputs.statistic(i), &[s.epsilon, s.relative_epsilon, s.relevance]);
    }
    let first: Vec<String> = order.iter().take(3).map(|&i| inputs.statistic(i)).collect();
    let caption = if shown.len() < order.len() {
        format!("The {} most relevant of {} statistics; the table has all.", shown.len(), order.len())
    } else {
        "Longer bars decide more.".to_string()
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

fn dropped(inputs: &ReportInputs<'_>, s: &StatisticReport) -> String {
    match &s.scale.dropped {
        None => String::new(),
        Some(Dropped::Constant) => "left out: the same in every simulation".into(),
        Some(Dropped::Repeats(other)) => format!("left out: repeats {}", inputs.statistic(*other)),
    }
}

fn statistics_table(inputs: &ReportInputs<'_>) -> Table {
    let learned = &inputs.inference.learned;
    let mut numbers = Numbers::new(&["statistic", "spread", "epsilon", "relative_epsilon", "relevance"]);
    let mut rows = vec![];
    for i in learned.ranking() {
        let s = &learned.statistics[i];
        let name = inputs.statistic(i);
        numbers.named(&name, &[s.scale.scale, s.epsilon, s.relative_epsilon, s.relevance]);
        let cells = [s.scale.scale, s.epsilon, s.relative_epsilon, s.relevance].map(|v| Cell::number(number(v)));
        rows.push([vec![Cell::text(name)], cells.to_vec(), vec![Cell::text(dropped(inputs, s))]].concat());
    }
    let columns = ["statistic", "spread", "ε", "ε / spread", "relevance", "note"].map(String::from).to_vec();
    Table {
        id: "statistics-table".into(),
        caption: "Tolerance of every statistic, most relevant first".into(),
        columns,
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}

fn length_scales(inputs: &ReportInputs<'_>) -> Table {
    let scales = inputs.inference.model.hyperparameters().length_scale;
    let mut numbers = Numbers::new(&["parameter", "length_scale"]);
    let mut rows = vec![];
    for (name, scale) in inputs.parameter_names().iter().zip(&scales) {
        numbers.named(name, &[*scale]);
        rows.push(vec![Cell::text(name), Cell::number(number(*scale))]);
    }
    let columns = ["parameter", "length scale β (prior standard deviations)"].map(String::from).to_vec();
    Table {
        id: "length-scales".into(),
        caption: "How far along each parameter simulations inform each other".into(),
        columns,
        rows,
        folded: true,
        csv: numbers.csv().into(),
    }
}

/// Both objectives with all tolerances multiplied by one factor, β and λ as learned: one factorisation serves all.
fn profile(inputs: &ReportInputs<'_>) -> Result<Vec<Figure>, Error> {
    let model = &inputs.inference.model;
    let setting = Setting::new(model.recorded(), inputs.observation, inputs.inference.posterior.prior(), inputs.settings)?;
    let local = LocalSet::new(model.recorded(), inputs.observation, &setting.units, setting.active().len())?;
    let pairs = Pairs::new(model.recorded(), inputs.observation, &local)?;
    let (mean, std) = local.spread(&setting.z);
    let points = PriorPoints::new(&inputs.inference.posterior.prior().latent(), &mean, &std, POINTS, inputs.settings.seed);
    let score = LeaveOneOutScore::new(model.operator(), &local, &pairs, &points)?;
    let epsilon = model.hyperparameters().epsilon;
    let factors: Vec<f64> = (0..PROFILE).map(|k| PROFILE_REACH.powf(2.0 * k as f64 / (PROFILE - 1) as f64 - 1.0)).collect();
    let mut rows = vec![];
    for &factor in &factors {
        let scaled: Vec<f64> = epsilon.iter().map(|e| e * factor).collect();
        let evidence = model.with_epsilon(&scaled).and_then(|m| m.log_marginal_likelihood()).unwrap_or(f64::NAN);
        rows.push([factor, score.evaluate(&scaled, false).objective, evidence]);
    }
    let mut numbers = Numbers::new(&["factor_on_epsilon", "leave_one_out_objective", "log_marginal_likelihood"]);
    rows.iter().for_each(|row| numbers.values(row));
    let (first, second) = (curve(&rows, 1, "score less the price of negative mass, nats"), curve(&rows, 2, "ln q(y)"));
    let both = "The orange line is the choice (factor 1).";
    Ok(vec![
        Figure::new(
            "profile-score",
            "Leave-one-out score along the tolerances",
            &format!("All tolerances times one factor, β and λ kept. {both}"),
            describe(&rows, 1),
            false,
            &first,
            &numbers,
        ),
        Figure::new(
            "profile-evidence",
            "ln q(y) along the tolerances",
            &format!("The paper's objective. It often rises towards tiny tolerances, where single simulations are chased. {both}"),
            describe(&rows, 2),
            false,
            &second,
            &numbers,
        ),
    ])
}

fn describe(rows: &[[f64; 3]], column: usize) -> String {
    let best = rows.iter().filter(|r| r[column].is_finite()).max_by(|a, b| a[column].total_cmp(&b[column]));
    best.map_or("No value is finite.".into(), |b| {
        format!("Largest value {} at {} times the learned tolerances.", short(b[column]), short(b[0]))
    })
}

fn curve(rows: &[[f64; 3]], column: usize, name: &str) -> Svg {
    let mut svg = Svg::new(400.0, 250.0);
    let finite: Vec<f64> = rows.iter().map(|r| r[column]).filter(|v| v.is_finite()).collect();
    let high = finite.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // Far below the top nothing is to be seen; the interesting range keeps the picture.
    let low = finite.iter().copied().fold(f64::INFINITY, f64::min).max(high - 40.0);
    let margin = 0.06 * (high - low);
    let edges = [50.0, 28.0, 390.0, 205.0];
    let frame = Frame {
        x: Axis::logarithmic(1.0 / PROFILE_REACH, PROFILE_REACH, edges[0], edges[2]),
        y: Axis::new(low - margin, high + margin, edges[3], edges[1]),
        edges,
    };
    frame.draw(&mut svg, "factor on the learned tolerances ε", name);
    svg.line("truth", frame.x.at(1.0), edges[1], frame.x.at(1.0), edges[3]);
    let place = |r: &[f64; 3]| (frame.x.at(r[0]), if r[column] < low - margin { f64::NAN } else { frame.y.at(r[column]) });
    svg.polyline("posterior", &rows.iter().map(place).collect::<Vec<_>>());
    for r in rows.iter().filter(|r| r[column].is_finite() && r[column] >= low - margin) {
        svg.disc("posterior-solid", frame.x.at(r[0]), frame.y.at(r[column]), 2.6, &format!("ε × {}: {}", short(r[0]), number(r[column])));
    }
    svg
}

/// ln q(y) over a common tolerance and a common length scale, with the choice marked.
fn surface_figure(inputs: &ReportInputs<'_>) -> Result<Option<Figure>, Error> {
    let learned = &inputs.inference.learned;
    let recorded = match inputs.inference.model.recorded() {
        Recorded::Statistics(s) if s.len() > SURFACE_SIMULATIONS => {
            Recorded::Statistics(Arc::new(s.select(&(0..SURFACE_SIMULATIONS).collect::<Vec<_>>())?))
        }
        Recorded::DataSets(sets) if sets.sets.len() > SURFACE_SIMULATIONS => return Ok(None),
        other => other.clone(),
    };
    let used = recorded.theta().rows();
    let active: Vec<f64> = learned.statistics.iter().filter(|s| s.scale.dropped.is_none()).map(|s| s.relative_epsilon).collect();
    let (e, b) = (geometric_mean(&active), geometric_mean(&inputs.inference.model.hyperparameters().length_scale));
    let spaced =
        |low: f64, high: f64| -> Vec<f64> { (0..SURFACE).map(|k| low * (high / low).powf(k as f64 / (SURFACE - 1) as f64)).collect() };
    let settings = LearnSettings {
        regularization: RegularizationChoice::Fixed(learned.hyperparameters.regularization.max(1e-9)),
        ..inputs.settings.clone()
    };
    let (epsilons, lengths) = (spaced((e / 20.0).max(1e-6), e * 10.0), spaced(b / 8.0, b * 8.0));
    let found = surface(&recorded, inputs.observation, inputs.inference.posterior.prior(), &settings, &epsilons, &lengths, &mut |_| true)?;
    let mut numbers = Numbers::new(&["relative_epsilon", "length_scale", "log_marginal_likelihood"]);
    for (row, length) in found.length_scales.iter().enumerate() {
        for (column, epsilon) in found.epsilons.iter().enumerate() {
            numbers.values(&[*epsilon, *length, found.log_marginal_likelihood.row(row)[column]]);
        }
    }
    let caption = format!(
        "One tolerance for all statistics (in their spreads) and one length scale (in prior standard deviations), λ as learned, from {used} simulations; stronger colour is larger. Diamond: the choice{}.",
        if active.windows(2).any(|w| w[0] != w[1]) { " (geometric means, as tolerances differ between statistics)" } else { "" }
    );
    let description = format!("Heat map. The choice is at tolerance {} and length scale {}.", short(e), short(b));
    Ok(Some(Figure::new(
        "surface",
        "ln q(y) over tolerance and length scale",
        &caption,
        description,
        false,
        &heat_map(&found, e, b),
        &numbers,
    )))
}

fn heat_map(found: &Surface, e: f64, b: f64) -> Svg {
    let mut svg = Svg::new(400.0, 330.0);
    let edges = [50.0, 28.0, 390.0, 285.0];
    let (el, eh) = (found.epsilons[0], found.epsilons[SURFACE - 1]);
    let (bl, bh) = (found.length_scales[0], found.length_scales[SURFACE - 1]);
    let frame = Frame { x: Axis::logarithmic(el, eh, edges[0], edges[2]), y: Axis::logarithmic(bl, bh, edges[3], edges[1]), edges };
    let values = found.log_marginal_likelihood.values();
    let high = values.iter().copied().filter(|v| v.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let low = values.iter().copied().filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min).max(high - 25.0);
    let (w, h) = ((edges[2] - edges[0]) / SURFACE as f64, (edges[3] - edges[1]) / SURFACE as f64);
    for row in 0..SURFACE {
        for column in 0..SURFACE {
            let value = found.log_marginal_likelihood.row(row)[column];
            let (x, y) = (edges[0] + w * column as f64, edges[3] - h * (row + 1) as f64);
            let shade =
                if value.is_finite() && high > low { (8.0 * ((value - low) / (high - low)).clamp(0.0, 1.0)).round() as usize } else { 0 };
            let tip = format!("ε = {}, β = {}: ln q(y) = {}", short(found.epsilons[column]), short(found.length_scales[row]), short(value));
            svg.rect(&format!("heat h{shade}"), x, y, w + 0.3, h + 0.3, &tip);
        }
    }
    frame.draw(&mut svg, "tolerance ε (spreads)", "length scale β (prior standard deviations)");
    svg.diamond("truth-solid", frame.x.inside(e), frame.y.inside(b), 7.0, &format!("the choice: ε = {}, β = {}", short(e), short(b)));
    svg
}

fn geometric_mean(values: &[f64]) -> f64 {
    if values.is_empty() { 1.0 } else { (values.iter().map(|v| v.ln()).sum::<f64>() / values.len() as f64).exp() }
}
