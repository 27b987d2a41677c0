//! Bytes as lower-case hexadecimal digits.

use std::fmt::Write;

/// `bytes` in lowercase hexadecimal digits, two for each.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn hex_encodes_every_byte_as_two_digits() {
        assert_eq!(super::hex(&[0, 1, 0xab, 0xff]), "0001abff");
        assert_eq!(super::hex(&[]), "");
    }
}
