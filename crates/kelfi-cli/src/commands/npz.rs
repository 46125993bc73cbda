//! NPZ as CSV: one array for each parameter and statistic, one number for each simulation.

use std::io::Cursor;
use zip::ZipArchive;

/// The arrays with these names as columns of CSV, or what is wrong with them.
pub fn as_csv(bytes: &[u8], names: &[&String]) -> Result<Vec<u8>, String> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| format!("it is no NPZ file: {error}"))?;
    let found = archive.file_names().map(|name| name.trim_end_matches(".npy")).collect::<Vec<_>>().join(", ");
    let mut columns = Vec::with_capacity(names.len());
    for name in names {
        let missing = format!("there is no array `{name}`\n  name the arrays after parameters and statistics; found: {found}");
        let file = archive.by_name(&format!("{name}.npy")).map_err(|_| missing)?;
        let array = npyz::NpyFile::new(file).map_err(|error| format!("the array `{name}` cannot be read: {error}"))?;
        let shape = array.shape().to_vec();
        if shape.iter().filter(|&&length| length != 1).count() > 1 {
            return Err(format!("the array `{name}` has the shape {shape:?}\n  give one number for each simulation"));
        }
        columns.push(numbers(array).map_err(|fact| format!("the array `{name}`: {fact}"))?);
    }
    let rows = columns.first().map_or(0, Vec::len);
    if let Some(at) = columns.iter().position(|column| column.len() != rows) {
        return Err(format!(
            "`{}` has {rows} numbers and `{}` has {}\n  every array needs one for each simulation",
            names[0],
            names[at],
            columns[at].len()
        ));
    }
    table(names, &columns).map_err(|error| error.to_string())
}

/// Numbers of the usual types as `f64`.
fn numbers<R: std::io::Read>(array: npyz::NpyFile<R>) -> Result<Vec<f64>, String> {
    fn all<T: Copy, R>(values: impl Iterator<Item = std::io::Result<T>>, number: impl Fn(T) -> R) -> Result<Vec<R>, String> {
        values.map(|value| value.map(&number).map_err(|error| error.to_string())).collect()
    }
    let array = match array.try_data::<f64>() {
        Ok(values) => return all(values, |value| value),
        Err(array) => array,
    };
    let array = match array.try_data::<f32>() {
        Ok(values) => return all(values, f64::from),
        Err(array) => array,
    };
    let array = match array.try_data::<i64>() {
        Ok(values) => return all(values, |value| value as f64),
        Err(array) => array,
    };
    match array.try_data::<i32>() {
        Ok(values) => all(values, f64::from),
        Err(array) => Err(format!("its type is {}\n  give numbers of type float64, float32, int64 or int32", array.dtype().descr())),
    }
}

fn table(names: &[&String], columns: &[Vec<f64>]) -> csv::Result<Vec<u8>> {
    let mut csv = csv::Writer::from_writer(Vec::new());
    csv.write_record(names.iter().map(|name| name.as_str()))?;
    for row in 0..columns.first().map_or(0, Vec::len) {
        csv.write_record(columns.iter().map(|column| format!("{:?}", column[row])))?;
    }
    csv.into_inner().map_err(|error| error.into_error().into())
}
