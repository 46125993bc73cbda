//! `[outputs]`: what one simulation gives, where it is not one value of each statistic.

use super::reader::Section;
use kelfi::Outputs;

/// What the file says, or statistics.
pub fn read(root: &Section<'_>) -> Outputs {
    let Some(section) = root.section("outputs") else { return Outputs::default() };
    section.only(&["rows"]);
    match section.truth("rows") {
        Some(found) if found.value => Outputs::Rows,
        _ => Outputs::Statistics,
    }
}
