//! The last couple of kilobytes of a stream, however long it is.

/// Bytes kept.
const KEPT: usize = 2048;

/// The end of what was pushed.
#[derive(Debug, Default)]
pub(super) struct Tail {
    bytes: Vec<u8>,
    cut: bool,
}

impl Tail {
    /// Adds `bytes` and forgets what came too long before.
    pub fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        if self.bytes.len() > 2 * KEPT {
            self.bytes.drain(..self.bytes.len() - KEPT);
            self.cut = true;
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The end as text that is safe to print: control characters, which could steer a terminal, are left out.
    pub fn text(&self) -> String {
        let start = self.bytes.len().saturating_sub(KEPT);
        let text = String::from_utf8_lossy(&self.bytes[start..]);
        let clean: String = text.chars().filter(|&character| character == '\n' || character == '\t' || !character.is_control()).collect();
        if self.cut || start > 0 { format!("…{}", clean.trim_end()) } else { clean.trim().to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept_and_it_cannot_steer_a_terminal() {
        let mut tail = Tail::default();
        tail.push(b"first\r\n\x1b[31mred\0\n");
        assert_eq!(tail.text(), "first\n[31mred");
        for _ in 0..1000 {
            tail.push(&[b'x'; 999]);
            assert!(tail.bytes.len() <= 2 * KEPT);
        }
        assert_eq!(tail.text().chars().count(), KEPT + 1);
        tail.clear();
        assert_eq!(tail.text(), "");
    }
}
