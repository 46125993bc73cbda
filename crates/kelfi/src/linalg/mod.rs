//! What is borrowed from faer and the few things added. The only place that names it.

/// Cholesky factorisation of a symmetric positive definite matrix, the same bits for any number of threads.
pub mod cholesky;
/// Products of tables stored row after row.
pub mod products;
/// Triangular systems of a handful of rows.
mod small;
/// Tables to be used again.
pub mod spare;
/// Eigenvalues of small symmetric matrices.
pub mod symmetric;
/// Matrices with many rows and few columns.
pub mod tall;
/// Vectorised loops over slices: exp, dot products, squared distances.
pub mod vector;

pub use cholesky::Cholesky;
