//! The entry for `memory mcp` among the MCP servers in the configuration of a client.
//!
//! The logic is the same for all formats; [`ServerFormat`] selects the functions that read and edit a file.

pub(super) mod toml;
pub(super) mod yaml;

use serde_json::{Value, json};

use super::command::{ClientSubcommand, Invocation, join_words};
use super::edit::{self, ClientFileError, ClientFileReason, TextEdit};
use super::jsonc::{self, JsoncStep};

/// The default name of the entry.
pub(super) const NAME: &str = "memory";

/// The format of the MCP servers in the file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerFormat {
    /// An object in JSON.
    Json {
        /// The key of all servers in the file.
        under: &'static str,
        /// The format of an entry.
        form: ServerEntryFormat,
    },
    /// The tables `mcp_servers.<name>` of Codex, in TOML.
    Toml,
    /// The mapping `extensions` of goose, in YAML.
    Yaml,
}

/// The format of an entry in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ServerEntryFormat {
    /// `command` and `args`.
    Command,
    /// `command` and `args`, and `stdio` as `type`.
    Stdio,
    /// A list as `command`, `local` as `type`, and `enabled`.
    Local,
}

/// A server in the file of a client.
#[derive(Debug)]
pub(super) struct ServerEntry {
    /// The name of the entry.
    pub name: String,
    /// The program and its arguments, if the entry has a command.
    pub command: Option<Vec<String>>,
    /// The command, or the first text of the entry that describes the server.
    pub content: String,
    /// The byte offset of the entry.
    pub at: usize,
}

/// The place of the entry of this program.
enum ServerSlot {
    /// This program has the entry.
    Own { name: String, command: Vec<String> },
    /// This program has an entry, but not with the requested name.
    Named(ServerEntry),
    /// There is no entry of this name.
    Free(String),
    /// Another program has the entry.
    Taken(ServerEntry),
}

impl ServerEntry {
    /// Creates a server from the values of its entry.
    pub(super) fn new(name: &str, entry: &Value, at: usize) -> Self {
        let command = command_words(entry);
        let text = |key: &&str| entry.get(*key).and_then(Value::as_str).map(str::to_owned);
        let content = command.as_deref().map(join_words);
        let content = content.or_else(|| {
            ["url", "httpUrl", "serverUrl", "uri", "type"]
                .iter()
                .find_map(text)
        });
        Self {
            name: name.to_owned(),
            command,
            content: content.unwrap_or_else(|| "an unknown entry".to_owned()),
            at,
        }
    }
}

impl ServerFormat {
    /// Adds the entry, or updates it.
    ///
    /// # Errors
    /// If the file cannot be edited, another program has an entry of that name and must not be replaced, or this program has
    /// an entry of another name than the requested one.
    pub(super) fn install(self, text: &str, own: &Invocation) -> Result<String, ClientFileError> {
        let new = own.words(ClientSubcommand::Serve);
        match self.find_slot(text, own)? {
            ServerSlot::Own { name, command } => {
                match own.updated(ClientSubcommand::Serve, &command) {
                    words if words == command => Ok(text.to_owned()),
                    words => self.update(text, &name, &command, &words),
                }
            }
            ServerSlot::Named(server) => {
                let reason = ClientFileReason::OtherName { name: server.name };
                Err(ClientFileError {
                    line: edit::line_number(text, server.at),
                    reason,
                })
            }
            ServerSlot::Free(name) => self.insert(text, &name, &new),
            ServerSlot::Taken(other) if own.replaces => {
                self.insert(&self.remove(text, &other.name)?, &other.name, &new)
            }
            ServerSlot::Taken(other) => Err(self.foreign_entry(text, other)),
        }
    }

    /// Removes the entry. If it replaced an entry, that entry is inserted again.
    ///
    /// The replaced entry is that of the newest backup in `formers` without an entry of this program at its place.
    pub(super) fn uninstall(
        self,
        text: &str,
        own: &Invocation,
        formers: &[&str],
    ) -> Result<String, ClientFileError> {
        let ServerSlot::Own { name, .. } = self.find_slot(text, own)? else {
            return Ok(text.to_owned());
        };
        let rest = self.remove(text, &name)?;
        let is_own = |server: ServerEntry| {
            let is_installed = |words: &[String]| own.is_installed(ClientSubcommand::Serve, words);
            server.name == name && server.command.as_deref().is_some_and(is_installed)
        };
        let former = formers.iter().find(|former| {
            self.servers(former)
                .is_ok_and(|found| !found.into_iter().any(is_own))
        });
        let replaced = former.and_then(|former| self.source(former, &name).ok().flatten());
        replaced.map_or(Ok(rest.clone()), |source| {
            self.insert_source(&rest, &name, &source)
        })
    }

    /// Returns the name and the command of each entry that an installation for this client may have written.
    ///
    /// With a requested name, only the entry with this name is returned.
    ///
    /// # Errors
    /// If the file cannot be parsed.
    pub(super) fn find_installed(
        self,
        text: &str,
        own: &Invocation,
    ) -> Result<Vec<(String, Vec<String>)>, ClientFileError> {
        let is_requested = |server: &ServerEntry| {
            own.server_name
                .as_ref()
                .is_none_or(|name| *name == server.name)
        };
        let installed = |server: ServerEntry| {
            let command = server
                .command
                .filter(|words| own.is_installed(ClientSubcommand::Serve, words))?;
            Some((server.name, command))
        };
        Ok(self
            .servers(text)?
            .into_iter()
            .filter(is_requested)
            .filter_map(installed)
            .collect())
    }

    /// Returns whether the entry exists and needs no update.
    pub(super) fn is_current(self, text: &str, own: &Invocation) -> bool {
        let is_current = |words: &[String]| words == own.updated(ClientSubcommand::Serve, words);
        matches!(self.find_slot(text, own), Ok(ServerSlot::Own { command, .. }) if is_current(&command))
    }

    fn find_slot(self, text: &str, own: &Invocation) -> Result<ServerSlot, ClientFileError> {
        let mut servers = self.servers(text)?;
        let name = own.server_name.as_deref().unwrap_or(NAME);
        let has_command = |server: &ServerEntry, is_own: &dyn Fn(&[String]) -> bool| {
            server.command.as_deref().is_some_and(is_own)
        };
        let is_ours = |words: &[String]| own.is_ours(ClientSubcommand::Serve, words);
        let is_installed = |words: &[String]| own.is_installed(ClientSubcommand::Serve, words);
        let named = servers.iter().rposition(|server| server.name == name);
        let named_and = |is_own: &dyn Fn(&[String]) -> bool| {
            named.filter(|index| has_command(&servers[*index], is_own))
        };
        let installed = servers
            .iter()
            .rposition(|server| has_command(server, &is_installed));
        // Without a requested name, an earlier installation may have used another name.
        let elsewhere = installed.filter(|_| own.server_name.is_none());
        if let Some(index) = named_and(&is_installed)
            .or(elsewhere)
            .or_else(|| named_and(&is_ours))
        {
            let ServerEntry { name, command, .. } = servers.swap_remove(index);
            return Ok(ServerSlot::Own {
                name,
                command: command.unwrap_or_default(),
            });
        }
        if let Some(index) = installed {
            return Ok(ServerSlot::Named(servers.swap_remove(index)));
        }
        Ok(named.map_or_else(
            || ServerSlot::Free(name.to_owned()),
            |index| ServerSlot::Taken(servers.swap_remove(index)),
        ))
    }

    fn foreign_entry(self, text: &str, other: ServerEntry) -> ClientFileError {
        let under = match self {
            Self::Json { under, .. } => under,
            Self::Toml => toml::SERVERS_TABLE,
            Self::Yaml => yaml::SERVERS_KEY,
        };
        ClientFileError::foreign_entry(
            text,
            other.at,
            format!("{under}.{}", other.name),
            other.content,
        )
    }

    fn servers(self, text: &str) -> Result<Vec<ServerEntry>, ClientFileError> {
        match self {
            Self::Json { under, .. } => Ok(jsonc::members(text, &[JsoncStep::Key(under)])?
                .into_iter()
                .map(|member| ServerEntry::new(&member.key, &member.value, member.range.start))
                .collect()),
            Self::Toml => toml::servers(text),
            Self::Yaml => yaml::servers(text),
        }
    }

    fn insert(self, text: &str, name: &str, words: &[String]) -> Result<String, ClientFileError> {
        match self {
            Self::Json { under, form } => {
                jsonc::set_value(text, &entry_path(under, name), &form.entry(words))
            }
            Self::Toml => toml::insert(text, name, words),
            Self::Yaml => yaml::insert(text, name, words),
        }
    }

    fn remove(self, text: &str, name: &str) -> Result<String, ClientFileError> {
        match self {
            Self::Json { under, .. } => jsonc::remove(text, &entry_path(under, name)),
            Self::Toml => toml::remove(text, name),
            Self::Yaml => yaml::remove(text, name),
        }
    }

    /// Replaces the command of an entry; all other values remain.
    fn update(
        self,
        text: &str,
        name: &str,
        found: &[String],
        words: &[String],
    ) -> Result<String, ClientFileError> {
        let Self::Json { under, form } = self else {
            return if self == Self::Toml {
                toml::update(text, name, found, words)
            } else {
                yaml::update(text, name, words)
            };
        };
        let [under, name] = entry_path(under, name);
        if form == ServerEntryFormat::Local {
            return jsonc::set_value(
                text,
                &[under, name, JsoncStep::Key("command")],
                &json!(words),
            );
        }
        let mut text = text.to_owned();
        if words[0] != found[0] {
            text = jsonc::set_value(
                &text,
                &[under, name, JsoncStep::Key("command")],
                &json!(words[0]),
            )?;
        }
        if words[1..] != found[1..] {
            text = jsonc::set_value(
                &text,
                &[under, name, JsoncStep::Key("args")],
                &json!(words[1..]),
            )?;
        }
        Ok(text)
    }

    /// Returns the text of an entry of another program, in the form for [`Self::insert_source`].
    fn source(self, text: &str, name: &str) -> Result<Option<String>, ClientFileError> {
        match self {
            Self::Json { under, .. } => {
                let members = jsonc::members(text, &[JsoncStep::Key(under)])?;
                Ok(members
                    .into_iter()
                    .rfind(|member| member.key == name)
                    .map(|member| text[member.range].to_owned()))
            }
            Self::Toml => toml::source(text, name),
            Self::Yaml => yaml::source(text, name),
        }
    }

    fn insert_source(
        self,
        text: &str,
        name: &str,
        source: &str,
    ) -> Result<String, ClientFileError> {
        match self {
            Self::Json { under, .. } => {
                let with = jsonc::set_value(text, &entry_path(under, name), &Value::Null)?;
                let members = jsonc::members(&with, &[JsoncStep::Key(under)])?;
                let range = members
                    .into_iter()
                    .rfind(|member| member.key == name)
                    .map(|member| member.range);
                let edits = range.map(|range| TextEdit {
                    range,
                    with: source.to_owned(),
                });
                Ok(edit::apply_edits(&with, edits.into_iter().collect()))
            }
            Self::Toml => Ok(toml::append(text, source)),
            Self::Yaml => yaml::insert_source(text, source),
        }
    }
}

impl ServerEntryFormat {
    /// Returns the entry for a command.
    pub(super) fn entry(self, words: &[String]) -> Value {
        match self {
            Self::Command => json!({ "command": words[0], "args": words[1..] }),
            Self::Stdio => json!({ "type": "stdio", "command": words[0], "args": words[1..] }),
            Self::Local => json!({ "type": "local", "command": words, "enabled": true }),
        }
    }
}

fn entry_path<'a>(under: &'a str, name: &'a str) -> [JsoncStep<'a>; 2] {
    [JsoncStep::Key(under), JsoncStep::Key(name)]
}

/// Returns the command of an entry, in any format.
fn command_words(entry: &Value) -> Option<Vec<String>> {
    let list = |value: &Value| {
        value
            .as_array()?
            .iter()
            .map(|word| word.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    };
    match entry.get("command").or_else(|| entry.get("cmd"))? {
        Value::String(program) => {
            let arguments = entry.get("args").map_or(Some(Vec::new()), list)?;
            Some([vec![program.clone()], arguments].concat())
        }
        command => list(command),
    }
}
