//! What are the parameter values? The table of posterior beside prior.

use crate::figure::Numbers;
use crate::inputs::ReportInputs;
use crate::numbers::{number, percent};
use crate::prior_line::PriorLine;
use crate::section::{Cell, Section, Table};
use crate::svg::{Axis, Svg, escape};
use kelfi::posterior::summary::{PROBABILITIES, moments};

/// One parameter, before and after.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Name.
    pub name: String,
    /// Posterior mean, standard deviation, mode (NaN where there is none).
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    /// Its coordinate of the joint mode.
    pub mode: f64,
    /// 2.5 %, 25 %, 50 %, 75 %, 97.5 %.
    pub quantiles: [f64; 5],
    /// The prior.
    pub prior: PriorLine,
    /// The same quantiles of the prior.
    pub prior_quantiles: [f64; 5],
    /// Width of the 95 % interval over that of the prior.
    pub left: f64,
}

/// Every parameter in order.
pub fn parameters(inputs: &ReportInputs<'_>) -> Result<Vec<Parameter>, kelfi::Error> {
    let posterior = &inputs.fit.posterior;
    let (moments, mode) = (moments(posterior)?, posterior.mode().ok());
    let one = |(d, name): (usize, &String)| {
        let mut quantiles = [0.0; 5];
        quantiles.copy_from_slice(&posterior.quantile(d, &PROBABILITIES)?);
        let prior = PriorLine::new(posterior.prior(), d);
        let prior_quantiles = PROBABILITIES.map(|p| prior.quantile(p));
        let left = (quantiles[4] - quantiles[0]) / (prior_quantiles[4] - prior_quantiles[0]);
        Ok(Parameter {
            name: name.clone(),
            mean: moments[d].0,
            sd: moments[d].1,
            mode: mode.as_ref().map_or(f64::NAN, |m| m[d]),
            quantiles,
            prior,
            prior_quantiles,
            left,
        })
    };
    posterior.prior().names().iter().enumerate().map(one).collect()
}

/// The table.
pub fn section(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Result<Section, kelfi::Error> {
    let mut section = Section::new("parameters", "What are the parameter values?");
    super::modes::add(&mut section, inputs, parameters)?;
    let known = inputs.truth.is_some();
    section.text(format!(
        "Thick bar: 50 % interval; thin bar: 95 % interval; pale bar: the prior's 95 % interval{}. Width is that of the posterior relative to the prior: a small share means that the observation was informative.",
        if known { "; diamond: the true value" } else { "" }
    ));
    let mut columns = vec!["parameter", "posterior over prior", "mean", "sd", "mode", "50 % interval", "95 % interval", "prior", "width"];
    if known {
        columns.insert(2, "truth");
    }
    let mut numbers = Numbers::new(&[
        "parameter",
        "mean",
        "sd",
        "mode",
        "q025",
        "q25",
        "q50",
        "q75",
        "q975",
        "prior_mean",
        "prior_sd",
        "prior_q025",
        "prior_q975",
        "truth",
    ]);
    let mut rows = vec![];
    for (d, p) in parameters.iter().enumerate() {
        let (prior_mean, prior_sd) = (p.prior.mean().unwrap_or(f64::NAN), p.prior.std().unwrap_or(f64::NAN));
        let truth = inputs.true_value(d);
        let range = |a: f64, b: f64| Cell::number(format!("{} to {}", number(a), number(b)));
        let mut row = vec![
            Cell::text(&p.name),
            Cell::svg(bar(p, truth)),
            Cell::number(number(p.mean)),
            Cell::number(number(p.sd)),
            Cell::number(number(p.mode)),
            range(p.quantiles[1], p.quantiles[3]),
            range(p.quantiles[0], p.quantiles[4]),
            Cell::text(p.prior.words()),
            Cell::number(percent(p.left)),
        ];
        if known {
            row.insert(2, Cell::number(truth.map_or("–".into(), number)));
        }
        rows.push(row);
        let mut values = vec![p.mean, p.sd, p.mode];
        values.extend(p.quantiles);
        values.extend([prior_mean, prior_sd, p.prior_quantiles[0], p.prior_quantiles[4], truth.unwrap_or(f64::NAN)]);
        numbers.named(&p.name, &values);
    }
    section.table(Table {
        id: "posterior-table".into(),
        caption: "Posterior and prior, in the units of the parameters".into(),
        columns: columns.into_iter().map(String::from).collect(),
        rows,
        folded: false,
        csv: numbers.csv().into(),
    });
    Ok(section)
}

/// A small drawing of the intervals on the prior's 95 % range.
fn bar(p: &Parameter, truth: Option<f64>) -> String {
    let (width, height) = (120.0, 18.0);
    let all = p.quantiles.iter().chain(&p.prior_quantiles).copied().chain(truth);
    let (low, high) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let x = Axis::new(low, high, 6.0, width - 6.0);
    let mut svg = Svg::new(width, height);
    let (a, b) = (x.inside(p.prior_quantiles[0]), x.inside(p.prior_quantiles[4]));
    svg.rect("band", a, 3.0, b - a, 12.0, "");
    svg.line("posterior-thin", x.inside(p.quantiles[0]), 9.0, x.inside(p.quantiles[4]), 9.0);
    svg.line("posterior-thick", x.inside(p.quantiles[1]), 9.0, x.inside(p.quantiles[3]), 9.0);
    if let Some(truth) = truth {
        svg.diamond("truth-solid", x.inside(truth), 9.0, 5.0, &format!("truth {}", number(truth)));
    }
    let label = format!("{}: 95 % from {} to {}", p.name, number(p.quantiles[0]), number(p.quantiles[4]));
    format!(
        r#"<svg class="figure spark" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" aria-label="{}">{}</svg>"#,
        escape(&label),
        svg.body()
    )
}
