use std::os::unix::fs::{PermissionsExt, symlink};

use tempfile::TempDir;

use super::*;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

fn look(path: &Path) -> ClientFileSnapshot {
    ClientFileSnapshot::read(path, None).expect("a file or none")
}

fn mode(path: &Path) -> u32 {
    path.metadata().expect("a file").permissions().mode() & 0o777
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().display().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_keeps_its_mode_and_so_does_its_backup() {
    let folder = folder();
    let path = folder.path().join("a.json");
    fs::write(&path, "old").expect("a file");
    fs::set_permissions(&path, Permissions::from_mode(0o640)).expect("a mode");
    let seen = look(&path);
    let backup = seen.back_up().expect("a backup").expect("a backup");
    seen.replace(Some(b"new"), InstallLevel::User)
        .expect("a change");
    assert_eq!(
        (fs::read(&path).expect("a file"), mode(&path)),
        (b"new".to_vec(), 0o640)
    );
    assert_eq!(
        (fs::read(&backup).expect("a file"), mode(&backup)),
        (b"old".to_vec(), 0o640)
    );
    assert_eq!(names(&folder), ["a.json", "a.json.before-memory"]);
}

#[test]
fn no_backup_is_written_over_and_none_is_made_twice() {
    let folder = folder();
    let path = folder.path().join("a.json");
    let keep = |text: &str| {
        fs::write(&path, text).expect("a file");
        look(&path)
            .back_up()
            .expect("a backup")
            .expect("a backup")
            .file_name()
            .expect("a name")
            .display()
            .to_string()
    };
    assert_eq!(keep("one"), "a.json.before-memory");
    assert_eq!(keep("two"), "a.json.before-memory-2");
    assert_eq!(keep("one"), "a.json.before-memory");
    fs::rename(
        folder.path().join("a.json.before-memory-2"),
        folder.path().join("a.json.before-memory-11"),
    )
    .expect("a rename");
    assert_eq!(keep("three"), "a.json.before-memory-12");
    let backups = look(&path).backups().expect("backups");
    let texts: Vec<_> = backups
        .iter()
        .map(|path| fs::read_to_string(path).expect("a file"))
        .collect();
    assert_eq!(texts, ["one", "two", "three"]);
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder();
    let (target, link, chain) = (
        folder.path().join("dots/a.json"),
        folder.path().join("link"),
        folder.path().join("chain"),
    );
    fs::create_dir(folder.path().join("dots")).expect("a folder");
    symlink("dots/a.json", &link).expect("a link");
    symlink(&link, &chain).expect("a link");
    // The target of a link may be missing.
    look(&chain)
        .replace(Some(b"one"), InstallLevel::User)
        .expect("a change");
    look(&chain)
        .replace(Some(b"two"), InstallLevel::User)
        .expect("a change");
    assert!(link.is_symlink() && chain.is_symlink());
    assert_eq!(fs::read(&target).expect("a file"), b"two");
    assert_eq!(
        look(&chain).back_up().expect("a backup"),
        Some(folder.path().join("chain.before-memory"))
    );
    symlink("round", folder.path().join("round")).expect("a link");
    ClientFileSnapshot::read(&folder.path().join("round"), None).expect_err("it leads in a circle");
}

#[test]
fn what_changed_since_it_was_seen_is_left_alone() {
    let folder = folder();
    let path = folder.path().join("a.json");
    let seen = look(&path);
    fs::write(&path, "theirs").expect("a file");
    assert!(matches!(
        seen.replace(Some(b"ours"), InstallLevel::User),
        Err(ReplaceError::Changed)
    ));
    let seen = look(&path);
    fs::write(&path, "theirs again").expect("a file");
    assert!(matches!(
        seen.replace(Some(b"ours"), InstallLevel::User),
        Err(ReplaceError::Changed)
    ));
    assert!(matches!(
        seen.replace(None, InstallLevel::User),
        Err(ReplaceError::Changed)
    ));
    assert_eq!(fs::read(&path).expect("a file"), b"theirs again");
    assert_eq!(names(&folder), ["a.json"]);
}

#[test]
fn a_new_file_is_for_whom_it_is_made() {
    let folder = folder();
    let (own, shared) = (
        folder.path().join("x/own.json"),
        folder.path().join("y/shared.json"),
    );
    look(&own)
        .replace(Some(b"{}"), InstallLevel::User)
        .expect("a change");
    look(&shared)
        .replace(Some(b"{}"), InstallLevel::Project)
        .expect("a change");
    assert_eq!(mode(&own), 0o600);
    assert_eq!(mode(&shared) & 0o600, 0o600);
    assert_eq!(
        look(&own).back_up().expect("a backup"),
        Some(folder.path().join("x/own.json.before-memory"))
    );
    assert_eq!(
        look(&folder.path().join("none")).back_up().expect("none"),
        None
    );
}
