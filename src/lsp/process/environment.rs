//! Which of our environment variables a server gets.

use std::ffi::OsString;

/// Names passed on, and, ending in `*`, starts of names.
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
    "CARGO_*",
    "RUSTUP_*",
    "RUSTC*",
    "RUSTFLAGS",
    "RUST_*",
    "GO*",
    "CGO_*",
    "JAVA_*",
    "JDK_*",
    "GRADLE_*",
    "MAVEN_*",
    "M2_*",
    "NODE_*",
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

/// Parts of names that tell a secret, whatever family the name is of.
const SECRET: &[&str] =
    &["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "APIKEY", "API_KEY", "_KEY", "_AUTH"];

/// The variables of `all` that a server gets: where programs and toolchains are found and how they speak, nothing that
/// looks like a secret.
pub fn inherited(all: impl Iterator<Item = (OsString, OsString)>) -> Vec<(OsString, OsString)> {
    all.filter(|(name, _)| name.to_str().is_some_and(is_passed)).collect()
}

fn is_passed(name: &str) -> bool {
    let listed = PASSED.iter().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == *known,
    });
    let upper = name.to_ascii_uppercase();
    listed && !SECRET.iter().any(|part| upper.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toolchains_pass_and_secrets_stay() {
        for name in ["PATH", "LC_ALL", "GOPATH", "VIRTUAL_ENV", "CARGO_HOME", "PKG_CONFIG_PATH"] {
            assert!(is_passed(name), "{name}");
        }
        for name in [
            "GITHUB_TOKEN",
            "CARGO_REGISTRY_TOKEN",
            "NPM_AUTH",
            "NODE_AUTH_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "FOO",
        ] {
            assert!(!is_passed(name), "{name}");
        }
    }
}
