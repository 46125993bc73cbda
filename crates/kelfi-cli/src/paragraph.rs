//! Sentences in lines that fit the terminal; where output goes to a file or a program, one line each.

use std::io::IsTerminal;

/// Narrower terminals are left to break lines themselves.
const NARROWEST: usize = 40;

/// `text` behind `begin`; further lines are indented by as much. Ends with a line end.
pub fn paragraph(begin: &str, text: &str) -> String {
    broken(begin, text, terminal_width())
}

/// Characters in a line of the terminal that stdout is; `None` where it is a file or a pipe.
pub fn terminal_width() -> Option<usize> {
    let terminal = std::io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map(|(width, _)| usize::from(width.0))
}

fn broken(begin: &str, text: &str, width: Option<usize>) -> String {
    let Some(width) = width.filter(|&width| width >= NARROWEST) else { return format!("{begin}{text}\n") };
    let indent = begin.chars().count();
    let (mut whole, mut column) = (begin.to_owned(), indent);
    for (at, word) in text.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && column + 1 + length > width {
            whole.push('\n');
            whole.push_str(&" ".repeat(indent));
            column = indent;
        } else if at > 0 {
            whole.push(' ');
            column += 1;
        }
        whole.push_str(word);
        column += length;
    }
    whole + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words_and_begin_below_the_first() {
        let text = "the posterior has one mode and every interval has the coverage it claims";
        let whole = broken("  ok    ", text, Some(40));
        assert_eq!(whole, "  ok    the posterior has one mode and\n        every interval has the coverage\n        it claims\n");
        assert_eq!(broken("  ", text, None), format!("  {text}\n"));
        assert_eq!(broken("  ", text, Some(20)), format!("  {text}\n"), "too narrow to be worth it");
    }

    #[test]
    fn a_word_longer_than_the_line_stays_whole() {
        let long = "x".repeat(60);
        assert_eq!(broken("  ", &format!("a {long} b"), Some(40)), format!("  a\n  {long}\n  b\n"));
    }
}
