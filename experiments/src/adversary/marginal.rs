//! The exact distribution of one parameter, by weighted points.

/// A distribution function that is linear between points, with mean and standard deviation.
#[derive(Debug, Clone)]
pub struct Marginal {
    /// Mean.
    pub mean: f64,
    /// Standard deviation.
    pub sd: f64,
    values: Vec<f64>,
    below: Vec<f64>,
}

impl Marginal {
    /// From values with weights; equal values are one point. Half of a point's mass lies below it.
    pub fn new(mut points: Vec<(f64, f64)>) -> Self {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let total: f64 = points.iter().map(|(_, w)| w).sum();
        let mean = points.iter().map(|(v, w)| v * w).sum::<f64>() / total;
        let variance = points.iter().map(|(v, w)| w * (v - mean).powi(2)).sum::<f64>() / total;
        points.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 += next.1;
            }
            same
        });
        let mut passed = 0.0;
        let mut below = Vec::with_capacity(points.len());
        for (_, weight) in &points {
            below.push((passed + 0.5 * weight) / total);
            passed += weight;
        }
        Self { mean, sd: variance.sqrt(), values: points.into_iter().map(|(v, _)| v).collect(), below }
    }

    /// Share of the mass below a value.
    pub fn below(&self, value: f64) -> f64 {
        let next = self.values.partition_point(|v| *v < value);
        if next == 0 {
            return 0.0;
        }
        if next == self.values.len() {
            return 1.0;
        }
        let part = (value - self.values[next - 1]) / (self.values[next] - self.values[next - 1]);
        self.below[next - 1] + part * (self.below[next] - self.below[next - 1])
    }

    /// The value with this share below it.
    pub fn quantile(&self, share: f64) -> f64 {
        let next = self.below.partition_point(|b| *b < share).clamp(1, self.below.len() - 1);
        let rise = self.below[next] - self.below[next - 1];
        let part = if rise > 0.0 { ((share - self.below[next - 1]) / rise).clamp(0.0, 1.0) } else { 0.5 };
        self.values[next - 1] + part * (self.values[next] - self.values[next - 1])
    }

    /// ½ Σ |p - q| over cells of equal mass by this distribution, for another one given by its distribution function at the inner ends.
    pub fn total_variation(&self, below_ends: &[f64]) -> f64 {
        let cell = 1.0 / (below_ends.len() + 1) as f64;
        let mut last = 0.0;
        let mut apart = 0.0;
        for &end in below_ends.iter().chain([&1.0]) {
            apart += (end - last - cell).abs();
            last = end;
        }
        0.5 * apart
    }

    /// The inner ends of `cells` cells of equal mass.
    pub fn ends(&self, cells: usize) -> Vec<f64> {
        (1..cells).map(|k| self.quantile(k as f64 / cells as f64)).collect()
    }
}
