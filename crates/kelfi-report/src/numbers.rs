//! Numbers as people read them.

/// Four significant digits, powers of ten only where needed.
pub fn number(value: f64) -> String {
    significant(value, 4)
}

/// Three significant digits, for axes and captions.
pub fn short(value: f64) -> String {
    significant(value, 3)
}

/// A share in per cent.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".into();
    }
    let value = 100.0 * share;
    if value != 0.0 && value.abs() < 1.0 { format!("{value:.1} %") } else { format!("{value:.0} %") }
}

/// A duration with a unit that suits it.
pub fn seconds(value: f64) -> String {
    match value {
        v if !v.is_finite() => "–".into(),
        v if v < 1e-3 => format!("{} µs", short(v * 1e6)),
        v if v < 1.0 => format!("{} ms", short(v * 1e3)),
        v if v < 120.0 => format!("{} s", short(v)),
        v if v < 7_200.0 => format!("{} min", short(v / 60.0)),
        v => format!("{} h", short(v / 3_600.0)),
    }
}

/// So many significant digits, powers of ten only where needed.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return "–".into();
    }
    if value == 0.0 {
        return "0".into();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-4..6).contains(&magnitude) {
        let text = format!("{:.*e}", (digits - 1) as usize, value);
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        let digits = if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        return format!("{digits}e{power}");
    }
    let text = format!("{:.*}", (digits - 1 - magnitude).max(0) as usize, value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_leading_digits() {
        let read = [0.0, 1.0, -0.012_345, 1_234.56, 123_456.7, 1.5e9, 2e-7, f64::NAN].map(number);
        assert_eq!(read, ["0", "1", "-0.01235", "1235", "123457", "1.5e9", "2e-7", "–"]);
        assert_eq!([0.0, 0.004, 0.96].map(percent), ["0 %", "0.4 %", "96 %"]);
        assert_eq!([2e-5, 0.25, 3.0, 600.0].map(seconds), ["20 µs", "250 ms", "3 s", "10 min"]);
    }
}
