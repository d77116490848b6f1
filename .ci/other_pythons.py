"""Run the tests of real threads on the supported versions of Python other than this one.

As root on Debian, the interpreters come from a chroot of Debian sid, made with `debootstrap`; a
free-threaded one is built there from the source package.  Versions that sid does not have, and all
of them elsewhere, are tested if an interpreter is on PATH or below `$PYENV_ROOT/versions`.

Everything is kept below MAZURKA_PYTHONS_DIR, or ~/.cache/mazurka-pythons: a second run takes only
as long as the tests; what an interrupted run has left is made again.  Nothing is written to the
checkout.  The package mirror, the settings of pip and the certificates are those of the machine.

Prints one line for each version: the last line of pytest, or why the version was not tested.  The
exit status is 1 if tests fail or, as root on Debian, if a version in REQUIRED was not tested.  The
others are tested while MOST_SECONDS last.
"""

from __future__ import annotations

import argparse
import atexit
import fcntl
import hashlib
import os
import platform
import re
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
LISTS = runpy.run_path(str(CHECKOUT / "src/mazurka/supported_pythons.py"))
SUPPORTED = [f"{major}.{minor}" for major, minor in LISTS["SUPPORTED"]]
FREE_THREADED = [f"{major}.{minor}t" for major, minor in LISTS["FREE_THREADED"]]
REQUIRED = ("3.15", "3.14")
"""The versions that must be tested on Debian as root."""
BUILT = ("3.14t",)
"""Free-threaded versions, of which the first available is tested, unless the command line names
others."""
KEYRING = "/usr/share/keyrings/debian-keyring.gpg"
"""The keys of those who sign source packages, in the chroot."""
TESTS = "@tests/real_threads.txt"
"""The arguments of pytest: which tests are about real threads, fixtures and the plugin."""
FEWER_TESTS = "@tests/free_threaded.txt"
"""Those for free-threaded builds, which take several times as long for each test."""
PRIVATE = "MAZURKA_PRIVATE_MOUNTS"
"""Set in a process whose mounts no other process sees, and end with it."""
NAMESPACE = (
    *("unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"),
    *("sh", "-c", '"$@"; exit $?', "sh"),  # the first process has to wait for orphans
)
MINUTE = 60.0
MOST_SECONDS = 10 * MINUTE
"""How long the tests of all versions may take unless the command line names versions."""
MOST_LINES = 400
"""The most lines of pytest to print if tests fail; the log has all of them."""


class NotTestedError(Exception):
    """A version cannot be tested; the text says why."""


# -- commands ----------------------------------------------------------------------------------


def run(command: Sequence[str], log: Path, minutes: float, **options: object) -> str:
    """Run a command, append its output to a log and return it; raise an error if it fails.

    When its time is over, the command and all processes that it has started are killed."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a+b") as stream:
        stream.write(f"+ {shlex.join(command)}\n".encode())
        stream.flush()
        start = stream.seek(0, os.SEEK_END)
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            **options,  # type: ignore[call-overload]
        )
        try:
            status = process.wait(minutes * MINUTE)
            reason = f"exit status {status}"
        except subprocess.TimeoutExpired:
            status, reason = -1, f"more than {minutes:g} minutes"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        stream.seek(start)
        output = stream.read().decode(errors="replace")
    if status:
        raise subprocess.CalledProcessError(status, command[0], output, reason)
    return output


def describe(error: Exception) -> str:
    """Return one line about a failed step."""
    if isinstance(error, subprocess.CalledProcessError):
        lines = [line for line in str(error.output).splitlines() if line.strip()]
        return f"{error.cmd}: {error.stderr}" + (f": {lines[-1].strip()}" if lines else "")
    return str(error)


# -- places ------------------------------------------------------------------------------------


@dataclass
class Place:
    """Where interpreters run: this system, or a chroot."""

    folder: Path
    """Sources and virtual environments, as this process sees them."""
    inside: str
    """The same folder, as the interpreters see it."""
    prefix: tuple[str, ...]
    """The beginning of all commands."""
    environment: dict[str, str]
    logs: Path

    def run(self, name: str, minutes: float, *command: str) -> str:
        return run([*self.prefix, *command], self.logs / name, minutes, env=self.environment)

    def copy_source(self) -> None:
        """Copy the files of the checkout that git does not ignore."""
        target = self.folder / "source"
        shutil.rmtree(target, ignore_errors=True)
        asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        names = subprocess.run(asked, cwd=CHECKOUT, capture_output=True, check=True).stdout
        for name in filter(None, names.decode().split("\0")):
            if (CHECKOUT / name).is_file():
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(CHECKOUT / name, target / name)

    def test(self, version: str, python: str) -> str:
        """Install Mazurka for an interpreter, run the tests, and return the last line of pytest."""
        log = f"{version}.log"
        (self.logs / log).unlink(missing_ok=True)
        home = f"{self.inside}/{version}"
        shutil.rmtree(self.folder / version, ignore_errors=True)
        try:
            self.run(log, 3, python, "-m", "venv", home)
            self.run(
                log, 8, f"{home}/bin/python", "-m", "pip", "install", "-q", "--prefer-binary", "-e",
                f"{self.inside}/source[test-threads]",
            )  # fmt: skip
        except subprocess.CalledProcessError as error:
            said = [line for line in str(error.output).splitlines() if "error" in line.lower()]
            reason = said[-1].strip() if said else describe(error)
            raise NotTestedError(f"packages cannot be installed: {reason}") from None
        told = self.run(
            log, 30, "env", f"--chdir={self.inside}/source", f"MAZURKA_CACHE_DIR={home}/cache",
            f"{home}/bin/python", "-m", "pytest", "-n", "auto", "-p", "no:cacheprovider",
            "--durations=30", FEWER_TESTS if version.endswith("t") else TESTS,
        )  # fmt: skip
        return told.strip().splitlines()[-1].strip("= ")


def settings_of_pip() -> dict[str, str]:
    """Return the variables of this process that say where packages come from."""
    names = ("PIP_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY")
    return {name: value for name, value in os.environ.items() if name.upper().startswith(names)}


def this_system(cache: Path) -> Place:
    folder = cache / "here"
    folder.mkdir(exist_ok=True)
    removed = ("VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    return Place(folder, str(folder), (), environment, cache / "logs")


def find_here(version: str) -> str:
    """Return an interpreter of a version that is installed on this system."""
    places = [shutil.which(f"python{version}")]
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    places += map(str, sorted(root.glob(f"versions/{version}*/bin/python{version}")))
    for place in filter(None, places):
        asked = [place, "-c", "import sys, ensurepip; print(sys.version)"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False)
        if found.returncode == 0 and found.stdout.startswith(version.rstrip("t") + "."):
            return place
    raise NotTestedError("no interpreter was found")


# -- the chroot --------------------------------------------------------------------------------


def is_debian_root() -> bool:
    try:
        return platform.freedesktop_os_release()["ID"] == "debian" and os.geteuid() == 0
    except OSError:  # not on Linux
        return False


def which(name: str) -> str | None:
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def make_mounts_private() -> None:
    """Begin again in a process whose mounts and processes end with it; exit with its status."""
    if PRIVATE in os.environ or which("unshare") is None:
        return
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        return
    command = [*NAMESPACE, sys.executable, __file__, *sys.argv[1:]]
    process = subprocess.Popen(command, env={**os.environ, PRIVATE: "1"})
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda received, _: sys.exit(128 + received))
    try:
        sys.exit(process.wait())
    finally:
        process.kill()  # `unshare` ignores other signals; all that it has started end with it
        process.wait()


def mount(*words: str, at: Path) -> bool:
    """Mount something until the end of this process; return whether that was possible."""
    at.mkdir(parents=True, exist_ok=True)
    done = subprocess.run(["mount", *words, str(at)], capture_output=True, check=False)
    if done.returncode == 0:
        atexit.register(subprocess.run, ["umount", "--lazy", str(at)], check=False)
    return done.returncode == 0


def mounts_below(folder: Path) -> list[str]:
    table = Path("/proc/self/mountinfo").read_text().splitlines()
    places = [line.split()[4].encode().decode("unicode_escape") for line in table]
    return [place for place in places if place.startswith(f"{folder}/")]


def remove(folder: Path) -> None:
    """Remove a folder of the cache, but never files of a mount below it."""
    for place in sorted(mounts_below(folder), reverse=True):
        subprocess.run(["umount", place], capture_output=True, check=False)
    if mounts_below(folder):
        raise NotTestedError(f"{mounts_below(folder)[0]} is still mounted")
    if folder.exists():
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=True)


def find_mirror() -> list[str]:
    """Return the mirror of Debian from which this machine takes its packages, if it has one."""
    asked = ["apt-get", "indextargets", "--format", "$(COMPONENT) $(REPO_URI)"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    rows = [row.split() for row in found.splitlines()]
    mirrors = [row[1] for row in rows if row[0] == "main" and "debian" in row[1]]
    return [uri for uri in mirrors if "security" not in uri][:1]


class Chroot(Place):
    """A chroot of Debian sid."""

    def __init__(self, cache: Path) -> None:
        self.root = cache / "sid"
        settings = {**settings_of_pip(), "HOME": "/root", "LANG": "C.UTF-8"}
        settings |= {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND": "noninteractive"}
        if "PIP_CERT" in settings:
            settings["PIP_CERT"] = "/etc/ssl/certs/ca-certificates.crt"
        inside = "/mazurka"
        prefix = (which("chroot") or "chroot", str(self.root))
        super().__init__(self.root / inside[1:], inside, prefix, settings, cache / "logs")

    def prepare(self) -> None:
        """Make the chroot unless it is there, and mount what programs expect."""
        complete = self.root / "complete"
        if not complete.exists():
            (self.logs / "sid.log").unlink(missing_ok=True)
            remove(self.root)
            self.make()
            complete.touch()
        mount("-t", "proc", "proc", at=self.root / "proc")
        mount("-t", "tmpfs", "tmpfs", at=self.root / "dev/shm")
        mount("-t", "devpts", "-o", "newinstance,ptmxmode=0666", "devpts", at=self.root / "dev/pts")
        self.copy_settings()
        self.folder.mkdir(exist_ok=True)

    def make(self) -> None:
        log = self.logs / "sid.log"
        if which("debootstrap") is None:
            run(["apt-get", "update"], log, 5)
            run(["apt-get", "install", "-y", "debootstrap"], log, 5)
        included = "--include=ca-certificates,git,gcc,libc6-dev,tzdata"
        command = ["debootstrap", "--variant=minbase", included, "sid", str(self.root)]
        run([which("debootstrap") or "debootstrap", *command[1:], *find_mirror()], log, 15)

    def copy_settings(self) -> None:
        """Copy how this machine reaches its network; directories of packages are mounted."""
        certificates = Path(os.environ.get("SSL_CERT_FILE", "/etc/ssl/certs/ca-certificates.crt"))
        pip = Path.home() / ".config/pip/pip.conf"
        for file, target in (
            (Path("/etc/resolv.conf"), "etc/resolv.conf"),
            (Path("/etc/hosts"), "etc/hosts"),
            (certificates, "etc/ssl/certs/ca-certificates.crt"),
            (Path("/etc/pip.conf"), "etc/pip.conf"),
            (pip, "root/.config/pip/pip.conf"),
        ):
            if file.is_file():
                (self.root / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, self.root / target)
        asked = ["apt-config", "dump", "Acquire"]
        found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
        settings = [line for line in found.splitlines() if "proxy" in line.lower()]
        settings.append('Acquire::Check-Valid-Until "false";')  # a mirror may be some weeks behind
        (self.root / "etc/apt/apt.conf.d/90machine").write_text("\n".join([*settings, ""]))
        for folder in package_folders():
            if PRIVATE in os.environ and not mounts_below(self.root / folder[1:]):
                mount("--bind", "-o", "ro", folder, at=self.root / folder[1:])

    def install(self, *packages: str) -> None:
        command = ("apt-get", "install", "-y", "--no-install-recommends", *packages)
        try:
            self.run("sid.log", 5, "sh", "-c", 'dpkg -s "$@"', "sh", *packages)
        except subprocess.CalledProcessError:
            try:
                self.run("sid.log", 5, "apt-get", "update")
                self.run("sid.log", 10, *command)
            except subprocess.CalledProcessError as error:
                raise NotTestedError(describe(error)) from None

    def find(self, version: str) -> str:
        """Return the interpreter of a version; install or build it unless it is there."""
        if version.endswith("t"):
            return self.build(version)
        self.install(f"python{version}", f"python{version}-venv")
        return f"/usr/bin/python{version}"

    def build(self, version: str) -> str:
        """Build a free-threaded interpreter from the source package of Debian."""
        home = self.folder / f"python-{version}"
        if (home / "complete").exists():
            return f"{self.inside}/{home.name}/bin/python{version}"
        log = f"build-{version}.log"
        (self.logs / log).unlink(missing_ok=True)
        remove(home)
        work = f"{self.inside}/build-{version}"
        remove(self.folder / f"build-{version}")
        (self.folder / f"build-{version}").mkdir()
        libraries = ("zlib1g", "libffi", "libssl", "libsqlite3", "libbz2", "liblzma")
        self.install("make", "xz-utils", *(f"{library}-dev" for library in libraries))
        options = f"--disable-gil --disable-test-modules --prefix={self.inside}/{home.name}"
        try:
            self.fetch_source(f"python{version[:-1]}", work, log)
            for minutes, command in (
                (2, "tar --strip-components=1 -xf *.orig.tar.*z"),
                (5, f"OPT='-DNDEBUG -O2 -g0' ./configure {options}"),  # quicker to build
                (25, f"make -j{len(os.sched_getaffinity(0))}"),
                (5, "make install"),
            ):
                self.run(log, minutes, "env", f"--chdir={work}", "sh", "-c", command)
        except subprocess.CalledProcessError as error:
            raise NotTestedError(f"it cannot be built: {describe(error)}") from None
        (home / "complete").touch()
        remove(self.folder / f"build-{version}")
        return f"{self.inside}/{home.name}/bin/python{version}"

    def fetch_source(self, package: str, work: str, log: str) -> None:
        """Fetch the source of a package into the current build folder; check who has signed it.

        The index may name a version whose source the mirror lacks; then older ones are tried."""
        self.run(log, 5, "apt-get", "update")
        self.install("debian-keyring", "gpgv")
        found = self.run(log, 2, "apt-cache", "policy", package)
        newest = re.search(r"Candidate: (3\.\d+)\.(\d+)", found)
        if newest is None:
            raise NotTestedError(f"Debian sid has no {package}")
        for patch in range(int(newest[2]), -1, -1):
            name = f"{package}_{newest[1]}.{patch}"
            try:
                self.download(package, f"{name}-1.dsc", work)
                archive = self.download(package, f"{name}.orig.tar.xz", work)
            except OSError:
                continue
            signed = f"{work}/signed"
            self.run(
                log, 2, "gpgv", "--keyring", KEYRING, "--output", signed, f"{work}/{name}-1.dsc"
            )
            if hashlib.sha256(archive).hexdigest() not in (self.root / signed[1:]).read_text():
                raise NotTestedError(f"{name}.orig.tar.xz is damaged")
            return
        raise NotTestedError(f"the mirror has no source of {package}")

    def download(self, package: str, name: str, work: str) -> bytes:
        """Download a file of a package into a folder of the chroot, and return its content."""
        mirror = (self.root / "etc/apt/sources.list").read_text().split()[1]  # `deb URL sid main`
        place = f"{mirror.rstrip('/')}/pool/main/p/{package}/{name}"
        with urllib.request.urlopen(place, timeout=2 * MINUTE) as stream:
            content: bytes = stream.read()
        (self.root / work[1:] / name).write_bytes(content)
        return content


def package_folders() -> Iterator[str]:
    """Return the directories in which pip looks for packages on this machine."""
    asked = [sys.executable, "-m", "pip", "config", "list"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    words = found.replace("'", " ").replace("\\n", " ").split()
    for word in dict.fromkeys(word.removeprefix("file://").rstrip("/") for word in words):
        if word.startswith("/") and Path(word).is_dir():
            yield word.removesuffix("/simple")  # an index, whose files may lie beside it


# -- all of it ---------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description="Test real threads on other versions of Python.")
    parser.add_argument("version", nargs="*", choices=[[], *SUPPORTED, *FREE_THREADED])
    arguments = parser.parse_args()
    running = f"{sys.version_info[0]}.{sys.version_info[1]}"
    others = [version for version in reversed(SUPPORTED) if version not in (running, *REQUIRED)]
    chosen = [(version,) for version in arguments.version or REQUIRED]
    if not arguments.version:
        chosen += [BUILT, *((version,) for version in others)]
    if is_debian_root():
        make_mounts_private()
    where = os.environ.get("MAZURKA_PYTHONS_DIR") or Path.home() / ".cache/mazurka-pythons"
    cache = Path(where).resolve()
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return test_all(chosen, cache, limited=not arguments.version)


def test_all(chosen: Sequence[tuple[str, ...]], cache: Path, *, limited: bool) -> int:
    """Test one version of each group; return the exit status.

    If the time is limited, a version that is not required is tested only while the rest of it
    suffices for another run as long as the longest one."""
    here, sid, why = this_system(cache), None, ""
    here.copy_source()
    if is_debian_root():
        try:
            sid = Chroot(cache)
            sid.prepare()
            sid.copy_source()
        except (NotTestedError, subprocess.CalledProcessError, OSError) as error:
            sid, why = None, f"; no chroot of Debian sid: {describe(error)}"
    status, spent = 0, [0.0]
    for group in chosen:
        for version in group:
            begun = None
            try:
                if limited and version not in REQUIRED and sum(spent) + max(spent) > MOST_SECONDS:
                    raise NotTestedError(f"too little of {MOST_SECONDS / MINUTE:g} minutes is left")
                place, python = find(version, sid, here)
                begun = time.monotonic()
                print(f"Python {version}: {place.test(version, python)}", flush=True)
                break
            except NotTestedError as error:
                print(f"Python {version}: not tested: {error}{why}", flush=True)
                status |= is_debian_root() and version in REQUIRED
            except subprocess.CalledProcessError as error:
                print("\n".join(str(error.output).splitlines()[-MOST_LINES:]))
                print(f"Python {version}: failed: {describe(error)}", flush=True)
                status = 1
                break
            finally:
                spent.append(0.0 if begun is None else time.monotonic() - begun)
    return status


def find(version: str, sid: Chroot | None, here: Place) -> tuple[Place, str]:
    """Return an interpreter of a version and the place in which it runs."""
    reasons = []
    if sid is not None:
        try:
            return sid, sid.find(version)
        except NotTestedError as error:
            reasons.append(str(error))
    try:
        return here, find_here(version)
    except NotTestedError as error:
        raise NotTestedError("; ".join([str(error), *reasons])) from None


if __name__ == "__main__":
    sys.exit(main())
