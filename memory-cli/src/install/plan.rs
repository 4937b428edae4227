//! Computes the new text of a configuration file from the old one.

use serde_json::{Value, json};

use super::command::Invocation;
use super::edit::ClientFileError;
use super::hooks::{self, HookFormat, HookStyle};
use super::jsonc::{self, JsoncStep};
use super::server::ServerFormat;
use super::server::yaml;
use super::topics_setting;

/// The kind of entry that this program has in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClientEntry {
    /// An MCP server.
    Server(ServerFormat),
    /// Hooks.
    Hooks(HookFormat),
    /// The folder of the client's own memory.
    Topics,
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

/// Returns the text of a file with the entries added or updated; `None` means that there is no file yet.
///
/// # Errors
/// If the file cannot be parsed, or another program has an entry of the same name.
pub(super) fn install(
    file: Option<&str>,
    entries: &[ClientEntry],
    own: &Invocation,
) -> Result<String, ClientFileError> {
    install_each(file, entries.iter().map(|entry| (*entry, own)))
}

fn install_each<'a>(
    file: Option<&str>,
    entries: impl Iterator<Item = (ClientEntry, &'a Invocation)> + Clone,
) -> Result<String, ClientFileError> {
    let (mark, text) = split_mark(file.unwrap_or_default());
    let mut installed = text.to_owned();
    for (entry, own) in entries.clone() {
        installed = entry.install(&installed, own)?;
    }
    // An entry that cannot be found again is at a place where it has another meaning.
    for (entry, own) in entries {
        if !entry.is_current(&installed, own) {
            return Err(ClientFileError::malformed(
                text,
                0,
                "the layout of the file does not allow a safe edit",
            ));
        }
    }
    Ok([mark, &installed].concat())
}

/// Returns whether `rest` and the entries of `file` contain all of its content, whatever its layout; `None` means no file.
///
/// The words of the two texts are compared, so a value in an entry that no installation writes counts as content.
pub(super) fn is_complete(
    rest: Option<&str>,
    file: &str,
    entries: &[ClientEntry],
    own: &Invocation,
) -> bool {
    let Ok(found) = find_all(file, entries, own) else {
        return false;
    };
    let installed = install_each(rest, found.iter().map(|(entry, own)| (*entry, own)));
    installed.is_ok_and(|installed| sorted_words(&installed) == sorted_words(file))
}

/// Returns whether `rest`, the file without the entries, has all content of a backup except for its own entries.
///
/// Numbers and truth values are not compared, because assistants count and toggle in their settings.
pub(super) fn is_obsolete(
    backup: &str,
    rest: Option<&str>,
    entries: &[ClientEntry],
    own: &Invocation,
) -> bool {
    let any_name = Invocation {
        server_name: None,
        ..own.clone()
    };
    if rest
        .is_some_and(|rest| !find_all(rest, entries, &any_name).is_ok_and(|found| found.is_empty()))
    {
        return false;
    }
    let Ok(found) = find_all(backup, entries, &any_name) else {
        return false;
    };
    let Ok(installed) = install_each(rest, found.iter().map(|(entry, own)| (*entry, own))) else {
        return false;
    };
    let mut available = sorted_words(&installed).into_iter();
    let is_compared =
        |word: &&str| word.parse::<f64>().is_err() && !["true", "false", "null"].contains(word);
    sorted_words(backup)
        .into_iter()
        .filter(is_compared)
        .all(|word| available.any(|other| other == word))
}

/// Returns the invocations that produced the entries of this program in a file.
fn find_all(
    file: &str,
    entries: &[ClientEntry],
    own: &Invocation,
) -> Result<Vec<(ClientEntry, Invocation)>, ClientFileError> {
    let mut found = Vec::new();
    for entry in entries {
        found.extend(
            entry
                .find_installed(split_mark(file).1, own)?
                .into_iter()
                .map(|invocation| (*entry, invocation)),
        );
    }
    Ok(found)
}

/// Returns the text between white space and punctuation of JSON, TOML and YAML, in order of the bytes.
fn sorted_words(text: &str) -> Vec<&str> {
    let is_between = |letter: char| letter.is_whitespace() || ",:={}[]".contains(letter);
    let mut words: Vec<&str> = text
        .split(is_between)
        .filter(|word| !word.is_empty())
        .collect();
    words.sort_unstable();
    words
}

/// Returns the content of a file without the entries; `formers` are the readable backups, the newest first.
pub(super) fn uninstall(
    file: &str,
    entries: &[ClientEntry],
    own: &Invocation,
    formers: &[&str],
) -> Result<UninstallResult, ClientFileError> {
    let (mark, text) = split_mark(file);
    let found = find_all(file, entries, own)?;
    if found.is_empty() {
        return Ok(UninstallResult::Same);
    }
    // A former text has no entry of ours, whatever its name.
    let is_clean = |former: &&str| {
        let any_name = Invocation {
            server_name: None,
            ..own.clone()
        };
        find_all(former, entries, &any_name).is_ok_and(|found| found.is_empty())
    };
    let becomes_this = |former: Option<&str>| {
        install_each(former, found.iter().map(|(entry, own)| (*entry, own)))
            .is_ok_and(|installed| installed == file)
    };
    if let Some(index) = formers
        .iter()
        .position(|former| is_clean(former) && becomes_this(Some(former)))
    {
        return Ok(UninstallResult::Former(index));
    }
    let clean: Vec<&str> = formers
        .iter()
        .copied()
        .filter(|former| is_clean(former))
        .map(|former| split_mark(former).1)
        .collect();
    let was_made_for_us = clean.is_empty();
    if was_made_for_us && becomes_this(None) {
        return Ok(UninstallResult::Nothing);
    }
    let former_texts: Vec<&str> = formers.iter().map(|former| split_mark(former).1).collect();
    let mut left = text.to_owned();
    for (entry, own) in &found {
        left = entry.uninstall(&left, own, &former_texts)?;
        left = entry.remove_empty(left, &clean)?;
    }
    let is_json = entries.iter().all(|entry| {
        !matches!(
            entry,
            ClientEntry::Server(ServerFormat::Toml | ServerFormat::Yaml)
        )
    });
    let is_empty = if is_json {
        jsonc::is_empty(&left)
    } else {
        left.trim().is_empty()
    };
    Ok(if was_made_for_us && is_empty {
        UninstallResult::Nothing
    } else {
        UninstallResult::Text([mark, &left].concat())
    })
}

impl ClientEntry {
    fn install(self, text: &str, own: &Invocation) -> Result<String, ClientFileError> {
        match self {
            Self::Server(format) => format.install(text, own),
            Self::Hooks(format) => format.install(text, own),
            Self::Topics => topics_setting::install(text, own),
        }
    }

    fn uninstall(
        self,
        text: &str,
        own: &Invocation,
        formers: &[&str],
    ) -> Result<String, ClientFileError> {
        match self {
            Self::Server(format) => format.uninstall(text, own, formers),
            Self::Hooks(format) => format.uninstall(text, own),
            Self::Topics => topics_setting::uninstall(text, own, formers),
        }
    }

    /// Returns the invocations that produced the entries; none if an entry belongs to another program.
    ///
    /// # Errors
    /// If the file cannot be parsed.
    fn find_installed(
        self,
        text: &str,
        own: &Invocation,
    ) -> Result<Vec<Invocation>, ClientFileError> {
        Ok(match self {
            Self::Server(format) => {
                let invocation = |(name, words): (_, Vec<_>)| Invocation {
                    server_name: Some(name),
                    replaces: true,
                    ..own.of(&words)
                };
                format
                    .find_installed(text, own)?
                    .into_iter()
                    .map(invocation)
                    .collect()
            }
            Self::Hooks(format) => format
                .find_command(text, own)?
                .map(|words| own.of(&words))
                .into_iter()
                .collect(),
            Self::Topics => match topics_setting::is_set(text, own) {
                Ok(true) => vec![Invocation {
                    replaces: true,
                    ..own.clone()
                }],
                Ok(false) => Vec::new(),
                Err(refusal) if refusal.is_foreign_entry() => Vec::new(),
                Err(refusal) => return Err(refusal),
            },
        })
    }

    /// Returns whether the entry exists and needs no update.
    fn is_current(self, text: &str, own: &Invocation) -> bool {
        let is_current = |verb, words: &[String]| words == own.updated(verb, words);
        match self {
            Self::Server(format) => format.is_current(text, own),
            Self::Hooks(format) => {
                matches!(format.find_command(text, own), Ok(Some(words)) if is_current(format.commands()[0].1, &words))
            }
            Self::Topics => topics_setting::is_set(text, own) == Ok(true),
        }
    }

    /// Removes empty lists and objects that no backup contains.
    fn remove_empty(self, mut text: String, formers: &[&str]) -> Result<String, ClientFileError> {
        let paths: Vec<Vec<JsoncStep>> = match self {
            Self::Server(ServerFormat::Json { under, .. }) => vec![vec![JsoncStep::Key(under)]],
            Self::Server(ServerFormat::Yaml)
                if !formers.iter().any(|former| yaml::has_servers(former)) =>
            {
                return yaml::remove_empty(&text);
            }
            Self::Server(ServerFormat::Toml | ServerFormat::Yaml) | Self::Topics => {
                return Ok(text);
            }
            Self::Hooks(format) => {
                let events = format
                    .events
                    .map(|event| vec![JsoncStep::Key(hooks::UNDER), JsoncStep::Key(event)]);
                events
                    .into_iter()
                    .chain([vec![JsoncStep::Key(hooks::UNDER)]])
                    .collect()
            }
        };
        for path in paths {
            let is_empty =
                value_at(&text, &path).is_some_and(|held| held == json!({}) || held == json!([]));
            if is_empty
                && !formers
                    .iter()
                    .any(|former| value_at(former, &path).is_some())
            {
                text = jsonc::remove(&text, &path)?;
            }
        }
        let version = [JsoncStep::Key(hooks::VERSION)];
        let is_flat = matches!(
            self,
            Self::Hooks(HookFormat {
                style: HookStyle::Flat,
                ..
            })
        );
        let is_alone = value_at(&text, &[]) == Some(json!({ hooks::VERSION: 1 }));
        let is_added =
            !formers.is_empty() && value_at(&text, &[JsoncStep::Key(hooks::UNDER)]).is_none();
        if is_flat
            && (is_alone || is_added)
            && formers
                .iter()
                .all(|former| value_at(former, &version).is_none())
        {
            text = jsonc::remove(&text, &version)?;
        }
        Ok(text)
    }
}

fn value_at(text: &str, path: &[JsoncStep]) -> Option<Value> {
    let root = jsonc::parse(text).ok().flatten()?;
    jsonc::find(&root, path).map(jsonc::value)
}

fn split_mark(file: &str) -> (&str, &str) {
    let text = file.strip_prefix(BYTE_ORDER_MARK).unwrap_or(file);
    (&file[..file.len() - text.len()], text)
}

#[cfg(test)]
mod tests;
