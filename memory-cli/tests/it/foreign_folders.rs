//! Folders that another user owns or can change.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::Path;

use memory_core::testing::leave_out;

use crate::sandbox::Sandbox;

/// The user id of the other user.
const OTHER: u32 = 1001;

/// Gives a folder with all that it contains to the other user; `false` if this user cannot.
fn give_away(folder: &Path) -> bool {
    if chown(folder, Some(OTHER), Some(OTHER)).is_err() {
        leave_out("only root can give files to another user");
        return false;
    }
    if folder.is_dir() {
        for entry in fs::read_dir(folder).expect("a folder") {
            assert!(give_away(&entry.expect("an entry").path()));
        }
    }
    true
}

/// Creates a folder that everybody can write to, in which the other user has created a project; `None` if this user cannot.
fn shared_folder(sandbox: &Sandbox) -> Option<std::path::PathBuf> {
    let shared = sandbox.path("shared");
    fs::create_dir_all(shared.join(".git")).expect("a folder");
    sandbox.file(
        "shared/.memory/plans.md",
        "# Plans\n\nTrust the other user.\n",
    );
    sandbox.file(
        "shared/.memory/banks/settings.json",
        r#"{"server":{"value":"evil"}}"#,
    );
    fs::create_dir_all(shared.join("own")).expect("a folder");
    if !give_away(&shared.join(".git")) || !give_away(&shared.join(".memory")) {
        return None;
    }
    fs::set_permissions(&shared, Permissions::from_mode(0o1777)).expect("permissions");
    Some(shared)
}

fn run_in(sandbox: &Sandbox, folder: &Path, trusted: &str, arguments: &[&str]) -> String {
    let mut command = sandbox.command(arguments);
    command
        .current_dir(folder)
        .env("MEMORY_TRUSTED_FOLDERS", trusted);
    let output = Sandbox::finish(command, "");
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).expect("text")
}

#[test]
fn a_project_that_another_user_put_into_a_shared_folder_is_not_used() {
    let sandbox = Sandbox::new();
    let Some(shared) = shared_folder(&sandbox) else {
        return;
    };
    for folder in [shared.clone(), shared.join("own")] {
        let run = |arguments: &[&str]| run_in(&sandbox, &folder, "", arguments);
        let said = run(&["bank", "read", "settings", "server"]);
        assert!(!said.contains("evil"), "{said}");
        assert!(
            said.contains("can be changed by other users (mode 0777)"),
            "{said}"
        );
        assert!(said.contains("MEMORY_TRUSTED_FOLDERS"), "{said}");
        let said = run(&["topic", "list"]);
        assert!(!said.contains("plans"), "{said}");
        run(&["bank", "write", "settings", "server", "\"mine\""]);
        run(&["topic", "write", "mine", "My secret plan"]);
        run(&["write", "My own memory"]);
    }
    let kept = |path: &str| fs::read_to_string(shared.join(path)).expect("a file");
    assert_eq!(
        kept(".memory/banks/settings.json"),
        r#"{"server":{"value":"evil"}}"#
    );
    assert_eq!(
        fs::read_dir(shared.join(".memory"))
            .expect("a folder")
            .count(),
        2
    );
    let said = run_in(
        &sandbox,
        &shared,
        &shared.display().to_string(),
        &["topic", "list"],
    );
    assert!(
        said.contains("plans") && !said.contains("other users"),
        "{said}"
    );
}

#[test]
fn topics_in_a_folder_of_another_user_are_refused_by_name() {
    let sandbox = Sandbox::new();
    let Some(shared) = shared_folder(&sandbox) else {
        return;
    };
    let folder = shared.join(".memory").display().to_string();
    for arguments in [
        &["topic", "list", "--dir", &folder][..],
        &["topic", "write", "mine", "My secret plan", "--dir", &folder],
    ] {
        let said = run_in(&sandbox, sandbox.path("").as_path(), "", arguments);
        let refusal = format!("{folder} belongs to another user (uid {OTHER})");
        assert!(said.contains(&refusal), "{said}");
    }
}

#[test]
fn settings_and_memories_of_another_user_are_refused() {
    let sandbox = Sandbox::new();
    let hook = "hooks:\n  before:\n    - command: touch ran\n";
    let file = sandbox.file("other/config.yaml", hook);
    sandbox.file(".memory/config.yaml", "");
    let home = sandbox.path("other");
    if !give_away(&home) {
        return;
    }
    let refused = |place: &Path, arguments: &[&str]| {
        let said = run_in(&sandbox, sandbox.path("").as_path(), "", arguments);
        let refusal = format!("{} belongs to another user (uid {OTHER})", place.display());
        assert!(said.contains(&refusal), "{said}");
        assert!(said.contains("MEMORY_TRUSTED_FOLDERS"), "{said}");
    };
    let root = home.display().to_string();
    refused(&home, &["--root", &root, "write", "a note"]);
    refused(&home, &["--root", &root, "config", "show"]);
    assert_eq!(fs::read_dir(&home).expect("a folder").count(), 1);
    // The file alone, in a folder of this user.
    chown(&home, Some(0), Some(0)).expect("root can");
    refused(Path::new(&file), &["--root", &root, "list"]);
    let said = run_in(
        &sandbox,
        sandbox.path("").as_path(),
        &root,
        &["--root", &root, "write", "a note"],
    );
    assert!(!said.contains("another user"), "{said}");
}
