//! The methods by name: kelfi's own, then the baselines.

use crate::{PriorDraws, RegressionAdjustment, Rejection};
use kelfi::method::{Method, own_methods};
use kelfi::words::{did_you_mean, shown};

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
    let advice = did_you_mean(name, methods.iter().map(|method| method.name()), "`kelfi methods` lists them");
    let unknown = UnknownMethod { name: shown(name).into_owned(), advice };
    methods.into_iter().find(|method| method.name() == wanted).ok_or(unknown)
}

/// A name that is not in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no method named \"{name}\"\n  {advice}")]
pub struct UnknownMethod {
    /// The name asked for, safe to show.
    pub name: String,
    /// The one that was probably meant, and those there are.
    pub advice: String,
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
        let advice = |name: &str| by_name(name).err().unwrap().advice;
        assert!(advice("rejektion").starts_with("did you mean `rejection`?"));
        assert!(advice("mkml").starts_with("did you mean `kernel-means-mkml`?"));
        assert!(advice("abc").starts_with("did you mean `rejection`?"));
        assert!(advice("xyzzy").starts_with("`kelfi methods` lists them: kelfi, "));
    }
}
