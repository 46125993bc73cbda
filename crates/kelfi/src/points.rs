//! m points of R^D, one a row, in one contiguous block.

use crate::Error;
use serde::{Deserialize, Serialize};

/// `rows` points of `columns` coordinates each, row after row.
///
/// Written with `null` for values that are not finite, which JSON does not have; they are read back as NaN.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SavedPoints")]
pub struct Points {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

/// Points as they are read: the shape may not fit the values.
#[derive(Deserialize)]
struct SavedPoints {
    rows: usize,
    columns: usize,
    values: Vec<Option<f64>>,
}

impl TryFrom<SavedPoints> for Points {
    type Error = Error;

    fn try_from(saved: SavedPoints) -> Result<Self, Error> {
        let values = saved.values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect();
        Self::new(values, saved.rows, saved.columns)
    }
}

impl Points {
    /// Points from their values, row after row. `values.len()` must be `rows * columns`.
    pub fn new(values: Vec<f64>, rows: usize, columns: usize) -> Result<Self, Error> {
        if rows.checked_mul(columns) != Some(values.len()) {
            return Err(Error::Shape {
                left: "the list of values".into(),
                left_rows: values.len(),
                left_columns: 1,
                right: "the table".into(),
                right_rows: rows,
                right_columns: columns,
                advice: "give rows × columns values".into(),
            });
        }
        Ok(Self { rows, columns, values })
    }

    /// Points from rows of equal length.
    pub fn from_rows<R: AsRef<[f64]>>(rows: &[R]) -> Result<Self, Error> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(rows.len() * columns);
        for (index, row) in rows.iter().enumerate() {
            let row = row.as_ref();
            if row.len() != columns {
                return Err(Error::Shape {
                    left: "row 0".into(),
                    left_rows: 1,
                    left_columns: columns,
                    right: format!("row {index}"),
                    right_rows: 1,
                    right_columns: row.len(),
                    advice: "every row needs the same number of columns".into(),
                });
            }
            values.extend_from_slice(row);
        }
        Ok(Self { rows: rows.len(), columns, values })
    }

    /// One column of values as points of R¹.
    pub fn from_column(values: Vec<f64>) -> Self {
        Self { rows: values.len(), columns: 1, values }
    }

    /// `rows × columns` zeros, to be filled.
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, values: vec![0.0; rows * columns] }
    }

    /// Number of points.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Coordinates of each point.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Point `i`.
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// Point `i`, to be changed.
    pub fn row_mut(&mut self, i: usize) -> &mut [f64] {
        &mut self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// All points in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[f64]> + Clone {
        (0..self.rows).map(|i| self.row(i))
    }

    /// Coordinate `d` of every point.
    pub fn column(&self, d: usize) -> Vec<f64> {
        self.iter().map(|row| row[d]).collect()
    }

    /// All values, row after row, to be changed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The points with these indices, in that order.
    pub fn select(&self, indices: &[usize]) -> Self {
        let values = indices.iter().flat_map(|&i| self.row(i).iter().copied()).collect();
        Self { rows: indices.len(), columns: self.columns, values }
    }

    /// Every point through `map`, which gives `columns` coordinates.
    pub fn map_rows(&self, columns: usize, map: impl Fn(&[f64]) -> Vec<f64>) -> Self {
        let mut values = Vec::with_capacity(self.rows * columns);
        self.iter().for_each(|point| values.extend(map(point)));
        debug_assert_eq!(values.len(), self.rows * columns);
        Self { rows: self.rows, columns, values }
    }

    /// An error naming the first value that is not finite, if there is one.
    pub fn require_finite(&self, what: &str) -> Result<(), Error> {
        match self.values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(at) => {
                Err(Error::NotFinite { what: what.into(), row: at / self.columns, column: at % self.columns, value: self.values[at] })
            }
        }
    }
}
