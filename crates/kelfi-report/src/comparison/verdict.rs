//! The headline: who comes closest, and whether the repeats can tell.

use super::table::measured;
use crate::section::Conclusion;
use kelfi_baselines::comparison::{Comparison, EXACT, Measured, Row, Run, Score};

/// A difference below this many standard errors of its own is not told apart.
const CLEAR: f64 = 2.0;
/// Names in the headline, and scores below it: a headline of thirty methods is none.
const MOST_NAMES: usize = 4;
const MOST_SCORES: usize = 9;

/// By how well samples can be told from exact ones, at the largest budget; where these are not known, by the error of the posterior mean, and
/// where the truth is not known, by the NMSE or the predictive distance.
pub(super) fn verdict(comparison: &Comparison, rows: &[Row]) -> Conclusion {
    let largest = comparison.budgets.iter().copied().max().unwrap_or(0);
    let Ranking { of_score, of_row, quantity } = ranking(rows);
    let of = |run: &Run| run.score.as_ref().and_then(of_score);
    let mut ranked: Vec<&Row> =
        rows.iter().filter(|row| row.method != EXACT && row.budget == largest && row.failed == 0 && of_row(row).is_some()).collect();
    ranked.sort_by(|a, b| of_row(a).map_or(f64::NAN, |m| m.mean).total_cmp(&of_row(b).map_or(f64::NAN, |m| m.mean)));
    let note = |headline: String, detail: String| Conclusion { status: "note".into(), headline, detail };
    let Some(best) = ranked.first() else {
        return note(
            "No method can be ranked.".into(),
            "No method answered in every repeat with a known truth; the table shows the rest.".into(),
        );
    };
    let tied: Vec<&str> =
        ranked[1..].iter().filter(|row| !clearly(comparison, &best.method, &row.method, largest, of)).map(|r| &*r.method).collect();
    let headline = match (ranked.len(), tied.len()) {
        (1, _) => format!("{} is the only method that answered in every repeat.", best.method),
        (_, 0) => format!("{} comes closest.", best.method),
        _ => format!("{} comes closest, but is not clearly better than {}.", best.method, listed(&tied)),
    };
    let shown = ranked.len().min(MOST_SCORES);
    let list: Vec<String> = ranked.iter().map(|row| format!("{} {}", row.method, measured(of_row(row)))).collect();
    note(
        headline,
        format!(
            "{quantity}, at {largest} simulations: {}{}.",
            list[..shown].join("; "),
            if shown < list.len() { "; the table has the others" } else { "" }
        ),
    )
}

/// Some names, and how many others there are.
fn listed(names: &[&str]) -> String {
    if names.len() <= MOST_NAMES + 1 {
        return names.join(", ");
    }
    format!("{} and {} others", names[..MOST_NAMES].join(", "), names.len() - MOST_NAMES)
}

/// What methods are ranked by; smaller is better.
struct Ranking {
    of_score: fn(&Score) -> Option<f64>,
    of_row: fn(&Row) -> Option<Measured>,
    quantity: &'static str,
}

fn ranking(rows: &[Row]) -> Ranking {
    let by = |of_score, of_row, quantity| Ranking { of_score, of_row, quantity };
    if rows.iter().any(|row| row.c2st.is_some()) {
        return by(|s| s.c2st, |r| r.c2st, "C2ST, how often a classifier tells samples from exact ones (0.5 is guessing)");
    }
    if rows.iter().any(|row| row.error.is_some()) {
        return by(|s| s.error, |r| r.error, "Mean error of the posterior mean, in prior standard deviations");
    }
    if rows.iter().any(|row| row.nmse.is_some()) {
        return by(|s| s.nmse, |r| r.nmse, "Normalised mean squared error in %");
    }
    by(
        |s| s.predictive,
        |r| r.predictive,
        "Distance of simulations at posterior samples from the observation, in spreads of the statistics",
    )
}

/// Whether the mean paired difference of two methods is more than [`CLEAR`] of its standard errors.
fn clearly(comparison: &Comparison, best: &str, other: &str, budget: usize, of: impl Fn(&Run) -> Option<f64>) -> bool {
    let differences: Vec<f64> =
        comparison.runs_of(best, budget).zip(comparison.runs_of(other, budget)).filter_map(|(a, b)| Some(of(b)? - of(a)?)).collect();
    let n = differences.len() as f64;
    if n < 2.0 {
        return false;
    }
    let mean = differences.iter().sum::<f64>() / n;
    let variance = differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (n - 1.0);
    mean > CLEAR * (variance / n).sqrt()
}
