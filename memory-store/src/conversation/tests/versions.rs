use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::mpsc::channel;

use super::super::versions::KEYS;
use super::super::{GitVersions, GitVersionsError};
use super::*;
use crate::trust_folders;

/// Returns an empty folder, or `None` if git is not installed.
pub(super) fn folder() -> Option<tempfile::TempDir> {
    if std::process::Command::new("git")
        .arg("--version")
        .output()
        .is_ok_and(|done| done.status.success())
    {
        return Some(tempfile::tempdir().unwrap());
    }
    memory_core::testing::leave_out("`git` is missing");
    None
}

/// Returns a folder with one committed fact.
pub(super) fn folder_with_commit() -> Option<tempfile::TempDir> {
    let home = folder()?;
    add_facts(home.path(), &["likes tea"]);
    GitVersions::commit(home.path(), "first").unwrap();
    Some(home)
}

pub(super) fn git(home: &Path, arguments: &[&str]) -> String {
    let done = std::process::Command::new("git")
        .args(arguments)
        .current_dir(home)
        .output()
        .unwrap();
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn versions_are_kept_in_a_repository_of_their_own() {
    let Some(outer) = folder() else { return };
    git(outer.path(), &["init", "--quiet"]);
    let home = outer.path().join("memories");
    add_facts(&home, &["likes tea"]);
    fs::write(home.join("secret.txt"), "not ours").unwrap();
    let (sender, told) = channel();
    let versions = GitVersions::new(
        &home,
        Box::new(move |error| sender.send(error.clone()).unwrap()),
    );
    versions.schedule_commit("Add 1 memory");
    drop(versions);
    assert_eq!(told.try_iter().collect::<Vec<_>>(), []);
    assert_eq!(git(&home, &["log", "--format=%s"]), "Add 1 memory\n");
    let kept = git(&home, &["ls-files"]);
    assert!(
        kept.starts_with(".gitignore\nentries/default/facts/") && kept.lines().count() == 2,
        "{kept}"
    );
    assert_eq!(git(outer.path(), &["log", "--format=%s"]), "");
    GitVersions::commit(&home, "nothing").unwrap();
    assert_eq!(git(&home, &["log", "--format=%s"]), "Add 1 memory\n");
}

/// Returns the files below a folder that users other than the owner can access.
fn files_open_to_others(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let rights = entry.metadata().unwrap();
        found.extend((rights.permissions().mode() & 0o077 != 0).then(|| entry.path()));
        found.extend(
            rights
                .is_dir()
                .then(|| files_open_to_others(&entry.path()))
                .into_iter()
                .flatten(),
        );
    }
    found
}

#[test]
fn a_repository_of_ours_is_for_nobody_else_and_what_a_person_made_stays_as_they_made_it() {
    if cfg!(portable_system) {
        // The portable implementation sets no modes.
        return;
    }
    let Some(home) = folder_with_commit() else {
        return;
    };
    fs::set_permissions(home.path(), Permissions::from_mode(0o755)).unwrap();
    for (fact, message) in [("likes coffee", "second"), ("likes cocoa", "third")] {
        add_facts(home.path(), &[fact]);
        GitVersions::commit(home.path(), message).unwrap();
    }
    git(home.path(), &["gc", "--quiet"]);
    add_facts(home.path(), &["likes water"]);
    GitVersions::commit(home.path(), "fourth").unwrap();
    assert_eq!(git(home.path(), &["log", "--format=%s"]).lines().count(), 4);
    assert_eq!(
        files_open_to_others(&home.path().join(".git")),
        [""; 0].map(PathBuf::from)
    );
    assert_eq!(
        fs::metadata(home.path().join(".git"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o700
    );

    let home = trusted_repository().unwrap();
    fs::set_permissions(home.path().join(".git"), Permissions::from_mode(0o755)).unwrap();
    add_facts(home.path(), &["likes tea"]);
    GitVersions::commit(home.path(), "first").unwrap();
    assert_eq!(
        fs::metadata(home.path().join(".git"))
            .unwrap()
            .permissions()
            .mode()
            & 0o777,
        0o755
    );
    assert_eq!(
        git(home.path(), &["config", "--get", "core.sharedRepository"]),
        ""
    );
}

#[test]
fn what_a_person_is_about_to_commit_stays_theirs() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    fs::write(home.path().join("theirs.txt"), "1").unwrap();
    git(home.path(), &["add", "theirs.txt"]);
    GitVersions::commit(home.path(), "nothing").unwrap();
    add_facts(home.path(), &["likes coffee"]);
    GitVersions::commit(home.path(), "second").unwrap();
    assert_eq!(git(home.path(), &["log", "--format=%s"]), "second\nfirst\n");
    assert_eq!(
        git(home.path(), &["status", "--porcelain"]),
        "A  theirs.txt\n"
    );
}

#[test]
fn a_repository_in_which_another_is_at_work_is_told_of_once() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    add_facts(home.path(), &["likes coffee"]);
    fs::write(home.path().join(".git/index.lock"), "").unwrap();
    let locked = GitVersionsError::Locked {
        place: home.path().display().to_string(),
        holder: None,
        file: Some(home.path().join(".git/index.lock").display().to_string()),
    };
    assert_eq!(
        GitVersions::commit(home.path(), "second"),
        Err(locked.clone())
    );
    let (sender, told) = channel();
    let versions = GitVersions::new(
        home.path(),
        Box::new(move |error| sender.send(error.clone()).unwrap()),
    );
    versions.schedule_commit("second");
    assert_eq!(told.recv().unwrap(), locked);
    fs::remove_file(home.path().join(".git/index.lock")).unwrap();
    versions.schedule_commit("third");
    drop(versions);
    assert!(told.try_recv().is_err());
    assert_eq!(
        git(home.path(), &["log", "--format=%s"]).lines().last(),
        Some("first")
    );
    assert_eq!(git(home.path(), &["status", "--porcelain", "entries"]), "");
}

/// Creates a repository like a user, with a file of the user in it. It is not trusted.
fn init_user_repository(home: &Path) {
    git(home, &["init", "--quiet", "--initial-branch=main"]);
    git(home, &["config", "user.name", "Anna"]);
    git(home, &["config", "user.email", "anna@example.org"]);
    fs::write(home.join("README.md"), "1\n").unwrap();
    git(home, &["add", "README.md"]);
    git(home, &["commit", "--quiet", "-m", "theirs"]);
}

/// Returns a folder with a repository of a user.
pub(super) fn user_repository() -> Option<tempfile::TempDir> {
    folder().inspect(|home| init_user_repository(home.path()))
}

/// Returns a folder with a repository of a user, who trusts it.
fn trusted_repository() -> Option<tempfile::TempDir> {
    user_repository().inspect(|home| trust_folders([home.path().to_owned()]))
}

/// Returns the path of the only fact.
pub(super) fn fact_path(home: &Path) -> String {
    let facts = fs::read_dir(home.join("entries/default/facts")).unwrap();
    let names: Vec<_> = facts
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names.len(), 1);
    format!("entries/default/facts/{}", names[0])
}

#[test]
fn nothing_is_committed_while_somebody_is_in_the_middle_of_something() {
    let Some(home) = trusted_repository() else {
        return;
    };
    add_facts(home.path(), &["likes tea"]);
    GitVersions::commit(home.path(), "first").unwrap();
    let path = fact_path(home.path());
    let change = |text: &str, message: &str| {
        fs::write(home.path().join(&path), text).unwrap();
        git(home.path(), &["commit", "--quiet", "--all", "-m", message]);
    };
    git(home.path(), &["checkout", "--quiet", "-b", "other"]);
    change("theirs\n", "other");
    git(home.path(), &["checkout", "--quiet", "main"]);
    change("ours\n", "own");
    for (begin, abort, expected) in [
        (["merge", "other"], ["merge", "--abort"], "a merge"),
        (
            ["cherry-pick", "other"],
            ["cherry-pick", "--abort"],
            "a cherry-pick",
        ),
        (["rebase", "other"], ["rebase", "--abort"], "a rebase"),
    ] {
        git(home.path(), &begin);
        let before = git(home.path(), &["status", "--porcelain"]);
        let last = git(home.path(), &["rev-parse", "HEAD"]);
        let unfinished = GitVersionsError::Unfinished {
            place: home.path().display().to_string(),
            what: expected.into(),
        };
        assert_eq!(
            GitVersions::commit(home.path(), "second"),
            Err(unfinished),
            "{expected}"
        );
        assert_eq!(
            git(home.path(), &["status", "--porcelain"]),
            before,
            "{expected}"
        );
        assert_eq!(git(home.path(), &["rev-parse", "HEAD"]), last, "{expected}");
        git(home.path(), &abort);
    }
    git(home.path(), &["checkout", "--quiet", "other", "--", "."]);
    GitVersions::commit(home.path(), "second").unwrap();
    assert_eq!(git(home.path(), &["log", "-1", "--format=%s"]), "second\n");
}

#[test]
fn each_way_to_be_in_the_middle_of_something_is_known() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    add_facts(home.path(), &["likes coffee"]);
    let objects = git(home.path(), &["count-objects"]);
    for begun in [
        "MERGE_HEAD",
        "CHERRY_PICK_HEAD",
        "REVERT_HEAD",
        "rebase-merge",
        "rebase-apply",
        "sequencer",
        "BISECT_LOG",
    ] {
        let mark = home.path().join(".git").join(begun);
        fs::write(&mark, "").unwrap();
        let refused = GitVersions::commit(home.path(), "second");
        assert!(
            matches!(refused, Err(GitVersionsError::Unfinished { .. })),
            "{begun}: {refused:?}"
        );
        fs::remove_file(mark).unwrap();
    }
    fs::write(home.path().join(".git/index.lock"), "").unwrap();
    assert!(matches!(
        GitVersions::commit(home.path(), "second"),
        Err(GitVersionsError::Locked { .. })
    ));
    fs::remove_file(home.path().join(".git/index.lock")).unwrap();
    assert_eq!(
        git(home.path(), &["count-objects"]),
        objects,
        "whoever may not commit leaves nothing behind"
    );
    GitVersions::commit(home.path(), "second").unwrap();
}

#[test]
fn what_a_person_leaves_out_is_left_out_and_their_list_is_theirs() {
    let Some(home) = trusted_repository() else {
        return;
    };
    let outside = tempfile::tempdir().unwrap();
    let list = outside.path().join("list");
    fs::write(&list, "entries/private").unwrap();
    fs::remove_file(home.path().join(".git/info/exclude")).unwrap();
    std::os::unix::fs::symlink(&list, home.path().join(".git/info/exclude")).unwrap();
    add_facts(home.path(), &["likes tea"]);
    fs::create_dir_all(home.path().join("entries/private/facts")).unwrap();
    fs::write(home.path().join("entries/private/facts/a.md"), "a secret").unwrap();
    GitVersions::commit(home.path(), "first").unwrap();
    assert_eq!(
        git(home.path(), &["ls-files"]),
        format!("README.md\n{}\n", fact_path(home.path()))
    );
    assert_eq!(fs::read_to_string(list).unwrap(), "entries/private");
}

#[test]
fn of_a_home_only_what_is_remembered_is_kept() {
    let Some(home) = folder() else { return };
    let others = [
        "notes.txt",
        "categories/inbox/tea.md",
        "categories/inbox/.tea.md.swp",
        "categories/inbox/tea.md~",
        // A value may have any name.
        "kv/app/.env.example",
        "kv/drafts/notes.tmp",
        "kv/locks/.trash/x",
        "kv/yarn.lock",
    ];
    for path in KEYS.into_iter().chain(others) {
        fs::create_dir_all(home.path().join(path).parent().unwrap()).unwrap();
        fs::write(home.path().join(path), "a key").unwrap();
    }
    GitVersions::commit_home(home.path(), "first").unwrap();
    let values = "kv/app/.env.example\nkv/drafts/notes.tmp\nkv/locks/.trash/x\nkv/yarn.lock\n";
    assert_eq!(
        git(home.path(), &["ls-files"]),
        format!(".gitignore\ncategories/inbox/tea.md\n{values}")
    );
    // A user cannot add a key by mistake either.
    git(home.path(), &["add", "--all"]);
    assert_eq!(
        git(home.path(), &["status", "--porcelain"]),
        "A  notes.txt\n"
    );
    fs::remove_file(home.path().join("categories/inbox/tea.md")).unwrap();
    GitVersions::commit_home(home.path(), "second").unwrap();
    assert_eq!(
        git(home.path(), &["ls-tree", "-r", "--name-only", "HEAD"]),
        format!(".gitignore\n{values}")
    );
}

#[test]
fn what_a_person_staged_stays_staged_and_the_rest_follows() {
    let Some(home) = trusted_repository() else {
        return;
    };
    add_facts(home.path(), &["likes tea"]);
    GitVersions::commit(home.path(), "first").unwrap();
    let first = fact_path(home.path());
    fs::write(home.path().join("README.md"), "2\n").unwrap();
    fs::write(home.path().join(".gitignore"), "*.o\n").unwrap();
    fs::write(home.path().join(&first), "staged\n").unwrap();
    git(home.path(), &["add", "README.md", ".gitignore", &first]);
    fs::write(home.path().join("README.md"), "3\n").unwrap();
    fs::write(home.path().join(&first), "later\n").unwrap();
    add_facts(home.path(), &["likes coffee"]);
    GitVersions::commit(home.path(), "second").unwrap();
    let status = git(
        home.path(),
        &["status", "--porcelain", "--untracked-files=no"],
    );
    assert_eq!(status, format!("A  .gitignore\nMM README.md\nMM {first}\n"));
    assert_eq!(
        git(home.path(), &["show", &format!("HEAD:{first}")]),
        "later\n"
    );
    assert_eq!(git(home.path(), &["show", "HEAD:README.md"]), "1\n");
    assert_eq!(
        git(home.path(), &["diff", "--cached", "--", &first])
            .matches("+staged")
            .count(),
        1
    );
    let of_second = git(home.path(), &["show", "--format=", "--name-only", "HEAD"]);
    assert!(
        of_second.lines().all(|path| path.starts_with("entries/"))
            && of_second.lines().count() == 2,
        "{of_second}"
    );
}

#[test]
fn what_a_person_changed_in_the_tick_in_which_they_staged_it_stays_changed() {
    let Some(home) = trusted_repository() else {
        return;
    };
    // The change time of a file cannot be set.
    git(home.path(), &["config", "core.trustctime", "false"]);
    let tick = std::time::UNIX_EPOCH + std::time::Duration::from_hours(24 * 365 * 50);
    let at = |path: &str| {
        fs::File::options()
            .write(true)
            .open(home.path().join(path))
            .unwrap()
            .set_modified(tick)
            .unwrap();
    };
    fs::write(home.path().join("README.md"), "2\n").unwrap();
    at("README.md");
    git(home.path(), &["add", "README.md"]);
    fs::write(home.path().join("README.md"), "3\n").unwrap();
    at("README.md");
    at(".git/index");
    add_facts(home.path(), &["likes tea"]);
    GitVersions::commit(home.path(), "first").unwrap();
    assert_eq!(
        git(
            home.path(),
            &["status", "--porcelain", "--untracked-files=no"]
        ),
        "MM README.md\n"
    );
}

#[test]
fn in_a_repository_of_code_nothing_but_conversations_is_committed() {
    let Some(home) = trusted_repository() else {
        return;
    };
    fs::write(home.path().join("README.md"), "2\n").unwrap();
    add_facts(home.path(), &["likes tea"]);
    for path in [
        "entries/post.md",
        "entries/2026/post.md",
        "entries/default/facts/notes.txt",
        "src.rs",
    ] {
        fs::create_dir_all(home.path().join(path).parent().unwrap()).unwrap();
        fs::write(home.path().join(path), "not ours").unwrap();
    }
    let facts = fs::read_dir(home.path().join("entries/default/facts")).unwrap();
    let names = facts.map(|file| file.unwrap().file_name().into_string().unwrap());
    let own: Vec<_> = names
        .filter(|name| {
            Path::new(name)
                .extension()
                .is_some_and(|ending| ending == "md")
        })
        .collect();
    GitVersions::commit(home.path(), "first").unwrap();
    assert_eq!(
        git(home.path(), &["show", "--format=", "--name-only"]),
        format!("entries/default/facts/{}\n", own[0])
    );
    assert!(
        !home.path().join(".gitignore").exists(),
        "what is ignored there is theirs to say"
    );
}

#[test]
fn a_worktree_is_a_repository_as_well() {
    let Some(outer) = folder() else { return };
    trust_folders([outer.path().to_owned()]);
    let (first, second) = (outer.path().join("a"), outer.path().join("b"));
    fs::create_dir(&first).unwrap();
    init_user_repository(&first);
    git(
        &first,
        &["worktree", "add", "--quiet", "-b", "memories", "../b"],
    );
    add_facts(&second, &["likes tea"]);
    GitVersions::commit(&second, "first").unwrap();
    assert_eq!(git(&second, &["log", "--format=%s"]), "first\ntheirs\n");
    assert_eq!(
        git(&second, &["status", "--porcelain", "--untracked-files=no"]),
        ""
    );
    assert_eq!(git(&first, &["log", "--format=%s"]), "theirs\n");
}

#[test]
fn whoever_says_only_half_of_who_they_are_has_commits_all_the_same() {
    let Some(outer) = folder() else { return };
    trust_folders([outer.path().to_owned()]);
    for (name, address, expected) in [
        ("", "anna@example.org", "memory <anna@example.org>\n"),
        ("Anna", "", "Anna <memory@localhost>\n"),
        ("Anna", "anna@example.org", "Anna <anna@example.org>\n"),
    ] {
        let home = outer.path().join(format!("{name} {address}"));
        fs::create_dir(&home).unwrap();
        git(&home, &["init", "--quiet"]);
        git(&home, &["config", "user.useConfigOnly", "true"]);
        // An empty setting overrides the settings of the machine.
        git(&home, &["config", "user.name", name]);
        git(&home, &["config", "user.email", address]);
        add_facts(&home, &["likes tea"]);
        GitVersions::commit(&home, "first").unwrap();
        assert_eq!(git(&home, &["log", "--format=%an <%ae>"]), expected);
    }
}

#[test]
fn what_one_of_us_left_who_was_ended_is_in_nobody_s_way() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    for left in ["memory.index.lock", "memory.follows", "memory.follows.lock"] {
        fs::write(home.path().join(".git").join(left), "half").unwrap();
    }
    add_facts(home.path(), &["likes coffee"]);
    let at = |name: &str| home.path().join(".git").join(name);
    fs::write(at("index.lock"), "memory 0123456789abcdef").unwrap();
    fs::copy(at("index"), at("before")).unwrap();
    GitVersions::commit(home.path(), "second").unwrap();
    assert_eq!(git(home.path(), &["status", "--porcelain"]), "");
    // A process that was interrupted before the last step.
    fs::rename(at("index"), at("memory.follows")).unwrap();
    fs::rename(at("before"), at("index")).unwrap();
    fs::write(
        at("index.lock"),
        format!("memory {}", git(home.path(), &["rev-parse", "HEAD"]).trim()),
    )
    .unwrap();
    assert_ne!(git(home.path(), &["status", "--porcelain"]), "");
    GitVersions::commit(home.path(), "nothing").unwrap();
    assert_eq!(git(home.path(), &["status", "--porcelain"]), "");
    assert!(!at("index.lock").exists());
    assert_eq!(git(home.path(), &["log", "--format=%s"]), "second\nfirst\n");
}
