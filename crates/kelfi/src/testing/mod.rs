//! Conformance kits: what every prior, kernel or gradient of a user has to satisfy, each as one call.

mod prior;

pub use prior::check_prior;
