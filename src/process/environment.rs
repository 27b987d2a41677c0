//! The selection of environment variables that a server inherits.

use std::ffi::{OsStr, OsString};

/// Names passed on, and, ending in `*`, prefixes of names.
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "LANG",
    "LC_*",
    "XDG_*",
    "SSL_*",
    "NIX_*",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "all_proxy",
    "CARGO_*",
    "RUSTUP_*",
    "RUSTC*",
    "RUSTFLAGS",
    "RUST_*",
    "GO111MODULE",
    "GO386",
    "GOAMD64",
    "GOARCH",
    "GOARM",
    "GOARM64",
    "GOAUTH",
    "GOBIN",
    "GOCACHE",
    "GOCACHEPROG",
    "GODEBUG",
    "GOENV",
    "GOEXPERIMENT",
    "GOFIPS140",
    "GOFLAGS",
    "GOGC",
    "GOINSECURE",
    "GOMAXPROCS",
    "GOMEMLIMIT",
    "GOMIPS",
    "GOMIPS64",
    "GOMODCACHE",
    "GONOPROXY",
    "GONOSUMDB",
    "GOOS",
    "GOPACKAGESDRIVER",
    "GOPATH",
    "GOPLSCACHE",
    "GOPPC64",
    "GOPRIVATE",
    "GOPROXY",
    "GORISCV64",
    "GOROOT",
    "GOSUMDB",
    "GOTELEMETRY",
    "GOTMPDIR",
    "GOTOOLCHAIN",
    "GOVCS",
    "GOWASM",
    "GOWORK",
    "CGO_*",
    "JAVA_*",
    "JDK_*",
    "GRADLE_*",
    "MAVEN_*",
    "M2_*",
    "NODE_*",
    "ESLINT_*",
    "NPM_*",
    "npm_config_*",
    "NVM_*",
    "VOLTA_*",
    "FNM_*",
    "DENO_*",
    "BUN_*",
    "PYTHON*",
    "PIP_*",
    "VIRTUAL_ENV",
    "CONDA_*",
    "PYENV_*",
    "UV_*",
    "POETRY_*",
    "DOTNET_*",
    "GEM_*",
    "RUBY*",
    "RBENV_*",
    "BUNDLE_*",
    "PHP*",
    "COMPOSER_*",
    "PERL*",
    "LUA_*",
    "OPAM*",
    "OCAML*",
    "GHC*",
    "STACK_*",
    "CABAL_*",
    "MIX_*",
    "HEX_*",
    "ERL_*",
    "JULIA_*",
    "R_*",
    "TEXMF*",
    "SDKROOT",
    "DEVELOPER_DIR",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "LIBRARY_PATH",
    "LD_LIBRARY_PATH",
    "PKG_CONFIG*",
    "CMAKE_*",
    "LSP_TOOLS_TEST_*",
];

/// Parts of variable names that mark a secret.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CREDENTIAL",
    "APIKEY",
    "API_KEY",
    "_KEY",
    "_AUTH",
];

/// Words that mark a secret only if they stand alone between underscores: neither `PATH` nor
/// `COMPASS` counts.
const SECRET_WORDS: &[&str] = &["PASS", "PAT", "OTP", "CRED", "CREDS", "PWD"];

/// Variables in which the shims of pyenv and rbenv pass on the folder in which they were called,
/// and their hooks. A server is called in another folder.
const OF_SHIMS: &[&str] = &["PYENV_DIR", "PYENV_HOOK_PATH", "RBENV_DIR", "RBENV_HOOK_PATH"];

/// Variables passed to servers that do not affect their answers. Commands that differ only in these
/// share a daemon.
const IRRELEVANT: &[&str] = &["TERM", "SHELL", "USER", "LOGNAME", "LANG", "LC_*", "XDG_*", "RUST_BACKTRACE"];

/// Variables of these families that do matter.
const RELEVANT: &[&str] = &["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"];

/// Parts of setting names that mark a secret inside a value, as in `-Dhttp.proxyPassword=…`.
const SECRET_SETTINGS: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "APIKEY", "API_KEY"];

/// Returns the variables of `all` that a server gets: paths of programs and toolchains and their
/// settings, without secrets and without credentials in addresses.
pub(crate) fn inherited_variables(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let passed = all.filter(|(name, _)| name.to_str().is_some_and(is_passed));
    passed.filter_map(|(name, value)| Some((name.clone(), without_credentials(&name, value)?))).collect()
}

/// Returns the variables of `all` that a server gets and that may change its answers, sorted.
pub(crate) fn relevant_variables(
    all: impl Iterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let mut chosen = inherited_variables(all);
    chosen.retain(|(name, _)| !name.to_str().is_some_and(is_irrelevant));
    chosen.sort();
    chosen
}

fn is_irrelevant(name: &str) -> bool {
    is_listed(name, IRRELEVANT) && !RELEVANT.contains(&name)
}

fn is_passed(name: &str) -> bool {
    is_listed(name, PASSED) && !is_secret(name) && !OF_SHIMS.contains(&name)
}

/// Returns true if `list` has the name, or, ending in `*`, a prefix of it.
fn is_listed(name: &str, list: &[&str]) -> bool {
    list.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    })
}

fn is_secret(name: &str) -> bool {
    let upper = name.to_ascii_uppercase();
    // Bundler keeps user and password of a host under its name, whose dots it doubles:
    // BUNDLE_GEMS__EXAMPLE__ORG.
    let of_host = upper.strip_prefix("BUNDLE_").is_some_and(|host| host.contains("__"));
    of_host
        || SECRET.iter().any(|part| upper.contains(part))
        || upper.split('_').any(|word| SECRET_WORDS.contains(&word))
}

/// Returns `value` without users and passwords in addresses; `None` if it sets a secret, or is not
/// UTF-8 and has a user in it.
fn without_credentials(name: &OsStr, value: OsString) -> Option<OsString> {
    let text = value.to_string_lossy();
    if sets_secret(&text) {
        return None;
    }
    let is_proxy = name.to_str().is_some_and(|name| name.to_ascii_uppercase().ends_with("_PROXY"));
    let shown = match text.rsplit_once('@') {
        // Proxies are named without a scheme as well.
        Some((_, host)) if is_proxy && !text.contains("://") => host.to_owned(),
        Some(_) => without_users(&text),
        None => return Some(value),
    };
    let (is_same, is_text) = (shown == *text, value.to_str().is_some());
    match (is_same, is_text) {
        (true, _) => Some(value),
        (false, true) => Some(shown.into()),
        (false, false) => None,
    }
}

/// Returns true if one of the `name=value` settings in `text` sets a secret.
fn sets_secret(text: &str) -> bool {
    let breaks = |character: char| character.is_whitespace() || "\"';,&?".contains(character);
    text.match_indices('=').any(|(at, _)| {
        let name = text[..at].trim_end();
        let name = name.rsplit(breaks).next().unwrap_or(name).to_ascii_uppercase();
        SECRET_SETTINGS.iter().any(|part| name.contains(part))
    })
}

/// Removes `user:password@` from each address in `text`. From SSH's addresses, in which the user
/// belongs to the place, only the password is removed.
fn without_users(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        let end = after.find(|character: char| character.is_whitespace() || "\"',|".contains(character));
        let (address, behind) = after.split_at(end.unwrap_or(after.len()));
        let host_ends = address.find(['/', '?', '#']).unwrap_or(address.len());
        // A password that is not encoded as in an address has a slash in it; the part behind the
        // colon is then no port.
        let port = address[..host_ends].split_once(':').map(|(_, port)| port);
        let is_odd = !address[..host_ends].contains('@')
            && port.is_some_and(|port| !port.bytes().all(|byte| byte.is_ascii_digit()));
        let searched = if is_odd { address } else { &address[..host_ends] };
        let users_end = searched.rfind('@');
        out.push_str(before);
        out.push_str("://");
        if let Some(users_end) = users_end.filter(|_| before.ends_with("ssh")) {
            let user = address[..users_end].split(':').next().unwrap_or_default();
            out.push_str(user);
            out.push('@');
        }
        out.push_str(users_end.map_or(address, |at| &address[at + 1..]));
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use crate::platform::OsStringExt;

    use super::*;

    #[test]
    fn environment_passes_toolchain_variables_and_withholds_secrets() {
        for name in [
            "PATH",
            "LC_ALL",
            "GOPATH",
            "GOPROXY",
            "GOFLAGS",
            "VIRTUAL_ENV",
            "CARGO_HOME",
            "PKG_CONFIG_PATH",
            "CPATH",
            "C_INCLUDE_PATH",
            "XDG_DATA_DIRS",
            "NODE_PATH",
            "COMPOSER_HOME",
            "BUNDLE_PATH",
            "BUNDLE_GEMFILE",
            "JAVA_TOOL_OPTIONS",
            "JAVA_HOME",
            "PIP_INDEX_URL",
            "UV_INDEX_URL",
            "HTTPS_PROXY",
            "npm_config_registry",
            "PYTHONPATH",
        ] {
            assert!(is_passed(name), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "NPM_AUTH",
            "npm_config__auth",
            "NODE_AUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "FOO",
            "MAVEN_GPG_PASSPHRASE",
            "MAVEN_PASS",
            "NODE_PAT",
            "NPM_CONFIG_OTP",
            "npm_config_otp",
            "GOOGLE_CLIENT_PASS",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "GOOGLE_ANYTHING",
            "NIX_CRED",
            "PHP_PWD",
            "COMPOSER_AUTH",
            "BUNDLE_RUBYGEMS__PKG__GITHUB__COM",
            "POETRY_HTTP_BASIC_FOO_PASSWORD",
            "UV_INDEX_PRIVATE_PASSWORD",
        ] {
            assert!(!is_passed(name), "{name}");
        }
    }

    fn passed(name: &str, value: &str) -> Option<String> {
        let all = [(OsString::from(name), OsString::from(value))];
        inherited_variables(all.into_iter()).pop().map(|(_, value)| value.into_string().expect("text"))
    }

    #[test]
    fn environment_urls_lose_credentials_only() {
        for (name, value, expected) in [
            ("PIP_INDEX_URL", "https://me:pw@pypi.example/simple", "https://pypi.example/simple"),
            ("UV_INDEX_URL", "https://token@pypi.example/simple", "https://pypi.example/simple"),
            ("UV_INDEX", "a=https://u:p@one/x https://two/@scope/y", "a=https://one/x https://two/@scope/y"),
            ("HTTPS_PROXY", "http://me:p%40w@proxy:8080", "http://proxy:8080"),
            ("HTTPS_PROXY", "http://me:p@w@proxy:8080", "http://proxy:8080"),
            ("HTTPS_PROXY", "http://me:p/w@proxy:8080/", "http://proxy:8080/"),
            ("https_proxy", "me:pw@proxy:8080", "proxy:8080"),
            ("HTTP_PROXY", "http://proxy:8080", "http://proxy:8080"),
            ("NO_PROXY", "localhost,.example", "localhost,.example"),
            ("GOPROXY", "https://u:p@proxy.example,direct", "https://proxy.example,direct"),
            ("npm_config_registry", "https://u:p@npm.example/@me/", "https://npm.example/@me/"),
            ("PIP_EXTRA_INDEX_URL", "git+ssh://git:pw@example/x", "git+ssh://git@example/x"),
            ("CARGO_REGISTRIES_ME_INDEX", "ssh://git@example/x.git", "ssh://git@example/x.git"),
            ("NODE_OPTIONS", "--require /a/@scope/b.js", "--require /a/@scope/b.js"),
            ("JAVA_TOOL_OPTIONS", "-Dhttp.proxyHost=proxy -Xmx1g", "-Dhttp.proxyHost=proxy -Xmx1g"),
            ("RUSTFLAGS", "-C target-cpu=native", "-C target-cpu=native"),
            ("PATH", "/a/x@1.2/bin:/b", "/a/x@1.2/bin:/b"),
        ] {
            assert_eq!(passed(name, value).as_deref(), Some(expected), "{name}={value}");
        }
    }

    #[test]
    fn environment_variable_with_secret_in_its_value_is_withheld() {
        for (name, value) in [
            ("JAVA_TOOL_OPTIONS", "-Xmx1g -Djavax.net.ssl.keyStorePassword=x"),
            ("MAVEN_OPTS", "-Dhttp.proxyUser=me -Dhttp.proxyPassword=x"),
            ("NIX_CONFIG", "access-tokens = github.com=x"),
            ("NODE_EXTRA", "https://host/?api_key=x"),
        ] {
            assert_eq!(passed(name, value), None, "{name}={value}");
        }
    }

    #[test]
    #[cfg_attr(windows, ignore = "values are no bytes on Windows")]
    fn environment_variable_that_is_not_utf8_is_withheld_except_path() {
        let unreadable = OsString::from_vec(b"http://u:p\xff@host".to_vec());
        assert!(inherited_variables([(OsString::from("HTTP_PROXY"), unreadable)].into_iter()).is_empty());
        let path = OsString::from_vec(b"/b\xff/python@3/bin".to_vec());
        assert_eq!(inherited_variables([(OsString::from("PATH"), path)].into_iter()).len(), 1);
    }
}
