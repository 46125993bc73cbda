//! The README and every chapter of the book as documentation, so that their Rust snippets are compiled and run as tests.
//!
//! A new chapter gets a line here; `tests/book.rs` fails for one that is forgotten.

/// Includes a document of the repository, named by its path from the root.
macro_rules! document {
    ($name:ident, $path:literal) => {
        #[doc = include_str!(concat!("../../../", $path))]
        pub mod $name {}
    };
}

document!(readme, "README.md");
document!(introduction, "docs/src/introduction.md");
document!(start_install, "docs/src/start/install.md");
document!(start_command_line, "docs/src/start/command-line.md");
document!(start_first_inference, "docs/src/start/first-inference.md");
document!(start_first_posterior, "docs/src/start/first-posterior.md");
document!(start_workflow, "docs/src/start/workflow.md");
document!(start_faq, "docs/src/start/faq.md");
document!(start_python, "docs/src/start/python.md");
document!(understand_idea, "docs/src/understand/idea.md");
document!(understand_default_model, "docs/src/understand/default-model.md");
document!(understand_by_hand, "docs/src/understand/by-hand.md");
document!(understand_notation, "docs/src/understand/notation.md");
document!(understand_model, "docs/src/understand/model.md");
document!(understand_evidence, "docs/src/understand/evidence.md");
document!(understand_learning, "docs/src/understand/learning.md");
document!(understand_posterior, "docs/src/understand/posterior.md");
document!(understand_samples, "docs/src/understand/samples.md");
document!(understand_raw_data, "docs/src/understand/raw-data.md");
document!(understand_failed_simulations, "docs/src/understand/failed-simulations.md");
document!(understand_location_scale, "docs/src/understand/location-scale.md");
document!(understand_summaries, "docs/src/understand/summaries.md");
document!(understand_rounds, "docs/src/understand/rounds.md");
document!(understand_scale, "docs/src/understand/scale.md");
document!(understand_report, "docs/src/understand/report.md");
document!(understand_adversary, "docs/src/understand/adversary.md");
document!(understand_paper, "docs/src/understand/paper.md");
document!(understand_comparing, "docs/src/understand/comparing.md");
document!(reference_commands, "docs/src/reference/commands.md");
document!(reference_problem_file, "docs/src/reference/problem-file.md");
document!(reference_run_directory, "docs/src/reference/run-directory.md");
document!(reference_priors, "docs/src/reference/priors.md");
document!(reference_kernels, "docs/src/reference/kernels.md");
document!(reference_methods, "docs/src/reference/methods.md");
document!(reference_solvers, "docs/src/reference/solvers.md");
document!(reference_checks, "docs/src/reference/checks.md");
document!(reference_errors, "docs/src/reference/errors.md");
document!(reference_determinism, "docs/src/reference/determinism.md");
document!(reference_saved_models, "docs/src/reference/saved-models.md");
document!(reference_python, "docs/src/reference/python.md");
document!(extend_architecture, "docs/src/extend/architecture.md");
document!(extend_prior, "docs/src/extend/prior.md");
document!(extend_kernel, "docs/src/extend/kernel.md");
document!(extend_surrogate, "docs/src/extend/surrogate.md");
document!(extend_method, "docs/src/extend/method.md");
document!(extend_conformance, "docs/src/extend/conformance.md");
document!(extend_messages, "docs/src/extend/messages.md");
