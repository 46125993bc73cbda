//! What each statistic is measured in: a robust scale, and which statistics say nothing.

use crate::simulations::Simulations;
use serde::{Deserialize, Serialize};

/// A MAD times this estimates the standard deviation of a Gaussian.
const MAD_TO_STD: f64 = 1.482_602_218_505_602;

/// Why a statistic takes no part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dropped {
    /// It has the same value in every successful simulation.
    Constant,
    /// It repeats another statistic up to shift and scale.
    Repeats(usize),
}

/// The scale of one statistic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticScale {
    /// Robust spread over the simulations: 1.48 MAD, or the standard deviation where the MAD is 0; 1 if constant.
    pub scale: f64,
    /// Whether and why it is left out.
    pub dropped: Option<Dropped>,
}

/// The scale of every statistic.
pub fn statistic_scales(simulations: &Simulations) -> Vec<StatisticScale> {
    let columns: Vec<Vec<f64>> = (0..simulations.statistics()).map(|i| simulations.successful_values(i)).collect();
    let mut scales: Vec<StatisticScale> = Vec::with_capacity(columns.len());
    for (i, column) in columns.iter().enumerate() {
        let spread = robust_scale(column);
        let dropped = match spread {
            None => Some(Dropped::Constant),
            Some(_) => (0..i).find(|&k| scales[k].dropped.is_none() && repeats(&columns[k], column)).map(Dropped::Repeats),
        };
        scales.push(StatisticScale { scale: spread.unwrap_or(1.0), dropped });
    }
    scales
}

/// 1.48 times the median absolute deviation; the standard deviation where more than half the values coincide; `None` if all do.
pub fn robust_scale(values: &[f64]) -> Option<f64> {
    let centre = median(values.to_vec())?;
    let mad = median(values.iter().map(|v| (v - centre).abs()).collect())? * MAD_TO_STD;
    if mad > 0.0 && mad.is_finite() {
        return Some(mad);
    }
    let std = standard_deviation(values);
    (std > 0.0 && std.is_finite()).then_some(std)
}

/// The middle value.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    Some(if values.len() % 2 == 1 { values[middle] } else { 0.5 * values[middle - 1] + 0.5 * values[middle] })
}

/// Standard deviation with divisor n.
fn standard_deviation(values: &[f64]) -> f64 {
    // Divided by the largest first: squares of huge values would overflow.
    let largest = values.iter().fold(0.0_f64, |l, v| l.max(v.abs()));
    if largest == 0.0 {
        return 0.0;
    }
    let scaled: Vec<f64> = values.iter().map(|v| v / largest).collect();
    let mean = scaled.iter().sum::<f64>() / scaled.len() as f64;
    largest * (scaled.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / scaled.len() as f64).sqrt()
}

/// Whether b = c + d·a to rounding.
fn repeats(a: &[f64], b: &[f64]) -> bool {
    const ROUNDING: f64 = 1e-12;
    let (sa, sb) = (standard_deviation(a), standard_deviation(b));
    let (ma, mb) = (a.iter().sum::<f64>() / a.len() as f64, b.iter().sum::<f64>() / b.len() as f64);
    if a.len() < 3 || sa == 0.0 || sb == 0.0 {
        return false;
    }
    let correlation: f64 = a.iter().zip(b).map(|(a, b)| (a - ma) / sa * ((b - mb) / sb)).sum::<f64>() / a.len() as f64;
    1.0 - correlation.abs() < ROUNDING
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Points;

    #[test]
    fn an_outlier_does_not_move_the_scale() {
        let mut values: Vec<f64> = (0..101).map(f64::from).collect();
        let before = robust_scale(&values).unwrap();
        values[100] = 1e12;
        assert_eq!(robust_scale(&values).unwrap(), before);
    }

    #[test]
    fn mostly_equal_values_fall_back_to_the_standard_deviation_and_equal_ones_have_no_scale() {
        assert!((robust_scale(&[0.0, 0.0, 0.0, 0.0, 5.0]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(robust_scale(&[3.0; 9]), None);
    }

    #[test]
    fn constant_and_repeated_statistics_are_named() {
        let rows: Vec<Vec<f64>> = (0..50).map(|i| vec![f64::from(i), 7.0, 3.0 - 2.0 * f64::from(i), f64::from(i * i)]).collect();
        let theta = Points::from_column((0..50).map(f64::from).collect());
        let scales = statistic_scales(&Simulations::new(theta, Points::from_rows(&rows).unwrap()).unwrap());
        let dropped: Vec<Option<Dropped>> = scales.into_iter().map(|s| s.dropped).collect();
        assert_eq!(dropped, vec![None, Some(Dropped::Constant), Some(Dropped::Repeats(0)), None]);
    }
}
