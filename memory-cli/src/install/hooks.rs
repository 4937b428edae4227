//! The hooks of clients, which are commands that a client runs on events.

use jsonc_parser::ast::Value as Node;
use serde_json::{Value, json};

use super::command::{self, ClientSubcommand, Invocation};
use super::edit::ClientFileError;
use super::jsonc::{self, JsoncStep};

/// The key of all hooks in the file.
pub(super) const UNDER: &str = "hooks";

/// The key for the version of the format in a file with [`HookStyle::Flat`].
pub(super) const VERSION: &str = "version";

/// The hooks in the file of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HookFormat {
    /// The names of the events for the start of a session and for a prompt.
    pub events: [&'static str; 2],
    /// The layout of a hook.
    pub style: HookStyle,
    /// Timeout of a hook, in the unit of the client.
    ///
    /// The program itself times out after 300 ms; this timeout applies if it hangs.
    pub timeout: u64,
}

/// The layout of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookStyle {
    /// Groups of hooks; a hook has a program and arguments, and no shell runs it.
    Exec,
    /// Groups of hooks; a hook has a line for a shell.
    Shell,
    /// Hooks without groups, with a line for a shell; the file has a version.
    Flat,
}

/// The position of a hook in the file.
struct HookPosition {
    /// The path of the hook below its event.
    path: Vec<JsoncStep<'static>>,
    /// The path of the part to remove with the hook: the group if it contains no other hook.
    removal: Vec<JsoncStep<'static>>,
    /// The command, without the arguments of a list.
    line: String,
    words: Vec<String>,
    /// Whether the hook has its arguments in a list.
    has_arguments: bool,
}

impl HookFormat {
    /// Returns the events with their subcommands.
    pub(super) fn commands(&self) -> [(&'static str, ClientSubcommand); 2] {
        [
            (self.events[0], ClientSubcommand::Hook("session-start")),
            (self.events[1], ClientSubcommand::Hook("prompt")),
        ]
    }

    /// Adds the hooks of this program, or updates them.
    pub(super) fn install(&self, text: &str, own: &Invocation) -> Result<String, ClientFileError> {
        let mut text = text.to_owned();
        for (event, verb) in self.commands() {
            let places = self.find_hooks(&text, event, verb, own)?;
            if places.is_empty() {
                if self.style == HookStyle::Flat
                    && jsonc::members(&text, &[])?
                        .iter()
                        .all(|member| member.key != VERSION)
                {
                    text = jsonc::set_value(&text, &[JsoncStep::Key(VERSION)], &json!(1))?;
                }
                text = jsonc::append(&text, &event_path(event), &self.group(own, verb))?;
            }
            for place in places {
                let words = own.updated(verb, &place.words);
                if words != place.words {
                    let member = |key| {
                        [&event_path(event)[..], &place.path, &[JsoncStep::Key(key)]].concat()
                    };
                    if place.has_arguments {
                        text = jsonc::set_value(&text, &member("command"), &json!(words[0]))?;
                        text = jsonc::set_value(&text, &member("args"), &json!(words[1..]))?;
                    } else {
                        let line = command::replace_command(&place.line, &place.words, &words);
                        text = jsonc::set_value(&text, &member("command"), &line.into())?;
                    }
                }
            }
        }
        Ok(text)
    }

    /// Removes the hooks of this program.
    pub(super) fn uninstall(
        &self,
        text: &str,
        own: &Invocation,
    ) -> Result<String, ClientFileError> {
        let mut text = text.to_owned();
        for (event, verb) in self.commands() {
            // In reverse order, so that the indexes of the remaining hooks stay valid.
            while let Some(place) = self.find_installed(&text, event, verb, own)?.pop() {
                text = jsonc::remove(&text, &[&event_path(event)[..], &place.removal].concat())?;
            }
        }
        Ok(text)
    }

    /// Returns the command of a hook that an installation for this client may have written, if there is one.
    pub(super) fn find_command(
        &self,
        text: &str,
        own: &Invocation,
    ) -> Result<Option<Vec<String>>, ClientFileError> {
        for (event, verb) in self.commands() {
            if let Some(place) = self.find_installed(text, event, verb, own)?.pop() {
                return Ok(Some(place.words));
            }
        }
        Ok(None)
    }

    /// Returns an element of the list of an event, which runs a subcommand.
    pub(super) fn group(&self, own: &Invocation, verb: ClientSubcommand) -> Value {
        let (words, line, timeout) = (own.words(verb), own.shell_line(verb), self.timeout);
        match self.style {
            HookStyle::Exec => {
                let hook = json!({ "type": "command", "command": words[0], "args": words[1..], "timeout": timeout });
                json!({ "hooks": [hook] })
            }
            HookStyle::Shell => {
                json!({ "hooks": [{ "type": "command", "command": line, "timeout": timeout }] })
            }
            HookStyle::Flat => json!({ "command": line, "timeout": timeout }),
        }
    }

    /// Returns the hooks that an installation for this client may have written.
    fn find_installed(
        &self,
        text: &str,
        event: &'static str,
        verb: ClientSubcommand,
        own: &Invocation,
    ) -> Result<Vec<HookPosition>, ClientFileError> {
        let mut places = self.find_hooks(text, event, verb, own)?;
        places.retain(|place| own.is_installed(verb, &place.words));
        Ok(places)
    }

    fn find_hooks(
        &self,
        text: &str,
        event: &'static str,
        verb: ClientSubcommand,
        own: &Invocation,
    ) -> Result<Vec<HookPosition>, ClientFileError> {
        let root = jsonc::parse(text)?;
        let Some(groups) = root
            .as_ref()
            .and_then(|root| jsonc::find(root, &event_path(event)))
        else {
            return Ok(Vec::new());
        };
        let Node::Array(groups) = groups else {
            let what = format!("{} must be a list", jsonc::path_text(&event_path(event)));
            return Err(ClientFileError::malformed(text, jsonc::start(groups), what));
        };
        let mut places = Vec::new();
        for (group, node) in groups.elements.iter().enumerate() {
            let group = JsoncStep::At(group);
            if self.style == HookStyle::Flat {
                places.extend(HookPosition::find(
                    node,
                    vec![group],
                    vec![group],
                    verb,
                    own,
                ));
                continue;
            }
            let Some(Node::Array(hooks)) = jsonc::find(node, &[JsoncStep::Key("hooks")]) else {
                continue;
            };
            for (hook, node) in hooks.elements.iter().enumerate() {
                let path = vec![group, JsoncStep::Key("hooks"), JsoncStep::At(hook)];
                let removal = if hooks.elements.len() == 1 {
                    vec![group]
                } else {
                    path.clone()
                };
                places.extend(HookPosition::find(node, path, removal, verb, own));
            }
        }
        Ok(places)
    }
}

impl HookPosition {
    /// Returns the position of `hook`, if it runs the subcommand of this program.
    fn find(
        hook: &Node<'_>,
        path: Vec<JsoncStep<'static>>,
        removal: Vec<JsoncStep<'static>>,
        verb: ClientSubcommand,
        own: &Invocation,
    ) -> Option<Self> {
        let hook = jsonc::value(hook);
        let line = hook.get("command")?.as_str()?;
        let arguments = hook.get("args").and_then(Value::as_array);
        let words = match arguments {
            Some(arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|word| word.as_str().map(str::to_owned));
                std::iter::once(Some(line.to_owned()))
                    .chain(arguments)
                    .collect::<Option<Vec<_>>>()?
            }
            None => command::split_words(line)?,
        };
        let (line, has_arguments) = (line.to_owned(), arguments.is_some());
        own.is_ours(verb, &words).then_some(Self {
            path,
            removal,
            line,
            words,
            has_arguments,
        })
    }
}

fn event_path(event: &'static str) -> [JsoncStep<'static>; 2] {
    [JsoncStep::Key(UNDER), JsoncStep::Key(event)]
}
