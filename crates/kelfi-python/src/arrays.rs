//! NumPy arrays in and out. Shapes and types were settled by `kelfi._arrays`; here everything is float64 and contiguous.

use crate::errors::{InputError, method};
use kelfi::Points;
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// A table of float64.
pub type Table<'py> = PyReadonlyArray2<'py, f64>;
/// A vector of float64.
pub type Vector<'py> = PyReadonlyArray1<'py, f64>;

/// The rows as points.
pub fn points(table: &Table<'_>) -> PyResult<Points> {
    let shape = table.shape();
    Points::new(table.as_array().iter().copied().collect(), shape[0], shape[1]).map_err(|error| method(&error))
}

/// The values.
pub fn vector(values: &Vector<'_>) -> Vec<f64> {
    values.as_array().iter().copied().collect()
}

/// Points as an array, one a row.
pub fn table<'py>(py: Python<'py>, points: &Points) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, points.values()).reshape([points.rows(), points.columns()])
}

/// Refuses counts that no memory could hold before anything tries to.
pub fn require_room(what: &str, rows: usize, columns: usize) -> PyResult<()> {
    const LARGEST: usize = 1 << 31;
    match rows.checked_mul(columns.max(1)) {
        Some(values) if values <= LARGEST => Ok(()),
        _ => Err(InputError::new_err(format!("{what} = {rows} is not allowed: it must be at most {}", LARGEST / columns.max(1)))),
    }
}
