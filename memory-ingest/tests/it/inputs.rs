//! Real inputs, which are too large for the repository and belong to others.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// Returns the folder of real inputs: `MEMORY_TEST_INPUTS`, or the one next to the checkout.
pub(crate) fn inputs_folder() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/inputs");
    let folder = std::env::var_os("MEMORY_TEST_INPUTS").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        Some(folder)
    } else {
        skip_test(&format!("{} does not exist", folder.display()))
    }
}

fn skip_test<T>(why: &str) -> Option<T> {
    memory_core::testing::leave_out(why);
    None
}

/// Unpacks a vault, and returns the temporary folder and the path of the vault.
pub(crate) fn unpack_vault(name: &str) -> Option<(TempDir, PathBuf)> {
    unpack("vaults", name)
}

/// Unpacks an archive of files of another program, and returns the temporary folder and the path of its only folder.
pub(crate) fn unpack_door(name: &str) -> Option<(TempDir, PathBuf)> {
    unpack("doors", name)
}

fn unpack(kind: &str, name: &str) -> Option<(TempDir, PathBuf)> {
    let archive = inputs_folder()?.join(kind).join(format!("{name}.tar.gz"));
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let unpacked = Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(folder.path())
        .status();
    if !unpacked.is_ok_and(|status| status.success()) {
        return skip_test(&format!("{} cannot be unpacked", archive.display()));
    }
    let path = folder.path().join(name);
    Some((folder, path))
}

/// Returns the facts that are stored with a vault.
pub(crate) fn read_facts(name: &str) -> Option<Value> {
    let path = inputs_folder()?
        .join("vaults")
        .join(format!("{name}.facts.json"));
    let text = std::fs::read_to_string(&path).ok();
    let Some(text) = text else {
        return skip_test(&format!("{} does not exist", path.display()));
    };
    Some(serde_json::from_str(&text).expect("facts are JSON"))
}

/// Returns the output of a program that is stored next to the inputs.
pub(crate) fn run_tool(program: &str, arguments: &[&Path]) -> Option<Value> {
    let program = inputs_folder()?.join("../tools").join(program);
    let ran = Command::new("python3")
        .arg(&program)
        .args(arguments)
        .output()
        .ok()
        .filter(|output| output.status.success());
    let Some(output) = ran else {
        return skip_test(&format!("python3 cannot run {}", program.display()));
    };
    Some(serde_json::from_slice(&output.stdout).expect("it prints JSON"))
}
