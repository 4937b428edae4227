//! Computes the new text of a configuration file from the old one.

use super::command::{Invocation, Verb};
use super::jsonc::{self, Step};
use super::refusal::Refusal;
use super::server::Server;
use super::{hooks, toml};

/// The kind of entry that this program has in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// An MCP server, in JSON.
    Server(Server),
    /// An MCP server, in the TOML of Codex.
    Toml,
    /// The hooks of Claude Code.
    Hooks,
}

/// The content of a file after the removal of the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Rest {
    /// Unchanged: there was no entry.
    Same,
    /// The backup with this index, which the installation had started from.
    Former(usize),
    /// A new text.
    Text(String),
    /// No file: the installation had created it.
    Nothing,
}

/// The byte order mark at the start of some files, which is not part of the text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Returns the text of a file with the entry added or updated; `None` means that there is no file yet.
///
/// # Errors
/// If the file cannot be parsed, or another program has an entry of that name.
pub(super) fn install(file: Option<&str>, part: Part, own: &Invocation) -> Result<String, Refusal> {
    let (mark, text) = split(file.unwrap_or_default());
    let installed = match part {
        Part::Server(server) => server.install(text, own)?,
        Part::Toml => toml::install(text, own)?,
        Part::Hooks => hooks::install(text, own)?,
    };
    // An entry that cannot be found again is at a place where it has another meaning.
    match found(&installed, part, own) {
        Ok(Some(words)) if words == own.renewed(part.verb(), &words) => Ok([mark, &installed].concat()),
        Ok(_) | Err(_) => Err(Refusal::unreadable(text, 0, "the layout of the file does not allow a safe edit")),
    }
}

/// Returns the content of a file without the entry; `formers` are the readable backups.
pub(super) fn uninstall(file: &str, part: Part, own: &Invocation, formers: &[&str]) -> Result<Rest, Refusal> {
    let (mark, text) = split(file);
    let found = match found(text, part, own) {
        Ok(Some(found)) => own.of(&found),
        Ok(None) => return Ok(Rest::Same),
        Err(refusal) if refusal.is_taken() => return Ok(Rest::Same),
        Err(refusal) => return Err(refusal),
    };
    let is_clean = |former: &&str| matches!(self::found(split(former).1, part, own), Ok(None));
    let becomes_this = |former: Option<&str>| install(former, part, &found).is_ok_and(|installed| installed == file);
    if let Some(index) = formers.iter().position(|former| is_clean(former) && becomes_this(Some(former))) {
        return Ok(Rest::Former(index));
    }
    let clean: Vec<&str> = formers.iter().copied().filter(|former| is_clean(former)).collect();
    let was_made_for_us = clean.is_empty();
    if was_made_for_us && becomes_this(None) {
        return Ok(Rest::Nothing);
    }
    let left = match part {
        Part::Server(server) => server.uninstall(text, own)?,
        Part::Toml => toml::uninstall(text, own)?,
        Part::Hooks => hooks::uninstall(text, own)?,
    };
    let left = without_empty(left, part, &clean)?;
    let is_empty = if part == Part::Toml { toml::is_empty(&left) } else { jsonc::is_empty(&left) };
    Ok(if was_made_for_us && is_empty { Rest::Nothing } else { Rest::Text([mark, &left].concat()) })
}

/// Removes empty lists and objects that no backup contains.
fn without_empty(mut text: String, part: Part, formers: &[&str]) -> Result<String, Refusal> {
    let paths: Vec<Vec<Step>> = match part {
        Part::Server(server) => vec![vec![Step::Key(server.under)]],
        Part::Toml => return Ok(text),
        Part::Hooks => {
            let events = hooks::EVENTS.map(|(event, _)| vec![Step::Key(hooks::UNDER), Step::Key(event)]);
            events.into_iter().chain([vec![Step::Key(hooks::UNDER)]]).collect()
        }
    };
    let holds = |text: &str, path: &[Step]| -> Option<serde_json::Value> {
        let root = jsonc::parse(split(text).1).ok().flatten()?;
        jsonc::find(&root, path).map(jsonc::value)
    };
    for path in paths {
        let is_empty = holds(&text, &path).is_some_and(|held| held == serde_json::json!({}) || held == serde_json::json!([]));
        if is_empty && !formers.iter().any(|former| holds(former, &path).is_some()) {
            text = jsonc::remove(&text, &path)?;
        }
    }
    Ok(text)
}

fn found(text: &str, part: Part, own: &Invocation) -> Result<Option<Vec<String>>, Refusal> {
    match part {
        Part::Server(server) => server.found(text, own),
        Part::Toml => toml::found(text, own),
        Part::Hooks => hooks::found(text, own),
    }
}

fn split(file: &str) -> (&str, &str) {
    let text = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    (&file[..file.len() - text.len()], text)
}

impl Part {
    /// Returns the subcommand of the entry that `found` returns.
    fn verb(self) -> Verb {
        match self {
            Self::Server(_) | Self::Toml => Verb::Serve,
            Self::Hooks => hooks::EVENTS[0].1,
        }
    }
}

#[cfg(test)]
mod tests;
