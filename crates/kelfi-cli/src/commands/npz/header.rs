//! The header of an NPY array: a Python dictionary of which only three entries are understood, and nothing is ever evaluated.
//!
//! `{'descr': '<f8', 'fortran_order': False, 'shape': (100,), }` after the magic bytes, a version and the header's length.

use kelfi::words::shown;
use std::io::Read;

/// NumPy's own limit for headers of strangers.
const LONGEST: usize = 10_000;
/// NumPy's own limit.
const MOST_DIMENSIONS: usize = 64;
const ADVICE: &str = "write it with numpy.save or numpy.savez";

/// What the header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The type of a number, such as `<f8`.
    pub descr: String,
    /// Lengths of the dimensions.
    pub shape: Vec<u64>,
}

/// Reads everything before the numbers.
pub fn read(file: &mut impl Read) -> Result<Header, String> {
    let mut start = [0; 8];
    file.read_exact(&mut start).map_err(|_| format!("it ends before its header\n  {ADVICE}"))?;
    if &start[..6] != b"\x93NUMPY" {
        return Err(format!("it is not an NPY array\n  {ADVICE}"));
    }
    let length = match start[6] {
        1 => u64::from(u16::from_le_bytes(bytes(file)?)),
        2 | 3 => u64::from(u32::from_le_bytes(bytes(file)?)),
        version => return Err(format!("its format has version {version}\n  {ADVICE}")),
    };
    if length > LONGEST as u64 {
        return Err(format!("its header is {length} bytes long, longer than the {LONGEST} that NumPy writes at most\n  {ADVICE}"));
    }
    let mut text = vec![0; length as usize];
    file.read_exact(&mut text).map_err(|_| format!("it ends within its header\n  {ADVICE}"))?;
    let text = String::from_utf8_lossy(&text);
    parse(text.trim()).ok_or_else(|| format!("its header cannot be understood: {}\n  {ADVICE}", shown(text.trim())))
}

fn bytes<const N: usize>(file: &mut impl Read) -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    file.read_exact(&mut bytes).map_err(|_| format!("it ends before its header\n  {ADVICE}"))?;
    Ok(bytes)
}

/// From left to right once: no entry may hold another dictionary or list, so that nothing nests.
fn parse(text: &str) -> Option<Header> {
    let mut rest = text.strip_prefix('{')?.trim_start();
    let (mut descr, mut shape, mut fortran) = (None, None, None);
    while !rest.starts_with('}') {
        let (key, after) = quoted(rest)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        rest = match key {
            "descr" => quoted(value).map(|(word, rest)| {
                descr = Some(word.to_owned());
                rest
            })?,
            "shape" => lengths(value).map(|(found, rest)| {
                shape = Some(found);
                rest
            })?,
            "fortran_order" => {
                // One dimension has one order.
                fortran = Some(());
                value.strip_prefix("False").or_else(|| value.strip_prefix("True"))?
            }
            _ => return None,
        };
        rest = rest.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if rest.starts_with('}') => rest,
            None => return None,
        };
    }
    fortran?;
    (rest == "}").then_some(Header { descr: descr?, shape: shape? })
}

/// A text in quotes, and what follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let (inside, after) = text[1..].split_once(quote)?;
    Some((inside, after))
}

/// Whole numbers in round brackets, and what follows.
fn lengths(text: &str) -> Option<(Vec<u64>, &str)> {
    let (inside, after) = text.strip_prefix('(')?.split_once(')')?;
    let numbers: Option<Vec<u64>> =
        inside.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| part.trim_end_matches('L').parse().ok()).collect();
    numbers.filter(|found| found.len() <= MOST_DIMENSIONS).map(|found| (found, after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str) -> Vec<u8> {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes
    }

    fn read_text(header: &str) -> Result<Header, String> {
        read(&mut &file(header)[..])
    }

    #[test]
    fn headers_as_numpy_writes_them_are_understood() {
        let of = |shape: &[u64]| Ok(Header { descr: "<f8".into(), shape: shape.to_vec() });
        assert_eq!(read_text("{'descr': '<f8', 'fortran_order': False, 'shape': (100,), }   \n"), of(&[100]));
        assert_eq!(read_text("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 1)}"), of(&[3, 1]));
        assert_eq!(read_text("{\"shape\": (), \"fortran_order\": False, \"descr\": \"<f8\"}"), of(&[]));
        assert_eq!(read_text("{'descr': '<f8', 'fortran_order': False, 'shape': (100L,)}"), of(&[100]));
    }

    #[test]
    fn anything_else_is_refused_with_a_sentence_at_once() {
        let nested = format!("{{'descr': {}", "[".repeat(9_000));
        for header in [
            "",
            "{",
            "{}",
            "{'descr': '<f8'}",
            "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
            "{'descr': '<f8', 'fortran_order': __import__('os'), 'shape': (1,)}",
            "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} trailing",
            &nested,
        ] {
            let message = read_text(header).unwrap_err();
            assert!(message.starts_with("its header cannot be understood") && message.contains("\n  write it"), "{message}");
        }
    }

    #[test]
    fn a_header_that_says_it_is_longer_than_any_is_not_allocated() {
        let mut bytes = b"\x93NUMPY\x02\x00".to_vec();
        bytes.extend(u32::MAX.to_le_bytes());
        let message = read(&mut &bytes[..]).unwrap_err();
        assert!(message.starts_with("its header is 4294967295 bytes long"), "{message}");
        assert!(read(&mut &b"\x93NUMPY\x09\x00"[..]).unwrap_err().contains("version 9"));
        assert!(read(&mut &b"PNG"[..]).is_err());
    }
}
