"""Installs the release of target/release-files on systems without Rust, and requests a hover there.

    python3 deploy/package/roots.py        (just release-check)

The systems are folders: a minimal Debian, and one with only Debian's static busybox and musl, in place of Alpine, which Debian's mirror
lacks. Programs for arm64 run in a Debian under qemu-user. The language server is ty, which is linked statically. Needs root, debootstrap,
qemu-user-static, Linux 6.7 and the network. An installation that takes over ten seconds fails.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

import make
import names

ROOT = names.ROOT
RELEASE = ROOT / "target/release-files"
MIRROR = "http://deb.debian.org/debian"
SUITE = "bookworm"
TY = "0.0.108"
# The kernel's registration of the emulator, from the package qemu-user-static.
EMULATOR = "/usr/lib/binfmt.d/qemu-aarch64.conf"
# The maximum time of an installation, in seconds.
AT_MOST = 10
# The timeout of a command under emulation, in seconds.
PATIENCE = 600
HOVER = "hover fixtures/python/greet/app.py:9:13"
# The documentation as rendered by ty. A text search, the fallback without a server, shows the source text.
ANSWER = "Arguments\n\nperson\nwho is greeted; a host gets more honour than a guest."


def fail(what):
    sys.exit(f"release-check: {what}")


def run(command, **options):
    """The output of a command that must succeed."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=PATIENCE, **options)
    except FileNotFoundError:
        fail(f"{words[0]} is not installed; run: apt-get install debootstrap qemu-user-static busybox-static musl")
    except subprocess.TimeoutExpired:
        fail(f"this did not end within {PATIENCE} s: {' '.join(words)}")
    if done.returncode:
        fail(f"status {done.returncode}: {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def ty(place, cpu):
    """The language server for a kind of processor."""
    platform = f"--platform=musllinux_1_2_{cpu}"
    run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", platform, f"--dest={place}", f"ty=={TY}"])
    [wheel] = place.glob(f"ty-*_{cpu}.whl")
    server = place / f"ty-{cpu}"
    with zipfile.ZipFile(wheel) as archive:
        server.write_bytes(archive.read(f"ty-{TY}.data/scripts/ty"))
    server.chmod(0o755)
    return server


def debian(folder, *options):
    run(["debootstrap", "--variant=minbase", *options, SUITE, folder, MIRROR])


def with_musl(folder):
    """A system with busybox's programs, and musl for others."""
    packages = folder.parent / "packages"
    packages.mkdir()
    run(["apt-get", "download", "-q", "busybox-static", "musl"], cwd=packages)
    for package in packages.iterdir():
        run(["dpkg-deb", "-x", package, folder])
    for name in ["dev", "proc", "tmp", "root", "usr/local/bin", "usr/bin", "bin", "sbin"]:
        (folder / name).mkdir(parents=True, exist_ok=True)
    # With the kernel's device number; a debootstrap creates its own.
    os.mknod(folder / "dev/null", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    (folder / "dev/null").chmod(0o666)
    run(["chroot", folder, "/bin/busybox", "--install", "-s"])


def inside(folder, script, emulator=None):
    """Runs a shell script in a system. Returns its output and duration. An emulator is registered for that shell only, in a user namespace."""
    begun = time.monotonic()
    shell = ["chroot", folder, "/usr/bin/env", "-i", "HOME=/root", "PATH=/root/.local/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "sh", "-euc", script]
    own = ["unshare", "--fork", "--pid", "--mount", f"--mount-proc={folder}/proc"]
    if emulator:
        formats = folder / "proc/sys/fs/binfmt_misc"
        register = f'mount -t binfmt_misc none {formats}; cat {emulator} >{formats}/register; exec "$@"'
        own += ["--user", "--map-root-user", "sh", "-euc", register, "sh"]
    text = run([*own, *shell])
    return text, time.monotonic() - begun


def installed(folder, what, script, emulator=None):
    """Installs in a system, and requests a hover there."""
    said, seconds = inside(folder, script, emulator)
    if seconds > AT_MOST:
        fail(f"{what}: it took {seconds:.1f} s to install")
    # qemu does not emulate all system calls of the daemon.
    ask = f"lsp-tools --no-daemon {HOVER}" if emulator else f"lsp-tools {HOVER}; lsp-tools daemon stop --all >/dev/null"
    answer, asked = inside(folder, f"cd /project; {ask}", emulator)
    if ANSWER not in answer:
        fail(f"{what}: the hover is\n{answer}")
    print(f"{what}: {said.splitlines()[-1]}; {seconds:.1f} s, and {asked:.1f} s to the first hover", flush=True)


def provide(folder, server):
    """Copies the release, a project and the language server into a system."""
    shutil.copytree(RELEASE, folder / "release")
    shutil.copytree(ROOT / "fixtures/python", folder / "project/fixtures/python")
    (folder / "usr/local/bin").mkdir(parents=True, exist_ok=True)
    shutil.copy(server, folder / "usr/local/bin/ty")


def main():
    if os.geteuid() != 0:
        fail("only root can set up systems in folders")
    if not (RELEASE / "SHA256SUMS").is_file():
        fail("there is no release in target/release-files; make it with: just release-files")
    for line in (RELEASE / "SHA256SUMS").read_text().splitlines():
        digest, _, name = line.partition("  ")
        if hashlib.sha256((RELEASE / name).read_bytes()).hexdigest() != digest:
            fail(f"{name} does not match its hash in SHA256SUMS")
    triples = [path.name.removeprefix(f"{names.NAME}-").removesuffix(".tar.gz") for path in RELEASE.glob("*.tar.gz")]
    with tempfile.TemporaryDirectory(prefix="lsp-tools-roots-") as folder:
        place = Path(folder)
        here = make.compiler("host").partition("-")[0]
        server = ty(place, here)
        (place / "musl").mkdir()
        with_musl(place / "musl")
        provide(place / "musl", server)
        if f"{here}-unknown-linux-musl" in triples:
            installed(place / "musl", "musl, install.sh", "sh /release/install.sh /release")
        if f"{here}-unknown-linux-gnu" in triples:
            debian(place / "debian")
            provide(place / "debian", server)
            installed(place / "debian", "Debian, install.sh", "sh /release/install.sh /release")
            inside(place / "debian", "rm -r /root/.local")
            architecture = run(["dpkg", "--print-architecture"]).strip()
            installed(place / "debian", "Debian, dpkg", f"dpkg --install /release/*_{architecture}.deb 2>&1")
        if here != "aarch64" and any(triple.startswith("aarch64") for triple in triples):
            # Unpacked but not configured: configuring takes minutes under emulation and is not
            # needed.
            debian(place / "arm64", "--foreign", "--arch=arm64")
            provide(place / "arm64", ty(place, "aarch64"))
            for triple in (triple for triple in triples if triple.startswith("aarch64")):
                unpack = f"mkdir -p /root/.local/bin; tar -xzf /release/{names.NAME}-{triple}.tar.gz -C /root/.local/bin --strip-components=1"
                installed(place / "arm64", f"{triple} under qemu-user", f"{unpack}; lsp-tools --version", EMULATOR)


if __name__ == "__main__":
    main()
