//! Patterns for the hosts of addresses.

use url::Url;

/// A host (`docs.rs`), or with a leading `*.` all hosts below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostPattern {
    host: String,
    below: bool,
}

impl HostPattern {
    /// Parses a pattern. Any text is a valid pattern, but it may match no host.
    pub(crate) fn new(text: &str) -> Self {
        let text = text.trim().trim_end_matches('.').to_ascii_lowercase();
        match text.strip_prefix("*.") {
            Some(host) => Self { host: host.to_owned(), below: true },
            None => Self { host: text, below: false },
        }
    }

    /// Returns true if `address` is an `http` or `https` address whose host the pattern matches
    /// exactly.
    pub(crate) fn allows(&self, address: &str) -> bool {
        let Some(url) = read(address).filter(|url| matches!(url.scheme(), "http" | "https")) else {
            return false;
        };
        // A user in an address is there to make one host look like another.
        url.username().is_empty()
            && url.password().is_none()
            && host_of(&url).is_some_and(|host| self.is_all() || self.matches_host(&host, self.below))
    }

    /// Returns true if the pattern matches the host of `address` or a domain above it.
    pub(crate) fn forbids(&self, address: &str) -> bool {
        self.is_all()
            || read(address)
                .and_then(|url| host_of(&url))
                .is_some_and(|host| host == self.host || self.matches_host(&host, true))
    }

    fn is_all(&self) -> bool {
        matches!(self.host.as_str(), "*" | "**")
    }

    fn matches_host(&self, host: &str, below: bool) -> bool {
        match below {
            true => host.strip_suffix(&self.host).is_some_and(|start| start.ends_with('.')),
            false => host == self.host,
        }
    }
}

fn read(address: &str) -> Option<Url> {
    Url::parse(address).ok()
}

fn host_of(url: &Url) -> Option<String> {
    url.host_str().map(|host| host.trim_end_matches('.').to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_pattern_matches_whole_host_only() {
        for (pattern, address, allowed, forbidden) in [
            ("docs.rs", "https://docs.rs/serde", true, true),
            ("docs.rs", "https://DOCS.RS./serde", true, true),
            ("docs.rs", "https://evil-docs.rs/", false, false),
            ("docs.rs", "https://docs.rs.evil.example/", false, false),
            ("docs.rs", "https://docs.rs@evil.example/", false, false),
            ("docs.rs", "https://evil.example@docs.rs/", false, true),
            ("docs.rs", "https://evil.example/docs.rs", false, false),
            ("docs.rs", "https://a.docs.rs/", false, true),
            ("*.docs.rs", "https://a.docs.rs/", true, true),
            ("*.docs.rs", "https://docs.rs/", false, true),
            ("docs.rs", "file://docs.rs/etc/passwd", false, true),
            ("docs.rs", "not an address", false, false),
            ("*", "https://anything.example/", true, true),
        ] {
            let host = HostPattern::new(pattern);
            assert_eq!(
                (host.allows(address), host.forbids(address)),
                (allowed, forbidden),
                "{pattern} {address}"
            );
        }
    }
}
