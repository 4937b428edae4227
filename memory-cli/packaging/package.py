#!/usr/bin/env python3
"""Builds the packages of `memory` from a compiled program.

usage: package.py build PROGRAM TARGET OUTPUT
       package.py index OUTPUT [ADDRESS]

The first form adds packages to the folder OUTPUT: PROGRAM is the compiled program, and TARGET its Rust target, such as
x86_64-unknown-linux-musl. For systems other than Linux, it builds the archives only. The second form writes the Homebrew
formula and the Nix flake for all archives in OUTPUT, and SHA256SUMS. ADDRESS is the address of the folder at which the archives
will be published; by default, they are beside the formula.

The same program gives the same bytes: all times are SOURCE_DATE_EPOCH, or the time of the last commit.
A program for another processor runs in the emulator that CARGO_TARGET_<TARGET>_RUNNER names, as for `cargo run`.
Only the standard library is used, and cargo for the list of dependencies; nothing is downloaded.
"""

import base64
import csv
import gzip
import hashlib
import io
import json
import lzma
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
import tomllib
import uuid
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
MANIFEST = tomllib.loads((ROOT / "Cargo.toml").read_text())
VERSION = MANIFEST["workspace"]["package"]["version"]
SUMMARY = tomllib.loads((HERE.parent / "Cargo.toml").read_text())["package"]["description"]
SHELLS = {
    "bash": "memory.bash", "elvish": "memory.elv", "fish": "memory.fish", "nushell": "memory.nu",
    "powershell": "_memory.ps1", "zsh": "_memory",
}

# The licence of the program with its parts: the sentence encoder contains a model.
LICENCE = f"({MANIFEST['workspace']['package']['license']}) AND Apache-2.0"
LICENCE_FILES = ["LICENSE", "LICENSE-APACHE", "NOTICE", "LICENSES-OF-DEPENDENCIES.md"]

# A test packages a program that is not optimized, and uses a lower level.
COMPRESSION = int(os.environ.get("PACKAGE_COMPRESSION", "9"))

# Systems and processors of the archives in the formula, and in the flake.
FORMULA_BLOCKS = {
    "x86_64-unknown-linux-musl": ("on_linux", "on_intel"),
    "aarch64-unknown-linux-musl": ("on_linux", "on_arm"),
    "aarch64-apple-darwin": ("on_macos", "on_arm"),
}
FLAKE_SYSTEMS = {
    "x86_64-unknown-linux-musl": "x86_64-linux",
    "aarch64-unknown-linux-musl": "aarch64-linux",
    "aarch64-apple-darwin": "aarch64-darwin",
}

# The names of processors: in Debian, OCI, Python and npm.
PROCESSORS = {"x86_64": ("amd64", "amd64", "x86_64", "x64"), "aarch64": ("arm64", "arm64", "aarch64", "arm64")}


def run(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout


def source_time():
    known = os.environ.get("SOURCE_DATE_EPOCH")
    return int(known or run("git", "log", "-1", "--format=%ct", cwd=ROOT).strip())


# Archives ------------------------------------------------------------------------------------------------------------


class Entry:
    """A file, a symlink or a hard link in a package. The target of a hard link is a path in the package."""

    def __init__(self, content=b"", mode=0o644, link=None, is_hard=False):
        self.content = content.encode() if isinstance(content, str) else content
        self.mode, self.link, self.is_hard = mode, link, is_hard


def tar_bytes(entries, at, folders=True, prefix=""):
    """Returns a tar archive of entries by path, with their folders; all paths begin with the prefix."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        seen = set()

        def add(path, kind, mode, content=b"", link=""):
            item = tarfile.TarInfo(prefix + path)
            item.type, item.mode, item.mtime, item.size, item.linkname = kind, mode, at, len(content), link
            archive.addfile(item, io.BytesIO(content))

        # The target of a hard link precedes the link.
        for path, entry in sorted(entries.items(), key=lambda item: (item[1].is_hard, item[0])):
            parents = reversed(pathlib.PurePosixPath(path).parents)
            for parent in (str(parent) for parent in parents if folders and str(parent) not in seen | {"."}):
                seen.add(parent)
                add(parent, tarfile.DIRTYPE, 0o755)
            if entry.is_hard:
                add(path, tarfile.LNKTYPE, 0o755, link=prefix + entry.link)
            elif entry.link:
                add(path, tarfile.SYMTYPE, 0o777, link=entry.link)
            else:
                add(path, tarfile.REGTYPE, entry.mode, entry.content)
    return buffer.getvalue()


def gzip_bytes(content, at=0):
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=at, compresslevel=COMPRESSION) as stream:
        stream.write(content)
    return buffer.getvalue()


def xz_bytes(content):
    return lzma.compress(content, format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC64, preset=COMPRESSION)


def ar_bytes(members, at):
    """Returns an ar archive, the container of Debian packages."""
    result = b"!<arch>\n"
    for name, content in members:
        result += f"{name:<16}{at:<12}{0:<6}{0:<6}{'100644':<8}{len(content):<10}`\n".encode() + content
        result += b"\n" * (len(content) % 2)
    return result


def sha256(content):
    return hashlib.sha256(content).hexdigest()


# Contents ------------------------------------------------------------------------------------------------------------


def dependencies(target):
    """Returns the crates in the program, without those of this workspace, in the order of their names."""
    metadata = json.loads(run("cargo", "metadata", "--format-version=1", "--locked", "--offline",
                              "--filter-platform", target, cwd=ROOT))
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    start = next(id for id, package in packages.items() if package["name"] == "memory-cli")
    found, waiting = set(), [start]
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += [link["pkg"] for link in nodes[node]["deps"]
                        if any(kind["kind"] is None for kind in link["dep_kinds"])]
    crates = [packages[id] for id in found if packages[id]["source"]]
    return sorted(crates, key=lambda crate: (crate["name"], crate["version"]))


def licence_texts(crate):
    folder = pathlib.Path(crate["manifest_path"]).parent
    prefixes = ("license", "licence", "copying", "notice", "unlicense")
    files = [path for path in folder.iterdir() if path.is_file() and path.name.lower().startswith(prefixes)]
    return [path.read_text(errors="replace").strip() for path in sorted(files)]


def third_party(crates):
    """Returns the licences of the dependencies, each text once."""
    texts = {}
    for crate in crates:
        for text in licence_texts(crate):
            texts.setdefault(text, []).append(f"{crate['name']} {crate['version']}")
    lines = ["# Licences of the dependencies", ""]
    lines += [f"- {crate['name']} {crate['version']}: {crate['license'] or 'see its licence file'}" for crate in crates]
    for text, owners in sorted(texts.items(), key=lambda item: item[1]):
        lines += ["", "-" * 80, ", ".join(owners), "", text]
    return "\n".join(lines) + "\n"


def bill_of_materials(crates, program, at):
    """Returns a software bill of materials in the format CycloneDX 1.5."""
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]
    checksums = {(package["name"], package["version"]): package.get("checksum") for package in lock}

    def component(crate):
        name, version = crate["name"], crate["version"]
        shape = {"type": "library", "bom-ref": f"pkg:cargo/{name}@{version}", "name": name, "version": version,
                 "purl": f"pkg:cargo/{name}@{version}"}
        if crate["license"]:
            shape["licenses"] = [{"expression": crate["license"].replace("/", " OR ")}]
        if checksums.get((name, version)):
            shape["hashes"] = [{"alg": "SHA-256", "content": checksums[name, version]}]
        return shape

    own = {"type": "application", "bom-ref": f"pkg:cargo/memory-cli@{VERSION}", "name": "memory", "version": VERSION,
           "purl": f"pkg:cargo/memory-cli@{VERSION}", "hashes": [{"alg": "SHA-256", "content": sha256(program)}]}
    shape = {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, sha256(program))}",
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)), "component": own},
        "components": [component(crate) for crate in crates],
    }
    return json.dumps(shape, indent=1, sort_keys=True) + "\n"


def readme():
    """Returns the README without the sections for readers of the sources, pictures, and links to files outside the packages."""
    start, *sections = re.split(r"^## ", (ROOT / "README.md").read_text(), flags=re.MULTILINE)
    own = [section for section in sections if section.split("\n")[0] not in {"From source", "Install", "Documentation"}]
    assert len(own) == len(sections) - 3, "the sections of the README changed"
    commands = "Commands\n\n`memory help` lists all commands, and `memory install` sets up your coding assistants.\n\n"
    text = "## ".join([start, *own[:1], commands, *own[1:]])
    text = re.sub(r"^!\[[^\]]+\]\([^)]+\)\n\n", "", text, flags=re.MULTILINE)
    # Sentences about a page of the documentation.
    text = re.sub(r"(?:^|(?<=\. ))\[[^\]]+\]\(docs/[^)]+\) [^.|\n]*\. ?", "", text, flags=re.MULTILINE)
    return re.sub(r"\[([^\]]+)\]\((?!https?:)([^)]+)\)", lambda link: link[0] if link[2] == "LICENSE" else link[1], text)


def runner_variable(target):
    return f"CARGO_TARGET_{target.upper().replace('-', '_')}_RUNNER"


def contents(program_path, target, at, work):
    """Returns the files of the packages by their path below the prefix."""
    program = program_path.read_bytes()
    crates = dependencies(target)
    start = [*os.environ.get(runner_variable(target), "").split(), program_path]
    run(*start, "man", "--output", work / "man")
    if "linux" in target:
        run(*start, "service", "units", "--program", "/usr/bin/memory", "--output", work / "units")
    files = {
        "README.md": Entry(readme()),
        "INSTALL.md": Entry((ROOT / "docs/src/installing.md").read_text()),
        "CHANGELOG.md": Entry((ROOT / "CHANGELOG.md").read_text()),
        "LICENSE": Entry((ROOT / "LICENSE").read_text()),
        **{name: Entry((ROOT / "memory-encoder" / name).read_text()) for name in ["LICENSE-APACHE", "NOTICE"]},
        "LICENSES-OF-DEPENDENCIES.md": Entry(third_party(crates)),
        "memory.cdx.json": Entry(bill_of_materials(crates, program, at)),
    }
    if "windows" in target:
        # A symlink needs a privilege there.
        files["bin/memory.exe"] = Entry(program, 0o755)
        files |= {f"bin/{name}.exe": Entry(link="memory.exe", is_hard=True) for name in ["memo", "memory-cli"]}
    else:
        files["bin/memory"] = Entry(program, 0o755)
        files |= {f"bin/{name}": Entry(link="memory") for name in ["memo", "memory-cli"]}
    for page in sorted((work / "man").iterdir()):
        files[f"man/man1/{page.name}"] = Entry(page.read_bytes())
    for unit in sorted(work.glob("units/*")):
        files[f"units/{unit.name}"] = Entry(unit.read_bytes())
    for shell, name in SHELLS.items():
        files[f"completions/{name}"] = Entry(run(*start, "completions", shell))
    return files


# Stops the processes of the program, such as daemons, which would go on without it. An updated daemon starts again by itself.
PRERM = """#!/bin/sh
set -e
if [ "$1" = remove ]; then
    for process in /proc/[0-9]*; do
        # The link of a program that was replaced since ends with " (deleted)". Processes of containers have another root.
        case "$(readlink "$process/exe" 2>/dev/null)" in
        "$DPKG_ROOT/usr/bin/memory" | "$DPKG_ROOT/usr/bin/memory (deleted)")
            [ ! "$process/root" -ef / ] || kill "${process#/proc/}" || :
            ;;
        esac
    done
fi
"""

# The short forms in a wheel, which has no symlinks.
SHORT_FORM = """#!python
import os, sys
os.execv(os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "memory"), sys.argv)
"""


# Packages ------------------------------------------------------------------------------------------------------------


def archives(files, target, at):
    """Returns the archive, whose name and layout cargo-binstall expects, and a smaller one with the same files."""
    folder = f"memory-{VERSION}-{target}"
    moved = {path.removeprefix("bin/"): entry for path, entry in files.items() if not path.startswith("units/")}
    content = tar_bytes(moved, at, prefix=f"{folder}/")
    yield f"{folder}.tar.gz", gzip_bytes(content)
    yield f"{folder}.tar.xz", xz_bytes(content)


def debian(files, target, at):
    processor = PROCESSORS[target.split("-")[0]][0]
    documents = "usr/share/doc/memory-cli"
    targets = {
        "bin/": "usr/bin/", "units/": "usr/lib/systemd/user/", "completions/memory.bash": "usr/share/bash-completion/completions/memory",
        "completions/memory.fish": "usr/share/fish/vendor_completions.d/memory.fish",
        "completions/_memory": "usr/share/zsh/vendor-completions/_memory",
        **{name: f"{documents}/{name}" for name in ["README.md", "INSTALL.md", *LICENCE_FILES, "memory.cdx.json"]},
        "LICENSE": f"{documents}/copyright",
    }
    installed = {}
    for path, entry in files.items():
        if path.startswith("man/"):
            installed[f"usr/share/{path}.gz"] = Entry(gzip_bytes(entry.content))
        elif path == "CHANGELOG.md":
            installed[f"{documents}/changelog.gz"] = Entry(gzip_bytes(entry.content))
        elif place := next((place for place in targets if path == place or place.endswith("/") and path.startswith(place)), None):
            installed[targets[place] + (path.removeprefix(place) if place.endswith("/") else "")] = entry
    size = sum(len(entry.content) for entry in installed.values()) // 1024 + 1
    control = "\n".join([
        "Package: memory-cli", f"Version: {VERSION}", f"Architecture: {processor}", "Maintainer: The memory developers <memory@localhost>",
        f"Installed-Size: {size}", "Section: utils", "Priority: optional", "Recommends: git",
        f"Description: {SUMMARY}", " Notes, JSON banks, topics and conversations for coding assistants, chat programs and scripts.", "",
    ])
    sums = "".join(f"{hashlib.md5(entry.content).hexdigest()}  {path}\n" for path, entry in sorted(installed.items()) if not entry.link)
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", xz_bytes(tar_bytes({"control": Entry(control), "md5sums": Entry(sums), "prerm": Entry(PRERM, 0o755)}, at, folders=False, prefix="./"))),
        ("data.tar.xz", xz_bytes(tar_bytes(installed, at, prefix="./"))),
    ]
    yield f"memory-cli_{VERSION}_{processor}.deb", ar_bytes(members, at)


def container(files, target, at):
    """Returns an image in the OCI layout, with the program as its only file."""
    processor = PROCESSORS[target.split("-")[0]][1]
    system = {"usr/bin/memory": files["bin/memory"], "etc/passwd": Entry("memory:x:65532:65532::/home/memory:/sbin/nologin\n"),
              **{f"usr/share/doc/memory-cli/{name}": files[name] for name in LICENCE_FILES[1:]},
              "usr/share/doc/memory-cli/copyright": files["LICENSE"]}
    plain = tar_bytes(system, at)
    # The user of the container owns the home, which a volume keeps.
    home = io.BytesIO()
    with tarfile.open(fileobj=home, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path, user in [("home", 0), ("home/memory", 65532), ("home/memory/.memory", 65532)]:
            item = tarfile.TarInfo(path)
            item.type, item.mode, item.mtime, item.uid, item.gid = tarfile.DIRTYPE, 0o755 if user == 0 else 0o700, at, user, user
            archive.addfile(item)
    layers = [plain, home.getvalue()]
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
    blobs = {}

    def blob(content, kind, **more):
        digest = sha256(content)
        blobs[f"blobs/sha256/{digest}"] = Entry(content)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content), **more}

    configuration = {
        "architecture": processor, "os": "linux", "created": created,
        "config": {"Entrypoint": ["/usr/bin/memory"], "Cmd": ["--help"], "User": "65532:65532", "Env": ["HOME=/home/memory"],
                   "WorkingDir": "/home/memory", "Volumes": {"/home/memory/.memory": {}}},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{sha256(layer)}" for layer in layers]},
        "history": [{"created": created, "created_by": "package.py"} for _ in layers],
    }
    manifest = {
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": blob(json.dumps(configuration).encode(), "config.v1+json"),
        "layers": [blob(gzip_bytes(layer), "layer.v1.tar+gzip") for layer in layers],
    }
    listed = blob(json.dumps(manifest).encode(), "manifest.v1+json", platform={"architecture": processor, "os": "linux"},
                  annotations={"org.opencontainers.image.ref.name": VERSION})
    blobs["oci-layout"] = Entry('{"imageLayoutVersion":"1.0.0"}')
    blobs["index.json"] = Entry(json.dumps({"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [listed]}))
    yield f"memory-{VERSION}-{processor}.oci.tar", tar_bytes(blobs, at)


def wheel(files, target, at):
    """Returns a Python wheel that contains the program as a script."""
    processor = PROCESSORS[target.split("-")[0]][2]
    # A static program runs with every C library.
    tag = f"py3-none-manylinux_2_17_{processor}.manylinux2014_{processor}.musllinux_1_1_{processor}"
    base = f"memory_cli-{VERSION}"
    metadata = f"Metadata-Version: 2.1\nName: memory-cli\nVersion: {VERSION}\nSummary: {SUMMARY}\nLicense: {LICENCE}\n" \
               f"Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n" + files["README.md"].content.decode()
    wheel_file = "Wheel-Version: 1.0\nGenerator: package.py\nRoot-Is-Purelib: false\n" + "".join(
        f"Tag: py3-none-{platform}\n" for platform in tag.removeprefix("py3-none-").split("."))
    members = {
        f"{base}.data/scripts/memory": files["bin/memory"],
        **{f"{base}.data/scripts/{name}": Entry(SHORT_FORM, 0o755) for name in ["memo", "memory-cli"]},
        f"{base}.dist-info/METADATA": Entry(metadata),
        f"{base}.dist-info/WHEEL": Entry(wheel_file),
        **{f"{base}.dist-info/licenses/{name}": files[name] for name in LICENCE_FILES},
        f"{base}.dist-info/sboms/memory.cdx.json": files["memory.cdx.json"],
    }
    record = io.StringIO()
    writer = csv.writer(record, lineterminator="\n")
    for path, entry in members.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(entry.content).digest()).rstrip(b"=").decode()
        writer.writerow([path, f"sha256={digest}", len(entry.content)])
    writer.writerow([f"{base}.dist-info/RECORD", "", ""])
    members[f"{base}.dist-info/RECORD"] = Entry(record.getvalue())
    buffer = io.BytesIO()
    # The earliest time that ZIP archives support is 1980.
    date = time.gmtime(max(at, 315_532_800))[:6]
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive:
        for path, entry in members.items():
            item = zipfile.ZipInfo(path, date)
            item.external_attr, item.compress_type = (0o100000 | entry.mode) << 16, zipfile.ZIP_DEFLATED
            archive.writestr(item, entry.content)
    yield f"{base}-{tag}.whl", buffer.getvalue()


def npm(files, target, at):
    """Returns an npm package that contains the program."""
    processor = PROCESSORS[target.split("-")[0]][3]
    manifest = {
        "name": "memory-cli", "version": VERSION, "description": SUMMARY, "license": LICENCE,
        "bin": {name: "bin/memory" for name in ["memory", "memo", "memory-cli"]}, "os": ["linux"], "cpu": [processor], "files": ["bin", *LICENCE_FILES],
    }
    members = {f"package/{path}": files[path] for path in
               ["bin/memory", "README.md", *LICENCE_FILES, "memory.cdx.json"]}
    members["package/package.json"] = Entry(json.dumps(manifest, indent=2) + "\n")
    yield f"memory-cli-{VERSION}-{processor}.tgz", gzip_bytes(tar_bytes(members, at, folders=False))


# Index ---------------------------------------------------------------------------------------------------------------


def fill(template, values):
    text = (HERE / template).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", value)
    return text


def formula(archives, address):
    """Returns the Homebrew formula for archives by their targets."""
    lines = []
    for target, path in archives.items():
        system, processor = FORMULA_BLOCKS[target]
        lines += [f"  {system} do", f"    {processor} do", f'      url "{address}/{path.name}"',
                  f'      sha256 "{sha256(path.read_bytes())}"', "    end", "  end"]
    return fill("memory.rb.in", {"SUMMARY": SUMMARY, "VERSION": VERSION, "SOURCES": "\n".join(lines)})


def flake(archives):
    """Returns the Nix flake, which is beside the archives."""
    systems = [f"        {FLAKE_SYSTEMS[target]} = ./{path.name};" for target, path in archives.items()]
    return fill("flake.nix.in", {"SUMMARY": SUMMARY, "VERSION": VERSION, "SYSTEMS": "\n".join(systems)})


def write_index(output, address):
    """Writes the formula, the flake and the checksums for all packages in a folder."""
    archives = {target: output / f"memory-{VERSION}-{target}.tar.gz" for target in FORMULA_BLOCKS}
    archives = {target: path for target, path in archives.items() if path.exists()}
    (output / "memory.rb").write_text(formula(archives, address))
    (output / "flake.nix").write_text(flake(archives))
    packages = sorted(path for path in output.iterdir() if path.is_file() and not path.name.endswith((".sigstore.json", "SHA256SUMS")))
    (output / "SHA256SUMS").write_text("".join(f"{sha256(path.read_bytes())}  {path.name}\n" for path in packages))


def build(program, target, output):
    processor = target.split("-")[0]
    if processor not in PROCESSORS:
        sys.exit(f"{target}: packages are built for {' and '.join(PROCESSORS)}")
    own = {"arm64": "aarch64", "AMD64": "x86_64"}.get(platform.machine(), platform.machine())
    if own != processor and runner_variable(target) not in os.environ:
        sys.exit(f"{program} must run to print its manual pages: set {runner_variable(target)} to an emulator")
    at, work = source_time(), output / ".work"
    work.mkdir(parents=True, exist_ok=True)
    files = contents(program, target, at, work)
    shutil.rmtree(work)
    builders = (archives, debian, container, wheel, npm) if "linux" in target else (archives,)
    packages = [package for build_one in builders for package in build_one(files, target, at)]
    packages.append((f"memory-{VERSION}-{target}.cdx.json", files["memory.cdx.json"].content))
    for name, content in packages:
        (output / name).write_bytes(content)
        print(f"{len(content):>12,}  {name}")


def main():
    match sys.argv[1:]:
        case ["build", program, target, output]:
            build(pathlib.Path(program).resolve(), target, pathlib.Path(output))
        case ["index", output, *address] if len(address) < 2:
            # By default, the archives are beside the formula.
            write_index(pathlib.Path(output), address[0] if address else "file://#{__dir__}")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
