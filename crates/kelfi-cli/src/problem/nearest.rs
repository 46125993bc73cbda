//! The word somebody meant: the one fewest slips away.

/// The candidate nearest to `word`, whatever the distance.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    candidates.into_iter().min_by_key(|candidate| slips(word, candidate))
}

/// The candidate that `word` is probably a misspelling of.
pub fn misspelt<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest(word, candidates).filter(|found| slips(word, found) <= 1 + found.chars().count() / 4)
}

/// Insertions, deletions, replacements and swaps of neighbours, upper and lower case being the same.
pub fn slips(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = match (i, j) {
                (0, _) => j,
                (_, 0) => i,
                _ => {
                    let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                    let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                    let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    if swapped { best.min(rows[i - 2][j - 2] + 1) } else { best }
                }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_counted_as_by_hand() {
        assert_eq!(slips("kitten", "sitting"), 3);
        assert_eq!(slips("sede", "seed"), 1);
        assert_eq!(slips("Seed", "seed"), 0);
        assert_eq!(slips("", "abc"), 3);
    }

    #[test]
    fn a_misspelling_is_near_and_another_word_is_not() {
        assert_eq!(misspelt("rat", ["rate", "delay"]), Some("rate"));
        assert_eq!(misspelt("print", ["rate", "delay"]), None);
        assert_eq!(nearest("uniformly", ["normal", "uniform"]), Some("uniform"));
    }
}
