use std::fs;
use std::path::Path;
use std::process::Command;

/// Copies the content of a folder, with owners, modes and times, into a folder that is created if it does not exist.
///
/// # Panics
/// If the copy fails.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be created");
    copy(&from.join("."), to);
}

/// Copies a program that will be run. The kernel runs no file that a process has open to write, and a process that another
/// thread starts meanwhile would have a copy made in this process open.
///
/// # Panics
/// If the copy fails.
pub fn copy_program(from: &Path, to: &Path) {
    copy(from, to);
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp")
        .arg("-a")
        .args([from, to])
        .output()
        .expect("cp runs");
    assert!(
        copied.status.success(),
        "cannot copy {}: {}",
        from.display(),
        String::from_utf8_lossy(&copied.stderr)
    );
}
