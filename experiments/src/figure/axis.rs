//! An axis with round numbers, linear or logarithmic.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// A range of values; of their decimal logarithms if `log`.
#[derive(Clone)]
pub struct Axis {
    /// From where to where.
    pub range: Range<f64>,
    /// Whether values are decimal logarithms.
    pub log: bool,
}

impl Axis {
    fn ticks(&self) -> Vec<f64> {
        if self.log { log_ticks(&self.range) } else { linear_ticks(&self.range) }
    }
}

impl Ranged for Axis {
    type ValueType = f64;
    type FormatOption = NoDefaultFormatting;

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        first + (f64::from(last - first) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { vec![] } else { self.ticks() }
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, place: &f64) -> String {
        short(if self.log { 10_f64.powf(*place) } else { *place })
    }
}

/// 1, 2 and 5 times powers of ten, or powers of ten alone where those would be too many.
fn log_ticks(range: &Range<f64>) -> Vec<f64> {
    let (first, last) = (range.start.floor() as i32, range.end.ceil() as i32);
    let with = |factors: &[f64]| -> Vec<f64> {
        let places = (first..=last).flat_map(|power| factors.iter().map(move |factor| f64::from(power) + factor.log10()));
        places.filter(|place| range.contains(place)).collect()
    };
    let fine = with(&[1.0, 2.0, 5.0]);
    if fine.len() > 12 { with(&[1.0]) } else { fine }
}

/// Multiples of 1, 2 or 5 times a power of ten, five to ten of them.
fn linear_ticks(range: &Range<f64>) -> Vec<f64> {
    let rough = (range.end - range.start) / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = power * [5.0, 2.0, 1.0].into_iter().find(|factor| factor * power <= rough).unwrap_or(1.0);
    let (first, last) = ((range.start / step).ceil() as i64, (range.end / step).floor() as i64);
    (first..=last).map(|k| k as f64 * step).collect()
}

/// A number with three significant digits.
fn short(value: f64) -> String {
    if value.abs() < 1e-12 {
        return "0".into();
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 8) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(range: Range<f64>, log: bool) -> Vec<String> {
        let axis = Axis { range, log };
        axis.ticks().iter().map(|place| axis.format_ext(place)).collect()
    }

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(written(0.0..10.0, false), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(written(-5.1..2.1, false), ["-5", "-4", "-3", "-2", "-1", "0", "1", "2"]);
        assert_eq!(written(-0.6..1.1, true), ["0.5", "1", "2", "5", "10"]);
        assert_eq!(written(-5.5..1.5, true), ["0.00001", "0.0001", "0.001", "0.01", "0.1", "1", "10"]);
    }
}
