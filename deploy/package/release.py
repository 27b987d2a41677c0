"""Makes all files of a release in target/release-files: programs for several kinds of machine, their packages, notes, a bill of materials,
the install script, and hashes of all these.

    python3 deploy/package/release.py [TRIPLE…]        (just release-files)

cargo-zigbuild cross-compiles: zig provides a C compiler, a linker and the C libraries. For Windows, mingw-w64 provides them, from the packages
gcc-mingw-w64-x86-64 and g++-mingw-w64-x86-64. Rust's standard library is also built, from the toolchain's component `rust-src`, so that no
toolchain for a target is needed. Builds are reproducible, independent of folder and time. Nothing is published. Programs for macOS are built
but never run here. RUSTC names another rustc than the one on PATH.
"""

import hashlib
import os
import shutil
import sys
from pathlib import Path

import frameworks
import macho
import make
import names
import release_notes
import sbom

sys.path.insert(0, str(names.ROOT / "deploy"))
import third_party

ROOT = names.ROOT
OUT = ROOT / "target/release-files"
ZIG = "0.17.1"
ZIGBUILD = "0.24.1"
# The oldest supported glibc, as old as that of Rust's own targets. It is also the wheel's tag.
GLIBC = "2.17"
SYSTEMS = ["unknown-linux-gnu", "unknown-linux-musl", "apple-darwin"]
WINDOWS = "x86_64-pc-windows-gnu"
TRIPLES = [*(f"{cpu}-{system}" for cpu in ["x86_64", "aarch64"] for system in SYSTEMS), WINDOWS]
# The libraries that zig links into a program, by the path of their licence in the package
# `ziglang`.
LIBRARIES = {"musl": "lib/libc/musl/COPYRIGHT", "glibc's start files": "lib/libc/glibc/LICENSES", "LLVM's libunwind": "lib/libunwind/LICENSE.TXT", "zig's compiler_rt": "LICENSE"}
# The libraries linked into the program for Windows, by their licence files in Debian's packages.
MINGW = {"mingw-w64's runtime": "/usr/share/doc/mingw-w64-common/copyright", "libgcc and libstdc++": "/usr/share/doc/gcc-mingw-w64-base/copyright"}
# The folder of the component `rust-src`, checked first because cargo's error message does not name it.
SOURCES = "lib/rustlib/src/rust"


def flags(triple, folders):
    """The flags of rustc for one kind of machine."""
    words = [f"--remap-path-prefix={folder}={name}" for folder, name in folders.items()]
    if triple.endswith("-musl"):
        # zig provides the C library and the start files. The program is position-independent, like others.
        words += ["-Clink-self-contained=no", "-Clink-arg=-pie"]
    if triple.endswith("-darwin"):
        words.append(f"-Clink-arg=-F{frameworks.write(make.TOOLS / 'frameworks')}")
    if triple == WINDOWS:
        words.append("-Clink-arg=-Wl,--no-insert-timestamp")
    return " ".join(words)


def zig():
    """The folder of the programs zig and cargo-zigbuild."""
    return make.environment_of(f"zig-{ZIG}-{ZIGBUILD}", f"ziglang=={ZIG}", f"cargo-zigbuild=={ZIGBUILD}")


def license_texts(triples):
    """Writes target/THIRD-PARTY.md, including the linked libraries that are not crates."""
    linked = {}
    if set(triples) != {WINDOWS}:
        [folder] = zig().parent.glob("lib/python*/site-packages/ziglang")
        linked |= {f"{name}, of zig {ZIG}": folder / path for name, path in LIBRARIES.items()}
    if WINDOWS in triples:
        linked |= {name: Path(path) for name, path in MINGW.items()}
    third_party.main(linked)


def build(triple):
    """Builds the program for one kind of machine, and returns its path."""
    sysroot = Path(make.said(os.environ.get("RUSTC", "rustc"), "--print=sysroot").strip())
    if not (sysroot / SOURCES).is_dir():
        sys.exit(f"release: {sysroot} has no sources of the standard library; run: rustup component add rust-src")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
    cargo_home = Path(os.environ.get("CARGO_HOME", Path.home() / ".cargo"))
    # If two match, rustc uses the last.
    folders = {ROOT: ".", cargo_home: "cargo", sysroot / SOURCES: "rust", target: "target"}
    c_folders = {cargo_home: "cargo", target: "target"}
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(target),
        # Allows -Z options with a stable toolchain.
        "RUSTC_BOOTSTRAP": "1",
        f"CARGO_TARGET_{triple.upper().replace('-', '_')}_RUSTFLAGS": flags(triple, folders),
        f"CFLAGS_{triple.replace('-', '_')}": " ".join(f"-ffile-prefix-map={folder}={name}" for folder, name in c_folders.items()),
    }
    if triple != WINDOWS:
        environment |= {"PATH": f"{zig()}:{os.environ['PATH']}", "CARGO_ZIGBUILD_CACHE_DIR": str(make.TOOLS / "zigbuild-cache")}
    if triple.endswith("-darwin"):
        # rustc would need Xcode, and a strip program of LLVM: these programs keep their symbols.
        environment |= {"SDKROOT": "/", "CARGO_PROFILE_DIST_STRIP": "false"}
    # It would replace the flags for the target.
    environment.pop("RUSTFLAGS", None)
    glibc = f".{GLIBC}" if triple.endswith("-linux-gnu") else ""
    command = ["cargo", "build" if triple == WINDOWS else "zigbuild", "--profile=dist", "--locked", "-Zbuild-std=std,panic_unwind", f"--target={triple}{glibc}"]
    make.run(command, cwd=ROOT, env=environment)
    program = target / triple / "dist" / names.program(triple)
    if triple == "aarch64-apple-darwin":
        # Apple silicon runs no unsigned program; zig signs it.
        macho.main(triple, program)
    return program


def sums(folder):
    """Writes SHA256SUMS over the files of `folder`, for `sha256sum --check` and install.sh."""
    files = sorted(path for path in folder.iterdir() if path.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files]
    (folder / "SHA256SUMS").write_text("".join(lines))


def collect(out, programs, kinds=()):
    """Fills the emptied folder `out` with the release files of `programs`, paths by triple."""
    shutil.rmtree(out, ignore_errors=True)
    make.make(out, programs, kinds)
    (out / f"{names.NAME}-{names.VERSION}.cdx.json").write_text(sbom.document(list(programs), make.epoch()))
    notes = release_notes.sections(release_notes.FILE.read_text())
    (out / "NOTES.md").write_text(notes.get(names.VERSION, notes["Unreleased"]) + "\n")
    shutil.copyfile(ROOT / "deploy/install.sh", out / "install.sh")
    sums(out)


def main(triples):
    for triple in triples:
        if triple not in TRIPLES:
            sys.exit(f"release: {triple} is not released, only {', '.join(TRIPLES)}")
    missing = [path for path in MINGW.values() if not Path(path).is_file()] if WINDOWS in (triples or TRIPLES) else []
    if missing:
        sys.exit(f"release: {', '.join(missing)} is missing; run: apt-get install gcc-mingw-w64-x86-64 g++-mingw-w64-x86-64")
    programs = {triple: build(triple) for triple in triples or TRIPLES}
    license_texts(programs)
    collect(OUT, programs)
    for path in sorted(OUT.iterdir()):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main(sys.argv[1:])
