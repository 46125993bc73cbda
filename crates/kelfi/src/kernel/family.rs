//! The kernels there are, in one table: the enum, the names that files and options have, the formulas that the book shows.

use serde::{Deserialize, Serialize};

/// The enum of kernels and everything that is known of each. `squared` is r²; the value is ℓ(r) with ℓ(0) = 1, the slope s(r) = -ℓ'(r)/r, so
/// that ∂ℓ/∂ ln β_d = s(r) (z_d - z'_d)²/β_d². Both are finite at r = 0.
macro_rules! kernels {
    ($($(#[$mark:meta])* $variant:ident = $name:literal, $formula:literal, value $value:expr, slope $slope:expr;)+) => {
        /// The shape of the kernel as a function of the scaled distance r.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
        pub enum Family {
            $(#[doc = $formula] $(#[$mark])* #[serde(rename = $name)] $variant,)+
        }

        impl Family {
            /// Every kernel.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// What files and options call it.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// ℓ(r) as people write it.
            pub fn formula(self) -> &'static str {
                match self { $(Self::$variant => $formula,)+ }
            }

            /// ℓ(r), from r².
            pub fn value(self, squared: f64) -> f64 {
                match self { $(Self::$variant => { let value: fn(f64) -> f64 = $value; value(squared) })+ }
            }

            /// s(r), from r².
            pub fn slope(self, squared: f64) -> f64 {
                match self { $(Self::$variant => { let slope: fn(f64) -> f64 = $slope; slope(squared) })+ }
            }
        }
    };
}

kernels! {
    #[default]
    Gaussian = "gaussian", "exp(-½ r²)",
        value |squared| (-0.5 * squared).exp(),
        slope |squared| (-0.5 * squared).exp();
    Matern32 = "matern32", "(1 + √3 r) exp(-√3 r)",
        value |squared| { let t = (3.0 * squared).sqrt(); (1.0 + t) * (-t).exp() },
        slope |squared| 3.0 * (-(3.0_f64.sqrt()) * squared.sqrt()).exp();
    Matern52 = "matern52", "(1 + √5 r + 5/3 r²) exp(-√5 r)",
        value |squared| { let t = (5.0 * squared).sqrt(); (1.0 + t + t * t / 3.0) * (-t).exp() },
        slope |squared| { let r = squared.sqrt(); 5.0 / 3.0 * (1.0 + 5.0_f64.sqrt() * r) * (-(5.0_f64.sqrt()) * r).exp() };
}

impl Family {
    /// The kernel of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|family| family.name() == name)
    }

    /// Whether integrals over a Gaussian prior have a closed form; the others take means over draws.
    pub fn has_closed_form(self) -> bool {
        self == Self::Gaussian
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_is_found_by_the_name_that_files_have() {
        for &family in Family::ALL {
            assert_eq!(serde_json::to_value(family).unwrap(), family.name());
            assert_eq!(Family::named(family.name()), Some(family));
        }
        assert_eq!(Family::named("box"), None);
    }

    #[test]
    fn every_kernel_is_one_at_zero_and_its_slope_is_the_derivative() {
        let step = 1e-5;
        for family in Family::ALL {
            assert_eq!(family.value(0.0), 1.0);
            assert!(family.slope(0.0).is_finite());
            for r in [0.2_f64, 1.0, 3.0] {
                let derivative = (family.value((r + step).powi(2)) - family.value((r - step).powi(2))) / (2.0 * step);
                assert!((family.slope(r * r) + derivative / r).abs() < 1e-9, "{family:?} at {r}");
            }
        }
    }
}
