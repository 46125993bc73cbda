//! A number with its noun: "1 simulation", "2 simulations".

/// `count` and `noun`, in the plural unless there is one of it.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// All of so many, as the subject of a sentence in the past tense: "the only simulation", "all 5 simulations".
pub fn all_of(count: u64, noun: &str) -> String {
    if count == 1 { format!("the only {noun}") } else { format!("all {}", counted(count, noun)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_agrees_with_its_number() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "statistic")), ["0 statistics", "1 statistic", "2 statistics"]);
        assert_eq!([1, 2].map(|count| all_of(count, "statistic")), ["the only statistic", "all 2 statistics"]);
    }
}
