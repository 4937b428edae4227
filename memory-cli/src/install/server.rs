//! Adds and removes the entry for `memory mcp` in the JSON configuration of a client.

use serde_json::{Value, json};

use super::command::{ClientSubcommand, Invocation};
use super::edit::ClientFileError;
use super::jsonc::{self, JsoncStep};

/// The name of the entry in all clients.
pub(super) const NAME: &str = "memory";

/// The format of MCP server entries in the JSON file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct JsonServerEntry {
    /// The key of all servers in the file.
    pub under: &'static str,
    /// The format of an entry.
    pub form: ServerEntryFormat,
}

/// The format of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEntryFormat {
    /// `command` and `args`.
    Command,
    /// `command` and `args`, and `stdio` as `type`.
    Stdio,
    /// A list as `command`, `local` as `type`, and `enabled`.
    Local,
}

impl JsonServerEntry {
    /// Adds the entry, or updates it.
    pub(super) fn install(self, text: &str, own: &Invocation) -> Result<String, ClientFileError> {
        let Some(found) = self.find_command(text, own)? else {
            return jsonc::set_value(text, &self.entry_path(), &self.entry_json(&own.words(ClientSubcommand::Serve)));
        };
        let words = own.updated(ClientSubcommand::Serve, &found);
        if words == found {
            return Ok(text.to_owned());
        }
        if self.form == ServerEntryFormat::Local {
            return jsonc::set_value(text, &self.member_path("command"), &json!(words));
        }
        let mut text = text.to_owned();
        if words[0] != found[0] {
            text = jsonc::set_value(&text, &self.member_path("command"), &json!(words[0]))?;
        }
        if words[1..] != found[1..] {
            text = jsonc::set_value(&text, &self.member_path("args"), &json!(words[1..]))?;
        }
        Ok(text)
    }

    /// Removes the entry.
    pub(super) fn uninstall(self, text: &str, own: &Invocation) -> Result<String, ClientFileError> {
        match self.find_command(text, own) {
            Ok(Some(_)) => jsonc::remove(text, &self.entry_path()),
            Ok(None) => Ok(text.to_owned()),
            Err(refusal) if refusal.is_foreign_entry() => Ok(text.to_owned()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the command of the entry, if it exists.
    ///
    /// # Errors
    /// If the file cannot be parsed, or the entry belongs to another program.
    pub(super) fn find_command(self, text: &str, own: &Invocation) -> Result<Option<Vec<String>>, ClientFileError> {
        let Some(root) = jsonc::parse(text)? else { return Ok(None) };
        let Some(entry) = jsonc::find(&root, &self.entry_path()) else { return Ok(None) };
        let words = command_words(&jsonc::value(entry)).filter(|words| own.is_ours(ClientSubcommand::Serve, words));
        let taken = || ClientFileError::foreign_entry(text, jsonc::start(entry), jsonc::path_text(&self.entry_path()));
        words.map(Some).ok_or_else(taken)
    }

    fn entry_path(self) -> [JsoncStep<'static>; 2] {
        [JsoncStep::Key(self.under), JsoncStep::Key(NAME)]
    }

    fn member_path(self, key: &'static str) -> [JsoncStep<'static>; 3] {
        [JsoncStep::Key(self.under), JsoncStep::Key(NAME), JsoncStep::Key(key)]
    }

    fn entry_json(self, words: &[String]) -> Value {
        match self.form {
            ServerEntryFormat::Command => json!({ "command": words[0], "args": words[1..] }),
            ServerEntryFormat::Stdio => json!({ "type": "stdio", "command": words[0], "args": words[1..] }),
            ServerEntryFormat::Local => json!({ "type": "local", "command": words, "enabled": true }),
        }
    }
}

/// Returns the command of an entry, in either format.
fn command_words(entry: &Value) -> Option<Vec<String>> {
    let list = |value: &Value| value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
    match entry.get("command")? {
        Value::String(program) => {
            let arguments = entry.get("args").map_or(Some(Vec::new()), list)?;
            Some([vec![program.clone()], arguments].concat())
        }
        command => list(command),
    }
}
