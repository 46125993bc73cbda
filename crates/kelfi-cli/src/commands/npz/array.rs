//! One array of numbers or words, read no further than its header says.

use super::header;
use kelfi::words::{counted, shown};
use std::io::Read;

/// Numbers read at once: what is claimed and not there is never allocated.
const AT_ONCE: u64 = 65_536;

/// The numbers as text that reads back as the same bits, or the words, if `admit` takes so many.
pub fn read(mut file: impl Read, admit: impl Fn(u64) -> Result<(), String>) -> Result<Vec<String>, String> {
    let header = header::read(&mut file)?;
    if header.shape.iter().filter(|&&length| length != 1).count() > 1 {
        return Err(format!("its shape is {:?}\n  give one number per simulation", header.shape));
    }
    let count = header.shape.iter().product();
    let (width, word) = kind(&header.descr)?;
    admit(count)?;
    let mut values = Vec::new();
    let mut left = count;
    while left > 0 {
        let some = left.min(AT_ONCE);
        let mut bytes = vec![0; some as usize * width];
        file.read_exact(&mut bytes).map_err(|error| {
            format!("only {} of its {count} numbers can be read: {}\n  write it again", count - left, shown(&error.to_string()))
        })?;
        values.extend(bytes.chunks(width).map(word));
        left -= some;
    }
    match file.read(&mut [0]) {
        Ok(0) => Ok(values),
        Ok(_) => Err(format!("it has more than the {} its header announces\n  write it again", counted(count, "number"))),
        Err(error) => Err(format!("its end cannot be read: {}\n  write it again", shown(&error.to_string()))),
    }
}

/// Longest word that is read: far more than any name has.
const LONGEST_WORD: usize = 256;

/// How a text is made of its bytes.
type Text = fn(&[u8]) -> String;

/// Bytes of a number or word, and the text of them.
fn kind(descr: &str) -> Result<(usize, Text), String> {
    macro_rules! of {
        ($type:ty, $from:ident) => {
            (size_of::<$type>(), |bytes| format!("{:?}", <$type>::$from(bytes.try_into().expect("as many bytes as the type has"))))
        };
    }
    if let Some(letters) = descr.strip_prefix("<U").and_then(|length| length.parse::<usize>().ok())
        && (1..=LONGEST_WORD).contains(&letters)
    {
        return Ok((4 * letters, word));
    }
    Ok(match descr {
        "<f8" => of!(f64, from_le_bytes),
        ">f8" => of!(f64, from_be_bytes),
        "<f4" => of!(f32, from_le_bytes),
        ">f4" => of!(f32, from_be_bytes),
        "<i8" => of!(i64, from_le_bytes),
        ">i8" => of!(i64, from_be_bytes),
        "<i4" => of!(i32, from_le_bytes),
        ">i4" => of!(i32, from_be_bytes),
        "<i2" => of!(i16, from_le_bytes),
        "<u2" => of!(u16, from_le_bytes),
        "<u4" => of!(u32, from_le_bytes),
        "<u8" => of!(u64, from_le_bytes),
        "|i1" => of!(i8, from_le_bytes),
        "|u1" => of!(u8, from_le_bytes),
        other => return Err(format!("its type is {}\n  give numbers of type float64, float32, int64 or int32", shown(other))),
    })
}

/// NumPy's words: four bytes a letter, zeros after the last.
fn word(bytes: &[u8]) -> String {
    let letters = bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]));
    letters.take_while(|&letter| letter != 0).map(|letter| char::from_u32(letter).unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An array as NumPy writes it.
    fn array(descr: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(numbers);
        bytes
    }

    fn read_all(bytes: &[u8]) -> Result<Vec<String>, String> {
        read(bytes, |_| Ok(()))
    }

    #[test]
    fn numbers_of_every_usual_type_are_read() {
        let f8: Vec<u8> = [1.5_f64, -2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(read_all(&array("<f8", "(2,)", &f8)).unwrap(), ["1.5", "-2.0"]);
        assert_eq!(read_all(&array("<f8", "(1, 2)", &f8)).unwrap(), ["1.5", "-2.0"]);
        assert_eq!(read_all(&array(">i4", "(1,)", &(-7_i32).to_be_bytes())).unwrap(), ["-7"]);
        assert_eq!(read_all(&array("|u1", "(3,)", &[0, 1, 255])).unwrap(), ["0", "1", "255"]);
        assert_eq!(read_all(&array("<f4", "()", &0.5_f32.to_le_bytes())).unwrap(), ["0.5"]);
        assert_eq!(read_all(&array("<f8", "(0,)", &[])).unwrap(), Vec::<String>::new());
        let words: Vec<u8> = ["ok", "slow"]
            .iter()
            .flat_map(|word| format!("{word:\0<4}").chars().collect::<Vec<_>>())
            .flat_map(|c| (c as u32).to_le_bytes())
            .collect();
        assert_eq!(read_all(&array("<U4", "(2,)", &words)).unwrap(), ["ok", "slow"]);
    }

    #[test]
    fn an_array_that_is_shorter_or_longer_than_it_says_is_refused() {
        assert!(read_all(&array("<f8", "(3,)", &[0; 16])).unwrap_err().starts_with("only 0 of its 3 numbers"));
        assert!(read_all(&array("<f8", "(1,)", &[0; 16])).unwrap_err().starts_with("it has more than the 1 number "));
        assert!(read_all(&array("<f8", "(18446744073709551615,)", &[0; 16])).unwrap_err().contains("18446744073709551615"));
        assert!(read_all(&array("<f8", "(2, 2)", &[0; 32])).unwrap_err().contains("[2, 2]"));
        assert!(read_all(&array("|O", "(1,)", &[0; 32])).unwrap_err().contains("type is |O"));
        assert!(read(&array("<f8", "(9,)", &[0; 72])[..], |count| Err(format!("{count}"))).is_err_and(|fact| fact == "9"));
    }
}
