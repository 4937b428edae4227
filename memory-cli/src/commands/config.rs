//! The `memory config` command.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use memory_core::secret::without_secrets;
use memory_store::{check_writable, edit_file};
use serde_json::{Value, json};

use crate::app::App;
use crate::config::{
    ConfigError, DEFAULT_FILE, Environment, HIDDEN, Settings, SettingsLayer, TRUSTED_KEY,
    check_value, is_list, list_items, set_list, set_value,
};
use crate::failure::Failure;
use crate::print::{Table, TableColumn};
use crate::versions;
use memory_store::system::{owner_only, private_folder_builder};

/// Show or change the settings
///
/// Flags have precedence over environment variables (such as MEMORY_ROOT and CLAUDE_CONFIG_DIR), which have precedence over
/// the file. The file is MEMORY_CONFIG, or else config.yaml in the home.
#[derive(Debug, Args)]
pub(crate) struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, Clone, Subcommand)]
enum ConfigCommand {
    /// Create a settings file with every key explained; an existing file stays unchanged
    ///
    /// JSON: {path, created}
    Init,
    /// Show every setting and its source
    ///
    /// JSON: {path, exists, settings: [{key, value, from}], unknown: [KEY…]}; `from` is default, file, environment or flag
    Show,
    /// Show one setting and its source
    ///
    /// JSON: {key, value, from}
    Get {
        /// Key as shown by `memory config show`
        key: String,
    },
    /// Set one value in the settings file; all else stays unchanged
    ///
    /// An empty value removes the line, so that the default applies.
    ///
    /// JSON: {path, key, value}
    Set {
        /// Key as shown by `memory config show`
        key: String,
        /// The new value
        value: String,
    },
    /// Remove one value from the settings file, so that the default applies
    ///
    /// JSON: {path, key, value}
    Unset {
        /// Key as shown by `memory config show`
        key: String,
    },
    /// Show the path of the settings file
    ///
    /// JSON: {path, exists}
    Path,
}

impl ConfigArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            ConfigCommand::Init => init(app),
            ConfigCommand::Show => show(app),
            ConfigCommand::Get { key } => get(key, app),
            ConfigCommand::Set { key, value } => set(key, value, app),
            ConfigCommand::Unset { key } => set(key, "", app),
            ConfigCommand::Path => path(app),
        }
    }
}

fn init(app: &mut App) -> Result<(), Failure> {
    let path = Settings::file(app.root.as_deref(), app.environment)?;
    let place = app.output.display_path(&path);
    if let Some(folder) = path.parent() {
        check_writable(folder)?;
        private_folder_builder()
            .recursive(true)
            .create(folder)
            .map_err(Failure::file(format!("create the folder of {place}")))?;
    }
    let mut options = OpenOptions::new();
    let created = match owner_only(&mut options)
        .write(true)
        .create_new(true)
        .open(&path)
    {
        Ok(mut file) => {
            let write = |file: &mut std::fs::File| {
                file.write_all(DEFAULT_FILE.as_bytes())
                    .and_then(|()| file.sync_all())
            };
            write(&mut file).map_err(Failure::file(format!("write {place}")))?;
            true
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
        Err(source) => {
            return Err(Failure::File {
                action: format!("write {place}"),
                source,
            });
        }
    };
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "path": path, "created": created }));
    }
    app.output.fields(&[&place])?;
    if !created {
        app.output
            .note("the file already exists and was not changed")?;
    }
    Ok(())
}

fn show(app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    if app.output.is_json() {
        return app.output.json(&settings.to_json());
    }
    let mut table = Table::new([
        TableColumn::Whole("key"),
        TableColumn::Text("value"),
        TableColumn::Text("from"),
    ]);
    for (key, value, from) in settings.all() {
        table.push([&key, &setting_text(&value, app), from.as_str()]);
    }
    app.output.table(&table)?;
    let place = app.output.display_path(&settings.file);
    let how = if settings.file_exists {
        "settings file:"
    } else {
        "no settings file at"
    };
    app.output.note(&format!("{how} {place}"))
}

fn get(key: &str, app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?.all().into_iter();
    let (key, value, from) = settings
        .into_iter()
        .find(|(own, ..)| own == key)
        .ok_or_else(|| unknown_setting(key))?;
    if app.output.is_json() {
        let shown = json!({ "key": key, "value": value, "from": from.as_str() });
        return app.output.json(&shown);
    }
    let text = setting_text(&value, app);
    app.output.fields(&[&key, &text, from.as_str()])
}

fn unknown_setting(key: &str) -> Failure {
    Failure::usage(
        format!("unknown setting {key}"),
        "list the settings with `memory config show`",
    )
}

fn setting_text(value: &Value, app: &App) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => app.output.display_path(text.as_ref()),
        other => other.to_string(),
    }
}

/// Sets a value in the settings file; returns the file's path and the new settings.
pub(super) fn store_setting(
    key: &str,
    value: &str,
    app: &App,
) -> Result<(PathBuf, Settings), Failure> {
    let path = Settings::file(app.root.as_deref(), app.environment)?;
    let place = app.output.display_path(&path);
    change_setting((key, value), &place, app.root.as_deref(), app.environment)
}

/// Sets the value of a key in the settings file, which messages name `place`; returns the file's path and the new settings.
pub(crate) fn change_setting(
    (key, value): (&str, &str),
    place: &str,
    root: Option<&Path>,
    environment: &Environment,
) -> Result<(PathBuf, Settings), Failure> {
    let path = Settings::file(root, environment)?;
    let known = Settings::load(root, environment)?;
    if !known.all().iter().any(|(own, ..)| own == key) {
        return Err(unknown_setting(key));
    }
    if key == TRUSTED_KEY && !Settings::may_trust(&path, environment) {
        return Err(Failure::usage(
            format!("{TRUSTED_KEY} has no effect in {place}: a home must not trust itself"),
            "set MEMORY_TRUSTED_FOLDERS, or set it in the default home",
        ));
    }
    check_value(key, value).map_err(|source| ConfigError::NewValue {
        key: key.to_owned(),
        source,
    })?;
    if path.is_symlink() {
        let hint = "edit its target, or set MEMORY_CONFIG to the target";
        return Err(Failure::usage(
            format!("{place} is a symlink, which is not written through"),
            hint,
        ));
    }
    let by_hand = || {
        Failure::usage(
            format!("cannot set {key} in {place}: unsupported YAML layout"),
            format!("edit {place} by hand"),
        )
    };
    let mut read = known;
    edit_file(&path, |former| {
        let set = if is_list(key) { set_list } else { set_value };
        let text = set(former, key, value).ok_or_else(by_hand)?;
        // Text that does not parse as settings is never written.
        read = Settings::with_text(&text, root, environment).map_err(|error| match error {
            ConfigError::Value {
                key: own, source, ..
            } if own == key => ConfigError::NewValue { key: own, source },
            error => error,
        })?;
        if read.unknown.iter().any(|unknown| unknown == key) {
            Err(by_hand())
        } else {
            Ok(text)
        }
    })?;
    Ok((path, read))
}

fn set(key: &str, value: &str, app: &mut App) -> Result<(), Failure> {
    let (path, read) = store_setting(key, value, app)?;
    let items = is_list(key).then(|| list_items(value).join(", "));
    let value = items.as_deref().unwrap_or(value);
    let is_default = value.is_empty();
    if let Err(warning) = start_versioning(key, &read) {
        app.output.warning(&warning)?;
    }
    // An API key is never printed, not even by the command that sets it.
    let (shown, layer) = read.all().into_iter().find(|(own, ..)| own == key).map_or(
        (Value::Null, SettingsLayer::Default),
        |(_, shown, layer)| (shown, layer),
    );
    let value = if value.is_empty() || shown == HIDDEN {
        shown
    } else {
        without_secrets(value).into_owned().into()
    };
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "path": path, "key": key, "value": value }));
    }
    let text = setting_text(&value, app);
    app.output.fields(&[key, &text])?;
    if SettingsLayer::Environment <= layer {
        let note =
            format!("a variable of the environment or a flag sets {key}; it overrides the file");
        app.output.note(&note)?;
    } else if is_default {
        app.output.note(&format!("{key} has its default again"))?;
    }
    Ok(())
}

/// Makes the first commit if the setting that was changed enables versioning; the error is a warning.
pub(crate) fn start_versioning(key: &str, read: &Settings) -> Result<(), String> {
    if key != "git.enabled" || !read.git.value || !read.root.value.is_dir() {
        return Ok(());
    }
    versions::commit_now(&read.root.value, "Start versioning").map_err(|error| error.to_string())
}

fn path(app: &mut App) -> Result<(), Failure> {
    let path = Settings::file(app.root.as_deref(), app.environment)?;
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "path": path, "exists": path.exists() }));
    }
    let place = app.output.display_path(&path);
    app.output.fields(&[&place])
}
