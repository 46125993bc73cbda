//! Both objectives of the kernel means model around the choice: along the tolerances, and over tolerance and length scale.

use crate::figure::{Figure, Numbers};
use crate::inputs::ReportInputs;
use crate::numbers::{number, short};
use crate::svg::{Axis, Frame, Svg};
use kelfi::learning::leave_one_out::LeaveOneOutScore;
use kelfi::learning::pairs::Pairs;
use kelfi::learning::problem::LearningProblem;
use kelfi::learning::surface::{Surface, surface};
use kelfi::learning::{KernelMeansOptions, Learned, RegularizationChoice};
use kelfi::prior::quadrature::PriorPoints;
use kelfi::simulations::local_set::LocalSet;
use kelfi::{Error, KernelMeansLikelihood, Model, Question};

/// Factors on the learned tolerances along the profile.
const PROFILE: usize = 33;
const PROFILE_REACH: f64 = 20.0;
const SURFACE: usize = 24;
/// Simulations the surface is drawn from at most: each of its rows factors a matrix of this order.
const SURFACE_SIMULATIONS: usize = 500;
/// Points for the negative mass in the score, as in learning.
const POINTS: usize = 128;

/// Both objectives with all tolerances multiplied by one factor, β and λ as learned: one factorisation serves all.
pub fn profile(inputs: &ReportInputs<'_>, model: &KernelMeansLikelihood) -> Result<Vec<Figure>, Error> {
    let (question, settings) = (model.question(), &inputs.settings.learn);
    let Question { prior, recorded, observation } = question;
    let setting = LearningProblem::new(question, settings)?;
    let local = LocalSet::new(recorded, observation, &setting.units, setting.active().len())?;
    let pairs = Pairs::new(recorded, observation, &local)?;
    let (mean, std) = local.spread(&setting.z);
    let points = PriorPoints::new(&prior.latent(), &mean, &std, POINTS, settings.seed);
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
    let (first, second) = (curve(&rows, 1, "score minus penalty for negative mass, nats"), curve(&rows, 2, "ln q(y)"));
    let both = "The orange line is the choice (factor 1).";
    Ok(vec![
        Figure::new(
            "profile-score",
            "Leave-one-out score along the tolerances",
            &format!("All tolerances multiplied by one factor, with β and λ fixed. {both}"),
            describe(&rows, 1),
            false,
            &first,
            &numbers,
        ),
        Figure::new(
            "profile-evidence",
            "ln q(y) along the tolerances",
            &format!("The paper's objective. It often increases towards tiny tolerances, which overfit single simulations. {both}"),
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
pub fn surface_figure(inputs: &ReportInputs<'_>, model: &KernelMeansLikelihood, learned: &Learned) -> Result<Option<Figure>, Error> {
    let question = match model.recorded().theta().rows() {
        more if more > SURFACE_SIMULATIONS => model.question().of_part(&(0..SURFACE_SIMULATIONS).collect::<Vec<_>>())?,
        _ => model.question().clone(),
    };
    let used = question.recorded.theta().rows();
    let active: Vec<f64> = learned.statistics.iter().filter(|s| s.scale.dropped.is_none()).map(|s| s.relative_epsilon).collect();
    let (e, b) = (geometric_mean(&active), geometric_mean(&model.hyperparameters().length_scale));
    let spaced =
        |low: f64, high: f64| -> Vec<f64> { (0..SURFACE).map(|k| low * (high / low).powf(k as f64 / (SURFACE - 1) as f64)).collect() };
    let settings = KernelMeansOptions {
        regularization: RegularizationChoice::Fixed(learned.hyperparameters.regularization.max(1e-9)),
        ..inputs.settings.learn.clone()
    };
    let (epsilons, lengths) = (spaced((e / 20.0).max(1e-6), e * 10.0), spaced(b / 8.0, b * 8.0));
    let found = surface(&question, &settings, &epsilons, &lengths, &mut |_| true)?;
    let mut numbers = Numbers::new(&["relative_epsilon", "length_scale", "log_marginal_likelihood"]);
    for (row, length) in found.length_scales.iter().enumerate() {
        for (column, epsilon) in found.epsilons.iter().enumerate() {
            numbers.values(&[*epsilon, *length, found.log_marginal_likelihood.row(row)[column]]);
        }
    }
    let caption = format!(
        "One tolerance for all statistics (in their spreads) and one length scale (in prior standard deviations), λ as learned, from {used} simulations; darker is larger. Diamond: the choice{}.",
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
