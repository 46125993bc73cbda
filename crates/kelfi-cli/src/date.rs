//! Today's date (UTC) as year-month-day.
//!
//! A dozen lines; a crate for calendars would do nothing else here.

use std::time::{SystemTime, UNIX_EPOCH};

/// Today, by the system's clock.
pub fn today() -> String {
    let days = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() / 86_400);
    of_day(days)
}

/// The date `days` after 1 January 1970, in the Gregorian calendar: years of 365 days, with one more in those divisible by 4, except in
/// those divisible by 100 but not by 400.
fn of_day(mut days: u64) -> String {
    let leap = |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let months = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while days >= months[month] {
        days -= months[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_dates_of_the_calendar() {
        assert_eq!(
            [0, 58, 59, 11_016, 11_017, 20_775].map(of_day),
            ["1970-01-01", "1970-02-28", "1970-03-01", "2000-02-29", "2000-03-01", "2026-11-18"]
        );
        assert_eq!(today().len(), 10);
    }
}
