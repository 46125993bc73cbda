//! Conformance kits: what every prior, kernel, gradient or method of a user has to satisfy, each as one call.

mod gradient;
mod kernel;
mod method;
mod mutations;
mod prior;

pub use gradient::check_gradient;
pub use kernel::check_kernel;
pub use method::check_method;
pub use mutations::Mutations;
pub use prior::check_prior;
