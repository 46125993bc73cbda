//! Highest-density contours of a function on a grid: levels that hold a share of the mass, and lines along them.

use std::fmt::Write;

/// Densities on a grid, row after row from below.
pub struct Grid<'a> {
    /// Values; negative ones count as zero.
    pub values: &'a [f64],
    /// Number of columns.
    pub columns: usize,
}

impl Grid<'_> {
    /// The level above which this share of the grid's mass lies.
    pub fn level(&self, share: f64) -> f64 {
        let mut sorted: Vec<f64> = self.values.iter().map(|v| v.max(0.0)).collect();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let total: f64 = sorted.iter().sum();
        let mut above = 0.0;
        for value in &sorted {
            above += value;
            if above >= share * total {
                return *value;
            }
        }
        0.0
    }

    /// Line segments along a level (marching squares), as path commands; `at` maps grid coordinates to the drawing.
    pub fn contour(&self, level: f64, at: impl Fn(f64, f64) -> (f64, f64)) -> String {
        let rows = self.values.len() / self.columns;
        let mut commands = String::new();
        for row in 1..rows {
            for column in 1..self.columns {
                let corner = |r: usize, c: usize| self.values[r * self.columns + c] - level;
                let corners = [corner(row - 1, column - 1), corner(row - 1, column), corner(row, column), corner(row, column - 1)];
                for (from, to) in segments(corners) {
                    let (x1, y1) = at((column - 1) as f64 + from.0, (row - 1) as f64 + from.1);
                    let (x2, y2) = at((column - 1) as f64 + to.0, (row - 1) as f64 + to.1);
                    let _ = write!(commands, "M{x1:.1} {y1:.1}L{x2:.1} {y2:.1}");
                }
            }
        }
        commands
    }
}

type Point = (f64, f64);

/// Segments inside one cell, in cell coordinates; corners run around from (0, 0) by (1, 0).
fn segments(corners: [f64; 4]) -> Vec<(Point, Point)> {
    const PLACES: [Point; 4] = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)];
    let mut crossings = vec![];
    for k in 0..4 {
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
        if (a > 0.0) != (b > 0.0) {
            let t = a / (a - b);
            let (p, q) = (PLACES[k], PLACES[(k + 1) % 4]);
            crossings.push((p.0 + t * (q.0 - p.0), p.1 + t * (q.1 - p.1)));
        }
    }
    crossings.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_contour_of_a_cone_is_a_circle_and_levels_hold_their_share() {
        let columns = 41;
        let radius = |r: usize, c: usize| ((r as f64 - 20.0).powi(2) + (c as f64 - 20.0).powi(2)).sqrt();
        let values: Vec<f64> = (0..columns * columns).map(|k| 30.0 - radius(k / columns, k % columns)).collect();
        let grid = Grid { values: &values, columns };
        let path = grid.contour(20.0, |x, y| (x, y));
        assert!(path.len() > 100);
        for point in path.split(['M', 'L']).filter(|p| !p.is_empty()) {
            let (x, y) = point.split_once(' ').unwrap();
            let distance = (x.parse::<f64>().unwrap() - 20.0).hypot(y.parse::<f64>().unwrap() - 20.0);
            assert!((distance - 10.0).abs() < 0.2, "{distance}");
        }
        let inside: f64 = values.iter().filter(|v| **v >= grid.level(0.5)).map(|v| v.max(0.0)).sum();
        let all: f64 = values.iter().map(|v| v.max(0.0)).sum();
        assert!((inside / all - 0.5).abs() < 0.01);
    }
}
