//! Bytes as hexadecimal digits for serde: `#[serde(with = "hexadecimal")]`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

use crate::text::hex;

/// Parses the hexadecimal digits of `text`.
pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) || !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    Some(digits.chunks(2).map(|pair| value(pair[0]) << 4 | value(pair[1])).collect())
}

pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&hex(bytes))
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(from)?;
    from_hex(&text).ok_or_else(|| D::Error::custom("hexadecimal digits expected"))
}
