//! Ages for people.

/// An age in its largest unit ("2 h").
pub(crate) fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn age_is_shown_in_largest_unit() {
        for (seconds, expected) in [(5, "5 s"), (125, "2 min"), (7_200, "2 h"), (864_000, "10 days")] {
            assert_eq!(super::age(seconds), expected);
        }
    }
}
