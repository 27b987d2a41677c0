//! The chain of mounts, which keeps a server from mounting itself.
//!
//! A mounted server can be this program, on a workspace that mounts it as well. Each process
//! started for a mount receives the keys of the mounts above it, and starts none of them again.

use sha2::{Digest, Sha256};

use crate::config::{Mount, MountTransport};

/// The variable with the keys of the chain, separated by `:`.
pub(super) const VARIABLE: &str = "LSP_TOOLS_MOUNTED_BY";
/// The limit on the depth of nested mounts.
const MAX_MOUNT_CHAIN_DEPTH: usize = 8;

/// The mounts that led to this process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Chain(Vec<String>);

impl Chain {
    /// Reads the chain of this process.
    pub(super) fn from_environment() -> Self {
        std::env::var(VARIABLE).map_or_else(|_| Self::default(), |value| Self::read(&value))
    }

    fn read(value: &str) -> Self {
        Self(value.split(':').filter(|key| !key.is_empty()).map(str::to_owned).collect())
    }

    /// Returns the chain for a process of `mount` in the workspace `root`. Returns `None` if the
    /// process would be started by itself.
    pub(super) fn with(&self, mount: &Mount, root: &std::path::Path) -> Option<String> {
        let key = mount_key(mount, root);
        if self.0.contains(&key) || self.0.len() >= MAX_MOUNT_CHAIN_DEPTH {
            return None;
        }
        Some(self.0.iter().cloned().chain([key]).collect::<Vec<_>>().join(":"))
    }
}

/// The key of a mount: equal for the same program in the same workspace, independent of its name.
fn mount_key(mount: &Mount, root: &std::path::Path) -> String {
    let mut hasher = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(bytes.len().to_le_bytes());
        hasher.update(bytes);
    };
    part(root.as_os_str().as_encoded_bytes());
    if let MountTransport::Stdio { command, args, cwd, .. } = &mount.transport {
        part(command.as_bytes());
        args.iter().for_each(|word| part(word.as_bytes()));
        part(cwd.as_ref().map_or(&[][..], |cwd| cwd.as_os_str().as_encoded_bytes()));
    }
    hasher.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::config::{MountOrigin, MountedTools};

    fn mount(name: &str, command: &str) -> Mount {
        let (args, env) = (vec!["mcp".to_owned()], std::collections::BTreeMap::new());
        Mount {
            name: name.to_owned(),
            transport: MountTransport::Stdio { command: command.to_owned(), args, env, cwd: None },
            tools: MountedTools::All,
            timeout: Duration::from_secs(1),
            origin: MountOrigin::User,
            file: "lsp-tools.toml".to_owned(),
        }
    }

    #[test]
    fn mount_chain_refuses_recursion_and_excessive_depth() {
        let (a, b) = (Path::new("/a"), Path::new("/b"));
        let first = Chain::default().with(&mount("m", "lsp-tools"), a).unwrap();
        let below = Chain::read(&first);
        assert_eq!(below.with(&mount("other", "lsp-tools"), a), None, "under another name it is the same");
        assert!(below.with(&mount("m", "other"), a).is_some());
        let second = below.with(&mount("m", "lsp-tools"), b).unwrap();
        assert_eq!(
            Chain::read(&second).with(&mount("m", "lsp-tools"), a),
            None,
            "by way of another workspace"
        );
        let mut chain = Chain::default();
        for number in 0..MAX_MOUNT_CHAIN_DEPTH {
            chain = Chain::read(&chain.with(&mount("m", &number.to_string()), a).unwrap());
        }
        assert_eq!(chain.with(&mount("m", "one more"), a), None);
    }
}
