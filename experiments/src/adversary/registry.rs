//! All cases by family, and the choice of some of them by name.

use super::case::Case;
use super::{counts, curves, datasets, designs, faults, gaussian, limits, scales, several, shapes, tails};
use anyhow::{Result, bail};

/// A family: its name and its cases.
pub type Family = (&'static str, Vec<Case>);

/// All families.
pub fn families() -> Vec<Family> {
    vec![
        ("gaussian", gaussian::cases()),
        ("counts", counts::cases()),
        ("scales", scales::cases()),
        ("curves", curves::cases()),
        ("several", several::cases()),
        ("limits", limits::cases()),
        ("shapes", shapes::cases()),
        ("tails", tails::cases()),
        ("datasets", datasets::cases()),
        ("designs", designs::cases()),
        ("faults", faults::cases()),
    ]
}

/// The cases named by themselves, by a family, or as `usual` and `unusual`; all if nothing is named.
pub fn chosen(names: &[String]) -> Result<Vec<Case>> {
    let families = families();
    for name in names {
        let known = ["usual", "unusual"].contains(&name.as_str())
            || families.iter().any(|(family, cases)| family == name || cases.iter().any(|case| case.name == name));
        if !known {
            let all: Vec<&str> =
                families.iter().flat_map(|(family, cases)| [*family].into_iter().chain(cases.iter().map(|case| case.name))).collect();
            bail!("there is no problem or family {name}\n  there are: usual, unusual, {}", all.join(", "));
        }
    }
    let wanted = |family: &str, case: &Case| {
        let kind = if case.usual { "usual" } else { "unusual" };
        names.is_empty() || names.iter().any(|name| name == family || name == case.name || name == kind)
    };
    let of_family = |(family, cases): Family| cases.into_iter().map(move |case| Case { family, ..case });
    Ok(families.into_iter().flat_map(of_family).filter(|case| wanted(case.family, case)).collect())
}
