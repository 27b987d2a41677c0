//! The guard of web addresses: the public internet, and exceptions in the settings.
//!
//! Names are resolved here, and the connection goes to the address that was checked. A name that
//! resolves to another address a moment later has no effect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// The reason that an address is not requested.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebAddressError {
    /// The scheme is neither http nor https.
    #[error("`{0}:` addresses are not fetched, only http and https")]
    Scheme(String),
    /// The address contains a user name or password.
    #[error("an address with a user name or password is not fetched")]
    Credentials,
    /// The address has no host.
    #[error("the address names no host")]
    NoHost,
    /// The host is not on the public internet.
    #[error(
        "{0} is, or leads to, an address that is private to this machine or network; these are not fetched"
    )]
    Private(String),
}

/// The hosts that may be requested regardless of their address.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WebHostExceptions(Vec<String>);

impl WebHostExceptions {
    /// Parses `host` or `host:port`; without a port, all ports.
    pub(crate) fn new<T: AsRef<str>>(hosts: impl IntoIterator<Item = T>) -> Self {
        Self(hosts.into_iter().map(|host| host.as_ref().trim().to_ascii_lowercase()).collect())
    }

    /// Returns true if `url` is excepted.
    pub(crate) fn has(&self, url: &Url) -> bool {
        let Some(host) = url.host_str().map(str::to_ascii_lowercase) else { return false };
        let port = url.port_or_known_default().unwrap_or_default();
        self.0.iter().any(|known| *known == host || *known == format!("{host}:{port}"))
    }
}

/// Checks the text of `url`. The [`PublicOnly`] resolver detects names that resolve to private
/// addresses.
pub(crate) fn check_url(url: &Url, exceptions: &WebHostExceptions) -> Result<(), WebAddressError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(WebAddressError::Scheme(url.scheme().to_owned()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(WebAddressError::Credentials);
    }
    let private = |host: &dyn std::fmt::Display| Err(WebAddressError::Private(host.to_string()));
    match url.host() {
        None => Err(WebAddressError::NoHost),
        Some(_) if exceptions.has(url) => Ok(()),
        Some(Host::Ipv4(address)) if !is_public(address.into()) => private(&address),
        Some(Host::Ipv6(address)) if !is_public(address.into()) => private(&address),
        Some(_) => Ok(()),
    }
}

/// Resolves names, and returns only addresses of the public internet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let host = name.as_str().to_owned();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            let public: Vec<SocketAddr> =
                found.iter().copied().filter(|address| is_public(address.ip())).collect();
            if public.is_empty() && !found.is_empty() {
                return Err(WebAddressError::Private(host).into());
            }
            Ok(Box::new(public.into_iter()) as Addrs)
        })
    }
}

impl PublicOnly {
    /// The resolver for reqwest.
    pub(crate) fn shared() -> Arc<dyn Resolve> {
        Arc::new(Self)
    }
}

/// Returns true for an address on the public internet.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation()
        || a == 0
        // Shared by a provider's customers, benchmarks, protocol assignments, relays, reserved.
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (18..20).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || a >= 240;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, ..] = address.segments();
    let [.., high, low] = address.segments();
    // Networks without IPv4 reach it through this prefix; the embedded address decides.
    if (first, second, third) == (0x64, 0xff9b, 0) {
        return is_public_v4(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    }
    // Only 2000::/3 is allocated. Within it, Teredo, documentation and 6to4 (which embed other
    // addresses) are not public.
    (first & 0xe000) == 0x2000
        && !(first == 0x2001 && second < 0x0200)
        && !(first == 0x2001 && second == 0x0db8)
        && first != 0x2002
        && !(first == 0x3fff && second < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(url: &str, exceptions: &[&str]) -> Result<(), WebAddressError> {
        check_url(&Url::parse(url).unwrap(), &WebHostExceptions::new(exceptions))
    }

    #[test]
    fn private_and_reserved_ip_addresses_are_not_public() {
        for address in [
            "127.0.0.1",
            "0.0.0.0",
            "10.1.2.3",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.1",
            "198.18.0.1",
            "224.0.0.1",
            "255.255.255.255",
            "240.0.0.1",
            "::",
            "::1",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001::1",
            "2001:db8::1",
            "fec0::1",
            "3fff::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "1.1.1.1",
            "93.184.216.34",
            "172.32.0.1",
            "2606:4700::1111",
            "64:ff9b::101:101",
            "2001:4860:4860::8888",
        ] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn url_with_any_spelling_of_private_address_is_refused() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.0.0.1/",
            "http://017700000001/",
            "http://[::1]/",
            "http://[::ffff:7f00:1]/",
            "http://0/",
            "http://169.254.169.254/latest/meta-data",
            "http://①②⑦.0.0.1/",
        ] {
            assert!(matches!(looked(url, &[]), Err(WebAddressError::Private(_))), "{url}");
        }
        assert_eq!(looked("file:///etc/passwd", &[]), Err(WebAddressError::Scheme("file".to_owned())));
        assert_eq!(looked("http://user:pass@example.com/", &[]), Err(WebAddressError::Credentials));
        assert_eq!(looked("https://example.com/", &[]), Ok(()));
    }

    #[test]
    fn private_address_exception_covers_its_host_and_port_only() {
        assert_eq!(looked("http://127.0.0.1:8080/", &["127.0.0.1:8080"]), Ok(()));
        assert!(looked("http://127.0.0.1:8081/", &["127.0.0.1:8080"]).is_err());
        assert_eq!(looked("http://127.0.0.1:8081/", &["127.0.0.1"]), Ok(()));
        assert!(looked("ftp://127.0.0.1/", &["127.0.0.1"]).is_err());
    }

    #[tokio::test]
    async fn resolver_refuses_host_name_of_this_machine() {
        let refused = PublicOnly.resolve("localhost".parse().unwrap()).await.err().unwrap();
        let refused = refused.downcast_ref::<WebAddressError>();
        assert_eq!(refused, Some(&WebAddressError::Private("localhost".to_owned())));
    }
}
