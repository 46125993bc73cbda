//! The word somebody meant: another name of the same thing, or the one few slips away. Something wholly different is not guessed at.

/// Names that other tools use, each with what they are called here: the first that is known at the place is meant.
const SYNONYMS: [(&str, &[&str]); 62] = [
    // Priors.
    ("gaussian", &["normal"]),
    ("gauss", &["normal"]),
    ("norm", &["normal"]),
    ("flat", &["uniform"]),
    ("unif", &["uniform"]),
    ("box", &["uniform"]),
    ("boxuniform", &["uniform"]),
    ("loggaussian", &["log_normal"]),
    ("reciprocal", &["log_uniform"]),
    ("jeffreys", &["log_uniform"]),
    ("exp", &["exponential"]),
    ("expon", &["exponential"]),
    ("invgamma", &["inverse_gamma"]),
    ("t", &["student_t"]),
    ("student", &["student_t"]),
    ("truncnorm", &["truncated_normal"]),
    ("halfnorm", &["half_normal"]),
    ("doubleexponential", &["laplace"]),
    ("lorentz", &["cauchy"]),
    ("triang", &["triangular"]),
    // Their settings.
    ("loc", &["location", "mean", "low"]),
    ("location", &["mean", "low"]),
    ("mu", &["mean", "location"]),
    ("median", &["location", "mean"]),
    ("sd", &["std"]),
    ("sigma", &["std", "scale"]),
    ("stddev", &["std"]),
    ("scale", &["std", "rate", "high"]),
    ("width", &["scale", "std"]),
    ("var", &["std"]),
    ("variance", &["std"]),
    ("min", &["low"]),
    ("minimum", &["low"]),
    ("lower", &["low"]),
    ("from", &["low"]),
    ("max", &["high"]),
    ("maximum", &["high"]),
    ("upper", &["high"]),
    ("to", &["high"]),
    ("alpha", &["a", "shape"]),
    ("beta", &["b", "rate", "scale"]),
    ("lambda", &["rate"]),
    ("k", &["shape"]),
    ("nu", &["df"]),
    ("dof", &["df"]),
    ("degreesoffreedom", &["df"]),
    // Keys of a problem file.
    ("value", &["values"]),
    ("data", &["values", "observation", "file"]),
    ("observed", &["observation", "values"]),
    ("y", &["observation", "values"]),
    ("params", &["parameter"]),
    ("theta", &["parameter"]),
    ("distribution", &["prior"]),
    ("dist", &["prior"]),
    ("cmd", &["command"]),
    ("program", &["command"]),
    ("n", &["simulations"]),
    ("budget", &["simulations"]),
    ("cwd", &["directory"]),
    // Protocols, models, methods.
    ("args", &["arguments"]),
    ("kernelmean", &["kernel-means"]),
    ("abc", &["rejection"]),
];

/// The one of `candidates` that `word` probably stands for: the same but for case, hyphens and underscores; a synonym; a part that is
/// missing at either end; or about one slip for every three letters. `None` where nothing comes near.
pub fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let plain_word = plain(word);
    let same = |name: &str| candidates.iter().copied().find(|candidate| plain(candidate) == plain(name));
    let synonym =
        || SYNONYMS.iter().filter(|(other, _)| *other == plain_word).flat_map(|(_, ours)| ours.iter()).find_map(|ours| same(ours));
    let slips = |candidate: &str| strsim::osa_distance(&plain_word, &plain(candidate));
    let nearest = || {
        let near =
            |c: &&str| is_part(&plain_word, &plain(c)) || slips(c) <= forgiven(plain(c).chars().count().max(plain_word.chars().count()));
        candidates.iter().copied().filter(near).min_by_key(|c| slips(c))
    };
    same(word).or_else(synonym).or_else(nearest)
}

/// "did you mean `normal`? known: …", or only what is known where nothing comes near.
pub fn did_you_mean<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, known: &str) -> String {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let all = super::listed(candidates.iter().copied());
    match meant(word, candidates.iter().copied()) {
        Some(found) => format!("did you mean `{}`? {known}: {all}", super::shown(found)),
        None => format!("{known}: {all}"),
    }
}

/// Lower case without hyphens, underscores and blanks. Longer words than anybody means are cut.
fn plain(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).take(64).collect()
}

/// Slips that a word of so many letters may have.
fn forgiven(letters: usize) -> usize {
    match letters {
        0..=2 => 0,
        3 => 1,
        _ => letters.div_ceil(3).min(4),
    }
}

/// Whether one is the beginning or the end of the other, and not by chance.
fn is_part(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short.len() >= 4 && long.len() <= 4 * short.len() && (long.starts_with(short) || long.ends_with(short))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAMILIES: [&str; 6] = ["normal", "uniform", "log_normal", "log_uniform", "student_t", "truncated_normal"];

    #[test]
    fn synonyms_of_other_tools_are_understood_where_the_word_is_known() {
        assert_eq!(meant("gaussian", FAMILIES), Some("normal"));
        assert_eq!(meant("Gaussian", FAMILIES), Some("normal"));
        assert_eq!(meant("loc", ["mean", "std"]), Some("mean"));
        assert_eq!(meant("loc", ["location", "scale"]), Some("location"));
        assert_eq!(meant("loc", ["low", "high"]), Some("low"));
        assert_eq!(meant("scale", ["mean", "std"]), Some("std"));
        assert_eq!(meant("sd", ["mean", "std"]), Some("std"));
        assert_eq!(meant("value", ["values", "file"]), Some("values"));
        assert_eq!(meant("max", ["low", "high"]), Some("high"));
        assert_eq!(meant("gaussian", ["matern32", "matern52"]), None);
    }

    #[test]
    fn slips_case_and_hyphens_are_forgiven() {
        assert_eq!(meant("kernel_means", ["auto", "kernel-means", "location-scale"]), Some("kernel-means"));
        assert_eq!(meant("loguniform", FAMILIES), Some("log_uniform"));
        assert_eq!(meant("normla", FAMILIES), Some("normal"));
        assert_eq!(meant("uniformly", FAMILIES), Some("uniform"));
        assert_eq!(meant("rat", ["rate", "delay"]), Some("rate"));
        assert_eq!(meant("two_moons", ["banana", "sbibm_two_moons"]), Some("sbibm_two_moons"));
        assert_eq!(meant("blowflies", ["banana", "blowfly"]), Some("blowfly"));
    }

    #[test]
    fn something_wholly_different_is_not_guessed_at() {
        assert_eq!(meant("xyzzy", FAMILIES), None);
        assert_eq!(meant("print", ["rate", "delay"]), None);
        assert_eq!(meant("temperature", ["name", "prior"]), None);
        assert_eq!(meant("", FAMILIES), None);
        assert_eq!(meant("q", ["name", "seed", "simulations"]), None);
        assert_eq!(meant(&"normal".repeat(100_000), FAMILIES), None);
    }

    #[test]
    fn the_sentence_lists_what_is_known_either_way() {
        assert_eq!(did_you_mean("gauss", ["normal", "uniform"], "known"), "did you mean `normal`? known: normal, uniform");
        assert_eq!(did_you_mean("xyzzy", ["normal", "uniform"], "known"), "known: normal, uniform");
    }
}
