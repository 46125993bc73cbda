//! Errors of the libraries as Python exceptions. The classes live in `kelfi.errors`, where users read and catch them.

use pyo3::PyErr;
use pyo3::import_exception;

import_exception!(kelfi.errors, InputError);
import_exception!(kelfi.errors, InferenceError);
import_exception!(kelfi.errors, OutOfMemoryError);
import_exception!(kelfi.errors, StoreError);
import_exception!(kelfi.errors, InternalError);

/// An error on its way to Python, made where the interpreter may not be at hand.
#[derive(Debug)]
pub enum Failure {
    /// Of the method.
    Method(kelfi::Error),
    /// Of the store.
    Store(kelfi_run::Error),
}

impl From<kelfi::Error> for Failure {
    fn from(error: kelfi::Error) -> Self {
        Self::Method(error)
    }
}

impl From<kelfi_run::Error> for Failure {
    fn from(error: kelfi_run::Error) -> Self {
        Self::Store(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Method(error) => method(&error),
            Failure::Store(error) => StoreError::new_err(error.to_string()),
        }
    }
}

/// Wrong input is a `ValueError`; input that is right but gives no answer is a `RuntimeError`; too little memory is a `MemoryError`.
pub fn method(error: &kelfi::Error) -> PyErr {
    use kelfi::Error::{AllFailed, EvidenceNotPositive, Interrupted, Memory, NotPositiveDefinite, TooFew, TooManyPivots, Unavailable};
    let message = error.to_string();
    match error {
        Memory(_) => OutOfMemoryError::new_err(message),
        NotPositiveDefinite { .. }
        | TooManyPivots(_)
        | EvidenceNotPositive { .. }
        | AllFailed { .. }
        | TooFew { .. }
        | Unavailable { .. }
        | Interrupted => InferenceError::new_err(message),
        _ => InputError::new_err(message),
    }
}
