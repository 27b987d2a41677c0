//! The built-in rule for rust-analyzer, compared with a project's ways to influence the tools that
//! rust-analyzer runs.

use lsp_tools::internals::config::{Catalogue, UntrustedLaunch};

fn rule() -> &'static UntrustedLaunch {
    Catalogue::built_in().servers["rust-analyzer"].untrusted.as_ref().expect("a rule")
}

/// Returns true if an untrusted start is refused when `file` contains `text`.
fn refused(file: &str, text: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    rule().refused_with.iter().any(|sign| sign.found_in(folder.path()).is_some())
}

#[test]
fn untrusted_cargo_config_not_overridable_refuses_rust_analyzer() {
    for (file, text) in [
        (".cargo/config.toml", "[env]\nLD_PRELOAD = { value = 'evil.so', force = true }"),
        (".cargo/config.toml", "include = '../other.toml'"),
        (".cargo/config.toml", "[unstable]\ncodegen-backend = true"),
        (".cargo/config.toml", "[registry]\ncredential-provider = ['./evil']"),
        (
            ".cargo/config.toml",
            "[registries.mine]\nindex = 'sparse+https://x/'\ncredential-provider = ['./evil']",
        ),
        (".cargo/config.toml", "[credential-alias]\nevil = ['./evil']"),
        (".cargo/config.toml", "this is [not TOML"),
        (".cargo/config", "[env]\nA = 'b'"),
        ("rust-toolchain.toml", "[toolchain]\npath = 'tools'"),
        ("rust-toolchain", "[toolchain]\npath = 'tools'"),
        ("rust-toolchain", "./tools\n"),
        ("rust-analyzer.toml", "[check]\noverrideCommand = ['./evil']"),
        ("rust-project.json", "{\"sysroot\": \"tools\"}"),
        (".rust-project.json", "{}"),
        ("Cargo.toml", "[package]\nname = 'x'\nworkspace = 'hidden'"),
    ] {
        assert!(refused(file, text), "{file}: {text}");
    }
}

#[test]
fn untrusted_cargo_config_overridable_allows_rust_analyzer() {
    for (file, text) in [
        (
            ".cargo/config.toml",
            "[build]\nrustc = './evil'\nrustc-wrapper = './evil'\nrustflags = ['-Clinker=./evil']",
        ),
        (".cargo/config.toml", "[target.x86_64-unknown-linux-gnu]\nrunner = './evil'\nlinker = './evil'"),
        (".cargo/config.toml", "[alias]\nxtask = 'run -p xtask --'\n[net]\ngit-fetch-with-cli = true"),
        ("rust-toolchain.toml", "[toolchain]\nchannel = 'nightly'\ncomponents = ['rustfmt']"),
        ("rust-toolchain", "1.91.0\n"),
        ("Cargo.toml", "[workspace]\nmembers = ['a']\n[package]\nname = 'x'\nbuild = 'build.rs'"),
    ] {
        assert!(!refused(file, text), "{file}: {text}");
    }
}
