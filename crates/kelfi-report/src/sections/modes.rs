//! Several modes told as several: where each lies, its weight, and the regions around them.

use super::parameters::Parameter;
use crate::figure::Numbers;
use crate::inputs::ReportInputs;
use crate::numbers::{number, percent};
use crate::section::{Cell, Section, Table};
use kelfi::chains::modes::Mode;
use kelfi::posterior::Line;
use kelfi::{Error, Prior};

/// Cells on which a marginal density is looked at.
const CELLS: usize = 400;
/// A gap narrower than this share of the range is no gap.
const NARROWEST_GAP: f64 = 0.02;

/// Adds the modes to the section, where there are several.
pub fn add(section: &mut Section, inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Result<(), Error> {
    let modes = inputs.fit.posterior.modes()?;
    if modes.len() < 2 {
        return Ok(());
    }
    section.text(format!(
        "The posterior has {} separate modes. Report them one by one: means and intervals of the whole posterior span the gap between them.",
        modes.len()
    ));
    section.table(modes_table(inputs, &modes));
    section.table(regions_table(inputs, parameters)?);
    Ok(())
}

fn modes_table(inputs: &ReportInputs<'_>, modes: &[Mode]) -> Table {
    let names = inputs.parameter_names();
    let columns: Vec<String> = ["mode".to_string(), "weight".to_string()].into_iter().chain(names.iter().cloned()).collect();
    let mut numbers = Numbers::new(&columns);
    let row = |(k, mode): (usize, &Mode)| {
        let weight = percent(mode.weight);
        let values = [k as f64 + 1.0, mode.weight].into_iter().chain(mode.centre.iter().copied()).collect::<Vec<_>>();
        numbers.values(&values);
        let centre = mode.centre.iter().map(|&value| Cell::number(number(value)));
        [Cell::text((k + 1).to_string()), Cell::number(weight)].into_iter().chain(centre).collect()
    };
    let rows = modes.iter().enumerate().map(row).collect();
    let caption = "Weight of each mode and its centre".into();
    Table { id: "modes-table".into(), caption, columns, rows, folded: false, csv: numbers.csv().into() }
}

fn regions_table(inputs: &ReportInputs<'_>, parameters: &[Parameter]) -> Result<Table, Error> {
    let (posterior, columns) = (&inputs.fit.posterior, ["parameter", "50 % region", "95 % region"]);
    let mut numbers = Numbers::new(&columns);
    let mut rows = vec![];
    for (d, parameter) in parameters.iter().enumerate() {
        let line = posterior.line(d)?;
        let regions = [0.5, 0.95].map(|share| region(&line, posterior.prior(), share).map(|parts| in_words(&parts)));
        let [half, most] = regions;
        let (half, most) = (half?, most?);
        numbers.row(&[parameter.name.clone(), half.clone(), most.clone()]);
        rows.push(vec![Cell::text(&parameter.name), Cell::text(half), Cell::text(most)]);
    }
    Ok(Table {
        id: "regions-table".into(),
        caption: "Highest density regions of each parameter: the smallest sets of values with this probability".into(),
        columns: columns.map(String::from).to_vec(),
        rows,
        folded: false,
        csv: numbers.csv().into(),
    })
}

fn in_words(parts: &[(f64, f64)]) -> String {
    parts.iter().map(|(low, high)| format!("{} to {}", number(*low), number(*high))).collect::<Vec<_>>().join(" or ")
}

/// The smallest set of values with probability `share`: {θ_d: p(θ_d|y) ≥ c}, c as large as that allows. Found on cells between two far
/// quantiles: those of highest density first, until their mass is enough.
fn region(line: &Line, prior: &Prior, share: f64) -> Result<Vec<(f64, f64)>, Error> {
    let (low, high) = (line.quantile(prior, 5e-4)?, line.quantile(prior, 1.0 - 5e-4)?);
    let edge = |k: usize| low + (high - low) * k as f64 / CELLS as f64;
    let below: Vec<f64> = (0..=CELLS).map(|k| line.cdf(prior, edge(k))).collect::<Result<_, _>>()?;
    let masses: Vec<f64> = below.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect();
    Ok(highest(&masses, share).into_iter().map(|(first, last)| (edge(first), edge(last))).collect())
}

/// Runs of cells, as first and last edge, that together hold `share` of the mass with as few cells as possible.
fn highest(masses: &[f64], share: f64) -> Vec<(usize, usize)> {
    let mut order: Vec<usize> = (0..masses.len()).collect();
    order.sort_by(|&a, &b| masses[b].total_cmp(&masses[a]));
    let (mut inside, mut mass) = (vec![false; masses.len()], 0.0);
    let wanted = share * masses.iter().sum::<f64>();
    for k in order {
        if mass >= wanted {
            break;
        }
        inside[k] = true;
        mass += masses[k];
    }
    let narrow = (NARROWEST_GAP * masses.len() as f64) as usize;
    let mut runs: Vec<(usize, usize)> = vec![];
    for k in (0..masses.len()).filter(|&k| inside[k]) {
        match runs.last_mut() {
            Some(run) if k - run.1 <= narrow => run.1 = k + 1,
            _ => runs.push((k, k + 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_peaks_give_two_regions_and_one_peak_gives_one() {
        let bump = |k: usize, at: f64| (-0.5 * ((k as f64 + 0.5 - at) / 10.0).powi(2)).exp();
        let one: Vec<f64> = (0..400).map(|k| bump(k, 200.0)).collect();
        // A normal has 95.45 % within two standard deviations.
        assert_eq!(highest(&one, 0.954), [(180, 220)]);
        let two: Vec<f64> = (0..400).map(|k| bump(k, 100.0) + bump(k, 300.0)).collect();
        assert_eq!(highest(&two, 0.954), [(80, 120), (280, 320)]);
        assert_eq!(in_words(&[(-1.0, -0.5), (0.5, 1.0)]), "-1 to -0.5 or 0.5 to 1");
    }
}
