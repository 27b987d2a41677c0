"""Installs each package of target/packages into an empty environment and tries the program there.

    python3 deploy/package/check.py [wheel] [npm] [deb] [mcp]        (just package-check)

Of the machine, only system programs are used: the home folder is empty and there are no settings. In each environment, the program
prints its version, finds a word, returns its exit status, and runs the README's first command, with the README's output. That command
installs a language server, so it needs the network.
"""

import difflib
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import make
import names
import registry

HERE = Path(__file__).resolve().parent
ROOT = names.ROOT
OUT = ROOT / "target/packages"
CARGO = names.CARGO
LICENCES = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"]
# Variables of a user's settings. Others, such as a proxy's, belong to the machine.
SETTINGS = re.compile(r"^(XDG_|GIT_|PYTHON|NODE_|CARGO|RUST|LSP_TOOLS|VIRTUAL_ENV)")
# The time limit of a server's installation on a slow connection, in seconds.
PATIENCE = 600


class Wrong(Exception):
    """A package's deviation from the expected behaviour."""


def claim(holds, what):
    if not holds:
        raise Wrong(what)


def same(what, expected, found):
    """Fails with the difference between two texts."""
    if expected != found:
        lines = difflib.unified_diff(expected.splitlines(), found.splitlines(), "expected", "found", lineterm="")
        raise Wrong(f"{what} differs:\n" + "\n".join(lines))


def first_command():
    """The arguments of the README's first command, and its output."""
    found = re.search(r"```sh\ncargo run -- ([^\n]*)\n```.*?```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    if not found:
        sys.exit("package-check: README.md has no command `cargo run -- …` with its output below; adapt check.py to its first command")
    return found[1].split(), found[2]


@contextmanager
def empty_place():
    """A folder with an empty home and the README's example project, and the environment for commands there."""
    with tempfile.TemporaryDirectory(prefix="lsp-tools-package-") as name:
        place = Path(name)
        for folder in ["home", "run", "environment"]:
            (place / folder).mkdir(mode=0o700)
        shutil.copytree(ROOT / "fixtures/python", place / "project/fixtures/python")
        environment = {key: value for key, value in os.environ.items() if not SETTINGS.match(key)}
        own = {"HOME": str(place / "home"), "XDG_RUNTIME_DIR": str(place / "run"), "LANG": "C.UTF-8"}
        # Disables npm's update check.
        yield place, environment | own | {"npm_config_update_notifier": "false"}


def run(command, folder, environment, status=0):
    """The output of a command, which must end with `status`."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE)
    claim(done.returncode == status, f"{' '.join(words)}: status {done.returncode} instead of {status}\n{done.stdout}{done.stderr}")
    return done.stdout


def try_program(command, place, environment):
    """Runs the program, started by `command`, on the project."""
    project = place / "project"

    def said(*words, status=0):
        return run([*command, *words], project, environment, status)

    same("the version", f"lsp-tools {CARGO['version']}\n", said("--version"))
    hit = said("grep", "def compose", "fixtures/python")
    claim(re.fullmatch(r"fixtures/python/greet/\w+\.py:\d+:def compose\(.*\n", hit), f"grep answers: {hit!r}")
    same("the answer to grep for nothing", "", said("grep", "no such text as this", "fixtures/python", status=1))
    words, output = first_command()
    try:
        same(f"the README's first command, {' '.join(words)}", output, said(*words))
    finally:
        # The daemon outlives its command, but not its folders.
        said("daemon", "stop", "--all")


def only(pattern):
    found = sorted(OUT.glob(pattern))
    claim(len(found) == 1, f"target/packages has {len(found)} files {pattern} instead of one; rebuild them with: just package")
    return found[0]


def check_wheel():
    made = only("*.whl")
    with empty_place() as (place, environment):
        venv = place / "environment"
        run([sys.executable, "-m", "venv", venv], place, environment)
        run([venv / "bin/python", "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check", made], place, environment)
        [metadata] = venv.glob("lib/python*/site-packages/lsp_tools-*.dist-info/METADATA")
        text = metadata.read_text()
        for line in [f"Version: {CARGO['version']}", f"Summary: {CARGO['description']}", f"License-Expression: {CARGO['license']}"]:
            claim(f"\n{line}\n" in text, f"the wheel's metadata has no line {line!r}:\n{text[:2000]}")
        for name in LICENCES:
            claim((metadata.parent / "licenses" / name).is_file(), f"the wheel has no {name}")
        claim(f"mcp-name: {names.mcp_name()} " in text, "the wheel's description does not name its entry in the MCP Registry")
        try_program([venv / "bin/lsp-tools"], place, environment)
        run([venv / "bin/python", "-m", "pip", "uninstall", "-y", names.PYPI], place, environment)
        claim(not (venv / "bin/lsp-tools").exists(), "pip uninstall left the program")


def check_npm():
    tarballs = sorted(OUT.glob("*.tgz"))
    claim(len(tarballs) >= 2, "target/packages lacks npm packages; rebuild them with: just package")
    with empty_place() as (place, environment):
        folder = place / "environment"
        # Without a package.json in the folder, npm fails at packages that depend on each other.
        (folder / "package.json").write_text('{"private": true}\n')
        quiet = ["--offline", "--no-audit", "--no-fund", "--loglevel=error"]
        run(["npm", "install", *quiet, *tarballs], folder, environment)
        packages = folder / "node_modules"
        [program] = packages.glob(f"{names.NPM_SCOPE}/*/bin/lsp-tools")
        for name in LICENCES:
            claim((program.parent.parent / name).is_file(), f"the npm package with the program has no {name}")
        # From its own folder, as users call it.
        same("npx", f"lsp-tools {CARGO['version']}\n", run(["npx", "--offline", names.NPM, "--version"], folder, environment))
        try_program([packages / ".bin/lsp-tools"], place, environment)


def check_deb():
    made = only("*.deb")
    with empty_place() as (place, environment):
        root = place / "environment"
        for folder in ["info", "updates", "triggers"]:
            (root / "var/lib/dpkg" / folder).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        if os.geteuid() == 0:
            # Its dependencies are not in that root and not needed there.
            run(["dpkg", f"--root={root}", "--force-depends", "--install", made], place, environment)
            state = run(["dpkg-query", f"--admindir={root / 'var/lib/dpkg'}", "-W", "-f=${Status} ${Version}", names.DEBIAN], place, environment)
            same("dpkg's status", f"install ok installed {CARGO['version']}-1", state)
        else:
            print("deb: only unpacked, as dpkg installs only as root", flush=True)
            run(["dpkg", "-x", made, root], place, environment)
        for name in LICENCES:
            there = [root / "usr/share/doc/lsp-tools" / f"{name}{end}" for end in ["", ".gz"]]
            claim(any(path.is_file() for path in there), f"the Debian package has no {name}")
        copyright_text = (root / "usr/share/doc/lsp-tools/copyright").read_text()
        claim("MIT" in copyright_text and "Apache" in copyright_text, f"its copyright file names no licence:\n{copyright_text}")
        pages = sorted(page.name for page in (root / "usr/share/man/man1").iterdir())
        claim("lsp-tools.1.gz" in pages and "lsp-tools-hover.1.gz" in pages, f"manual pages are missing: {pages}")
        claim(b"lsp-tools" in gzip.decompress((root / "usr/share/man/man1/lsp-tools.1.gz").read_bytes()), "the manual page is empty")
        script = root / "usr/share/bash-completion/completions/lsp-tools"
        claim("lsp-tools" in run(["bash", "-c", 'source "$0" && complete -p lsp-tools', script], place, environment), "bash does not complete")
        for path in ["usr/share/zsh/vendor-completions/_lsp-tools", "usr/share/fish/vendor_completions.d/lsp-tools.fish"]:
            claim((root / path).stat().st_size > 1000, f"{path} is empty")
        try_program([root / "usr/bin/lsp-tools"], place, environment)
        if os.geteuid() == 0:
            run(["dpkg", f"--root={root}", "--purge", names.DEBIAN], place, environment)
            left = [str(path) for path in (root / "usr").rglob("*")] if (root / "usr").exists() else []
            claim(not left, f"dpkg --purge has left {left}")


def check_mcp():
    """Starts the bundle as a host does, and compares its hash in `server.json`."""
    made = only("*.mcpb")
    registry.check(OUT)
    entry = json.loads((OUT / "server.json").read_text())
    [listed] = [package for package in entry["packages"] if package["registryType"] == "mcpb"]
    claim(listed["identifier"] == names.released(made.name), f"server.json has another bundle: {listed['identifier']}")
    same("the bundle's hash", hashlib.sha256(made.read_bytes()).hexdigest(), listed["fileSha256"])
    with empty_place() as (place, environment):
        folder = place / "environment/bundle"
        run([registry.mcpb(), "unpack", made, folder], place, environment)
        server = json.loads((folder / "manifest.json").read_text())["server"]["mcp_config"]
        given = {"${__dirname}": str(folder), "${user_config.workspace}": str(place / "project")}
        words = [server["command"], *server["args"]]
        for name, value in given.items():
            words = [word.replace(name, value) for word in words]
        try:
            tools = listed_tools(words, place, environment)
        finally:
            run([words[0], "daemon", "stop", "--all"], place, environment)
        claim({"lsp_hover", "lsp_references", "lsp_diagnostics"} <= tools, f"tools/list answers {sorted(tools)}")


def listed_tools(command, place, environment):
    """The names of an MCP server's tools."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "package-check", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(command, cwd=place, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        # A server that does not answer is killed, which also ends its output.
        end = threading.Timer(PATIENCE, server.kill)
        end.start()
        try:
            server.stdin.writelines(json.dumps(message) + "\n" for message in messages)
            server.stdin.flush()
            answers = map(json.loads, server.stdout)
            answer = next((answer for answer in answers if answer.get("id") == 2), None)
            claim(answer is not None and "result" in answer, f"the server in the bundle does not answer tools/list: {answer}")
            server.stdin.close()
            claim(server.wait() == 0, f"the server in the bundle ends with status {server.returncode}")
        finally:
            end.cancel()
            server.kill()
    return {tool["name"] for tool in answer["result"]["tools"]}


def check_archive():
    """Checks that the archive has the layout that Cargo.toml declares for cargo binstall."""
    told = CARGO["metadata"]["binstall"]
    host = make.compiler("host")
    fill = {"{ name }": CARGO["name"], "{ bin }": CARGO["name"], "{ version }": CARGO["version"], "{ target }": host, "{ binary-ext }": ""}
    url, inside = told["pkg-url"], told["bin-dir"]
    for key, value in fill.items():
        url, inside = url.replace(key, value), inside.replace(key, value)
    archive = OUT / url.rpartition("/")[2]
    claim(archive.is_file(), f"there is no {archive}; make it with: just package")
    with tarfile.open(archive) as opened:
        claim(inside in opened.getnames(), f"{archive.name} has no {inside}, only {opened.getnames()}")


CHECKS = {"archive": check_archive, "wheel": check_wheel, "npm": check_npm, "deb": check_deb, "mcp": check_mcp}


def main(kinds):
    for kind in kinds:
        if kind not in CHECKS:
            sys.exit(f"package-check: there is no package {kind}, only {', '.join(CHECKS)}")
    failed = False
    for kind in kinds or CHECKS:
        try:
            CHECKS[kind]()
            print(f"{kind}: passed", flush=True)
        except (Wrong, OSError, subprocess.TimeoutExpired) as error:
            failed = True
            print(f"{kind}: {error}", file=sys.stderr, flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main(sys.argv[1:])
