//! Checks of a request's addresses before anything else of it is read: `Host` and `Origin`.
//!
//! A page in the user's browser can send requests to a server on the same machine. It cannot hide
//! its own address (`Origin`). If it has pointed a name of its own to this machine, the request
//! shows that name (`Host`).

use std::net::SocketAddr;

use http::header::{HOST, ORIGIN};
use http::{HeaderMap, Uri};

/// The reasons why a request is refused by its addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HttpOriginRefusal {
    /// The `Host` header or the URI names another host.
    Host,
    /// The `Origin` header names a foreign page.
    Origin,
}

/// The names under which requests are answered.
#[derive(Debug)]
pub(crate) struct HttpOriginGuard {
    /// Authorities (`name:port`, `name` for the usual port) that a request may be sent to, in lower
    /// case.
    authorities: Vec<String>,
    /// Names that may have any port, in lower case.
    names: Vec<String>,
}

impl HttpOriginGuard {
    /// Accepts requests sent to `address`, or to one of `hosts` (a name, or a name with a port).
    pub(crate) fn new(address: SocketAddr, hosts: Vec<String>) -> Self {
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
        Self { authorities, names }
    }

    /// Accepts a request that was sent to one of the known hosts and that no foreign page has sent.
    ///
    /// # Errors
    /// The header that refuses the request.
    pub(crate) fn check_request(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), HttpOriginRefusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).ok_or(HttpOriginRefusal::Host)?;
        // A second `Host` header could be the one that a server behind us uses.
        if hosts.next().is_some() || !self.is_known_host(host) {
            return Err(HttpOriginRefusal::Host);
        }
        if uri.authority().is_some_and(|authority| !self.is_known_host(authority.as_str())) {
            return Err(HttpOriginRefusal::Host);
        }
        for origin in headers.get_all(ORIGIN) {
            let origin = origin.to_str().map_err(|_| HttpOriginRefusal::Origin)?;
            let authority = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !authority.is_some_and(|authority| self.is_known_host(authority)) {
                return Err(HttpOriginRefusal::Origin);
            }
        }
        Ok(())
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
pub(crate) fn bearer_token(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn checked(host: &str, origin: Option<&str>) -> Result<(), HttpOriginRefusal> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_str(host).unwrap());
        if let Some(origin) = origin {
            headers.insert(ORIGIN, HeaderValue::from_str(origin).unwrap());
        }
        let guard = HttpOriginGuard::new("127.0.0.1:8000".parse().unwrap(), vec!["Tools.example".to_owned()]);
        guard.check_request(&Uri::from_static("/mcp"), &headers)
    }

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
            assert_eq!(checked(host, None), Ok(()), "{host}");
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
            assert_eq!(checked(host, None), Err(HttpOriginRefusal::Host), "{host}");
        }
    }

    #[test]
    fn http_request_with_foreign_origin_header_is_refused() {
        for origin in ["http://127.0.0.1:8000", "https://tools.example", "http://localhost:8000"] {
            assert_eq!(checked("127.0.0.1:8000", Some(origin)), Ok(()), "{origin}");
        }
        for origin in [
            "http://evil.example",
            "null",
            "",
            "http://127.0.0.1:3000",
            "file://",
            "http://127.0.0.1:8000@evil.example",
        ] {
            assert_eq!(checked("127.0.0.1:8000", Some(origin)), Err(HttpOriginRefusal::Origin), "{origin}");
        }
    }
}
