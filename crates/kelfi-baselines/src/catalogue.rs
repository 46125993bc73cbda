//! The methods by name: kelfi's own, then the baselines.

use crate::chains::adaptive_synthetic::AdaptiveSynthetic;
use crate::chains::mcmc_abc::{McmcAbc, Memory};
use crate::chains::smc_abc::SmcAbc;
use crate::chains::synthetic::SyntheticLikelihood;
use crate::kernel::distribution_regression::DistributionRegression;
use crate::kernel::kernel_abc::{KernelAbc, Sampling};
use crate::kernel::kernel_bayes::KernelBayes;
use crate::kernel::kernel_recursive::KernelRecursive;
use crate::kernel::maximum_mean::{Discrepancy, MaximumMean};
use crate::neural::mixture_density::MixtureDensity;
use crate::process::gpa_abc::GpaAbc;
use crate::process::gps_abc::GpsAbc;
use crate::variational::automatic::AutomaticVariational;
use crate::variational::implicit::Implicit;
use crate::variational::intractable::VariationalBayes;
use crate::{PriorDraws, RegressionAdjustment, Rejection};
use kelfi::method::{Method, own_methods};
use kelfi::words::{did_you_mean, shown};

/// Every method with its default settings.
pub fn all() -> Vec<Box<dyn Method>> {
    let mut methods = own_methods();
    let baselines: [Box<dyn Method>; 27] = [
        Box::new(RegressionAdjustment::default()),
        Box::new(Rejection::default()),
        Box::new(McmcAbc::new(Memory::PseudoMarginal)),
        Box::new(McmcAbc::new(Memory::Marginal)),
        Box::new(SmcAbc::adaptive()),
        Box::new(SmcAbc::scheduled()),
        Box::new(SyntheticLikelihood::default()),
        Box::new(AdaptiveSynthetic::default()),
        Box::new(GpsAbc::default()),
        Box::new(GpaAbc::default()),
        Box::new(KernelAbc::median(Sampling::Clipped)),
        Box::new(KernelAbc::scaled()),
        Box::new(KernelAbc::cross_validated()),
        Box::new(KernelAbc::median(Sampling::Herded)),
        Box::new(KernelBayes::new(Sampling::Clipped)),
        Box::new(KernelBayes::new(Sampling::Herded)),
        Box::new(KernelRecursive::default()),
        Box::new(MaximumMean::new(Discrepancy::Quadratic)),
        Box::new(MaximumMean::new(Discrepancy::Linear)),
        Box::new(MaximumMean::new(Discrepancy::Features)),
        Box::new(DistributionRegression::default()),
        Box::new(AutomaticVariational::default()),
        Box::new(VariationalBayes::intractable()),
        Box::new(VariationalBayes::synthetic()),
        Box::new(Implicit::default()),
        Box::new(MixtureDensity::from_prior()),
        Box::new(MixtureDensity::with_proposals()),
    ];
    methods.extend(baselines);
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
        let firsts = ["kelfi", "kelfi-rounds", "kernel-means", "kernel-means-mkml", "location-scale", "rejection-regression", "rejection"];
        assert_eq!(names[..7], firsts);
        assert_eq!((names.len(), names.last()), (33, Some(&"prior")));
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
