//! The entry of an MCP server in a JSON file.

use serde_json::{Value, json};

use super::command::{Invocation, Verb};
use super::jsonc::{self, Step};
use super::refusal::Refusal;

/// The name of the entry in all clients.
pub(super) const NAME: &str = "memory";

/// The format of MCP server entries in the JSON file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Server {
    /// The key of all servers in the file.
    pub under: &'static str,
    /// The format of an entry.
    pub form: Form,
}

/// The format of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `command` and `args`.
    Command,
    /// `command` and `args`, and `stdio` as `type`.
    Stdio,
    /// A list as `command`, `local` as `type`, and `enabled`.
    Local,
}

impl Server {
    /// Adds the entry, or updates it.
    pub(super) fn install(self, text: &str, own: &Invocation) -> Result<String, Refusal> {
        let Some(found) = self.found(text, own)? else {
            return jsonc::put(text, &self.path(), &self.entry(&own.words(Verb::Serve)));
        };
        let words = own.renewed(Verb::Serve, &found);
        if words == found {
            return Ok(text.to_owned());
        }
        if self.form == Form::Local {
            return jsonc::put(text, &self.part("command"), &json!(words));
        }
        let mut text = text.to_owned();
        if words[0] != found[0] {
            text = jsonc::put(&text, &self.part("command"), &json!(words[0]))?;
        }
        if words[1..] != found[1..] {
            text = jsonc::put(&text, &self.part("args"), &json!(words[1..]))?;
        }
        Ok(text)
    }

    /// Removes the entry.
    pub(super) fn uninstall(self, text: &str, own: &Invocation) -> Result<String, Refusal> {
        match self.found(text, own) {
            Ok(Some(_)) => jsonc::remove(text, &self.path()),
            Ok(None) => Ok(text.to_owned()),
            Err(refusal) if refusal.is_taken() => Ok(text.to_owned()),
            Err(refusal) => Err(refusal),
        }
    }

    /// Returns the command of the entry, if it exists.
    ///
    /// # Errors
    /// If the file cannot be parsed, or the entry belongs to another program.
    pub(super) fn found(self, text: &str, own: &Invocation) -> Result<Option<Vec<String>>, Refusal> {
        let Some(root) = jsonc::parse(text)? else { return Ok(None) };
        let Some(entry) = jsonc::find(&root, &self.path()) else { return Ok(None) };
        let words = words(&jsonc::value(entry)).filter(|words| own.is_ours(Verb::Serve, words));
        let taken = || Refusal::taken(text, jsonc::start(entry), jsonc::named(&self.path()));
        words.map(Some).ok_or_else(taken)
    }

    fn path(self) -> [Step<'static>; 2] {
        [Step::Key(self.under), Step::Key(NAME)]
    }

    fn part(self, key: &'static str) -> [Step<'static>; 3] {
        [Step::Key(self.under), Step::Key(NAME), Step::Key(key)]
    }

    fn entry(self, words: &[String]) -> Value {
        match self.form {
            Form::Command => json!({ "command": words[0], "args": words[1..] }),
            Form::Stdio => json!({ "type": "stdio", "command": words[0], "args": words[1..] }),
            Form::Local => json!({ "type": "local", "command": words, "enabled": true }),
        }
    }
}

/// Returns the command of an entry, in either format.
fn words(entry: &Value) -> Option<Vec<String>> {
    let list = |value: &Value| value.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect::<Option<Vec<_>>>();
    match entry.get("command")? {
        Value::String(program) => {
            let arguments = entry.get("args").map_or(Some(Vec::new()), list)?;
            Some([vec![program.clone()], arguments].concat())
        }
        command => list(command),
    }
}
