//! Text that came from a file or a program, made safe to show: it cannot move a cursor, change colours, or pose as another line.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Characters shown of one foreign text.
const LONGEST: usize = 200;
/// Foreign texts shown of a list.
const MOST: usize = 20;

/// The text with control characters, line ends and marks that turn the direction of writing as `\u….`, and no longer than 200 characters.
pub fn shown(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| !acts(c);
    if text.chars().take(LONGEST + 1).count() <= LONGEST && text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    for (at, c) in text.chars().enumerate() {
        match c {
            _ if at == LONGEST => {
                out.push('…');
                break;
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if harmless(c) => out.push(c),
            c => escape(&mut out, c),
        }
    }
    Cow::Owned(out)
}

/// Foreign texts as a list, separated by commas: the first twenty, and how many more there are.
pub fn listed<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let mut texts = texts.into_iter();
    let mut list = texts.by_ref().take(MOST).map(shown).collect::<Vec<_>>().join(", ");
    let left = texts.count();
    if left > 0 {
        let _ = write!(list, " and {left} more");
    }
    list
}

/// A whole message with every control character but line ends and tabs as `\u….`: the last gate before a terminal. Inside a text of JSON
/// the escaped form means the same.
pub fn without_controls(message: &str) -> Cow<'_, str> {
    let harmless = |c: char| !c.is_control() || c == '\n' || c == '\t';
    if message.chars().all(harmless) {
        return Cow::Borrowed(message);
    }
    let mut out = String::with_capacity(message.len());
    for c in message.chars() {
        if harmless(c) { out.push(c) } else { escape(&mut out, c) }
    }
    Cow::Owned(out)
}

fn escape(out: &mut String, c: char) {
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// Whether a character does something instead of being seen: a control character, or a mark that turns the direction of writing.
pub fn acts(c: char) -> bool {
    c.is_control() || is_invisible(c)
}

/// Marks that take no place but change how other characters appear, and separators that begin a new line.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_act_on_a_terminal_is_shown_as_text() {
        assert_eq!(shown("\x1b[31mred\x1b[0m\x07"), "\\u001b[31mred\\u001b[0m\\u0007");
        assert_eq!(shown("a\nerror: b\r"), "a\\nerror: b\\r");
        assert_eq!(shown("\u{9b}2J \u{202e}txt"), "\\u009b2J \\u202etxt");
        assert_eq!(shown("déjà vu θ₁ 漢字"), "déjà vu θ₁ 漢字");
    }

    #[test]
    fn long_texts_and_lists_end() {
        assert_eq!(shown(&"x".repeat(200)).chars().count(), 200);
        assert_eq!(shown(&"x".repeat(1_000_000)).chars().count(), 201);
        let names: Vec<String> = (0..50).map(|k| format!("n{k}")).collect();
        let list = listed(names.iter().map(String::as_str));
        assert!(list.starts_with("n0, n1, ") && list.ends_with("n19 and 30 more"), "{list}");
    }

    #[test]
    fn messages_keep_their_lines() {
        assert_eq!(without_controls("fact\n  advice\t1"), "fact\n  advice\t1");
        assert_eq!(without_controls("a\x1b]0;title\x07b"), "a\\u001b]0;title\\u0007b");
    }
}
