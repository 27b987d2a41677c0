//! The confinement of commands that agents run, and its gaps on this machine.

use super::error::{ErrorCode, ToolError};
use crate::config::{BashSettings, CacheSharing, NetworkAccess, SandboxMode};
use crate::process::Spawner;
use crate::process::sandbox::{self, Enforced, SandboxUnavailable};

/// The confinement of commands under the settings in force, for reports on the installation.
pub(crate) fn enforced_confinement(
    settings: &BashSettings,
    spawner: &Spawner,
) -> Result<Enforced, ToolError> {
    let status = sandbox::status();
    let able = match spawner.supervisor() {
        Some(_) => status.files,
        // A lack of the system is reported first: a binary would not help.
        None => status.files.and(Err(SandboxUnavailable::NoBinary)),
    };
    decide_confinement(settings, able, status.tcp)
}

/// The actions that are not prevented here although other machines prevent them, one sentence each.
pub(crate) async fn confinement_gaps(settings: &BashSettings, spawner: &Spawner) -> Vec<String> {
    if !matches!(enforced_confinement(settings, spawner), Ok(Enforced::Landlock)) {
        let what = "commands can stop, read and impersonate all your processes, lsp-tools included, so no rule for agents is enforced; they can also write your caches, including programs there";
        return vec![what.to_owned()];
    }
    let status = sandbox::status();
    let own_processes = sandbox::supports_pid_namespace(spawner).await;
    gaps_of(settings.caches, &status, own_processes)
}

fn gaps_of(caches: CacheSharing, status: &sandbox::SandboxSupport, own_processes: bool) -> Vec<String> {
    let mut gaps = Vec::new();
    if caches == CacheSharing::Shared {
        gaps.push(
            "commands write your package caches (`bash.caches` is `shared`), and your other programs run code from there"
                .to_owned(),
        );
    }
    if !status.tcp {
        gaps.push(
            "commands cannot be denied TCP (`bash.network`): this requires Linux 6.7 (Landlock 4)".to_owned(),
        );
    }
    if !status.signals {
        gaps.push(
            "commands can connect to abstract Unix sockets and signal your processes outside, including their supervisor, without which they count as your own processes: Linux 6.12 (Landlock 6) prevents this"
                .to_owned(),
        );
    }
    if !own_processes {
        gaps.push(
            "commands see your processes outside and can change their priorities and limits, and endless forks are ended in rounds, not at once: separate processes require the capability to mount (CAP_SYS_ADMIN)"
                .to_owned(),
        );
    }
    gaps
}

/// The confinement that the settings select, given the abilities of this machine: `able` for files,
/// and `tcp` for connections.
fn decide_confinement(
    settings: &BashSettings,
    able: Result<(), SandboxUnavailable>,
    tcp: bool,
) -> Result<Enforced, ToolError> {
    let no_tcp = settings.network == NetworkAccess::NoTcp;
    match (settings.sandbox, able) {
        (SandboxMode::Off, _) if no_tcp => Err(refused_error(
            "`network = \"no-tcp\"` requires the sandbox, which `sandbox = \"off\"` disables",
            "change one of the two under [bash] in lsp-tools.toml",
        )),
        (SandboxMode::Off, _) => Ok(Enforced::None),
        (_, Ok(())) if no_tcp && !tcp => Err(refused_error(
            "the settings deny TCP to commands, but this kernel cannot enforce it (Linux 6.7 can)",
            "put `network = \"open\"` under [bash] in lsp-tools.toml to run commands without that",
        )),
        (_, Ok(())) => Ok(Enforced::Landlock),
        (SandboxMode::Auto, Err(_)) if !no_tcp => Ok(Enforced::None),
        (_, Err(reason)) => Err(refused_error(
            &format!("the settings require the sandbox, which is not available: {reason}"),
            "put `sandbox = \"auto\"` and `network = \"open\"` under [bash] in lsp-tools.toml to run commands without it",
        )),
    }
}

fn refused_error(what: &str, hint: &str) -> ToolError {
    ToolError::new(ErrorCode::Denied, format!("the command was not run: {what}")).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A required but unavailable confinement is an error, never silently omitted.
    #[test]
    fn sandbox_settings_decide_enforcement_or_refusal() {
        use Enforced::{Landlock, None as Nothing};
        let kernel = || Err(SandboxUnavailable::Kernel);
        for (sandbox, network, able, tcp, wanted) in [
            (SandboxMode::Auto, NetworkAccess::Open, Ok(()), true, Some(Landlock)),
            (SandboxMode::Auto, NetworkAccess::Open, kernel(), false, Some(Nothing)),
            (SandboxMode::Auto, NetworkAccess::NoTcp, Ok(()), true, Some(Landlock)),
            (SandboxMode::Auto, NetworkAccess::NoTcp, Ok(()), false, None),
            (SandboxMode::Auto, NetworkAccess::NoTcp, kernel(), false, None),
            (SandboxMode::Required, NetworkAccess::Open, Ok(()), false, Some(Landlock)),
            (SandboxMode::Required, NetworkAccess::Open, kernel(), false, None),
            (SandboxMode::Required, NetworkAccess::Open, Err(SandboxUnavailable::NoBinary), true, None),
            (SandboxMode::Off, NetworkAccess::Open, Ok(()), true, Some(Nothing)),
            (SandboxMode::Off, NetworkAccess::NoTcp, Ok(()), true, None),
        ] {
            let settings = BashSettings { sandbox, network, ..BashSettings::default() };
            let what = format!("{sandbox:?} {network:?} {able:?} {tcp}");
            match (decide_confinement(&settings, able, tcp), wanted) {
                (Ok(enforced), Some(wanted)) => assert_eq!(enforced, wanted, "{what}"),
                (Err(error), None) => {
                    assert!(error.code == ErrorCode::Denied && error.hint.is_some(), "{what}");
                }
                (other, _) => panic!("{what}: {other:?}"),
            }
        }
    }

    #[test]
    fn sandbox_gaps_name_each_missing_kernel_feature() {
        let status = |tcp, signals| sandbox::SandboxSupport { files: Ok(()), tcp, signals };
        assert!(gaps_of(CacheSharing::Private, &status(true, true), true).is_empty());
        assert!(gaps_of(CacheSharing::Private, &status(false, true), true)[0].contains("TCP"));
        assert!(gaps_of(CacheSharing::Private, &status(true, false), true)[0].contains("signal"));
        assert!(gaps_of(CacheSharing::Private, &status(true, true), false)[0].contains("CAP_SYS_ADMIN"));
        assert!(gaps_of(CacheSharing::Shared, &status(true, true), true)[0].contains("bash.caches"));
        assert_eq!(gaps_of(CacheSharing::Private, &status(false, false), false).len(), 3);
    }
}
