//! The hooks of Claude Code, which are commands that it runs on events.

use jsonc_parser::ast::Value as Node;
use serde_json::json;

use super::command::{self, ClientSubcommand, Invocation};
use super::edit::ClientFileError;
use super::jsonc::{self, JsoncStep};

/// The key of all hooks in the file.
pub(super) const UNDER: &str = "hooks";

/// The events, and the subcommand for each.
pub(super) const EVENTS: [(&str, ClientSubcommand); 2] =
    [("SessionStart", ClientSubcommand::Hook("session-start")), ("UserPromptSubmit", ClientSubcommand::Hook("prompt"))];

/// Timeout of a hook in Claude Code, in seconds.
///
/// The program itself times out after 300 ms; this timeout applies if it hangs.
const TIMEOUT: u64 = 5;

/// The position of a hook: the group of its event, and the hook in the group.
struct HookPosition {
    group: usize,
    hook: usize,
    /// Whether the group contains no other hook.
    is_alone: bool,
    words: Vec<String>,
}

/// Adds the hooks of this program, or updates them.
pub(super) fn install(text: &str, own: &Invocation) -> Result<String, ClientFileError> {
    let mut text = text.to_owned();
    for (event, verb) in EVENTS {
        let places = find_hooks(&text, event, verb, own)?;
        if places.is_empty() {
            let hook = json!({ "type": "command", "command": own.shell_line(verb), "timeout": TIMEOUT });
            text = jsonc::append(&text, &group_path(event), &json!({ "hooks": [hook] }))?;
        }
        for place in places {
            let words = own.updated(verb, &place.words);
            if words != place.words {
                let [under, event] = group_path(event);
                let path = [
                    under,
                    event,
                    JsoncStep::At(place.group),
                    JsoncStep::Key("hooks"),
                    JsoncStep::At(place.hook),
                    JsoncStep::Key("command"),
                ];
                text = jsonc::set_value(&text, &path, &command::join_words(&words).into())?;
            }
        }
    }
    Ok(text)
}

/// Removes the hooks of this program.
pub(super) fn uninstall(text: &str, own: &Invocation) -> Result<String, ClientFileError> {
    let mut text = text.to_owned();
    for (event, verb) in EVENTS {
        // In reverse order, so that the indexes of the remaining hooks stay valid.
        while let Some(place) = find_hooks(&text, event, verb, own)?.pop() {
            let [under, event] = group_path(event);
            let path = [under, event, JsoncStep::At(place.group), JsoncStep::Key("hooks"), JsoncStep::At(place.hook)];
            text = jsonc::remove(&text, if place.is_alone { &path[..3] } else { &path })?;
        }
    }
    Ok(text)
}

/// Returns the command of a hook of this program, if there is one.
pub(super) fn find_command(text: &str, own: &Invocation) -> Result<Option<Vec<String>>, ClientFileError> {
    for (event, verb) in EVENTS {
        if let Some(place) = find_hooks(text, event, verb, own)?.pop() {
            return Ok(Some(place.words));
        }
    }
    Ok(None)
}

fn group_path(event: &'static str) -> [JsoncStep<'static>; 2] {
    [JsoncStep::Key(UNDER), JsoncStep::Key(event)]
}

fn find_hooks(
    text: &str,
    event: &'static str,
    verb: ClientSubcommand,
    own: &Invocation,
) -> Result<Vec<HookPosition>, ClientFileError> {
    let root = jsonc::parse(text)?;
    let Some(groups) = root.as_ref().and_then(|root| jsonc::find(root, &group_path(event))) else { return Ok(Vec::new()) };
    let Node::Array(groups) = groups else {
        let what = format!("{} must be a list", jsonc::path_text(&group_path(event)));
        return Err(ClientFileError::malformed(text, jsonc::start(groups), what));
    };
    let mut places = Vec::new();
    for (group, node) in groups.elements.iter().enumerate() {
        let Some(Node::Array(hooks)) = jsonc::find(node, &[JsoncStep::Key("hooks")]) else { continue };
        for (hook, node) in hooks.elements.iter().enumerate() {
            let line = jsonc::find(node, &[JsoncStep::Key("command")]).and_then(Node::as_string_lit);
            let words = line.and_then(|line| command::split_words(&line.value)).filter(|words| own.is_ours(verb, words));
            let is_alone = hooks.elements.len() == 1;
            places.extend(words.map(|words| HookPosition { group, hook, is_alone, words }));
        }
    }
    Ok(places)
}
