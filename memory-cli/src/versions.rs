//! Every state of the home, kept by git where the settings say so.

use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use memory_store::conversation::{Version, Versions, VersionsError};
use serde_json::json;

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Column, Output, Table};

/// How this program is told to keep a home as it is: with the folder behind it, and where its journal ends.
const CHILD: &str = "keep-versions-of";

/// So long is waited for more of the same.
const GATHER: Duration = Duration::from_millis(200);

/// What went wrong the last time, and whether somebody was told.
const TROUBLE: &str = "index/versions.trouble";
const TOLD: &str = "index/versions.told";

/// Up to where of the journal all is kept.
const MARK: &str = "index/versions.mark";

/// Tells what went wrong the last time, once.
pub(crate) fn tell_trouble(root: &Path, output: &mut Output) {
    if let Ok(trouble) = fs::read_to_string(root.join(TROUBLE))
        && fs::read_to_string(root.join(TOLD)).ok().as_ref() != Some(&trouble)
    {
        // Nobody may be left to be told.
        let _ = output.warning(&trouble).and_then(|()| output.flush());
        let _ = fs::write(root.join(TOLD), &trouble);
    }
}

/// Has the home kept as it is, by a program of its own for which nobody waits, unless it is kept up to the `end` of the journal.
pub(crate) fn keep_soon(root: &Path, end: &str, program: Option<&Path>) {
    let Some(program) = program.filter(|_| fs::read_to_string(root.join(MARK)).ok().as_deref() != Some(end)) else { return };
    let mut command = Command::new(program);
    command.arg(CHILD).arg(root).arg(end).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Whoever interrupts us does not mean it.
    let _ = command.process_group(0).spawn();
}

/// Returns the home that this program was called to keep, if it was.
pub(crate) fn is_child(arguments: &[OsString]) -> Option<(PathBuf, String)> {
    match arguments {
        [_, what, root, end] if what == CHILD => Some((PathBuf::from(root), end.to_string_lossy().into_owned())),
        _ => None,
    }
}

/// Keeps a home as it is, once others of us are done with it.
pub(crate) fn keep_now(root: &Path, message: &str) -> Result<(), VersionsError> {
    // Where there is no lock, git has its own.
    let _running = opened(root, "running").and_then(|file| file.lock().map(|()| file));
    Versions::commit_home(root, message)
}

/// Keeps a home as it is, unless another of us is about to.
pub(crate) fn keep(root: &Path, end: &str) {
    let Ok(waiting) = opened(root, "waiting") else { return };
    if waiting.try_lock().is_err() {
        return;
    }
    let (_nobody, more) = channel::<()>();
    let _ = more.recv_timeout(GATHER);
    // Whoever writes from now on finds that nobody waits.
    drop(waiting);
    match keep_now(root, "Remember") {
        Ok(()) => {
            let _ = fs::write(root.join(MARK), end);
            let _ = fs::remove_file(root.join(TROUBLE));
            let _ = fs::remove_file(root.join(TOLD));
        }
        Err(error) => {
            let _ = fs::write(root.join(TROUBLE), error.to_string());
        }
    }
}

/// Shows the states that are kept; no limit means all.
pub(crate) fn show(root: &Path, limit: usize, app: &mut App) -> Result<(), Failure> {
    is_kept(root)?;
    let limit = if limit == 0 { u32::MAX as usize } else { limit };
    let versions = Versions::list(root, limit).map_err(|error| refused(&error))?;
    if app.output.is_json() {
        let shape = |own: &Version| json!({ "version": own.id, "at": own.at, "message": own.message });
        return Ok(app.output.json(&json!({ "versions": versions.iter().map(shape).collect::<Vec<_>>() }))?);
    }
    let mut table = Table::new(["version", "when", "what"].map(Column::Text));
    for Version { id, at, message } in &versions {
        table.push([id.as_str(), at, message]);
    }
    Ok(app.output.table(&table)?)
}

/// Refuses to tell of states where none are kept.
pub(crate) fn is_kept(root: &Path) -> Result<(), Failure> {
    let hint = "let it, for what comes: `memory config set git.enabled true`";
    if root.join(".git").exists() { Ok(()) } else { Err(Failure::usage("git does not keep the states of this home", hint)) }
}

/// Says why git does not tell.
pub(crate) fn refused(error: &VersionsError) -> Failure {
    Failure::usage(error.to_string(), "ask git itself in the home")
}

fn opened(root: &Path, what: &str) -> std::io::Result<File> {
    File::options().create(true).truncate(false).write(true).open(root.join(format!("index/versions.{what}")))
}
