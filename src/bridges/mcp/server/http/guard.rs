//! Checks of a request before its body is read: host, origin and token.
//!
//! A page in the user's browser can send requests to a server on the same machine. It cannot hide which page it is (`Origin`), and
//! when it has had a name of its own point here, the name shows (`Host`).

use std::net::SocketAddr;

use http::header::{AUTHORIZATION, HOST, ORIGIN};
use http::{HeaderMap, StatusCode, Uri};

use super::token::BearerToken;

/// Where MCP is served.
pub(crate) const ENDPOINT: &str = "/mcp";

/// Why a request is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum McpHttpRefusal {
    /// It was sent to another name.
    Host,
    /// It comes from a page that is none of ours.
    Origin,
    /// It brought no token, or another.
    Token,
    /// It asks for something else than the endpoint.
    Path,
}

impl McpHttpRefusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::UNAUTHORIZED,
            Self::Path => StatusCode::NOT_FOUND,
        }
    }

    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Host => "this Host is not served here; --allow-host lets it in",
            Self::Origin => "pages of this Origin are not let in; --allow-host lets them in",
            Self::Token => "send the token as `Authorization: Bearer TOKEN`",
            Self::Path => "MCP is served at /mcp",
        }
    }
}

/// Who is let in.
#[derive(Debug)]
pub(super) struct HttpAccessGuard {
    /// Authorities (`name:port`, `name` for the usual port) that a request may be sent to, in lower case.
    authorities: Vec<String>,
    /// Names that may have any port, in lower case.
    names: Vec<String>,
    token: Option<BearerToken>,
}

impl HttpAccessGuard {
    /// Lets in who was sent to `address`, or to one of `hosts` (a name, or a name with a port).
    pub(super) fn new(address: SocketAddr, hosts: Vec<String>, token: Option<BearerToken>) -> Self {
        let mut authorities = vec![address.to_string()];
        if address.ip().is_loopback() {
            let port = address.port();
            authorities.extend([
                format!("localhost:{port}"),
                format!("127.0.0.1:{port}"),
                format!("[::1]:{port}"),
            ]);
        }
        let lower = hosts.into_iter().map(|host| host.to_ascii_lowercase());
        let (with_port, names): (Vec<String>, Vec<String>) = lower.partition(|host| port_of(host).is_some());
        authorities.extend(with_port);
        Self { authorities, names, token }
    }

    pub(super) fn check_request(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), McpHttpRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(McpHttpRefusal::Host)?;
        // A second one could be what something behind us believes.
        if hosts.next().is_some() || !self.is_known_host(host) {
            return Err(McpHttpRefusal::Host);
        }
        if uri.authority().is_some_and(|authority| !self.is_known_host(authority.as_str())) {
            return Err(McpHttpRefusal::Host);
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().map_err(|_| McpHttpRefusal::Origin)?;
            let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !authority.is_some_and(|authority| self.is_known_host(authority)) {
                return Err(McpHttpRefusal::Origin);
            }
        }
        if let Some(token) = &self.token {
            let given =
                headers.get(AUTHORIZATION).and_then(|given| given.to_str().ok()).and_then(bearer_token);
            if !given.is_some_and(|given| token.matches(given)) {
                return Err(McpHttpRefusal::Token);
            }
        }
        if uri.path() == ENDPOINT { Ok(()) } else { Err(McpHttpRefusal::Path) }
    }

    fn is_known_host(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let name = port_of(&authority)
            .map_or(authority.as_str(), |port| &authority[..authority.len() - port.len() - 1]);
        self.authorities.contains(&authority) || self.names.iter().any(|known| known == name)
    }
}

/// The port of an authority, if it names one.
fn port_of(authority: &str) -> Option<&str> {
    let (_, port) = authority.rsplit_once(':')?;
    (!port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit())).then_some(port)
}

/// The token of an `Authorization` header (RFC 6750; the scheme in any case).
fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn guard() -> HttpAccessGuard {
        let token = BearerToken::from_text("0123456789abcdef").unwrap();
        HttpAccessGuard::new("127.0.0.1:8000".parse().unwrap(), vec!["Tools.example".to_owned()], Some(token))
    }

    fn checked(host: &str, origin: Option<&str>, token: Option<&str>) -> Result<(), McpHttpRefusal> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        if let Some(token) = token {
            headers.insert(AUTHORIZATION, HeaderValue::from_str(token).unwrap());
        }
        guard().check_request(&Uri::from_static("/mcp"), &headers)
    }

    const RIGHT: Option<&str> = Some("Bearer 0123456789abcdef");

    #[test]
    fn http_request_with_foreign_host_header_is_refused() {
        for host in [
            "127.0.0.1:8000",
            "localhost:8000",
            "LOCALHOST:8000",
            "[::1]:8000",
            "tools.example",
            "tools.example:443",
        ] {
            assert_eq!(checked(host, None, RIGHT), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1",
            "127.0.0.1:8001",
            "localhost",
            "127.0.0.1:8000.evil.example",
            "",
            "[::1]",
        ] {
            assert_eq!(checked(host, None, RIGHT), Err(McpHttpRefusal::Host), "{host}");
        }
    }

    #[test]
    fn http_request_with_foreign_origin_header_is_refused() {
        for origin in ["http://127.0.0.1:8000", "https://tools.example", "http://localhost:8000"] {
            assert_eq!(checked("127.0.0.1:8000", Some(origin), RIGHT), Ok(()), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://127.0.0.1:3000",
            "file://",
            "http://127.0.0.1:8000@evil.example",
        ] {
            assert_eq!(
                checked("127.0.0.1:8000", Some(origin), RIGHT),
                Err(McpHttpRefusal::Origin),
                "{origin}"
            );
        }
    }

    #[test]
    fn http_request_without_bearer_token_is_refused() {
        assert_eq!(checked("127.0.0.1:8000", None, Some("bearer 0123456789abcdef")), Ok(()));
        for token in [
            None,
            Some("Bearer"),
            Some("Bearer 0123456789abcdeg"),
            Some("Basic 0123456789abcdef"),
            Some("Bearer 0123456789abcdef0"),
        ] {
            assert_eq!(checked("127.0.0.1:8000", None, token), Err(McpHttpRefusal::Token), "{token:?}");
        }
    }
}
