use std::fs;
use std::path::Path;
use std::process::Command;

/// Copies the content of a folder, with owners, modes and times, into a folder that is created if it does not exist.
///
/// # Panics
/// If the copy fails.
pub fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("the folder can be created");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(from.join("."))
        .arg(to)
        .output()
        .expect("cp runs");
    assert!(
        copied.status.success(),
        "cannot copy {}: {}",
        from.display(),
        String::from_utf8_lossy(&copied.stderr)
    );
}
