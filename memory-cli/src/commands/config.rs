//! The `memory config` command.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use memory_store::edit_file;
use serde_json::{Value, json};

use crate::app::App;
use crate::config::{DEFAULT_FILE, HIDDEN, Layer, Settings, with_value};
use crate::failure::Failure;
use crate::print::{Column, Table};
use crate::versions;

/// Show the settings, or write a file with all of them
///
/// Flags win over the environment (MEMORY_ROOT, CLAUDE_CONFIG_DIR), which wins over the file. The file is config.yaml in the
/// memories' home, or the one that MEMORY_CONFIG names.
#[derive(Debug, Args)]
pub(crate) struct Config {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum ConfigCommand {
    /// Write a file that explains every key; one that exists is left alone
    ///
    /// JSON: {path, created}
    Init,
    /// Show every setting and where it comes from
    ///
    /// JSON: {path, exists, settings: [{key, value, from}], unknown: [KEY…]}; `from` is default, file, environment or flag
    Show,
    /// Set one value in the file, and leave all else as it is
    ///
    /// JSON: {path, key, value}
    Set {
        /// The key, as `memory config show` names it
        key: String,
        /// The value
        value: String,
    },
    /// Show where the file is
    ///
    /// JSON: {path, exists}
    Path,
}

impl Config {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            ConfigCommand::Init => init(app),
            ConfigCommand::Show => show(app),
            ConfigCommand::Set { key, value } => set(key, value, app),
            ConfigCommand::Path => path(app),
        }
    }
}

fn init(app: &mut App) -> Result<(), Failure> {
    let path = Settings::file(app.globals.root.as_deref(), app.environment)?;
    let place = app.output.place(&path);
    if let Some(folder) = path.parent() {
        make_private(folder).map_err(Failure::file(format!("make the folder of {place}")))?;
    }
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let created = match options.write(true).create_new(true).open(&path) {
        Ok(mut file) => {
            let write = |file: &mut std::fs::File| file.write_all(DEFAULT_FILE.as_bytes()).and_then(|()| file.sync_all());
            write(&mut file).map_err(Failure::file(format!("write {place}")))?;
            true
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(source) => return Err(Failure::File { action: format!("write {place}"), source }),
    };
    if app.output.is_json() {
        return Ok(app.output.json(&json!({ "path": path, "created": created }))?);
    }
    app.output.fields(&[&place])?;
    if !created {
        app.output.note("it is there already, and was left alone")?;
    }
    Ok(())
}

fn show(app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    if app.output.is_json() {
        let shape = |(key, value, from): (String, Value, Layer)| json!({ "key": key, "value": value, "from": from.as_str() });
        let all: Vec<Value> = settings.all().into_iter().map(shape).collect();
        let Settings { file, file_exists, unknown, .. } = &settings;
        let answer = json!({ "path": file, "exists": file_exists, "settings": all, "unknown": unknown });
        return Ok(app.output.json(&answer)?);
    }
    let mut table = Table::new([Column::Whole("key"), Column::Text("value"), Column::Text("from")]);
    for (key, value, from) in settings.all() {
        let value = match &value {
            Value::Null => "-".to_owned(),
            Value::String(text) => app.output.place(text.as_ref()),
            other => other.to_string(),
        };
        table.push([&key, &value, from.as_str()]);
    }
    app.output.table(&table)?;
    let place = app.output.place(&settings.file);
    let how = if settings.file_exists { "the file is" } else { "there is no file at" };
    Ok(app.output.note(&format!("{how} {place}"))?)
}

/// Sets a value in the settings file; returns the file's path and the new settings.
pub(super) fn store_setting(key: &str, value: &str, app: &App) -> Result<(PathBuf, Settings), Failure> {
    let path = Settings::file(app.globals.root.as_deref(), app.environment)?;
    let place = app.output.place(&path);
    let known = Settings::load(app.globals.root.as_deref(), app.environment)?;
    if !known.all().iter().any(|(own, ..)| own == key) {
        return Err(Failure::usage(format!("there is no setting {key}"), "`memory config show` lists them"));
    }
    if path.is_symlink() {
        let hint = "edit the file it leads to, or name that with MEMORY_CONFIG";
        return Err(Failure::usage(format!("{place} is a symlink, through which nothing is written"), hint));
    }
    let by_hand =
        || Failure::usage(format!("{key} cannot be set in {place} as that is written"), format!("edit {place} by hand"));
    let mut read = known;
    edit_file(&path, |former| {
        let text = with_value(former, key, value).ok_or_else(by_hand)?;
        // Text that does not parse as settings is never written.
        read = Settings::with_text(&text, app.globals.root.as_deref(), app.environment)?;
        if read.unknown.iter().any(|unknown| unknown == key) { Err(by_hand()) } else { Ok(text) }
    })?;
    Ok((path, read))
}

fn set(key: &str, value: &str, app: &mut App) -> Result<(), Failure> {
    let (path, read) = store_setting(key, value, app)?;
    if key == "git.enabled"
        && read.git.value
        && read.root.value.is_dir()
        && let Err(error) = versions::keep_now(&read.root.value, "Begin to keep every state")
    {
        app.output.warning(&error.to_string())?;
    }
    // An API key is never printed, not even by the command that sets it.
    let shown = read.all().into_iter().find(|(own, ..)| own == key).and_then(|(_, shown, _)| shown.as_str().map(str::to_owned));
    let value = if shown.as_deref() == Some(HIDDEN) { HIDDEN } else { value };
    if app.output.is_json() {
        return Ok(app.output.json(&json!({ "path": path, "key": key, "value": value }))?);
    }
    Ok(app.output.fields(&[key, value])?)
}

fn path(app: &mut App) -> Result<(), Failure> {
    let path = Settings::file(app.globals.root.as_deref(), app.environment)?;
    if app.output.is_json() {
        return Ok(app.output.json(&json!({ "path": path, "exists": path.exists() }))?);
    }
    let place = app.output.place(&path);
    Ok(app.output.fields(&[&place])?)
}

/// Creates a folder that only its owner can read (Unix); an existing folder remains unchanged.
fn make_private(folder: &std::path::Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
