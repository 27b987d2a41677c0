//! Known failures of package managers: the text that shows one, the cause, and the remedy.

/// One failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KnownFailure {
    /// Texts that all occur in one line of the output.
    signs: &'static [&'static str],
    /// The cause.
    pub(super) cause: &'static str,
    /// The remedy.
    pub(super) remedy: &'static str,
}

const fn failure(signs: &'static [&'static str], cause: &'static str, remedy: &'static str) -> KnownFailure {
    KnownFailure { signs, cause, remedy }
}

const NO_TOOLCHAIN: &str = "rustup has no default toolchain";
const DEFAULT_STABLE: &str = "run: rustup default stable";
const NO_VENV: &str = "this Python has no module venv, or no ensurepip";
const INSTALL_VENV: &str = "Debian, Ubuntu: apt install python3-venv";
const NO_NODE: &str = "npm is installed, but Node.js is not on PATH";
const INSTALL_NODE: &str = "install Node.js 18 or later (https://nodejs.org), or put its folder on PATH";
const UNREACHABLE: &str = "the registry could not be reached";
const CHECK_NETWORK: &str = "check the network, and a proxy in the settings of the package manager";
const UNTRUSTED: &str = "the certificate of the registry is not trusted here";
const GIVE_CERTIFICATE: &str =
    "name the file of your certificates in SSL_CERT_FILE, PIP_CERT or NODE_EXTRA_CA_CERTS";
const FULL: &str = "the disk is full";
const MAKE_ROOM: &str = "free some space, and install it again";
const NO_COMPILER: &str = "there is no C compiler, or headers are missing";
const INSTALL_COMPILER: &str = "Debian, Ubuntu: apt install build-essential, and ruby-dev for gems";
const OLD_RUST: &str = "this Rust is too old";
const OLD_GO: &str = "this Go is too old, and a newer one could not be fetched";
const OLD_RUBY: &str = "this Ruby is too old";
const NO_SDK: &str = "the .NET SDK is missing";
const NO_VERSION: &str = "the registry has no such version";
const GIVE_VERSION: &str = "give one that it has, or mend what the project asks for";
const NO_KEYRING: &str = "the keys of Debian's archive are missing";

/// The failures, by the English messages of the programs.
const KNOWN: &[KnownFailure] = &[
    failure(&["no default is configured"], NO_TOOLCHAIN, DEFAULT_STABLE),
    failure(&["no default toolchain configured"], NO_TOOLCHAIN, DEFAULT_STABLE),
    failure(&["no active toolchain"], NO_TOOLCHAIN, DEFAULT_STABLE),
    failure(&["ensurepip is not available"], NO_VENV, INSTALL_VENV),
    failure(&["No module named venv"], NO_VENV, INSTALL_VENV),
    failure(&["No module named ensurepip"], NO_VENV, INSTALL_VENV),
    failure(&["env: ", "node", "No such file or directory"], NO_NODE, INSTALL_NODE),
    failure(&["npm does not support Node.js"], "this Node.js is too old for its npm", INSTALL_NODE),
    failure(&["ENOTFOUND"], UNREACHABLE, CHECK_NETWORK),
    failure(&["EAI_AGAIN"], UNREACHABLE, CHECK_NETWORK),
    failure(&["ECONNREFUSED"], UNREACHABLE, CHECK_NETWORK),
    failure(&["ETIMEDOUT"], UNREACHABLE, CHECK_NETWORK),
    failure(&["Temporary failure in name resolution"], UNREACHABLE, CHECK_NETWORK),
    failure(&["Temporary failure resolving"], UNREACHABLE, CHECK_NETWORK),
    failure(&["Name or service not known"], UNREACHABLE, CHECK_NETWORK),
    failure(&["Could not resolve host"], UNREACHABLE, CHECK_NETWORK),
    failure(&["Failed to establish a new connection"], UNREACHABLE, CHECK_NETWORK),
    failure(&["dial tcp"], UNREACHABLE, CHECK_NETWORK),
    failure(&["CERTIFICATE_VERIFY_FAILED"], UNTRUSTED, GIVE_CERTIFICATE),
    failure(&["SELF_SIGNED_CERT"], UNTRUSTED, GIVE_CERTIFICATE),
    failure(&["local issuer certificate"], UNTRUSTED, GIVE_CERTIFICATE),
    failure(&["x509: certificate"], UNTRUSTED, GIVE_CERTIFICATE),
    failure(&["No space left on device"], FULL, MAKE_ROOM),
    failure(&["ENOSPC"], FULL, MAKE_ROOM),
    failure(&["linker `cc` not found"], NO_COMPILER, INSTALL_COMPILER),
    failure(&["C compiler", "not found"], NO_COMPILER, INSTALL_COMPILER),
    failure(&["mkmf.rb can't find header files"], NO_COMPILER, INSTALL_COMPILER),
    failure(&["requires rustc"], OLD_RUST, "run: rustup update stable"),
    failure(&["requires go >= "], OLD_GO, "install a newer Go (https://go.dev/dl)"),
    failure(&["toolchain not available"], OLD_GO, "install a newer Go (https://go.dev/dl)"),
    failure(&["requires Ruby version"], OLD_RUBY, "install a newer Ruby (https://www.ruby-lang.org)"),
    failure(&["No .NET SDKs were found"], NO_SDK, "install it (https://dotnet.microsoft.com/download)"),
    failure(&["ETARGET"], NO_VERSION, GIVE_VERSION),
    failure(&["NO_PUBKEY"], NO_KEYRING, "run: apt install debian-archive-keyring"),
];

impl KnownFailure {
    /// Returns the failure that one line of a program's output shows.
    pub(super) fn in_line(line: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|known| known.signs.iter().all(|sign| line.contains(sign)))
    }
}

/// Removes stack traces from `lines`.
pub(super) fn without_traces(lines: Vec<String>) -> Vec<String> {
    let mut in_trace = false;
    let mut lines = lines;
    lines.retain(|line| {
        let is_indented = line.starts_with(char::is_whitespace);
        in_trace = in_trace && is_indented;
        let words = line.trim_start();
        let is_call = is_indented && (words.starts_with("at ") || words.starts_with("from "));
        let is_head = line.to_lowercase().contains("backtrace:") || words.starts_with("Traceback (");
        in_trace |= is_head;
        !(is_head || is_call || in_trace && is_indented)
    });
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_of_package_managers_names_cause_and_remedy() {
        for (line, cause, remedy) in [
            (
                "error: rustup could not choose a version of rustup to run, because one wasn't specified explicitly, and no default \
                 is configured.",
                NO_TOOLCHAIN,
                DEFAULT_STABLE,
            ),
            ("/usr/bin/env: 'node': No such file or directory", NO_NODE, INSTALL_NODE),
            ("npm error code ENOTFOUND", UNREACHABLE, CHECK_NETWORK),
            ("npm error code ETARGET", NO_VERSION, GIVE_VERSION),
            ("proxy.golang.org: dial tcp: lookup proxy.golang.org: no such host", UNREACHABLE, CHECK_NETWORK),
            (
                "note: golang.org/x/tools/gopls@v0.24.0 requires go >= 1.26 (running go 1.19.8)",
                OLD_GO,
                "install a newer Go (https://go.dev/dl)",
            ),
            (
                "mkmf.rb can't find header files for ruby at /usr/lib/ruby/include/ruby.h",
                NO_COMPILER,
                INSTALL_COMPILER,
            ),
        ] {
            let known = KnownFailure::in_line(line).map(|known| (known.cause, known.remedy));
            assert_eq!(known, Some((cause, remedy)), "{line}");
        }
        assert_eq!(KnownFailure::in_line("ERROR: No matching distribution found for ruff==1"), None);
    }

    #[test]
    fn traces_of_calls_are_left_out_of_the_output() {
        let left = |text: &str| without_traces(text.lines().map(str::to_owned).collect()).join("\n");
        let rust = "error: no\nhelp: yes\n\nStack backtrace:\n   0: anyhow::error\n  13: main\n             at ./csu/x.h:58:16";
        assert_eq!(left(rust), "error: no\nhelp: yes\n");
        let python =
            "Traceback (most recent call last):\n  File \"x\", line 1, in y\n    z()\nOSError: no\nbye";
        assert_eq!(left(python), "OSError: no\nbye");
        let node = "Error: no\n    at Module._compile (node:internal:1)\n  code: 1";
        assert_eq!(left(node), "Error: no\n  code: 1");
        assert_eq!(left("x.rb:1: no (Gem::Error)\n\tfrom x.rb:2:in `y'"), "x.rb:1: no (Gem::Error)");
    }
}
