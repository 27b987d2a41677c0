//! A check of TOML from outside, before it is parsed. The TOML crate recurses without a limit into
//! an inline table that begins in the place of a key.

/// The maximum number of inline tables: more than any file has, and a recursion of that depth fits
/// on a small stack.
const MAX_TOML_BRACES: usize = 1_000;

/// Returns the reason why the TOML `text` is not read, if there is one. Braces in strings and
/// comments count as well, because only a parser can tell them apart.
pub(crate) fn toml_fault(text: &str) -> Option<String> {
    let braces = text.bytes().filter(|byte| *byte == b'{').count();
    (braces > MAX_TOML_BRACES).then(|| format!("it has {braces} times `{{`, more than {MAX_TOML_BRACES}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_with_too_many_tables_is_refused_before_parsing() {
        assert_eq!(toml_fault(&"a = {}\n".repeat(1_000)), None);
        assert!(toml_fault(&"{".repeat(1_001)).is_some());
    }
}
