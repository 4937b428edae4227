//! Every state of the home, kept by git where the settings say so.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use memory_store::conversation::{Version, Versions, VersionsError};
use serde_json::{Value, json};

use crate::app::App;
use crate::failure::Failure;
use crate::print::{Column, Output, Table};

/// How this program is told to keep a home as it is: with the folder behind it, and where its journal ends.
const CHILD: &str = "keep-versions-of";

/// What is said of a state.
const MESSAGE: &str = "Remember";

/// So long is waited for more of the same.
const GATHER: Duration = Duration::from_millis(200);

/// What went wrong the last time, and what somebody was told.
const TROUBLE: &str = "versions.trouble";
const TOLD: &str = "versions.told";

/// Up to where of the journal all is kept.
const MARK: &str = "versions.mark";

/// Returns where something is written down about a folder: in the index of a home, or else beside the conversations.
fn beside(root: &Path, name: &str) -> PathBuf {
    let index = root.join("index");
    if index.is_dir() { index.join(name) } else { root.join(".conversations").join(name) }
}

/// Writes something down for ourselves alone.
fn write_down(place: &Path, text: &str) -> io::Result<()> {
    File::options().create(true).truncate(true).write(true).mode(0o600).open(place)?.write_all(text.as_bytes())
}

/// Looks whether what went wrong the last time goes wrong still, unless that was told, and tells it once. The journal ends at `end`.
pub(crate) fn tell_trouble(root: &Path, end: &str, output: &mut Output) {
    let Ok(trouble) = fs::read_to_string(beside(root, TROUBLE)) else { return };
    if fs::read_to_string(beside(root, TOLD)).is_ok_and(|told| told == trouble) {
        return;
    }
    // Whoever is at it finds out.
    let Ok(running) = opened(root, "running") else { return };
    if running.try_lock().is_err() {
        return;
    }
    let done = Versions::commit_home(root, MESSAGE);
    if done.is_ok() {
        let _ = write_down(&beside(root, MARK), end);
    }
    tell(root, done, output);
}

/// Tells what went wrong, unless that was told before; and forgets it once all is well.
pub(crate) fn tell(root: &Path, done: Result<(), VersionsError>, output: &mut Output) {
    let trouble = note(root, done);
    let Some(trouble) = trouble.filter(|trouble| fs::read_to_string(beside(root, TOLD)).ok().as_ref() != Some(trouble)) else {
        return;
    };
    // Nobody may be left to be told.
    let _ = output.warning(&trouble).and_then(|()| output.flush());
    let told = beside(root, TOLD);
    let _ = told.parent().map(|folder| DirBuilder::new().recursive(true).mode(0o700).create(folder));
    let _ = write_down(&told, &trouble);
}

/// Notes what went wrong, or that all is well; returns the former.
fn note(root: &Path, done: Result<(), VersionsError>) -> Option<String> {
    let trouble = done.err().map(|error| error.to_string());
    match &trouble {
        None => [TROUBLE, TOLD].iter().for_each(|name| drop(fs::remove_file(beside(root, name)))),
        Some(trouble) => drop(write_down(&beside(root, TROUBLE), trouble)),
    }
    trouble
}

/// Has the home kept as it is, by a program of its own for which nobody waits, unless it is kept up to the `end` of the journal.
pub(crate) fn keep_soon(root: &Path, end: &str, program: Option<&Path>) {
    let Some(program) = program.filter(|_| fs::read_to_string(beside(root, MARK)).ok().as_deref() != Some(end)) else { return };
    let mut command = Command::new(program);
    command.arg(CHILD).arg(root).arg(end).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Whoever interrupts us does not mean it.
    let Ok(mut child) = command.process_group(0).spawn() else { return };
    // One that has ended is there until somebody hears of it, and a daemon stays for long.
    let _ = thread::Builder::new().name("versions".into()).spawn(move || child.wait());
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
    if note(root, keep_now(root, MESSAGE)).is_none() {
        let _ = write_down(&beside(root, MARK), end);
    }
}

/// Shows the states that are kept; no limit means all.
pub(crate) fn show(root: &Path, limit: usize, app: &mut App) -> Result<(), Failure> {
    is_kept(root)?;
    let versions = listed(root, limit).map_err(|error| refused(&error))?;
    if app.output.is_json() {
        return Ok(app.output.json(&json!({ "versions": shapes(&versions) }))?);
    }
    Ok(app.output.table(&table(&versions))?)
}

/// Returns the last states that are kept, newest first; no limit means all. Where none are kept, there are none.
pub(crate) fn listed(root: &Path, limit: usize) -> Result<Vec<Version>, VersionsError> {
    let limit = if limit == 0 { u32::MAX as usize } else { limit };
    if root.join(".git").exists() { Versions::list(root, limit) } else { Ok(Vec::new()) }
}

/// Returns states as JSON.
pub(crate) fn shapes(versions: &[Version]) -> Vec<Value> {
    versions.iter().map(|own| json!({ "version": own.id, "at": own.at, "message": own.message })).collect()
}

/// Returns states as a table.
pub(crate) fn table(versions: &[Version]) -> Table {
    let mut table = Table::new([Column::Whole("version"), Column::Whole("when"), Column::Text("what")]);
    for Version { id, at, message } in versions {
        table.push([id.as_str(), at, message]);
    }
    table
}

/// Refuses to tell of states where none are kept.
pub(crate) fn is_kept(root: &Path) -> Result<(), Failure> {
    if root.join(".git").exists() { Ok(()) } else { Err(not_kept()) }
}

pub(crate) fn not_kept() -> Failure {
    let hint = "let it, for what comes: `memory config set git.enabled true`";
    Failure::usage("git does not keep the states of this home", hint)
}

/// Says why git does not tell.
pub(crate) fn refused(error: &VersionsError) -> Failure {
    Failure::usage(error.to_string(), "ask git itself in the home")
}

fn opened(root: &Path, what: &str) -> io::Result<File> {
    File::options().create(true).truncate(false).write(true).mode(0o600).open(root.join(format!("index/versions.{what}")))
}
