use std::sync::mpsc::channel;

use super::super::{Versions, VersionsError};
use super::*;

fn has_git() -> bool {
    if std::process::Command::new("git").arg("--version").output().is_ok_and(|done| done.status.success()) {
        return true;
    }
    eprintln!("left out: versions of conversations, because `git` is missing");
    assert!(std::env::var_os("MEMORY_TEST_REQUIRE_ALL").is_none(), "git is missing");
    false
}

fn git(home: &Path, arguments: &[&str]) -> String {
    let done = std::process::Command::new("git").args(arguments).current_dir(home).output().unwrap();
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn versions_are_kept_in_a_repository_of_their_own() {
    if !has_git() {
        return;
    }
    let outer = tempfile::tempdir().unwrap();
    git(outer.path(), &["init", "--quiet"]);
    let home = outer.path().join("memories");
    keep(&home, &["likes tea"]);
    fs::write(home.join("secret.txt"), "not ours").unwrap();
    let (sender, told) = channel();
    let versions = Versions::new(&home, Box::new(move |error| sender.send(error.clone()).unwrap()));
    versions.note("Add 1 memory");
    drop(versions);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), []);
    assert_eq!(git(&home, &["log", "--format=%s"]), "Add 1 memory\n");
    let kept = git(&home, &["ls-files"]);
    assert!(kept.starts_with(".gitignore\nentries/default/facts/") && kept.lines().count() == 2, "{kept}");
    assert_eq!(git(outer.path(), &["log", "--format=%s"]), "");
    Versions::commit(&home, "nothing").unwrap();
    assert_eq!(git(&home, &["log", "--format=%s"]), "Add 1 memory\n");
}

#[test]
fn what_a_person_is_about_to_commit_stays_theirs() {
    if !has_git() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), &["likes tea"]);
    Versions::commit(home.path(), "first").unwrap();
    fs::write(home.path().join("theirs.txt"), "1").unwrap();
    git(home.path(), &["add", "theirs.txt"]);
    Versions::commit(home.path(), "nothing").unwrap();
    keep(home.path(), &["likes coffee"]);
    Versions::commit(home.path(), "second").unwrap();
    assert_eq!(git(home.path(), &["log", "--format=%s"]), "second\nfirst\n");
    assert_eq!(git(home.path(), &["status", "--porcelain"]), "A  theirs.txt\n");
}

#[test]
fn a_repository_in_which_another_is_at_work_is_told_of_once() {
    if !has_git() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    keep(home.path(), &["likes tea"]);
    Versions::commit(home.path(), "first").unwrap();
    keep(home.path(), &["likes coffee"]);
    fs::write(home.path().join(".git/index.lock"), "").unwrap();
    let locked = VersionsError::Locked { place: home.path().display().to_string() };
    assert_eq!(Versions::commit(home.path(), "second"), Err(locked.clone()));
    let (sender, told) = channel();
    let versions = Versions::new(home.path(), Box::new(move |error| sender.send(error.clone()).unwrap()));
    versions.note("second");
    assert_eq!(told.recv().unwrap(), locked);
    fs::remove_file(home.path().join(".git/index.lock")).unwrap();
    versions.note("third");
    drop(versions);
    assert!(told.try_recv().is_err());
    assert_eq!(git(home.path(), &["log", "--format=%s"]).lines().last(), Some("first"));
    assert_eq!(git(home.path(), &["status", "--porcelain", "entries"]), "");
}
