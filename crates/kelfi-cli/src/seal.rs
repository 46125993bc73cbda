//! A checksum inside a JSON file, so that an edited or rotten one is noticed before it is used again.
//!
//! The file's last field is `"checksum"`: sixteen hexadecimal digits, the sum of the whole text with zeros in their place.

use kelfi_run::checksum::Checksum;

/// What stands for the digits while the sum is taken, and what a file is written with.
pub const BLANK: &str = "0000000000000000";

const KEY: &str = "\"checksum\":";

/// Whether a text is intact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seal {
    /// It is.
    Sound,
    /// It was written by an older version, without a checksum.
    Absent,
    /// It was changed since.
    Broken,
}

/// The text with its checksum in place of [`BLANK`].
pub fn seal(text: &str) -> String {
    match place(text) {
        Some(at) => format!("{}{}{}", &text[..at], Checksum::of(text.as_bytes()).hex(), &text[at + BLANK.len()..]),
        None => text.to_owned(),
    }
}

/// Compares a text with the checksum it holds.
pub fn examine(text: &str) -> Seal {
    let Some(at) = place(text) else { return if text.contains(KEY) { Seal::Broken } else { Seal::Absent } };
    let (before, rest) = text.split_at(at);
    let (digits, after) = rest.split_at(BLANK.len());
    let sum = Checksum::of(before.as_bytes()).bytes(BLANK.as_bytes()).bytes(after.as_bytes());
    if sum.hex() == digits { Seal::Sound } else { Seal::Broken }
}

/// Where the digits stand.
fn place(text: &str) -> Option<usize> {
    let after = text.rfind(KEY)? + KEY.len();
    let at = after + text[after..].find('"')? + 1;
    let digits = text.get(at..at + BLANK.len())?;
    (text[after..at - 1].trim().is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flipped_bit_of_a_sealed_text_is_noticed_or_harmless() {
        let text = seal(&format!("{{\n  \"mean\": 1.25,\n  \"checksum\": \"{BLANK}\"\n}}\n"));
        assert_eq!(examine(&text), Seal::Sound);
        for bit in 0..8 * text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let Ok(flipped) = String::from_utf8(bytes) else { continue };
            let in_the_key = flipped.contains("1.25") && !flipped.contains(KEY);
            assert!(examine(&flipped) == Seal::Broken || in_the_key, "{flipped}");
        }
    }

    #[test]
    fn a_text_without_a_checksum_is_of_an_older_version() {
        assert_eq!(examine("{\"mean\": 1}"), Seal::Absent);
        assert_eq!(examine("{\"checksum\": 12}"), Seal::Broken);
    }
}
