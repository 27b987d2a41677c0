//! A fingerprint of a text, the same in the scripted server and in the tests that compare its
//! answers.

/// The length of `text` in bytes and its FNV-1a hash, as `len=12 hash=00112233aabbccdd`.
pub fn fingerprint(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("len={} hash={hash:016x}", text.len())
}
