//! The methods by name: kelfi's own, then the baselines.

use crate::{PriorDraws, RegressionAdjustment, Rejection};
use kelfi::method::{Method, own_methods};
use kelfi_problems::catalogue::nearest;

/// Every method with its default settings.
pub fn all() -> Vec<Box<dyn Method>> {
    let mut methods = own_methods();
    methods.push(Box::new(RegressionAdjustment::default()));
    methods.push(Box::new(Rejection::default()));
    methods.push(Box::new(PriorDraws));
    methods
}

/// The method with this name; `_` may stand for `-`.
pub fn by_name(name: &str) -> Result<Box<dyn Method>, UnknownMethod> {
    let wanted = name.replace('_', "-");
    let methods = all();
    let nearest = nearest(&wanted, methods.iter().map(|method| method.name()));
    methods.into_iter().find(|method| method.name() == wanted).ok_or(UnknownMethod { name: name.to_owned(), nearest })
}

/// A name that is not in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no method named \"{name}\"\n  did you mean \"{nearest}\"? `kelfi methods` lists them all")]
pub struct UnknownMethod {
    /// The name asked for.
    pub name: String,
    /// The name in the catalogue that differs least from it.
    pub nearest: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_method_is_found_by_its_own_name_and_a_misspelt_one_is_answered() {
        let names: Vec<&str> = all().iter().map(|method| method.name()).collect();
        assert_eq!(names, ["kelfi", "kernel-means", "kernel-means-mkml", "location-scale", "rejection-regression", "rejection", "prior"]);
        for name in names {
            assert_eq!(by_name(name).unwrap().name(), name);
        }
        assert_eq!(by_name("location_scale").unwrap().name(), "location-scale");
        assert_eq!(by_name("rejektion").err().unwrap().nearest, "rejection");
        assert_eq!(by_name("mkml").err().unwrap().nearest, "kernel-means-mkml");
    }
}
