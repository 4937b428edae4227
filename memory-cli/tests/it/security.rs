//! Tests of the statements in `SECURITY.md`.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::sandbox::Sandbox;

/// Collects the names of the active tests in a folder.
fn collect_tests(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let (path, kind) = (entry.path(), entry.file_type().expect("a kind"));
        if kind.is_dir() && entry.file_name() != "target" {
            collect_tests(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            collect_tests_in(&fs::read_to_string(path).expect("a text"), found);
        }
    }
}

/// Collects the names of the active tests in a source file.
///
/// A test has the attribute `#[test]`, also within `proptest!`, and is not ignored.
fn collect_tests_in(source: &str, found: &mut BTreeSet<String>) {
    let (mut is_test, mut is_ignored) = (false, false);
    for line in source
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with("//"))
    {
        if line.starts_with('#') {
            is_test |= line.starts_with("#[test]");
            is_ignored |= line.contains("ignore");
        } else if let Some((before, name)) = line.split_once("fn ") {
            let is_function = before
                .split_whitespace()
                .all(|word| ["pub", "pub(crate)", "pub(super)", "async"].contains(&word));
            let name = name.split(['(', '<']).next().unwrap_or_default();
            found.extend((is_function && is_test && !is_ignored).then(|| name.to_owned()));
            (is_test, is_ignored) = (false, false);
        }
    }
}

#[test]
fn a_test_is_what_is_marked_as_one_and_not_ignored() {
    let source = "#[test]\nfn a() {\n    let b = 1;\n}\nfn c() {}\n#[test]\n#[ignore]\nfn d() {}\n// #[test]\nfn e() {}\n\
        proptest! {\n    #[test]\n    /// Why.\n    #[cfg(unix)]\n    fn f(x in 0..1) {}\n}\n#[test] #[ignore = \"slow\"]\nfn g() {}\n\
        #[cfg_attr(unix, ignore)]\n#[test]\nfn h() {}\nfn i() {}\n";
    let mut found = BTreeSet::new();
    collect_tests_in(source, &mut found);
    assert_eq!(found, ["a".to_owned(), "f".to_owned()].into());
}

#[test]
fn every_row_names_tests_that_are_there_and_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let mut run = BTreeSet::new();
    for part in fs::read_dir(root).expect("the repository").flatten() {
        if part.file_name().to_string_lossy().starts_with("memory-") {
            collect_tests(&part.path(), &mut run);
        }
    }
    let model = fs::read_to_string(root.join("SECURITY.md")).expect("the threat model");
    let rows: Vec<&str> = model
        .lines()
        .filter(|line| line.starts_with("| ") && line.matches(" | ").count() == 2)
        .collect();
    let (_, rows) = rows.split_first().expect("a heading");
    assert!(!rows.is_empty());
    for row in rows {
        let tests = row
            .trim_end_matches(" |")
            .rsplit(" | ")
            .next()
            .expect("a column");
        let mut named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{row}");
        named.retain(|name| !run.contains(*name));
        assert_eq!(named, [""; 0], "{row}");
    }
}

/// Returns all files and folders in a folder that other users can access.
fn accessible_to_others(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
    {
        let rights = entry.metadata().expect("its rights");
        found.extend((rights.permissions().mode() & 0o077 != 0).then(|| entry.path()));
        found.extend(
            rights
                .is_dir()
                .then(|| accessible_to_others(&entry.path()))
                .into_iter()
                .flatten(),
        );
    }
    found
}

#[test]
fn nothing_in_a_home_is_for_others_to_read_whatever_was_kept_in_it() {
    let sandbox = Sandbox::new();
    let said = sandbox.run_shell(
        r#"umask 0
        set -e
        home="$HOME/.memory"
        {
            memory config set git.enabled true
            memory write 'tea at nine'
            id=$(memory write 'cake at ten' --tags sweet | cut -f1)
            memory edit "$id" --content 'cake at eleven'
            memory delete "$id"
            memory remind 'call Anna tomorrow at 3pm'
            memory bank write --scope user session key '"value"'
            memory bank delete --scope user session key
            memory topic write plans.md --type user --description 'what is planned' --dir topics 'tea'
            memory conversations add 'likes tea'
            memory instance run kv/default set -p key=a/b -p value=1
            memory instance run kv/default delete -p key=a/b
            memory instance run history/default append -p session=s -p role=user -p content=tea
            memory instance connect kv other --input '{}'
            memory reindex
            memory search tea
            memory dream
            memory serve --once
            memory keep-versions-of "$home" end
            git -C "$home" gc --quiet
            memory write 'water at noon'
            memory keep-versions-of "$home" end
            memory status
        } >out 2>&1"#,
    );
    assert_eq!(said, "", "{}", sandbox.read_file("out"));
    let home = sandbox.path(".memory");
    for name in [
        "config.yaml",
        "categories",
        "trash",
        "journal",
        "banks",
        "entries",
        "kv",
        "history",
        "index",
        ".git",
    ] {
        assert!(home.join(name).exists(), "{name}");
    }
    for folder in [home, sandbox.path("topics")] {
        assert_eq!(accessible_to_others(&folder), [""; 0].map(PathBuf::from));
        assert_eq!(
            folder.metadata().expect("its rights").permissions().mode() & 0o077,
            0
        );
    }
}

#[test]
fn every_dependency_comes_from_the_one_registry_and_none_is_a_library_of_the_system() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let lock = fs::read_to_string(root.join("Cargo.lock")).expect("what is locked");
    let packages: Vec<&str> = lock.split("[[package]]").skip(1).collect();
    assert!(!packages.is_empty());
    let value = |package: &str, key: &str| {
        let line = package
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{key} = \"")))
            .map(str::to_owned);
        line.map(|value| value.trim_end_matches('"').to_owned())
    };
    for package in packages {
        let name = value(package, "name").expect("a name");
        let is_ours = name == "memory-fuzz" || root.join(&name).is_dir();
        let source = value(package, "source");
        let expected =
            (!is_ours).then_some("registry+https://github.com/rust-lang/crates.io-index");
        assert_eq!(source.as_deref(), expected, "{name}");
        assert_eq!(value(package, "checksum").is_some(), !is_ours, "{name}");
        assert!(
            !["openssl-sys", "native-tls"].contains(&name.as_str()),
            "{name}"
        );
    }
    let checks = fs::read_to_string(root.join(".ci/run")).expect("what must pass");
    assert!(
        checks.contains("cargo deny check licenses bans sources"),
        "the rest is a matter of deny.toml"
    );
}

#[test]
fn every_target_of_the_fuzzer_is_told_of_has_a_corpus_and_is_run() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the repository");
    let read = |path: &str| fs::read_to_string(root.join(path)).expect("a text");
    let (manifest, told, checks) = (
        read("fuzz/Cargo.toml"),
        read("fuzz/README.md"),
        read(".ci/nightly"),
    );
    let targets: Vec<String> = fs::read_dir(root.join("fuzz/fuzz_targets"))
        .expect("the targets")
        .map(|entry| {
            entry
                .expect("an entry")
                .path()
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    assert_eq!(targets.len(), manifest.matches("[[bin]]").count());
    for target in targets {
        assert!(
            manifest.contains(&format!("name = \"{target}\""))
                && told.contains(&format!("`{target}`")),
            "{target}"
        );
        let corpus = fs::read_dir(root.join("fuzz/corpus").join(&target)).expect("a corpus");
        assert!(corpus.count() != 0, "{target}");
    }
    assert!(checks.contains("cargo fuzz list |"), "each is run");
}
