//! Numbers from what a program printed: plain text or JSON, wrong in as many ways as people have met.

use crate::{Outcome, Status};
use kelfi::Outputs;
use kelfi::words::counted;
use kelfi::words::shown;
use serde_json::Value;

/// The outcome of printed numbers, separated by white space or commas; rows one a line. Windows line ends and a byte-order mark do no harm.
pub fn from_text(bytes: &[u8], names: &[String], outputs: Outputs) -> Outcome {
    match numbers(bytes, outputs.in_rows().then_some(names.len())) {
        Err((status, fact)) => Outcome::failed(status, fact),
        Ok(values) if outputs.fits(values.len(), names.len()) => Outcome::of(outputs, values, names),
        Ok(values) => {
            let mut outcome = Outcome::of(outputs, values, names);
            if bytes.windows(3).any(|three| three[0].is_ascii_digit() && three[1] == b',' && three[2].is_ascii_digit()) {
                outcome.message.push_str("; a comma separates numbers here: if it is a decimal comma, print a point (LC_ALL=C)");
            }
            outcome
        }
    }
}

/// The outcome of `{"statistics": {name: number, ...}}`, `{"statistics": [number, ...]}` or a bare array; of rows, `{"rows": [..]}` with
/// such an object or array for each.
pub fn from_json(bytes: &[u8], names: &[String], outputs: Outputs) -> Outcome {
    match json(bytes).and_then(|value| if outputs.in_rows() { rows(value, names) } else { statistics(value, names) }) {
        Ok(values) => Outcome::of(outputs, values, names),
        Err(fact) if bytes.trim_ascii().is_empty() => Outcome::failed(Status::BadOutput, fact),
        Err(fact) => {
            let start = beginning(String::from_utf8_lossy(bytes).trim());
            Outcome::failed(Status::BadOutput, format!("not the expected JSON: {fact}; the output begins {start}"))
        }
    }
}

/// The one JSON value that was printed. Python prints NaN and Infinity, which JSON does not know; they become null.
pub(crate) fn json(bytes: &[u8]) -> Result<Value, String> {
    let text = text(bytes)?.trim();
    if text.is_empty() {
        return Err("nothing was printed, but one JSON object is expected".into());
    }
    let value = serde_json::from_str::<Value>(text).or_else(|error| serde_json::from_str(&without_nan(text)).map_err(|_| error));
    value.map_err(|error| shown(&error.to_string()).into_owned())
}

/// The text after a byte-order mark, if it is text.
fn text(bytes: &[u8]) -> Result<&str, String> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if let Some(at) = bytes.iter().position(|&byte| byte == 0) {
        return Err(format!("byte {at} of the output is NUL; print text, as UTF-8"));
    }
    std::str::from_utf8(bytes).map_err(|error| format!("byte {} of the output is not UTF-8", error.valid_up_to()))
}

/// Every number of the text, or what stands where a number should. With `columns`, every line that is not blank has so many.
fn numbers(bytes: &[u8], columns: Option<usize>) -> Result<Vec<f64>, (Status, String)> {
    let bad = |fact: String| (Status::BadOutput, fact);
    let text = text(bytes).map_err(bad)?;
    let mut values = Vec::new();
    for (number_of_line, line) in text.lines().enumerate() {
        let before = values.len();
        let fields: Vec<&str> = line.split(',').collect();
        for (position, field) in fields.iter().enumerate() {
            // A comma may end a line, but two in a row leave a value out.
            if field.trim().is_empty() && fields.len() > 1 && position + 1 < fields.len() {
                return Err(bad(format!("a value is missing before a comma in {}", beginning(line))));
            }
            for word in field.split_whitespace() {
                values.push(number(word).ok_or_else(|| bad(format!("{} is not a number", beginning(word))))?);
            }
        }
        let found = values.len() - before;
        if let Some(columns) = columns.filter(|&columns| found != columns && found > 0) {
            let fact = format!(
                "line {} has {}, but a row has {columns}: {}",
                number_of_line + 1,
                counted(found as u64, "number"),
                beginning(line)
            );
            return Err((Status::WrongCount, fact));
        }
    }
    Ok(values)
}

/// A number as most languages print it; R's `NA` is one that is not finite.
fn number(word: &str) -> Option<f64> {
    if word == "NA" { Some(f64::NAN) } else { word.parse().ok() }
}

/// What stands under this key, or the value itself where it is no object.
fn under(key: &str, value: Value) -> Result<Value, String> {
    match value {
        Value::Object(mut object) => match (object.remove(key), object.remove("error")) {
            (Some(inner), _) => Ok(inner),
            (None, Some(error)) => Err(format!("the simulator reports {}", shown(&error.to_string()))),
            (None, None) => Err(format!("there is no key \"{key}\"")),
        },
        other => Ok(other),
    }
}

/// The numbers of all rows, each in the order of `names`, or what is wrong. In a single column a row may be the number alone.
fn rows(value: Value, names: &[String]) -> Result<Vec<f64>, String> {
    let Value::Array(found) = under("rows", value)? else { return Err("the rows are not a list".into()) };
    let mut values = Vec::with_capacity(found.len() * names.len());
    for (at, row) in found.into_iter().enumerate() {
        let of_row = |fact: String| format!("row {}: {fact}", at + 1);
        let row = match row {
            list @ (Value::Array(_) | Value::Object(_)) => in_order(list, names).map_err(of_row)?,
            alone => vec![json_number(&alone).map_err(of_row)?],
        };
        if row.len() != names.len() {
            return Err(of_row(format!("{}, but a row has {}", counted(row.len() as u64, "number"), names.len())));
        }
        values.extend(row);
    }
    Ok(values)
}

/// The values in the order of `names`, or what is wrong.
fn statistics(value: Value, names: &[String]) -> Result<Vec<f64>, String> {
    in_order(under("statistics", value)?, names)
}

fn in_order(values: Value, names: &[String]) -> Result<Vec<f64>, String> {
    match values {
        Value::Array(values) => values.iter().map(json_number).collect(),
        Value::Object(object) => {
            if let Some(extra) = object.keys().find(|key| !names.contains(key)) {
                return Err(format!("there is no statistic `{}`", shown(extra)));
            }
            let find = |name: &String| object.get(name).ok_or_else(|| format!("the statistic `{name}` is missing"));
            names.iter().map(|name| find(name).and_then(json_number)).collect()
        }
        other => Err(format!("the statistics are {}", beginning(&other.to_string()))),
    }
}

fn json_number(value: &Value) -> Result<f64, String> {
    match value {
        Value::Number(number) => number.as_f64().ok_or_else(|| format!("{number} is not a 64-bit number")),
        Value::Null => Ok(f64::NAN),
        Value::String(word) if word.parse::<f64>().is_ok_and(|number| !number.is_finite()) => Ok(f64::NAN),
        other => Err(format!("{} is not a number", beginning(&other.to_string()))),
    }
}

/// The JSON with the bare words NaN, Infinity and -Infinity replaced by null; strings stay as they are.
fn without_nan(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let (mut rest, mut quoted, mut escaped) = (text, false, false);
    while let Some(character) = rest.chars().next() {
        let word = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| !quoted && rest.starts_with(word));
        match word {
            Some(word) => {
                clean.push_str("null");
                rest = &rest[word.len()..];
            }
            None => {
                quoted ^= character == '"' && !escaped;
                escaped = quoted && character == '\\' && !escaped;
                clean.push(character);
                rest = &rest[character.len_utf8()..];
            }
        }
    }
    clean
}

/// The first characters, quoted, safe to show.
pub(crate) fn beginning(text: &str) -> String {
    const SHOWN: usize = 60;
    let start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() { format!("{start:?}…") } else { format!("{start:?}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Vec<String> {
        vec!["a".into(), "b".into()]
    }

    fn text_gives(text: &[u8], status: Status) -> Outcome {
        let outcome = from_text(text, &names(), Outputs::Statistics);
        assert_eq!(outcome.status, status, "{:?}: {}", String::from_utf8_lossy(text), outcome.message);
        outcome
    }

    fn json_gives(text: &str, status: Status) -> Outcome {
        let outcome = from_json(text.as_bytes(), &names(), Outputs::Statistics);
        assert_eq!(outcome.status, status, "{text}: {}", outcome.message);
        outcome
    }

    #[test]
    fn white_space_commas_windows_line_ends_and_byte_order_marks_are_understood() {
        for text in ["3 2", "3,2", "3, 2\n", "3\r\n2\r\n", "\u{feff}3\t2", "+3.0 2e0", "3,2,\n", "\n3\n\n2\n"] {
            assert_eq!(text_gives(text.as_bytes(), Status::Ok).statistics, Some(vec![3.0, 2.0]), "{text:?}");
        }
    }

    #[test]
    fn a_decimal_comma_is_never_read_as_two_numbers_of_the_right_count() {
        let outcome = text_gives(b"3,5 2,1\n", Status::WrongCount);
        assert!(outcome.message.contains("decimal comma"), "{}", outcome.message);
        assert!(outcome.message.starts_with("4 numbers printed, 2 statistics"), "{}", outcome.message);
        assert!(!text_gives(b"1 2 3", Status::WrongCount).message.contains("decimal"));
    }

    #[test]
    fn what_is_not_numbers_is_bad_output() {
        for text in [&b"three two"[..], b"3;2", b"3,,2", b",3,2", b"3\0 2", b"\xff\xfe3\x002\x00", b"3 \xff"] {
            text_gives(text, Status::BadOutput);
        }
        text_gives(b"", Status::WrongCount);
        text_gives(b"NaN 1", Status::NonFinite);
        text_gives(b"NA 1", Status::NonFinite);
        text_gives(b"1 -inf", Status::NonFinite);
    }

    #[test]
    fn json_by_name_or_in_order() {
        for text in [r#"{"statistics":{"b":2,"a":3.0}}"#, r#"{"statistics":[3,2]}"#, "[3,2]\r\n", "\u{feff}[3,2]"] {
            assert_eq!(json_gives(text, Status::Ok).statistics, Some(vec![3.0, 2.0]), "{text}");
        }
    }

    #[test]
    fn rows_are_lines_of_text_or_lists_of_json() {
        let expected = Outcome::ok(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        for text in ["1 2\n3 4\n5 6\n", "1,2\r\n\r\n3, 4,\n5\t6", "\u{feff}1 2\n3 4\n5 6"] {
            assert_eq!(from_text(text.as_bytes(), &names(), Outputs::Rows), expected, "{text:?}");
        }
        for text in [r#"{"rows":[[1,2],[3,4],[5,6]]}"#, r#"[[1,2],{"b":4,"a":3},[5,6]]"#] {
            assert_eq!(from_json(text.as_bytes(), &names(), Outputs::Rows), expected, "{text}");
        }
        assert_eq!(from_json(b"[1,2]", &names()[..1], Outputs::Rows), Outcome::ok(vec![1.0, 2.0]));
    }

    #[test]
    fn rows_that_are_not_whole_are_named() {
        let text = |text: &str| from_text(text.as_bytes(), &names(), Outputs::Rows);
        assert!(text("1 2\n3\n").message.starts_with("line 2 has 1 number, but a row has 2"), "{}", text("1 2\n3\n").message);
        assert_eq!(
            (text("1 2 3 4").status, text("").status, text("1 x").status),
            (Status::WrongCount, Status::WrongCount, Status::BadOutput)
        );
        assert_eq!((text("1 2\n3 NaN").status, text("1 2\n3 NaN").message.as_str()), (Status::NonFinite, "`b` is NaN in row 2"));
        let json = |text: &str| from_json(text.as_bytes(), &names(), Outputs::Rows).message;
        assert!(json(r#"{"rows":[[1,2],[3]]}"#).contains("row 2: 1 number, but a row has 2"), "{}", json(r#"{"rows":[[1,2],[3]]}"#));
        assert!(json(r#"{"statistics":[1,2]}"#).contains("no key \"rows\""));
        assert!(json(r#"{"rows":{"a":[1]}}"#).contains("not a list"));
        assert!(json(r#"{"rows":[]}"#).starts_with("0 numbers printed, rows of 2 numbers expected"));
    }

    #[test]
    fn json_that_is_not_agreed_upon_is_named() {
        assert!(json_gives(r#"{"statistics":{"a":1}}"#, Status::BadOutput).message.contains("`b` is missing"));
        assert!(json_gives(r#"{"statistics":{"a":1,"b":2,"c":3}}"#, Status::BadOutput).message.contains("no statistic `c`"));
        assert!(json_gives(r#"{"stats":[1,2]}"#, Status::BadOutput).message.contains("no key"));
        assert!(json_gives(r#"{"error":"singular"}"#, Status::BadOutput).message.contains("singular"));
        json_gives("", Status::BadOutput);
        json_gives("[1,2] trailing", Status::BadOutput);
        json_gives(r#"["1","2"]"#, Status::BadOutput);
        json_gives("[1,2,3]", Status::WrongCount);
    }

    #[test]
    fn nan_as_python_prints_it_is_not_finite_rather_than_bad_json() {
        json_gives(r#"{"statistics":{"a":NaN,"b":-Infinity}}"#, Status::NonFinite);
        json_gives("[null,1]", Status::NonFinite);
        json_gives(r#"["NaN",1]"#, Status::NonFinite);
        assert_eq!(without_nan(r#"{"NaN \" NaN":NaN}"#), r#"{"NaN \" NaN":null}"#);
    }
}
