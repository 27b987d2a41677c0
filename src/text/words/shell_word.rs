//! Quoting of words for a POSIX shell.

use std::borrow::Cow;

/// Quotes `word` as one word of a shell's command line, unless it is safe without quotes.
pub(crate) fn shell_word(word: &str) -> Cow<'_, str> {
    // shlex quotes three more, which no shell reads as anything else inside a word; people read
    // these commands.
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:@+=,%".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    let quoter = shlex::Quoter::new().allow_nul(true);
    quoter.quote(word).expect("only a NUL byte is refused, and it is allowed here")
}

/// Quotes a word of any bytes, for programs to read.
pub(crate) fn shell_bytes(word: &[u8]) -> Cow<'_, [u8]> {
    let quoter = shlex::bytes::Quoter::new().allow_nul(true);
    quoter.quote(word).expect("only a NUL byte is refused, and it is allowed here")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_word_is_quoted_where_a_shell_would_read_it_otherwise() {
        for plain in ["-x=1", "--flag=a/b.c", "python-lsp-server==1.15.0", "a,b:c@d+e%f"] {
            assert_eq!(shell_word(plain), plain);
        }
        for word in
            ["", "a b", "$(rm -rf x)", "it's; rm -rf", "a\"b'c", "*", "~", "#x", "a\nb", "pylsp[all]", "é"]
        {
            let written = shell_word(word);
            assert_ne!(written, word);
            assert_eq!(shlex::split(&written).as_deref(), Some([word.to_owned()].as_slice()), "{written}");
        }
    }
}
