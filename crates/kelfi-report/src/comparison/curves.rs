//! Means against the number of simulations, one line a method, where several budgets were compared.

use super::Measure;
use super::strips::mean_of;
use crate::figure::{Figure, Numbers};
use crate::numbers::short;
use crate::section::Section;
use crate::svg::{Anchor, Axis, Frame, Svg};
use kelfi_baselines::comparison::{Comparison, Measured};

/// Strokes there are; more methods than these share them.
const STROKES: usize = 7;
/// Names at the ends of the lines keep this distance.
const APART: f64 = 12.0;

/// The section, if there is more than one budget.
pub(super) fn section(comparison: &Comparison, measures: &[Measure]) -> Option<Section> {
    let mut budgets = comparison.budgets.clone();
    budgets.sort_unstable();
    budgets.dedup();
    if budgets.len() < 2 {
        return None;
    }
    let mut section = Section::new("budgets", "How do results improve with more simulations?");
    section.text("Means over the repeats. Smaller budgets use the first simulations of larger ones.");
    section.figures(measures.iter().filter_map(|measure| figure(comparison, measure, &budgets)).collect());
    Some(section)
}

fn figure(comparison: &Comparison, measure: &Measure, budgets: &[usize]) -> Option<Figure> {
    let mean = |method: &str, budget: usize| -> Option<Measured> {
        let values: Vec<(usize, f64)> = comparison
            .runs_of(method, budget)
            .filter_map(|run| Some((run.repeat, (measure.of)(run)?)))
            .filter(|v| v.1.is_finite())
            .collect();
        mean_of(&values)
    };
    let lines: Vec<(&str, Vec<(usize, Measured)>)> = comparison
        .methods
        .iter()
        .map(|m| (m.name.as_str(), budgets.iter().filter_map(|&b| Some((b, mean(&m.name, b)?))).collect::<Vec<_>>()))
        .filter(|(_, line)| !line.is_empty())
        .collect();
    if lines.is_empty() {
        return None;
    }
    let mut numbers = Numbers::new(&["method", "simulations", "mean", "standard_error"]);
    for (name, line) in &lines {
        for (budget, m) in line {
            numbers.named(name, &[*budget as f64, m.mean, m.standard_error.unwrap_or(f64::NAN)]);
        }
    }
    let told: Vec<String> = lines
        .iter()
        .filter_map(|(name, line)| Some(format!("{name} from {} to {}", short(line.first()?.1.mean), short(line.last()?.1.mean))))
        .collect();
    let description = format!("From {} to {} simulations: {}.", budgets[0], budgets[budgets.len() - 1], told.join("; "));
    let svg = draw(measure, budgets, &lines);
    let (id, title) = (format!("{}-by-simulations", measure.id), format!("{} by number of simulations", measure.title));
    Some(Figure::new(&id, &title, measure.caption_by_budget, description, false, &svg, &numbers))
}

fn draw(measure: &Measure, budgets: &[usize], lines: &[(&str, Vec<(usize, Measured)>)]) -> Svg {
    let values = lines.iter().flat_map(|(_, line)| line.iter().map(|(_, m)| m.mean)).chain(measure.ideal);
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let edges = [50.0, 28.0, 260.0, 225.0];
    let margin = 0.05 * (high - low).max(1e-9);
    let y = if measure.logarithmic {
        Axis::logarithmic(low / 1.1, high * 1.1, edges[3], edges[1])
    } else {
        Axis::new(low - margin, high + margin, edges[3], edges[1])
    };
    let x = Axis::logarithmic(budgets[0] as f64 * 0.93, budgets[budgets.len() - 1] as f64 * 1.07, edges[0], edges[2]);
    let frame = Frame { x, y, edges };
    let mut svg = Svg::new(400.0, 270.0);
    frame.draw(&mut svg, "simulations", measure.axis);
    let mut ends: Vec<(f64, usize)> = vec![];
    for (k, (name, line)) in lines.iter().enumerate() {
        let place = |(budget, m): &(usize, Measured)| (frame.x.at(*budget as f64), frame.y.at(m.mean));
        svg.polyline(&format!("line s{}", k % STROKES), &line.iter().map(place).collect::<Vec<_>>());
        for point in line {
            let (x, y) = place(point);
            let tip = format!("{name}, {} simulations: {}", point.0, super::measured(Some(point.1)));
            svg.disc(&format!("f{}", k % STROKES), x, y, 3.6, &tip);
        }
        ends.extend(line.last().map(|last| (frame.y.at(last.1.mean), k)));
    }
    for (y, k) in spread(ends, edges[1], edges[3]) {
        svg.disc(&format!("f{}", k % STROKES), edges[2] + 12.0, y, 3.6, "");
        svg.label("", edges[2] + 20.0, y + 4.0, Anchor::Start, lines[k].0, 20);
    }
    svg
}

/// Heights moved apart, in their order, inside the frame.
fn spread(mut ends: Vec<(f64, usize)>, top: f64, bottom: f64) -> Vec<(f64, usize)> {
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    for i in 1..ends.len() {
        ends[i].0 = ends[i].0.max(ends[i - 1].0 + APART);
    }
    let over = ends.last().map_or(0.0, |last| (last.0 - bottom).max(0.0));
    for i in (0..ends.len()).rev() {
        let below = if i + 1 < ends.len() { ends[i + 1].0 - APART } else { bottom };
        ends[i].0 = if over > 0.0 { ends[i].0.min(below) } else { ends[i].0 }.max(top);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_at_the_ends_of_lines_never_overlap() {
        let moved = spread(vec![(200.0, 0), (200.0, 1), (199.0, 2), (10.0, 3)], 10.0, 205.0);
        assert_eq!(moved.iter().map(|(_, k)| *k).collect::<Vec<_>>(), vec![3, 2, 0, 1]);
        assert!(moved.windows(2).all(|pair| pair[1].0 - pair[0].0 >= APART - 1e-9), "{moved:?}");
        assert!(moved.iter().all(|(y, _)| (10.0..=205.0).contains(y)), "{moved:?}");
    }
}
