//! Computes the new text of a configuration file from the old one.

use super::command::{ClientSubcommand, Invocation};
use super::edit::ClientFileError;
use super::jsonc::{self, JsoncStep};
use super::server::JsonServerEntry;
use super::{hooks, toml};

/// The kind of entry that this program has in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientEntry {
    /// An MCP server, in JSON.
    Server(JsonServerEntry),
    /// An MCP server, in the TOML of Codex.
    Toml,
    /// The hooks of Claude Code.
    Hooks,
}

/// The content of a file after the removal of the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UninstallResult {
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
pub(super) fn install(file: Option<&str>, part: ClientEntry, own: &Invocation) -> Result<String, ClientFileError> {
    let (mark, text) = split_mark(file.unwrap_or_default());
    let installed = match part {
        ClientEntry::Server(server) => server.install(text, own)?,
        ClientEntry::Toml => toml::install(text, own)?,
        ClientEntry::Hooks => hooks::install(text, own)?,
    };
    // An entry that cannot be found again is at a place where it has another meaning.
    match find_command(&installed, part, own) {
        Ok(Some(words)) if words == own.updated(part.verb(), &words) => Ok([mark, &installed].concat()),
        Ok(_) | Err(_) => Err(ClientFileError::malformed(text, 0, "the layout of the file does not allow a safe edit")),
    }
}

/// Returns the content of a file without the entry; `formers` are the readable backups.
pub(super) fn uninstall(
    file: &str,
    part: ClientEntry,
    own: &Invocation,
    formers: &[&str],
) -> Result<UninstallResult, ClientFileError> {
    let (mark, text) = split_mark(file);
    let found = match find_command(text, part, own) {
        Ok(Some(found)) => own.of(&found),
        Ok(None) => return Ok(UninstallResult::Same),
        Err(refusal) if refusal.is_foreign_entry() => return Ok(UninstallResult::Same),
        Err(refusal) => return Err(refusal),
    };
    let is_clean = |former: &&str| matches!(self::find_command(split_mark(former).1, part, own), Ok(None));
    let becomes_this = |former: Option<&str>| install(former, part, &found).is_ok_and(|installed| installed == file);
    if let Some(index) = formers.iter().position(|former| is_clean(former) && becomes_this(Some(former))) {
        return Ok(UninstallResult::Former(index));
    }
    let clean: Vec<&str> = formers.iter().copied().filter(|former| is_clean(former)).collect();
    let was_made_for_us = clean.is_empty();
    if was_made_for_us && becomes_this(None) {
        return Ok(UninstallResult::Nothing);
    }
    let left = match part {
        ClientEntry::Server(server) => server.uninstall(text, own)?,
        ClientEntry::Toml => toml::uninstall(text, own)?,
        ClientEntry::Hooks => hooks::uninstall(text, own)?,
    };
    let left = remove_empty(left, part, &clean)?;
    let is_empty = if part == ClientEntry::Toml { toml::is_empty(&left) } else { jsonc::is_empty(&left) };
    Ok(if was_made_for_us && is_empty { UninstallResult::Nothing } else { UninstallResult::Text([mark, &left].concat()) })
}

/// Removes empty lists and objects that no backup contains.
fn remove_empty(mut text: String, part: ClientEntry, formers: &[&str]) -> Result<String, ClientFileError> {
    let paths: Vec<Vec<JsoncStep>> = match part {
        ClientEntry::Server(server) => vec![vec![JsoncStep::Key(server.under)]],
        ClientEntry::Toml => return Ok(text),
        ClientEntry::Hooks => {
            let events = hooks::EVENTS.map(|(event, _)| vec![JsoncStep::Key(hooks::UNDER), JsoncStep::Key(event)]);
            events.into_iter().chain([vec![JsoncStep::Key(hooks::UNDER)]]).collect()
        }
    };
    let holds = |text: &str, path: &[JsoncStep]| -> Option<serde_json::Value> {
        let root = jsonc::parse(split_mark(text).1).ok().flatten()?;
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

fn find_command(text: &str, part: ClientEntry, own: &Invocation) -> Result<Option<Vec<String>>, ClientFileError> {
    match part {
        ClientEntry::Server(server) => server.find_command(text, own),
        ClientEntry::Toml => toml::find_command(text, own),
        ClientEntry::Hooks => hooks::find_command(text, own),
    }
}

fn split_mark(file: &str) -> (&str, &str) {
    let text = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    (&file[..file.len() - text.len()], text)
}

impl ClientEntry {
    /// Returns the subcommand of the entry that `found` returns.
    fn verb(self) -> ClientSubcommand {
        match self {
            Self::Server(_) | Self::Toml => ClientSubcommand::Serve,
            Self::Hooks => hooks::EVENTS[0].1,
        }
    }
}

#[cfg(test)]
mod tests;
