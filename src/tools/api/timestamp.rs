//! Times: milliseconds since 1970 (UTC), and RFC 3339 as stores and answers write it.

const DAY_MS: i64 = 86_400_000;

/// Formats as `2026-01-31T08:05:09.120Z`. Years from 0 to 9999.
pub(crate) fn format_timestamp(at: i64) -> String {
    let (days, rest) = (at.div_euclid(DAY_MS), at.rem_euclid(DAY_MS));
    let (year, month, day) = date_from_days(days);
    let (seconds, milliseconds) = (rest / 1_000, rest % 1_000);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{milliseconds:03}Z")
}

/// Formats seconds since 1970 (UTC) as `2026-01-31T08:05:09Z`.
pub(crate) fn format_seconds(since: u64) -> String {
    format_timestamp(i64::try_from(since).unwrap_or(i64::MAX).saturating_mul(1_000)).replace(".000Z", "Z")
}

/// Parses `2026-01-31T08:05:09.120Z`, with fractions of any length and `Z` or an offset. `None` for
/// anything else.
pub(crate) fn read(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't'])?;
    let mut parts = date.splitn(3, '-').map(parse_digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    if date.len() != 10 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let at = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(at);
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let sign = if zone.starts_with('-') { -1 } else { 1 };
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            sign * (parse_digits(hours)? * 60 + parse_digits(minutes)?)
        }
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut parts = clock.splitn(3, ':').map(parse_digits);
    let (hour, minute, second) = (parts.next()??, parts.next()??, parts.next()??);
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    parse_digits(fraction)?;
    let milliseconds: i64 = format!("{fraction:0<3}").get(..3)?.parse().ok()?;
    let minutes = days_since_epoch(year, month, day) * 1_440 + hour * 60 + minute - offset;
    Some((minutes * 60 + second) * 1_000 + milliseconds)
}

fn parse_digits(text: &str) -> Option<i64> {
    let plain = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// The number of days in the years before `year`, in the Gregorian calendar.
fn days_before_year(year: i64) -> i64 {
    let last = year - 1;
    last * 365 + last.div_euclid(4) - last.div_euclid(100) + last.div_euclid(400)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn month_lengths(year: i64) -> [i64; 12] {
    [31, if is_leap(year) { 29 } else { 28 }, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

/// The number of days from 1 January 1970 to this date.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let months = usize::try_from(month - 1).unwrap_or(0);
    let days_before_month: i64 = month_lengths(year).iter().take(months).sum();
    days_before_year(year) - days_before_year(1970) + days_before_month + day - 1
}

fn date_from_days(days_since: i64) -> (i64, i64, i64) {
    // An estimate that is never too late, and at most one year too early.
    let mut year = 1970 + (days_since * 400).div_euclid(146_097) - 1;
    while days_since_epoch(year + 1, 1, 1) <= days_since {
        year += 1;
    }
    let (mut rest, mut month) = (days_since - days_since_epoch(year, 1, 1), 1);
    for length in month_lengths(year) {
        if rest < length {
            break;
        }
        rest -= length;
        month += 1;
    }
    (year, month, rest + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_parsed_and_formatted_as_rfc3339() {
        for (text, at) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("1969-12-31T23:59:59.999Z", -1),
            ("2000-02-29T12:00:00.000Z", 951_825_600_000),
            ("2026-11-21T20:53:38.357Z", 1_795_294_418_357),
            ("2100-03-01T00:00:00.000Z", 4_107_542_400_000),
        ] {
            assert_eq!(read(text), Some(at), "{text}");
            assert_eq!(format_timestamp(at), text);
        }
        assert_eq!(read("2026-11-21T21:53:38+01:00"), Some(1_795_294_418_000));
        assert_eq!(read("2026-11-21T20:53:38.3579999Z"), Some(1_795_294_418_357));
    }

    #[test]
    fn timestamp_round_trips_for_every_day_of_four_centuries() {
        for day in -146_097..146_097 {
            let at = day * DAY_MS + 43_200_123;
            assert_eq!(read(&format_timestamp(at)), Some(at), "{day}");
        }
    }

    #[test]
    fn malformed_timestamp_is_none() {
        for text in [
            "",
            "now",
            "2026-11-21",
            "2026-13-01T00:00:00Z",
            "2026-01-01T25:00:00Z",
            "2026-01-01T00:00Z",
            "2026-01-01T00:00:00",
            "+026-01-01T00:00:00Z",
            "2026-01-01T00:00:00.é1Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
