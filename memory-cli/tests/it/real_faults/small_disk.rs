//! A small file system in a private mount namespace.

use std::path::Path;
use std::process::Command;

/// The environment variable of a test that runs in a mount namespace.
const MOUNTED_VARIABLE: &str = "MEMORY_TEST_MOUNTED";

/// Returns true in a mount namespace; else runs the test `name` again in one, and returns false.
///
/// If the system does not allow mounts, the test prints that and passes, since no installation would help.
pub(super) fn is_in_mount_namespace(name: &str) -> bool {
    if std::env::var_os(MOUNTED_VARIABLE).is_some() {
        return true;
    }
    let may_mount = |command: &mut Command| {
        command
            .arg("true")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    let unshare = || Command::new("unshare");
    let (mut as_root, mut as_user) = (unshare(), unshare());
    as_root.arg("--mount");
    as_user.args(["--mount", "--map-root-user"]);
    let mut command = match () {
        () if may_mount(unshare().arg("--mount")) => as_root,
        () if may_mount(unshare().args(["--mount", "--map-root-user"])) => as_user,
        () => {
            println!("nobody may mount here, so this is not tried");
            return false;
        }
    };
    command
        .arg(std::env::current_exe().expect("a program"))
        .args(["--exact", name, "--nocapture"])
        .env(MOUNTED_VARIABLE, "1");
    let output = command.output().expect("it runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    print!("{said}");
    false
}

/// Mounts an empty file system with a size in bytes.
pub(super) fn mount(place: &Path, bytes: u64) {
    run(Command::new("mount")
        .args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "none"])
        .arg(place));
}

/// Remounts a file system, read-only or writable.
pub(super) fn remount(place: &Path, options: &str) {
    run(Command::new("mount")
        .args(["-o", &format!("remount,{options}")])
        .arg(place));
}

fn run(command: &mut Command) {
    let output = command.output().expect("it runs");
    assert!(
        output.status.success(),
        "{command:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
}
