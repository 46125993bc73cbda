//! The native module behind `import kelfi`: thin, one file a class. Names, defaults and documentation for users are in `python/kelfi`.

/// NumPy arrays in and out.
mod arrays;
/// Methods side by side.
mod compare;
/// Long work: our own threads, the interpreter free meanwhile, Ctrl-C heard.
mod compute;
/// Errors of the libraries as Python exceptions.
mod errors;
/// What was learned, in Python's words.
mod explain;
/// Learning from Python's settings.
mod fit;
/// `KernelMeansLikelihood`.
mod model;
/// Outputs of simulations.
mod outputs;
/// `Posterior`.
mod posterior;
/// `Prior`.
mod prior;
/// The benchmark problems.
mod problems;
/// `Rounds`.
mod rounds;
/// The durable table of simulations.
mod store;
/// The numbers a user reads first.
mod summary;

use pyo3::prelude::*;

/// The native half of the package `kelfi`; use that instead.
#[pymodule]
mod _kelfi {
    #[pymodule_export]
    use crate::compare::{compare_on_problem, compare_with_simulator, methods};
    #[pymodule_export]
    use crate::compute::set_threads;
    #[pymodule_export]
    use crate::fit::{fit, kernels, meant_by, models, solvers};
    #[pymodule_export]
    use crate::model::KernelMeansLikelihood;
    #[pymodule_export]
    use crate::posterior::Posterior;
    #[pymodule_export]
    use crate::prior::{Prior, check_marginal};
    #[pymodule_export]
    use crate::problems::{Problem, problem_names};
    #[pymodule_export]
    use crate::rounds::Rounds;
    #[pymodule_export]
    use crate::store::{Store, simulator_seeds};
    #[pymodule_export]
    use crate::summary::summary;

    #[pymodule_init]
    fn init(module: &super::Bound<'_, super::PyModule>) -> super::PyResult<()> {
        use super::PyModuleMethods;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
