//! Decoding of a file's bytes to text, and the kinds that are refused.

use std::fmt;

use super::{ByteOrder, ReadError};

const UTF8_BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// The number of bytes that are examined to tell UTF-16 without a byte order mark from binary data.
const ENCODING_SAMPLE_BYTES: usize = 8 * 1024;

/// The text in `bytes`, without its byte order mark, and whether it had one.
pub(super) fn decode(mut bytes: Vec<u8>, name: &dyn Fn() -> String) -> Result<(String, bool), ReadError> {
    if let Some(order) = utf16_mark(&bytes) {
        return Err(ReadError::Utf16 { path: name(), order });
    }
    // UTF-16 of plain English is valid UTF-8 full of NULs; so NULs are checked first.
    if bytes.contains(&0) {
        return Err(not_text(&bytes, name()));
    }
    let bom = bytes.starts_with(&UTF8_BOM);
    if bom {
        bytes.drain(..UTF8_BOM.len());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok((text, bom)),
        Err(error) => {
            let valid_up_to = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let (line, column) = place_of(&bytes[..valid_up_to]);
            Err(ReadError::NotUtf8 { path: name(), byte: bytes[valid_up_to], line, column })
        }
    }
}

/// Refuses a piece of a file, at `offset` in it, that is not text; UTF-8 is not checked.
pub(super) fn check_chunk(chunk: &[u8], offset: u64, name: &dyn Fn() -> String) -> Result<(), ReadError> {
    if offset == 0
        && let Some(order) = utf16_mark(chunk)
    {
        return Err(ReadError::Utf16 { path: name(), order });
    }
    match memchr::memchr(0, chunk) {
        None => Ok(()),
        Some(_) if offset == 0 => Err(not_text(chunk, name())),
        Some(at) => Err(ReadError::Binary { path: name(), offset: offset + at as u64 }),
    }
}

/// Returns the length in bytes of the UTF-8 byte order mark at the start of a file.
pub(super) fn mark_length(start: &[u8]) -> usize {
    if start.starts_with(&UTF8_BOM) { UTF8_BOM.len() } else { 0 }
}

/// The text of `bytes`, which begin at the 0-based line `first` of a file.
pub(super) fn decode_page(
    bytes: Vec<u8>,
    first: u64,
    name: &dyn Fn() -> String,
) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| {
        let valid_up_to = error.utf8_error().valid_up_to();
        let bytes = error.into_bytes();
        let (line, column) = place_of(&bytes[..valid_up_to]);
        ReadError::NotUtf8 { path: name(), byte: bytes[valid_up_to], line: first + line, column }
    })
}

fn utf16_mark(bytes: &[u8]) -> Option<ByteOrder> {
    match bytes {
        // UTF-32, which is not used for sources, is left to the check for NUL bytes.
        [0xFF, 0xFE, 0, 0, ..] => None,
        [0xFF, 0xFE, ..] => Some(ByteOrder::Little),
        [0xFE, 0xFF, ..] => Some(ByteOrder::Big),
        _ => None,
    }
}

/// Decodes `bytes` if they begin with the byte order mark of UTF-16; units that are no scalar value
/// become replacement characters.
pub(crate) fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let unit = match utf16_mark(bytes)? {
        ByteOrder::Little => u16::from_le_bytes,
        ByteOrder::Big => u16::from_be_bytes,
    };
    let units: Vec<u16> = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]])).collect();
    Some(String::from_utf16_lossy(&units))
}

/// Classifies content with NUL bytes: UTF-16 if nearly every second byte, and hardly another, is
/// NUL.
fn not_text(bytes: &[u8], path: String) -> ReadError {
    let sample = &bytes[..bytes.len().min(ENCODING_SAMPLE_BYTES)];
    let pairs = sample.len() / 2;
    let nuls = |offset: usize| sample.iter().skip(offset).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    let mostly = |many: usize, few: usize| pairs > 0 && many * 10 >= pairs * 7 && few * 10 <= pairs;
    if bytes.len().is_multiple_of(2) && mostly(odd, even) {
        return ReadError::Utf16 { path, order: ByteOrder::Little };
    }
    if bytes.len().is_multiple_of(2) && mostly(even, odd) {
        return ReadError::Utf16 { path, order: ByteOrder::Big };
    }
    let offset = bytes.iter().position(|byte| *byte == 0).unwrap_or(0) as u64;
    ReadError::Binary { path, offset }
}

/// Returns the 1-based line and column (Unicode scalar values) of the position behind `before`,
/// which is valid UTF-8.
fn place_of(before: &[u8]) -> (u64, u64) {
    let mut line = 1;
    let mut start = 0;
    for (index, byte) in before.iter().enumerate() {
        let ends = *byte == b'\n' || (*byte == b'\r' && before.get(index + 1) != Some(&b'\n'));
        if ends {
            line += 1;
            start = index + 1;
        }
    }
    // Every scalar value has exactly one byte that is not a continuation byte.
    let column = before[start..].iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64 + 1;
    (line, column)
}

/// A number of bytes for people: `17 bytes`, `1.5 KiB`, `190.7 MiB`.
pub(super) struct ByteSize(pub u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
        if self.0 < 1024 {
            return write!(f, "{} bytes", self.0);
        }
        let mut value = self.0 as f64 / 1024.0;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        write!(f, "{value:.1} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(bytes: &[u8]) -> String {
        decode(bytes.to_vec(), &|| "f".to_owned()).unwrap_err().to_string()
    }

    #[test]
    fn decode_of_non_utf8_bytes_names_the_probable_encoding() {
        assert_eq!(
            refused(b"caf\xc3\xa9\r\nna\xc3\xafve \xe9t\xe9"),
            "`f` is not UTF-8 (byte 0xE9 at line 2, column 7; perhaps Latin-1 or Windows-1252); convert it to UTF-8"
        );
        let utf16 = |text: &str| text.encode_utf16().collect::<Vec<_>>();
        let little: Vec<u8> = utf16("let x = 1;\n").into_iter().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = utf16("let x = 1;\n").into_iter().flat_map(u16::to_be_bytes).collect();
        assert!(refused(&little).contains("UTF-16 (little endian)"));
        assert!(refused(&big).contains("UTF-16 (big endian)"));
        assert!(refused(&[&[0xFF, 0xFE][..], &little].concat()).contains("UTF-16 (little endian)"));
        assert!(refused(&[&[0xFE, 0xFF][..], "日本".as_bytes()].concat()).contains("UTF-16 (big endian)"));
        assert_eq!(
            refused(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0"),
            "`f` is binary (a NUL byte at offset 7), not text"
        );
        assert!(refused(b"truncated \xe2\x82").contains("byte 0xE2 at line 1, column 11"));
    }

    #[test]
    fn decode_keeps_line_endings_and_strips_byte_order_mark() {
        let text = |bytes: &[u8]| decode(bytes.to_vec(), &|| "f".to_owned()).unwrap();
        assert_eq!(text(b""), (String::new(), false));
        assert_eq!(text(b"\xef\xbb\xbf"), (String::new(), true));
        assert_eq!(text(b"\xef\xbb\xbfa\r\nb\nc\rd"), ("a\r\nb\nc\rd".to_owned(), true));
    }

    #[test]
    fn byte_size_display_uses_binary_units() {
        assert_eq!(ByteSize(1023).to_string(), "1023 bytes");
        assert_eq!(ByteSize(1536).to_string(), "1.5 KiB");
        assert_eq!(ByteSize(200_000_000).to_string(), "190.7 MiB");
        assert_eq!(ByteSize(u64::MAX).to_string(), "16777216.0 TiB");
    }
}
