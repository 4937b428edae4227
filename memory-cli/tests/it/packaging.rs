//! Tests of the packages: each is built from the program under test, installed with its own tool, used and removed.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use memory_core::testing::{copy_program, leave_out, wait_until};
use serde_json::Value;
use tempfile::TempDir;

/// The target that names the packages. The program under test is not static, so they are installed on this machine only.
const TARGET: &str = concat!(env!("CARGO_PKG_VERSION"), "-x86_64-unknown-linux-gnu");

/// Runs a command, and returns its standard output.
fn run(command: &mut Command) -> String {
    let done = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let (output, errors) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert!(done.status.success(), "{command:?}: {output}{errors}");
    output.into_owned()
}

/// Builds all packages into a folder.
fn build(program: &Path, folder: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/package.py");
    let target = TARGET.split_once('-').expect("a version").1;
    let mut command = Command::new("python3");
    command
        .arg(&script)
        .arg("build")
        .arg(program)
        .arg(target)
        .arg(folder);
    run(command
        .env("PACKAGE_COMPRESSION", "1")
        .env("SOURCE_DATE_EPOCH", "1700000000"));
    run(Command::new("python3")
        .arg(&script)
        .arg("index")
        .arg(folder));
}

/// Returns the packages, which are built once; `None` on another processor than that of the packages.
fn packages() -> Option<&'static Path> {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    if !cfg!(target_arch = "x86_64") {
        return None;
    }
    let folder = FOLDER.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let program = small_program(folder.path());
        build(&program, &folder.path().join("packages"));
        folder
    });
    Some(folder.path())
}

/// Writes a small program that runs `memory`: large packages take long to compress.
fn small_program(folder: &Path) -> PathBuf {
    let program = folder.join("memory");
    let script = format!(
        "#!/bin/sh\nexec '{}' \"$@\"\n",
        env!("CARGO_BIN_EXE_memory")
    );
    fs::write(&program, script).expect("a file");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("a file");
    program
}

/// Returns the only package whose name ends with `suffix`.
fn package(folder: &Path, suffix: &str) -> PathBuf {
    let mut paths = fs::read_dir(folder.join("packages"))
        .expect("packages")
        .map(|entry| entry.expect("an entry").path());
    paths
        .find(|path| path.to_string_lossy().ends_with(suffix))
        .expect("a package")
}

/// Asserts that a folder has the licence texts of the program, of its dependencies, and of the model in it.
fn assert_licences(folder: &Path, own: &str) {
    for file in [
        own,
        "LICENSE-APACHE",
        "NOTICE",
        "LICENSES-OF-DEPENDENCIES.md",
    ] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    let notice = fs::read_to_string(folder.join("NOTICE")).expect("a file");
    assert!(notice.contains("universal-sentence-encoder") && notice.contains("Changes: "));
}

/// Uses an installed program as a new user does: writes, searches, and connects as an agent.
fn use_program(program: &Path) {
    let home = tempfile::tempdir().expect("a folder");
    let memory = |arguments: &[&str]| {
        run(Command::new(program)
            .args(arguments)
            .env("HOME", home.path()))
    };
    memory(&["write", "The user prefers tea"]);
    assert!(memory(&["search", "tea"]).contains("The user prefers tea"));
    let mut agent = Command::new(program);
    let pipes = agent
        .arg("mcp")
        .env("HOME", home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut agent = pipes.spawn().expect("the program starts");
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}"#;
    writeln!(agent.stdin.take().expect("a pipe"), "{hello}").expect("it reads");
    let answer = agent.wait_with_output().expect("it ends").stdout;
    assert!(String::from_utf8_lossy(&answer).contains(r#""serverInfo""#));
}

/// Uses `memo` and `memory-cli` in a folder. They start the program under their names, which a script would not see.
fn use_short_forms(folder: &Path) {
    copy_program(
        env!("CARGO_BIN_EXE_memory").as_ref(),
        &folder.join("memory"),
    );
    assert!(run(Command::new(folder.join("memo")).arg("--version")).starts_with("memo "));
    assert!(
        run(Command::new(folder.join("memory-cli")).arg("--help")).contains("Usage: memory-cli ")
    );
}

#[test]
fn the_archive_has_the_program_its_manual_and_its_licences() {
    let Some(folder) = packages() else { return };
    let place = tempfile::tempdir().expect("a folder");
    run(Command::new("tar")
        .arg("-xzf")
        .arg(package(folder, ".tar.gz"))
        .arg("-C")
        .arg(place.path()));
    let own = place.path().join(format!("memory-{TARGET}"));
    use_program(&own.join("memory"));
    use_short_forms(&own);
    for file in [
        "man/man1/memory-search.1",
        "completions/memory.nu",
        "README.md",
    ] {
        assert!(own.join(file).is_file(), "{file}");
    }
    assert_licences(&own, "LICENSE");
    let readme = fs::read_to_string(own.join("README.md")).expect("a file");
    assert!(
        readme.contains("## Five minutes")
            && !readme.contains("cargo ")
            && !readme.contains("](docs/"),
        "{readme}"
    );
    let bill: Value =
        serde_json::from_slice(&fs::read(own.join("memory.cdx.json")).expect("a file"))
            .expect("JSON");
    let names: BTreeSet<_> = bill["components"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["name"].as_str())
        .collect();
    assert!(names.contains(&Some("tantivy")) && !names.contains(&Some("criterion")));
    let licences = fs::read_to_string(own.join("LICENSES-OF-DEPENDENCIES.md")).expect("a file");
    assert!(licences.contains("- serde 1.") && licences.contains("Permission is hereby granted"));
}

#[test]
fn the_debian_package_installs_units_and_leaves_nothing_when_it_is_removed() {
    let Some(folder) = packages() else { return };
    let root = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(root.path().join("var/lib/dpkg/updates")).expect("a folder");
    fs::write(root.path().join("var/lib/dpkg/status"), "").expect("a file");
    let dpkg = |arguments: &[&str], package: &Path| {
        let mut command = Command::new("dpkg");
        command
            .arg("--root")
            .arg(root.path())
            .args([
                "--force-not-root",
                "--force-depends",
                "--force-script-chrootless",
            ])
            .args(arguments)
            .arg(package);
        run(command.env(
            "PATH",
            format!(
                "{}:/usr/sbin:/sbin",
                std::env::var("PATH").unwrap_or_default()
            ),
        ))
    };
    dpkg(&["--install"], &package(folder, ".deb"));
    use_program(&root.path().join("usr/bin/memory"));
    let documents = root.path().join("usr/share/doc/memory-cli");
    assert_licences(&documents, "copyright");
    let unit = fs::read_to_string(root.path().join("usr/lib/systemd/user/memory.service"))
        .expect("a unit");
    assert!(
        unit.contains(
            r#"ExecStart="/usr/bin/memory" "daemon" "run" "--log" "-" "--root" "%h/.memory""#
        ),
        "{unit}"
    );
    dpkg(&["--verify"], Path::new("memory-cli"));
    // The removal stops a daemon, which would use a deleted program. It finds the daemon by the file that it executes.
    let home = tempfile::tempdir().expect("a folder");
    let program = root.path().join("usr/bin/memory");
    copy_program(env!("CARGO_BIN_EXE_memory").as_ref(), &program);
    let mut daemon = Command::new(program);
    let daemon = daemon
        .arg("serve")
        .env("HOME", home.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut daemon = daemon.spawn().expect("the program starts");
    wait_until("the daemon listens", || {
        assert!(daemon.try_wait().expect("a state").is_none(), "it runs");
        home.path().join(".memory/memory.sock").exists()
    });
    dpkg(&["--purge"], Path::new("memory-cli"));
    daemon.wait().expect("it ends");
    assert!(!root.path().join("usr").exists());
}

#[test]
fn pip_and_npm_install_the_program_without_a_network() {
    let Some(folder) = packages() else { return };
    let place = tempfile::tempdir().expect("a folder");
    run(Command::new("python3")
        .args(["-m", "venv"])
        .arg(place.path().join("venv")));
    let pip = place.path().join("venv/bin/pip");
    run(Command::new(&pip)
        .args(["install", "--no-index", "--disable-pip-version-check"])
        .arg(package(folder, ".whl")));
    use_program(&place.path().join("venv/bin/memory"));
    use_short_forms(&place.path().join("venv/bin"));
    let description = run(Command::new(&pip).args(["show", "memory-cli"]));
    let location = |line: &str| line.strip_prefix("Location: ").map(PathBuf::from);
    let packages = description
        .lines()
        .find_map(location)
        .expect("the folder of packages");
    let information = concat!("memory_cli-", env!("CARGO_PKG_VERSION"), ".dist-info");
    assert_licences(&packages.join(information).join("licenses"), "LICENSE");
    run(Command::new(&pip).args(["uninstall", "--yes", "memory-cli"]));
    assert!(!place.path().join("venv/bin/memory").exists());

    let prefix = place.path().join("node");
    let npm = || {
        let mut command = Command::new("npm");
        command
            .env("HOME", place.path())
            .arg("--prefix")
            .arg(&prefix)
            .args(["--global", "--offline", "--no-audit", "--no-fund"]);
        command
    };
    run(npm().arg("install").arg(package(folder, ".tgz")));
    use_program(&prefix.join("bin/memory"));
    use_short_forms(&prefix.join("bin"));
    assert_licences(&prefix.join("lib/node_modules/memory-cli"), "LICENSE");
    run(npm().args(["uninstall", "memory-cli"]));
    assert!(!prefix.join("bin/memory").exists());
}

#[test]
fn the_image_has_the_layout_of_oci_and_the_checksums_are_right() {
    let Some(folder) = packages() else { return };
    run(Command::new("sha256sum")
        .arg("--check")
        .arg(package(folder, "SHA256SUMS"))
        .current_dir(folder.join("packages")));
    let place = tempfile::tempdir().expect("a folder");
    run(Command::new("tar")
        .arg("-xf")
        .arg(package(folder, ".oci.tar"))
        .arg("-C")
        .arg(place.path()));
    let read = |path: &str| {
        serde_json::from_slice::<Value>(&fs::read(place.path().join(path)).expect("a file"))
            .expect("JSON")
    };
    let blob = |digest: &Value| {
        format!(
            "blobs/{}",
            digest.as_str().expect("a digest").replace(':', "/")
        )
    };
    let manifest = read(&blob(&read("index.json")["manifests"][0]["digest"]));
    let config = read(&blob(&manifest["config"]["digest"]));
    assert_eq!(config["config"]["Entrypoint"][0], "/usr/bin/memory");
    let system = place.path().join("system");
    fs::create_dir(&system).expect("a folder");
    for (layer, digest) in manifest["layers"]
        .as_array()
        .expect("layers")
        .iter()
        .zip(config["rootfs"]["diff_ids"].as_array().expect("ids"))
    {
        let plain = run(Command::new("sh")
            .args([
                "-c",
                "gunzip -c \"$1\" | sha256sum",
                "_",
                &blob(&layer["digest"]),
            ])
            .current_dir(place.path()));
        assert_eq!(
            format!("sha256:{}", &plain[..64]),
            digest.as_str().expect("a digest")
        );
        run(Command::new("tar")
            .arg("-xzf")
            .arg(place.path().join(blob(&layer["digest"])))
            .arg("-C")
            .arg(&system));
    }
    use_program(&system.join("usr/bin/memory"));
    assert_licences(&system.join("usr/share/doc/memory-cli"), "copyright");
}

#[test]
fn the_formula_and_the_flake_name_the_archives_of_all_systems() {
    let Some(folder) = packages() else { return };
    let place = tempfile::tempdir().expect("a folder");
    let targets = [
        "x86_64-unknown-linux-musl",
        "aarch64-unknown-linux-musl",
        "aarch64-apple-darwin",
    ];
    let archive = package(folder, ".tar.gz");
    for target in targets {
        let name = format!("memory-{}-{target}.tar.gz", env!("CARGO_PKG_VERSION"));
        fs::copy(&archive, place.path().join(name)).expect("a copy");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/package.py");
    run(Command::new("python3")
        .arg(script)
        .arg("index")
        .arg(place.path())
        .arg("https://example.com/release"));
    let read = |name: &str| fs::read_to_string(place.path().join(name)).expect("a file");
    let (formula, flake) = (read("memory.rb"), read("flake.nix"));
    let sum = &run(Command::new("sha256sum").arg(&archive))[..64];
    assert_eq!(formula.matches(sum).count(), 3);
    for target in targets {
        let name = format!("memory-{}-{target}.tar.gz", env!("CARGO_PKG_VERSION"));
        assert!(
            formula.contains(&format!(r#"url "https://example.com/release/{name}""#)),
            "{formula}"
        );
        assert!(flake.contains(&format!("= ./{name};")), "{flake}");
    }
    for text in [formula, flake] {
        assert!(!text.contains('@'), "a placeholder is left: {text}");
    }
    run(Command::new("sha256sum")
        .args(["--check", "SHA256SUMS"])
        .current_dir(place.path()));
}

#[test]
fn the_archive_for_windows_has_hard_links_that_follow_the_program() {
    // The archive lists the dependencies on Windows, which no build on Linux downloads.
    let fetched = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--locked"])
        .args(["--filter-platform", "x86_64-pc-windows-msvc"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    if !fetched.is_ok_and(|output| output.status.success()) {
        return leave_out("the dependencies on Windows cannot be downloaded");
    }
    let place = tempfile::tempdir().expect("a folder");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("packaging/package.py");
    let mut command = Command::new("python3");
    command
        .arg(script)
        .arg("build")
        .arg(small_program(place.path()))
        .arg("x86_64-pc-windows-msvc")
        .arg(place.path());
    run(command
        .env("PACKAGE_COMPRESSION", "1")
        .env("SOURCE_DATE_EPOCH", "1700000000"));
    let archive = place.path().join(format!(
        "memory-{}-x86_64-pc-windows-msvc.tar.gz",
        env!("CARGO_PKG_VERSION")
    ));
    run(Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(place.path()));
    let files = archive.to_string_lossy().replace(".tar.gz", "");
    let read = |name: &str| fs::read(Path::new(&files).join(name)).expect("a file");
    assert!(read("memory.exe") == read("memo.exe") && read("memory.exe") == read("memory-cli.exe"));
    assert!(!Path::new(&files).join("units").exists());
    assert_licences(Path::new(&files), "LICENSE");
}

#[test]
fn the_same_program_gives_the_same_packages() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = small_program(folder.path());
    let [first, second] = ["first", "second"].map(|name| {
        build(&program, &folder.path().join(name));
        fs::read_to_string(folder.path().join(name).join("SHA256SUMS")).expect("the checksums")
    });
    assert_eq!(first, second);
}

/// Prepares a root folder with the system of this machine and nothing else, runs a line in it as a new user does, and uses the program.
///
/// Its arguments are the folder, that of the packages, the program under test, and the line.
const IN_A_BARE_SYSTEM: &str = r#"
set -eu
root="$1/root" program="$3"
mount -t tmpfs none "$1"
mkdir -p "$1/changes" "$1/work" "$root/usr" "$root/dev" "$root/etc" "$root/proc" "$root/root/.claude" "$root/tmp" "$root/packages"
mkdir -p "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/info" "$root$(dirname "$program")"
: >"$root/var/lib/dpkg/status"
: >"$root$program"
mount -t overlay none -o "userxattr,lowerdir=/usr,upperdir=$1/changes,workdir=$1/work" "$root/usr"
for folder in bin sbin lib lib64; do [ ! -e "/$folder" ] || ln -s "usr/$folder" "$root/$folder"; done
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
mount --bind "$2" "$root/packages"
mount --bind "$program" "$root$program"
exec env -i PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=/root npm_config_offline=true npm_config_audit=false \
    chroot "$root" /bin/sh -euc '
        cd /packages
        sudo() { "$@"; }
        for tool in cargo rustc memory; do ! command -v "$tool"; done
        case "$1" in pip*)
            python3 -m venv /root/environment
            . /root/environment/bin/activate
            ;;
        esac
        eval "$1"
        cd /root
        memory write "The user prefers tea" >/dev/null
        memory search tea | grep -q "prefers tea"
        memory install claude-code
        grep -q mcpServers .claude.json
        memory doctor --system
    ' sh "$4"
"#;

/// Returns the lines of a page that install a package, without their comments.
fn install_lines(page: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(page);
    let text = fs::read_to_string(path).expect("a page");
    let blocks = text.split("```sh\n").skip(1);
    let lines = blocks.flat_map(|block| block.split("```").next().unwrap_or_default().lines());
    let commands = lines.map(|line| line.split(" # ").next().unwrap_or_default().trim());
    let endings = [".tar.gz", ".deb", ".whl", ".tgz"];
    let is_package =
        |line: &&str| line.contains('*') && endings.iter().any(|ending| line.contains(ending));
    commands.filter(is_package).map(str::to_owned).collect()
}

#[test]
fn every_line_that_installs_a_package_works_in_a_bare_system() {
    let pages = ["README.md", "docs/src/installing.md"].map(install_lines);
    for tool in ["tar ", "dpkg ", "pip ", "npm "] {
        let is_shown = pages[1].iter().any(|line| line.contains(tool));
        assert!(is_shown, "the page on installing has no line with {tool}");
    }
    let lines: BTreeSet<String> = pages.into_iter().flatten().collect();
    let Some(folder) = packages() else { return };
    let mount = Command::new("unshare").args(["-rm", "true"]).output();
    if !mount.is_ok_and(|output| output.status.success()) {
        return leave_out("this user may not mount file systems in a namespace");
    }
    for line in lines {
        // The packages under test are not static.
        let line = line.replace("linux-musl", "linux-gnu");
        let root = tempfile::tempdir().expect("a folder");
        let done = run(Command::new("unshare")
            .args(["-rm", "sh", "-c", IN_A_BARE_SYSTEM, "sh"])
            .arg(root.path())
            .arg(folder.join("packages"))
            .arg(env!("CARGO_BIN_EXE_memory"))
            .arg(&line));
        assert!(done.contains("Claude Code is set up"), "{line}: {done}");
    }
}
