//! The conformance kit of priors.

use crate::Prior;

/// Whether `prior` keeps the promises the rest of the library relies on; the message says which one it breaks and where.
pub fn check_prior(prior: &Prior) -> Result<(), String> {
    if prior.names().is_empty() { Err("a prior needs at least one parameter".into()) } else { Ok(()) }
}
