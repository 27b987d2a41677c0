"""Packs built programs into target/packages: an archive, a Python wheel, npm packages, a Debian package, and the bundle and `server.json`
for hosts and registries of MCP servers.

    python3 deploy/package/make.py [archive] [wheel] [npm] [deb] [mcp] [TRIPLE=PROGRAM…]        (just package)

Without a TRIPLE it packs target/dist/lsp-tools, which `just dist` builds. Version and description come from Cargo.toml. maturin, wheel and
cargo-deb are installed below target/package-tools on the first run. Nothing is published.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import archives
import names
import npm
import registry

HERE = Path(__file__).resolve().parent
ROOT = names.ROOT
OUT = ROOT / "target/packages"
TOOLS = ROOT / "target/package-tools"
PROGRAM = ROOT / "target/dist/lsp-tools"
MATURIN = "1.16.0"
WHEEL = "0.48.0"
CARGO_DEB = "3.8.0"
# The tags of wheels for Windows, and for the oldest macOS that Rust supports.
TAGS = {"aarch64-apple-darwin": "macosx_11_0_arm64", "x86_64-apple-darwin": "macosx_10_12_x86_64", "x86_64-pc-windows-gnu": "win_amd64"}
# The file names of completions and the search paths of Debian's shells (Cargo.toml names these files too).
COMPLETIONS = {"bash": "lsp-tools", "zsh": "_lsp-tools", "fish": "lsp-tools.fish"}


def run(command, **options):
    """Runs a command; if it fails, exits after its output."""
    try:
        return subprocess.run([str(word) for word in command], check=True, text=True, **options)
    except FileNotFoundError:
        sys.exit(f"package: {command[0]} is not installed, and is needed to make the packages")
    except subprocess.CalledProcessError as error:
        sys.exit(f"package: this failed with status {error.returncode}: {' '.join(map(str, command))}\n{error.stderr or ''}")


def said(*command):
    return run(command, stdout=subprocess.PIPE).stdout


def epoch():
    """The timestamp of all packed files, in seconds: that of the commit, so that builds are reproducible."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    return int(said("git", "-C", ROOT, "log", "-1", "--format=%ct")) if (ROOT / ".git").exists() else 315532800


def dated():
    """The environment of tools that use the timestamp. It is not for cargo, which recompiles C code if the variable changes."""
    return os.environ | {"SOURCE_DATE_EPOCH": str(epoch())}


def environment_of(name, *requirements):
    """The programs of a Python environment with `requirements`, created on the first run."""
    folder = TOOLS / name
    if not (folder / "complete").exists():
        run([sys.executable, "-m", "venv", "--clear", folder])
        run([folder / "bin/pip", "install", "-q", "--disable-pip-version-check", *requirements])
        (folder / "complete").touch()
    return folder / "bin"


def cargo_deb():
    """The folder of the command `cargo deb`."""
    folder = TOOLS / f"cargo-deb-{CARGO_DEB}"
    if not (folder / "bin/cargo-deb").exists():
        run(["cargo", "install", "-q", "--locked", f"--root={folder}", f"cargo-deb@{CARGO_DEB}"])
    return folder / "bin"


def archive(out, programs):
    """An archive with licences for each program, for install.sh and `cargo binstall`."""
    made = []
    for triple, program in programs.items():
        files = {path.name: (path, False) for path in [*(ROOT / name for name in ["README.md", *npm.LICENCES]), npm.THIRD_PARTY]}
        entries = {f"{names.NAME}/{name}": entry for name, entry in {names.program(triple): (program, True), **files}.items()}
        # Windows can unpack zip archives.
        is_zip = names.for_windows(triple)
        made.append(out / f"{names.NAME}-{triple}.{'zip' if is_zip else 'tar.gz'}")
        if is_zip:
            archives.zipped(made[-1], entries)
        else:
            archives.tar(made[-1], entries, epoch())
    return made


def platform(triple, program):
    """The tag of the wheel: the oldest C library or system that the program supports."""
    cpu = triple.partition("-")[0]
    if triple in TAGS:
        return TAGS[triple]
    if triple.endswith("-musl"):
        return f"musllinux_1_1_{cpu}"
    needed = [int(minor) for minor in re.findall(rb"\0GLIBC_2\.(\d+)", program.read_bytes())]
    return f"manylinux_2_{max(needed, default=17)}_{cpu}"


def wheel(out, programs):
    """A wheel for each program, as a script that pip puts into the environment's `bin`."""
    # Below target, from where pyproject.toml refers to Cargo.toml.
    stage = OUT / "wheel"
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    for path in [HERE / "pyproject.toml", *(ROOT / name for name in npm.LICENCES), npm.THIRD_PARTY]:
        shutil.copy(path, stage)
    # This line proves to the MCP Registry that the package belongs to the entry.
    (stage / "README.md").write_text(f"{(HERE / 'README.md').read_text()}\n<!-- mcp-name: {names.mcp_name()} -->\n")
    tools = environment_of(f"wheel-{MATURIN}-{WHEEL}", f"maturin=={MATURIN}", f"wheel=={WHEEL}")
    made = []
    for triple, program in programs.items():
        content = stage / triple
        run([tools / "maturin", "pep517", "write-dist-info", f"--metadata-directory={content}"], cwd=stage, capture_output=True)
        scripts = content / f"lsp_tools-{names.VERSION}.data/scripts"
        scripts.mkdir(parents=True)
        shutil.copyfile(program, scripts / names.program(triple))
        # File modes must not depend on the umask.
        for path in content.rglob("*"):
            path.chmod(0o755 if path.is_dir() or path.parent == scripts else 0o644)
        tag = f"py3-none-{platform(triple, program)}"
        [about] = content.glob("*.dist-info/WHEEL")
        about.write_text(re.sub(r"^Tag: .*$", f"Tag: {tag}", about.read_text(), flags=re.MULTILINE))
        run([tools / "wheel", "pack", content, f"--dest-dir={out}"], env=dated(), stdout=subprocess.DEVNULL)
        made.append(out / f"lsp_tools-{names.VERSION}-{tag}.whl")
    shutil.rmtree(stage)
    return made


def compiler(field):
    """A field of `rustc -vV`, such as `host` or `release`."""
    return re.search(rf"^{field}: (.*)$", said(os.environ.get("RUSTC", "rustc"), "-vV"), re.MULTILINE)[1]


def mcp(out, programs):
    """A bundle for each kind of processor. A bundle cannot require a C library, so it has the program that needs none, if there is one."""
    alone = {triple.replace("-musl", "-gnu") for triple in programs if triple.endswith("-musl")}
    made = registry.make(out, {triple: program for triple, program in programs.items() if triple not in alone})
    if names.REPOSITORY == names.PLACEHOLDER:
        print("mcp: not for publishing; Cargo.toml has no `repository`, so the bundle's address and the name in the Registry are placeholders")
    return made


def deb(out, programs):
    """The Debian packages; Cargo.toml lists their contents. A program that runs here writes manual pages and completions."""
    here = compiler("host").replace("-gnu", "")
    runs = next((program for triple, program in programs.items() if triple.startswith(here)), None)
    if runs is None:
        print(f"deb: left out, as there is no program for {here} to write its manual pages")
        return []
    for folder in ["man", "completions"]:
        shutil.rmtree(OUT / folder, ignore_errors=True)
        (OUT / folder).mkdir(parents=True)
    run([runs, "--no-daemon", "man", OUT / "man"], stderr=subprocess.DEVNULL)
    for shell, name in COMPLETIONS.items():
        (OUT / "completions" / name).write_text(said(runs, "--no-daemon", "completions", shell))
    # cargo-deb expects programs at cargo's output path.
    stage = OUT / "deb"
    environment = dated() | {"PATH": f"{cargo_deb()}:{os.environ['PATH']}", "CARGO_TARGET_DIR": str(stage)}
    made = []
    # Debian uses glibc.
    for triple, program in ((triple, program) for triple, program in programs.items() if triple.endswith("-linux-gnu")):
        (stage / triple / "dist").mkdir(parents=True, exist_ok=True)
        shutil.copy(program, stage / triple / "dist" / names.NAME)
        command = ["cargo", "deb", "--no-build", "--no-strip", "--profile=dist", "--locked", f"--target={triple}", f"--output={out}/"]
        made.append(Path(run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE).stdout.strip().splitlines()[-1]))
    shutil.rmtree(stage, ignore_errors=True)
    return made


# The maker of each kind, and the file extensions of its output.
MAKERS = {
    "archive": (archive, (".tar.gz", ".zip")),
    "wheel": (wheel, (".whl",)),
    "npm": (npm.make, (".tgz",)),
    "deb": (deb, (".deb",)),
    "mcp": (mcp, (".mcpb",)),
}


def make(out, programs, kinds=()):
    """Makes packages of `kinds`, or of all, and returns their paths."""
    out.mkdir(parents=True, exist_ok=True)
    made = []
    for kind in kinds or MAKERS:
        maker, endings = MAKERS[kind]
        # Removes packages of older versions.
        for old in [path for path in out.iterdir() if path.name.endswith(endings)]:
            old.unlink()
        made += maker(out, programs)
    return made


def main(arguments):
    kinds = [argument for argument in arguments if "=" not in argument]
    given = [argument.partition("=") for argument in arguments if "=" in argument]
    programs = {triple: Path(path).resolve() for triple, _, path in given} or {compiler("host"): PROGRAM}
    for kind in kinds:
        if kind not in MAKERS:
            sys.exit(f"package: there is no package {kind}, only {', '.join(MAKERS)}")
    for triple, program in programs.items():
        npm.machine(triple, program)
    for made in make(OUT, programs, kinds):
        print(f"{made.relative_to(ROOT)}  {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
