//! Every family with plain and awkward settings, shared by the tests of priors.

use kelfi::prior::Marginal::{self, *};

/// Settings of all fifteen families.
pub fn all() -> Vec<Marginal> {
    let (inf, neg_inf) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut list = vec![
        Normal { mean: 0.0, std: 1.0 },
        Normal { mean: -3.0, std: 1e-3 },
        Uniform { low: 0.0, high: 1.0 },
        Uniform { low: -5.0, high: 7.5 },
        Uniform { low: 1.0, high: 2.0 },
        LogNormal { mean: 0.0, std: 1.0 },
        LogNormal { mean: -2.0, std: 3.0 },
        LogUniform { low: 0.01, high: 10.0 },
        LogUniform { low: 1e-300, high: 1e300 },
        LogUniform { low: 1.0, high: 1.001 },
        Exponential { rate: 1.0 },
        Exponential { rate: 1e-4 },
        HalfNormal { std: 1.0 },
        HalfNormal { std: 20.0 },
        Cauchy { location: 0.0, scale: 1.0 },
        Cauchy { location: 2.0, scale: 0.1 },
        Laplace { location: 0.0, scale: 1.0 },
        Laplace { location: -4.0, scale: 3.0 },
        Triangular { low: 0.0, mode: 0.3, high: 1.0 },
        Triangular { low: -1.0, mode: -1.0, high: 2.0 },
        Triangular { low: -2.0, mode: 0.0, high: 0.0 },
        TruncatedNormal { mean: 0.0, std: 1.0, low: -1.0, high: 2.0 },
        TruncatedNormal { mean: 0.0, std: 1.0, low: 8.0, high: 9.0 },
        TruncatedNormal { mean: 0.0, std: 1.0, low: -30.0, high: -29.0 },
        TruncatedNormal { mean: -8.0, std: 1.0, low: 0.0, high: inf },
        TruncatedNormal { mean: 1.0, std: 2.0, low: 0.0, high: inf },
        TruncatedNormal { mean: 10.0, std: 2.0, low: 0.0, high: inf },
        TruncatedNormal { mean: 1.0, std: 2.0, low: neg_inf, high: 3.0 },
        TruncatedNormal { mean: 5.0, std: 1.0, low: neg_inf, high: 0.0 },
        TruncatedNormal { mean: 0.0, std: 1.0, low: 1000.0, high: inf },
        TruncatedNormal { mean: 0.0, std: 100.0, low: 0.0, high: 1.0 },
        TruncatedNormal { mean: 0.0, std: 1.0, low: neg_inf, high: inf },
    ];
    list.extend([0.1, 0.5, 1.0, 2.5, 50.0, 1e4].map(|shape| Gamma { shape, rate: 2.0 }));
    list.extend([0.1, 1.0, 3.0, 50.0, 1e4].map(|shape| InverseGamma { shape, scale: 3.0 }));
    list.extend([(0.1, 0.1), (0.5, 3.0), (1.0, 1.0), (2.0, 5.0), (50.0, 50.0), (1e3, 0.2), (1e4, 2e4)].map(|(a, b)| Beta { a, b }));
    list.extend([0.5, 1.0, 2.0, 5.0, 50.0, 1e6].map(|df| StudentT { df, location: 0.0, scale: 1.0 }));
    list.push(StudentT { df: 3.0, location: 10.0, scale: 0.5 });
    list.extend([0.3, 1.0, 2.0, 20.0].map(|shape| Weibull { shape, scale: 1.5 }));
    list
}
