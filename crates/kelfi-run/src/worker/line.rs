//! One line that a worker printed: whether it can be an answer, and whose.

use crate::output;
use serde_json::Value;

/// What a line can be.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// White space.
    Blank,
    /// What cannot be an answer, such as a banner or a debug print.
    Text,
    /// A JSON array, or an object with `statistics`, `rows` or `error`, without an `index`.
    Answer,
    /// Such an object with an `index`: `Some` if it is the number of a simulation.
    Echo(Option<u64>),
}

impl Line {
    /// What these bytes can be.
    pub fn read(bytes: &[u8]) -> Self {
        if bytes.trim_ascii().is_empty() {
            return Self::Blank;
        }
        match output::json(bytes) {
            Ok(Value::Object(object)) if ["statistics", "rows", "error"].iter().any(|key| object.contains_key(*key)) => {
                object.get("index").map_or(Self::Answer, |index| Self::Echo(number(index)))
            }
            Ok(Value::Array(_)) => Self::Answer,
            _ => Self::Text,
        }
    }
}

/// The number in `7`, `7.0`, `"7"` or (as R writes a single number) `[7]`.
fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64().or_else(|| {
            let real = number.as_f64()?;
            ((0.0..9e15).contains(&real) && real.fract() == 0.0).then_some(real as u64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        Value::Array(values) if values.len() == 1 => number(&values[0]),
        _ => None,
    }
}

/// The answer to the one request a worker was sent, among everything it printed; or why there is none.
pub(super) fn only_answer(printed: &[u8], asked: u64) -> Result<&[u8], String> {
    let lines: Vec<(&[u8], Line)> = printed.split(|&byte| byte == b'\n').map(|line| (line, Line::read(line))).collect();
    let echoes: Vec<_> = lines.iter().filter(|(_, kind)| matches!(kind, Line::Echo(_))).collect();
    let answers: Vec<_> = lines.iter().filter(|(_, kind)| *kind == Line::Answer).collect();
    match (&echoes[..], &answers[..]) {
        // A worker that echoes the index does so in its answers; its other lines are no answers.
        ([(line, Line::Echo(Some(index)))], _) if *index == asked => Ok(line),
        ([(line, _)], _) => Err(format!("the worker answered {} to the request with index {asked}", shown(line))),
        ([], [(line, _)]) => Ok(line),
        ([], []) => Err(match lines.iter().find(|(_, kind)| *kind == Line::Text) {
            Some((line, _)) => {
                format!("the worker printed no JSON object with \"statistics\" or \"rows\"; its output begins {}", shown(line))
            }
            None => "the worker ended without answering".into(),
        }),
        (several, _) if several.len() > 1 => Err(ambiguous(several)),
        (_, several) => Err(ambiguous(several)),
    }
}

fn ambiguous(several: &[&(&[u8], Line)]) -> String {
    format!(
        "the worker printed {} lines that could be the answer to one request: {} and {}; print logs to stderr, and include the \"index\" of the request in each answer",
        several.len(),
        shown(several[0].0),
        shown(several[1].0)
    )
}

/// The beginning of a line, safe to show.
pub(super) fn shown(line: &[u8]) -> String {
    output::beginning(String::from_utf8_lossy(line).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_objects_and_arrays_can_be_answers_and_only_an_index_tells_whose() {
        for text in
            ["Loading model 1.2", "3.5", "\"[1, 2]\"", "[1, 2", "null", "[1, 2] [3, 4]", "\u{1b}[2J", "{}", "{\"index\":7,\"seed\":1}"]
        {
            assert_eq!(Line::read(text.as_bytes()), Line::Text, "{text}");
        }
        for text in ["[1, 2]", "{\"error\":\"x\"}", "{\"statistics\": [1, NaN]}", " [1]\r"] {
            assert_eq!(Line::read(text.as_bytes()), Line::Answer, "{text}");
        }
        let echo = |index: &str| Line::read(format!("{{\"index\":{index},\"statistics\":[NaN]}}").as_bytes());
        for index in ["7", "7.0", "\"7\"", "[7]"] {
            assert_eq!(echo(index), Line::Echo(Some(7)), "{index}");
        }
        for index in ["-1", "null", "7.5", "[7, 8]", "1e300", "{}"] {
            assert_eq!(echo(index), Line::Echo(None), "{index}");
        }
        assert_eq!(Line::read(b" \r"), Line::Blank);
        assert_eq!(Line::read(b"\xff\xfe"), Line::Text);
    }

    #[test]
    fn the_only_answer_is_found_among_logs_and_two_are_never_guessed_between() {
        let answer = |printed: &str| only_answer(printed.as_bytes(), 7).map(|line| String::from_utf8_lossy(line).into_owned());
        assert_eq!(answer("hello\n[1, 2]\nbye\n").unwrap(), "[1, 2]");
        assert_eq!(answer("{\"ready\":true}\n[0]\n{\"index\":7,\"statistics\":[1]}\n").unwrap(), "{\"index\":7,\"statistics\":[1]}");
        let refused = |printed: &str, words: [&str; 2]| {
            let message = answer(printed).unwrap_err();
            assert!(words.iter().all(|word| message.contains(word)), "{message}");
        };
        refused("[1, 2]\n[3, 4]\n", ["\"[1, 2]\" and \"[3, 4]\"", "print logs to stderr"]);
        refused("{\"index\":7,\"error\":1}\n{\"index\":7,\"error\":1}\n", ["2 lines", "index"]);
        refused("{\"index\":6,\"error\":1}\n[1]\n", ["\\\"index\\\":6", "index 7"]);
        refused("{\"index\":6,\"error\":1}\n{\"index\":7,\"error\":1}\n", ["2 lines", "logs"]);
        refused("singular matrix\n", ["no JSON", "singular matrix"]);
        refused("", ["without answering", ""]);
    }
}
