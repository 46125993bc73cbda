//! A number with its noun: "1 simulation", "2 simulations".

/// `count` and `noun`, in the plural unless there is one of it.
pub fn counted(count: u64, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_noun_agrees_with_its_number() {
        assert_eq!([0, 1, 2].map(|count| counted(count, "statistic")), ["0 statistics", "1 statistic", "2 statistics"]);
    }
}
