//! Tests of a read-only home: reads succeed, writes are refused, and no file changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::shapes::{SHAPES, assert_healthy, combined_output, name};
use super::small_disk::{is_in_mount_namespace, mount, remount};
use crate::sandbox::Sandbox;

fn write_all_shapes(home: &Sandbox) {
    for shape in &SHAPES {
        assert!(
            shape.write(home, &name(1, 0)).status.success(),
            "{}",
            shape.name
        );
    }
}

/// Returns every file with its bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            let bytes = fs::read(&path).expect("a file");
            all.insert(path, bytes);
        }
    }
    all
}

/// Tries to write to every shape, and asserts that each write is refused; returns the messages.
fn assert_writes_refused(home: &Sandbox, through: &[&str]) -> Vec<String> {
    let mut all = Vec::new();
    for shape in &SHAPES {
        let wanted = shape.command(home, &name(2, 0));
        let mut command = Command::new(
            through
                .first()
                .map_or_else(|| wanted.get_program().to_owned(), |first| (*first).into()),
        );
        if !through.is_empty() {
            command.args(&through[1..]).arg(wanted.get_program());
        }
        command.args(wanted.get_args()).current_dir(home.path(""));
        for (key, value) in wanted.get_envs() {
            value.map(|value| command.env(key, value));
        }
        let output = Sandbox::finish(command, "");
        let said = combined_output(&output);
        assert!(
            !output.status.success(),
            "{} was written: {said}",
            shape.name
        );
        assert!(said.contains("error"), "{}: {said}", shape.name);
        all.push(said.to_lowercase());
    }
    all
}

#[test]
fn a_file_system_that_became_read_only_is_read_and_never_written() {
    if !is_in_mount_namespace(
        "real_faults::read_only::a_file_system_that_became_read_only_is_read_and_never_written",
    ) {
        return;
    }
    let home = Sandbox::new();
    mount(&home.path(""), 16 << 20);
    write_all_shapes(&home);
    let before = files(&home.path(""));
    remount(&home.path(""), "ro");
    for said in assert_writes_refused(&home, &[]) {
        assert!(
            said.contains("read-only") || said.contains("permission"),
            "{said}"
        );
    }
    for shape in &SHAPES {
        assert!(shape.names(&home).contains(&name(1, 0)), "{}", shape.name);
    }
    remount(&home.path(""), "rw");
    assert_eq!(files(&home.path("")), before);
    for shape in &SHAPES {
        assert!(
            shape.write(&home, &name(3, 0)).status.success(),
            "{}",
            shape.name
        );
    }
    assert_healthy(&home);
}

#[test]
fn a_home_whose_folders_may_not_be_written_is_read_and_never_written() {
    let home = Sandbox::new();
    write_all_shapes(&home);
    let before = files(&home.path(""));
    for folder in [".memory", "topics"] {
        set_permissions(&home.path(folder), 0o500);
    }
    // File permissions do not stop root.
    let is_root = fs::write(home.path(".memory/probe"), "").is_ok();
    let _ = fs::remove_file(home.path(".memory/probe"));
    let through: &[&str] = if is_root {
        &[
            "setpriv",
            "--bounding-set",
            "-dac_override,-dac_read_search",
        ]
    } else {
        &[]
    };
    for said in assert_writes_refused(&home, through) {
        assert!(said.contains("permission"), "{said}");
    }
    for folder in [".memory", "topics"] {
        set_permissions(&home.path(folder), 0o700);
    }
    assert_eq!(files(&home.path("")), before);
    for shape in &SHAPES {
        assert!(
            shape.write(&home, &name(3, 0)).status.success(),
            "{}",
            shape.name
        );
    }
    assert_healthy(&home);
}

/// Sets the permissions of a folder and its content; files are never executable.
fn set_permissions(folder: &Path, mode: u32) {
    let set = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    set(folder, 0o700);
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            set_permissions(&path, mode);
        } else {
            set(&path, mode & 0o600);
        }
    }
    set(folder, mode);
}
