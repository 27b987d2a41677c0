"""The names under which the program is packed and registered, for scripts of packages, plugins and registries.

Version, description, licence, keywords and repository address come from Cargo.toml.
"""

import tomllib
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent.parent
CARGO = tomllib.loads((ROOT / "Cargo.toml").read_text())["package"]
NAME, VERSION, DESCRIPTION, LICENSE = CARGO["name"], CARGO["version"], CARGO["description"], CARGO["license"]
KEYWORDS = CARGO["keywords"]
OWNER = "The lsp-tools contributors"
TITLE = "lsp-tools"

PYPI = "lsp-tools"
NPM = "lsp-tools"
# The scope of the npm packages with the program for one kind of machine.
NPM_SCOPE = "@lsp-tools"
DEBIAN = "lsp-tools"
MARKETPLACE = "lsp-tools"

# The reserved host (RFC 2606) stands for the address until Cargo.toml has the key `repository`.
PLACEHOLDER = "https://lsp-tools.example/lsp-tools/lsp-tools"
REPOSITORY = CARGO.get("repository", PLACEHOLDER)


def mcp_name(repository=REPOSITORY):
    """The name in the MCP Registry. Its namespace must belong to the publisher: an account on a code host, or a domain."""
    address = urlsplit(repository)
    account = address.path.split("/")[1]
    namespaces = {"github.com": f"io.github.{account}", "gitlab.com": f"com.gitlab.{account}"}
    return f"{namespaces.get(address.hostname) or '.'.join(reversed(address.hostname.split('.')))}/{NAME}"


def for_windows(triple):
    return "-windows-" in triple


def program(triple):
    """The file name of the program for a kind of machine."""
    return f"{NAME}.exe" if for_windows(triple) else NAME


def bundle(machine):
    """The file name of the MCP bundle for one kind of machine, such as linux-x64."""
    return f"{NAME}-{VERSION}-{machine}.mcpb"


def released(file):
    """The address of a file of this version's release, matching `[package.metadata.binstall]`."""
    return f"{REPOSITORY}/releases/download/v{VERSION}/{file}"
