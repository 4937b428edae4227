//! Tests of repositories that name commands, or that others can change.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::super::{GitVersions, GitVersionsError};
use super::versions::{fact_path, folder, folder_with_commit, git, user_repository};
use super::*;
use crate::trust_folders;

/// Settings with a command as value.
const COMMANDS: [&str; 29] = [
    "core.fsmonitor",
    "core.sshCommand",
    "core.gitProxy",
    "core.pager",
    "core.editor",
    "core.askPass",
    "core.alternateRefsCommand",
    "gpg.program",
    "gpg.openpgp.program",
    "gpg.x509.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "merge.evil.driver",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.other.process",
    "pager.log",
    "sequence.editor",
    "interactive.diffFilter",
    "gc.recentObjectsHook",
    "uploadpack.packObjectsHook",
    "trailer.evil.command",
    "trailer.evil.cmd",
    "browser.evil.cmd",
    "difftool.evil.cmd",
    "hook.evil.command",
];

/// Settings with a command as value after an exclamation mark.
const SHELL_COMMANDS: [&str; 8] = [
    "alias.log",
    "alias.ls-files",
    "alias.update-index",
    "alias.gc",
    "alias.config",
    "credential.helper",
    "submodule.evil.update",
    "remote.evil.vcs",
];

const HOOKS: [&str; 9] = [
    "pre-commit",
    "post-commit",
    "commit-msg",
    "prepare-commit-msg",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "fsmonitor-watchman",
    "post-checkout",
];

const ATTRIBUTES: &str = "* text eol=crlf ident filter=evil diff=evil merge=evil\n\
    *.json filter=other working-tree-encoding=UTF-16\n";

/// The commands that a repository names. Each creates a file when it runs.
struct Commands {
    folder: tempfile::TempDir,
}

impl Commands {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["commands", "ran"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        Self { folder }
    }

    /// Returns the path of a program that notes `name`; a filter also copies its input.
    fn program(&self, name: &str) -> String {
        let place = self.folder.path().join("commands").join(name);
        let ran = self.folder.path().join("ran").join(name);
        let rest = if name.ends_with("clean") {
            "exec cat"
        } else {
            ""
        };
        fs::write(
            &place,
            format!("#!/bin/sh\ntouch '{}'\n{rest}\n", ran.display()),
        )
        .unwrap();
        fs::set_permissions(&place, Permissions::from_mode(0o755)).unwrap();
        place.display().to_string()
    }

    /// Returns the names of the programs that ran.
    fn ran(&self) -> BTreeSet<String> {
        fs::read_dir(self.folder.path().join("ran"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect()
    }

    /// Adds settings, attributes and hooks to the repository in `home` that run every program.
    fn add_to(&self, home: &Path) {
        let set = |file: &str, key: &str, value: &str| {
            git(home, &["config", "--file", file, "--add", key, value]);
        };
        let config = ".git/config";
        let included = self.folder.path().join("included").display().to_string();
        for file in [config, &included] {
            for key in COMMANDS {
                set(file, key, &self.program(key));
            }
            for key in SHELL_COMMANDS {
                set(file, key, &format!("!{}", self.program(key)));
            }
            set(file, "hook.evil.event", "post-index-change");
            for key in ["commit.gpgSign", "log.showSignature", "core.splitIndex"] {
                set(file, key, "true");
            }
        }
        set(config, "include.path", &included);
        set(config, "includeIf.gitdir:/**.path", &included);
        let attributes = self.folder.path().join("attributes");
        set(
            config,
            "core.attributesFile",
            &attributes.display().to_string(),
        );
        fs::create_dir_all(home.join(".git/info")).unwrap();
        for place in [
            attributes,
            home.join(".git/info/attributes"),
            home.join(".gitattributes"),
            home.join("entries/.gitattributes"),
        ] {
            fs::write(place, ATTRIBUTES).unwrap();
        }
        let hooks = self.folder.path().join("hooks");
        fs::create_dir(&hooks).unwrap();
        for hook in HOOKS {
            for (folder, name) in [
                (home.join(".git/hooks"), hook.to_owned()),
                (hooks.clone(), format!("core.hooksPath {hook}")),
            ] {
                fs::create_dir_all(&folder).unwrap();
                fs::copy(self.program(&name), folder.join(hook)).unwrap();
            }
        }
        set(config, "extensions.worktreeConfig", "true");
        git(
            home,
            &[
                "config",
                "--file",
                ".git/config.worktree",
                "core.fsmonitor",
                &self.program("config.worktree"),
            ],
        );
        set(config, "core.repositoryFormatVersion", "1");
        set(config, "extensions.partialClone", "evil");
        set(config, "remote.evil.promisor", "true");
        let address = format!("ext::{} %S", self.program("remote.evil.url"));
        set(config, "remote.evil.url", &address);
        set(config, "protocol.ext.allow", "always");
    }
}

/// Reads and writes a repository in each way; the last change is that of the only fact.
fn use_repository(home: &Path) {
    let path = fact_path(home);
    fs::write(home.join(&path), "line one\nline two\n").unwrap();
    GitVersions::check(home).unwrap();
    GitVersions::commit(home, "second").unwrap();
    fs::write(home.join(&path), "$Id$ line one\nline two\n").unwrap();
    GitVersions::commit_home(home, "third").unwrap();
    fs::write(home.join(&path), "line two\n").unwrap();
    let versions = GitVersions::new(home, Box::new(|error| panic!("{error}")));
    versions.schedule_commit("fourth");
    drop(versions);
    let versions = GitVersions::list(home, 3).unwrap();
    let messages: Vec<_> = versions.iter().map(|version| &version.message).collect();
    assert_eq!(messages, ["fourth", "third", "second"]);
    let log = GitVersions::file_log(home, &path, 2).unwrap();
    assert!(log.contains("\n-$Id$ line one\n line two\n"), "{log}");
}

#[test]
fn no_command_of_a_repository_runs_whoever_created_it() {
    let Some(user_made) = user_repository() else {
        return;
    };
    let own = folder_with_commit().unwrap();
    add_facts(user_made.path(), &["likes tea"]);
    for (home, trusts) in [(&own, false), (&own, true), (&user_made, true)] {
        if trusts {
            trust_folders([home.path().to_owned()]);
        }
        let commands = Commands::new();
        commands.add_to(home.path());
        fs::write(home.path().join("entries/.gitattributes"), ATTRIBUTES).unwrap();
        use_repository(home.path());
        assert_eq!(commands.ran(), BTreeSet::new(), "trusted: {trusts}");
    }
    // git itself runs them, so the repository is as dangerous as it is meant to be.
    let commands = Commands::new();
    commands.add_to(own.path());
    for arguments in [
        ["status", "--short", "--untracked-files=no"].as_slice(),
        &["add", "--all"],
        &["commit", "--message", "x"],
        &["log", "--patch", "--textconv"],
    ] {
        git(own.path(), arguments);
    }
    let ran = commands.ran();
    for name in ["config.worktree", "filter.evil.clean", "diff.evil.textconv"] {
        assert!(ran.contains(name), "{name}: {ran:?}");
    }
    assert!(
        ran.iter().any(|name| name.contains("post-index-change")),
        "{ran:?}"
    );
}

#[test]
fn a_missing_object_is_fetched_from_nowhere() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    let path = fact_path(home.path());
    let object = git(home.path(), &["rev-parse", &format!("HEAD:{path}")]);
    let commands = Commands::new();
    commands.add_to(home.path());
    let (folder, name) = object.trim().split_at(2);
    fs::remove_file(home.path().join(".git/objects").join(folder).join(name)).unwrap();
    let refused = GitVersions::file_log(home.path(), &path, 1);
    assert!(
        matches!(refused, Err(GitVersionsError::Refused { .. })),
        "{refused:?}"
    );
    assert_eq!(commands.ran(), BTreeSet::new());
    git(home.path(), &["log", "--patch"]);
    assert!(
        !commands.ran().is_empty(),
        "git itself runs the command of the address"
    );
}

/// Asserts that each use of the repository of a folder is refused for `reason`, and changes nothing.
fn assert_untrusted(home: &Path, reason: &str) {
    let expected = GitVersionsError::Untrusted {
        place: home.display().to_string(),
        reason: reason.to_owned(),
    };
    for done in [
        GitVersions::commit(home, "x"),
        GitVersions::commit_home(home, "x"),
        GitVersions::check(home),
        GitVersions::list(home, 1).map(drop),
        GitVersions::file_log(home, "entries/x", 1).map(drop),
    ] {
        assert_eq!(done, Err(expected.clone()), "{reason}");
    }
}

#[test]
fn a_repository_of_another_program_is_used_only_if_the_user_trusts_it() {
    let Some(home) = user_repository() else {
        return;
    };
    add_facts(home.path(), &["likes tea"]);
    assert_untrusted(home.path(), "this program did not create it");
    assert_eq!(git(home.path(), &["log", "--format=%s"]), "theirs\n");
    assert!(!home.path().join(".git/memory.lock").exists());
    trust_folders([home.path().to_owned()]);
    GitVersions::commit(home.path(), "first").unwrap();
    assert_eq!(git(home.path(), &["log", "--format=%s"]), "first\ntheirs\n");
}

#[test]
fn a_repository_of_an_earlier_version_is_known_by_its_permissions_or_its_list() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    let commit = |message: &str| {
        add_facts(home.path(), &[message]);
        GitVersions::commit(home.path(), message)
    };
    fs::remove_file(home.path().join(".gitignore")).unwrap();
    commit("only its permissions").unwrap();
    git(home.path(), &["checkout", "--quiet", "--", ".gitignore"]);
    git(home.path(), &["config", "--unset", "core.sharedRepository"]);
    commit("only its list").unwrap();
    fs::write(home.path().join(".gitignore"), "*.o\n").unwrap();
    assert_untrusted(home.path(), "this program did not create it");
}

#[test]
fn a_repository_that_leads_elsewhere_is_not_used() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    let dot = home.path().join(".git");
    let other = tempfile::tempdir().unwrap();
    let moved = other.path().join("moved");
    let elsewhere = ".git leads to another folder";
    fs::rename(&dot, &moved).unwrap();
    symlink(&moved, &dot).unwrap();
    assert_untrusted(home.path(), elsewhere);
    fs::remove_file(&dot).unwrap();
    fs::write(&dot, format!("gitdir: {}\n", moved.display())).unwrap();
    assert_untrusted(home.path(), elsewhere);
    fs::remove_file(&dot).unwrap();
    symlink(other.path().join("missing"), &dot).unwrap();
    assert_untrusted(home.path(), elsewhere);
    fs::remove_file(&dot).unwrap();
    fs::rename(&moved, &dot).unwrap();

    fs::write(dot.join("commondir"), "../other\n").unwrap();
    assert_untrusted(home.path(), elsewhere);
    fs::remove_file(dot.join("commondir")).unwrap();

    for name in ["alternates", "http-alternates"] {
        let list = dot.join("objects/info").join(name);
        fs::create_dir_all(list.parent().unwrap()).unwrap();
        fs::write(&list, "/elsewhere\n").unwrap();
        assert_untrusted(home.path(), "it uses objects of another repository");
        fs::remove_file(list).unwrap();
    }
    for name in [
        "config",
        "HEAD",
        "index",
        "packed-refs",
        "memory.lock",
        "logs/HEAD",
        "refs/heads",
        "objects/info",
    ] {
        let (place, kept) = (dot.join(name), other.path().join("kept"));
        let had = fs::rename(&place, &kept).is_ok();
        symlink(other.path().join("target"), &place).unwrap();
        assert_untrusted(home.path(), &format!(".git/{name} is not a regular file"));
        fs::remove_file(&place).unwrap();
        if had {
            fs::rename(&kept, &place).unwrap();
        }
    }
    assert!(!other.path().join("target").exists());
    GitVersions::check(home.path()).unwrap();
    // The user may have made it so.
    trust_folders([home.path().to_owned()]);
    fs::rename(&dot, &moved).unwrap();
    fs::write(&dot, format!("gitdir: {}\n", moved.display())).unwrap();
    assert_eq!(GitVersions::list(home.path(), 1).unwrap().len(), 1);
    fs::remove_file(&dot).unwrap();
    symlink(&moved, &dot).unwrap();
    assert_eq!(GitVersions::list(home.path(), 1).unwrap().len(), 1);
}

#[test]
fn a_repository_that_another_user_can_change_is_not_used() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        memory_core::testing::leave_out("only root can give a file to another user");
    }
    for path in [
        "",
        ".git",
        ".git/config",
        ".git/HEAD",
        ".git/refs/heads",
        ".git/objects",
    ] {
        // Joining an empty path would add a separator.
        let place = match path {
            "" => home.path().to_owned(),
            below => home.path().join(below),
        };
        let mode = fs::metadata(&place).unwrap().permissions();
        let assert_open = |bits: u32| {
            fs::set_permissions(&place, Permissions::from_mode(mode.mode() | bits)).unwrap();
            let shown = (mode.mode() | bits) & 0o777;
            let why = format!("can be changed by other users (mode {shown:04o})");
            assert_untrusted(home.path(), &format!("{} {why}", place.display()));
        };
        assert_open(0o002);
        fs::set_permissions(&place, mode.clone()).unwrap();
        if is_root {
            std::os::unix::fs::chown(&place, Some(1001), Some(1001)).unwrap();
            let why = "belongs to another user (uid 1001)";
            assert_untrusted(home.path(), &format!("{} {why}", place.display()));
            std::os::unix::fs::chown(&place, Some(0), Some(0)).unwrap();
            // A group may be writable only if it is the one of the owner alone.
            fs::set_permissions(&place, Permissions::from_mode(mode.mode() | 0o020)).unwrap();
            GitVersions::check(home.path()).unwrap();
            std::os::unix::fs::chown(&place, None, Some(1001)).unwrap();
            assert_open(0o020);
            std::os::unix::fs::chown(&place, None, Some(0)).unwrap();
            fs::set_permissions(&place, mode.clone()).unwrap();
        }
    }
    // Nor is one created where another user can put another one in its place.
    let open = folder().unwrap();
    add_facts(open.path(), &["likes tea"]);
    fs::set_permissions(open.path(), Permissions::from_mode(0o777)).unwrap();
    let refused = GitVersions::commit(open.path(), "first");
    assert!(
        matches!(refused, Err(GitVersionsError::Untrusted { .. })),
        "{refused:?}"
    );
    assert!(!open.path().join(".git").exists());
    trust_folders([open.path().to_owned()]);
    GitVersions::commit(open.path(), "first").unwrap();
}

#[test]
fn the_format_and_the_author_of_a_repository_remain() {
    let Some(outer) = folder() else { return };
    trust_folders([outer.path().to_owned()]);
    for format in ["--object-format=sha256", "--ref-format=reftable"] {
        let home = outer.path().join(format);
        fs::create_dir(&home).unwrap();
        git(&home, &["init", "--quiet", format]);
        if !home.join(".git").exists() {
            memory_core::testing::leave_out("this version of git has no other formats");
            continue;
        }
        git(&home, &["config", "user.name", "Anna \"\\ B"]);
        git(&home, &["config", "user.email", "anna@example.org"]);
        for text in ["tea", "coffee"] {
            add_facts(&home, &[text]);
            GitVersions::commit(&home, text).unwrap();
        }
        assert_eq!(
            git(&home, &["log", "--format=%an %s"]),
            "Anna \"\\ B coffee\nAnna \"\\ B tea\n"
        );
        assert_eq!(git(&home, &["status", "--porcelain", "entries"]), "");
        let found = GitVersions::list(&home, 9).unwrap();
        assert_eq!(found.len(), 2, "{format}");
    }
    let home = outer.path().join("unknown");
    fs::create_dir(&home).unwrap();
    git(&home, &["init", "--quiet"]);
    git(&home, &["config", "extensions.future", "true"]);
    add_facts(&home, &["likes tea"]);
    let refused = GitVersions::commit(&home, "first").unwrap_err();
    assert!(
        refused.to_string().ends_with("extensions.future"),
        "{refused}"
    );
}

#[test]
fn settings_that_are_no_file_are_refused_without_waiting() {
    let Some(home) = folder_with_commit() else {
        return;
    };
    let config = home.path().join(".git/config");
    fs::remove_file(&config).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&config).status();
    if !made.is_ok_and(|made| made.success()) {
        return memory_core::testing::leave_out("`mkfifo` is missing");
    }
    assert_untrusted(home.path(), ".git/config is not a regular file");
    trust_folders([home.path().to_owned()]);
    let refused = GitVersions::list(home.path(), 1);
    assert!(
        matches!(refused, Err(GitVersionsError::Refused { .. })),
        "{refused:?}"
    );
}
