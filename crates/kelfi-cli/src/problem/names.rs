//! What parameters and statistics may be called.

use super::reader::{Found, Reader};

/// Names that stand for something else in commands and tables.
const RESERVED: [&str; 5] = ["index", "seed", "seed64", "status", "seconds"];

/// Whether a name can be used; complains if not. Anything else, shell characters included, is an ordinary name.
pub fn acceptable(reader: &Reader<'_>, name: &Found<String>) -> bool {
    let fact = if name.value.trim().is_empty() {
        "the name is empty".to_owned()
    } else if name.value.trim() != name.value {
        format!("{:?} begins or ends with a space", name.value)
    } else if name.value.contains(['{', '}']) || name.value.chars().any(char::is_control) {
        format!("{:?} has a brace or a control character", name.value)
    } else if RESERVED.contains(&name.value.as_str()) {
        format!("{:?} is a reserved name", name.value)
    } else {
        return true;
    };
    reader.complain(name.line, &name.key, fact, "give it another name");
    false
}
