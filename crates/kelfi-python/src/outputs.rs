//! Outputs of simulations as Python gives them: a table of statistics, one with how many repeats these are, or rows with how many of them each
//! simulation gave.

use crate::arrays::{Table, Vector, points, table, vector};
use crate::errors::{InputError, method};
use kelfi::{Observation, Outputs, Points, Recorded};
use numpy::PyArray1;
use pyo3::prelude::*;

/// A vector is one of statistics, a table the rows of a data set.
pub fn observation(x_o: &Bound<'_, PyAny>) -> PyResult<Observation> {
    match x_o.extract::<Table<'_>>() {
        Ok(rows) => Ok(Observation::DataSet(points(&rows)?)),
        Err(_) => Ok(Observation::Statistics(vector(&x_o.extract::<Vector<'_>>()?))),
    }
}

/// Simulations from their arrays: `x` is a table of statistics, (table, repeats), or (rows, counts) with 0 rows for a failed simulation.
pub fn recorded(theta: &Table<'_>, x: &Bound<'_, PyAny>, observation: &Observation) -> PyResult<Recorded> {
    let theta = points(theta)?;
    let Ok((rows, counts)) = x.extract::<(Table<'_>, Vec<usize>)>() else {
        let told = x.extract::<(Table<'_>, usize)>().map(|(x, repeats)| (x, Some(repeats)));
        let (x, told) = told.or_else(|_| Ok::<_, PyErr>((x.extract::<Table<'_>>()?, None)))?;
        let simulations = kelfi::Simulations::new(theta, points(&x)?);
        let simulations = simulations.and_then(|simulations| told.map_or(Ok(simulations.clone()), |k| simulations.with_repeats(k)));
        return Ok(Recorded::Statistics(simulations.map_err(|error| method(&error))?.into()));
    };
    let rows = points(&rows)?;
    if counts.iter().sum::<usize>() != rows.rows() {
        return Err(InputError::new_err(format!("there are {} rows, but the counts do not add up to that", rows.rows())));
    }
    let mut rest = rows.values();
    let mut next = |count: usize| {
        let (own, others) = rest.split_at(count * rows.columns());
        rest = others;
        (count > 0).then(|| own.to_vec())
    };
    let outputs: Vec<Option<Vec<f64>>> = counts.into_iter().map(&mut next).collect();
    Outputs::Rows.recorded(theta, &outputs, rows.columns(), observation).map_err(|error| method(&error))
}

/// The observation as it was given.
pub fn observed<'py>(py: Python<'py>, observation: &Observation) -> PyResult<Bound<'py, PyAny>> {
    Ok(match observation {
        Observation::Statistics(y) => PyArray1::from_slice(py, y).into_any(),
        Observation::DataSet(rows) => table(py, rows)?.into_any(),
    })
}

/// The outputs as they were given.
pub fn given<'py>(py: Python<'py>, recorded: &Recorded) -> PyResult<Bound<'py, PyAny>> {
    match recorded {
        Recorded::Statistics(simulations) => Ok(table(py, simulations.outputs())?.into_any()),
        Recorded::DataSets(sets) => in_rows(py, sets.sets().iter().map(|set| set.as_ref().map(Points::values)), sets.columns()),
    }
}

/// (rows, counts) of the numbers of each output, row after row.
pub fn in_rows<'py, 'a>(py: Python<'py>, outputs: impl Iterator<Item = Option<&'a [f64]>>, columns: usize) -> PyResult<Bound<'py, PyAny>> {
    let (mut values, mut counts) = (vec![], vec![]);
    for output in outputs {
        values.extend_from_slice(output.unwrap_or_default());
        counts.push(output.map_or(0, <[f64]>::len) / columns.max(1));
    }
    let rows = values.len() / columns.max(1);
    let rows = table(py, &Points::new(values, rows, columns).map_err(|error| method(&error))?)?;
    Ok((rows, counts).into_pyobject(py)?.into_any())
}
