//! Other names of commands: previous names, synonyms, and words that are only suggestions.

use std::ffi::{OsStr, OsString};

use clap::{Command, CommandFactory};
use similar::get_close_matches;

use crate::commands::Cli;

/// Previous names of commands, and the words that replace them.
const RENAMED: [(&str, &[&str]); 19] = [
    ("backlinks", &["link", "list"]),
    ("consolidate", &["tidy", "consolidate"]),
    ("decay", &["tidy", "decay"]),
    ("diff", &["log", "--memory"]),
    ("done", &["remind", "done"]),
    ("dream", &["tidy"]),
    ("ingest", &["import", "--programs"]),
    ("init", &["shared", "init"]),
    ("migrate", &["shared", "migrate"]),
    ("principal", &["shared", "principal"]),
    ("recalls", &["why"]),
    ("reminders", &["remind", "list"]),
    ("resolve-links", &["link", "resolve"]),
    ("serve", &["daemon", "run"]),
    ("service", &["daemon"]),
    ("snooze", &["remind", "snooze"]),
    ("unlink", &["link", "remove"]),
    ("unpin", &["pin", "--remove"]),
    ("upgrade", &["tidy", "upgrade"]),
];

/// Synonyms of commands.
const SYNONYMS: [(&str, &[&str]); 6] = [
    ("add", &["write"]),
    ("find", &["search"]),
    ("forget", &["delete"]),
    ("ls", &["list"]),
    ("remember", &["write"]),
    ("show", &["read"]),
];

/// The options of `memory conversations add`. With one of them, `memory add` adds facts to a conversation.
const FACT_OPTIONS: [&str; 7] = [
    "--conversation-id",
    "--file",
    "--git-versioning",
    "--memory-path",
    "--no-git-versioning",
    "-c",
    "-f",
];

/// Words that are no commands, and the commands that a person may mean by them.
const MEANT: [(&str, &[&str]); 31] = [
    ("ask", &["search"]),
    ("backup", &["export"]),
    ("cat", &["read"]),
    ("check", &["doctor"]),
    ("clean", &["tidy"]),
    ("connect", &["install"]),
    ("create", &["write"]),
    ("fact", &["conversations"]),
    ("get", &["read"]),
    ("grep", &["search"]),
    ("history", &["log"]),
    ("memories", &["list"]),
    ("new", &["write"]),
    ("note", &["write"]),
    ("notes", &["list"]),
    ("open", &["ui"]),
    ("page", &["ui"]),
    ("query", &["search"]),
    ("remove", &["delete"]),
    ("revert", &["undo"]),
    ("review", &["inbox"]),
    ("rm", &["delete"]),
    ("save", &["write"]),
    ("setting", &["config"]),
    ("setup", &["install"]),
    ("store", &["write"]),
    ("sync", &["shared"]),
    ("task", &["remind"]),
    ("todo", &["remind"]),
    ("update", &["edit"]),
    ("web", &["ui"]),
];

/// Another name of a command, as it was typed, and the words that replace it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandAlias {
    /// The typed name.
    pub(super) name: &'static str,
    /// The words that replace it.
    pub(super) words: &'static [&'static str],
    /// Whether the command had this name before.
    pub(super) is_former: bool,
}

impl CommandAlias {
    /// Returns the alias with this name; `rest` are the arguments that follow it.
    pub(super) fn find(name: &OsStr, rest: &[OsString]) -> Option<Self> {
        let find = |aliases: &'static [(&str, &[&str])]| {
            aliases
                .iter()
                .find(|(own, _)| name == *own)
                .map(|(own, words)| (*own, *words))
        };
        if let Some((name, words)) = find(&RENAMED) {
            let is_former = true;
            return Some(Self {
                name,
                words,
                is_former,
            });
        }
        let (name, words) = find(&SYNONYMS)?;
        let has_fact_option = rest
            .iter()
            .take_while(|argument| *argument != "--")
            .any(|argument| is_fact_option(argument));
        let is_former = name == "add" && has_fact_option;
        Some(Self {
            name,
            words: if is_former {
                &["conversations", "add"]
            } else {
                words
            },
            is_former,
        })
    }
}

/// Returns whether an argument is an option that only `memory conversations add` has, possibly with its value.
fn is_fact_option(argument: &OsStr) -> bool {
    let argument = argument.to_string_lossy();
    let name = argument.split('=').next().unwrap_or_default();
    let short = FACT_OPTIONS
        .iter()
        .any(|option| option.len() == 2 && argument.starts_with(option));
    FACT_OPTIONS.contains(&name) || short && !argument.contains(char::is_whitespace)
}

/// Minimum similarity of a typed word to a suggested one, from 0 to 1.
const MIN_SIMILARITY: f32 = 0.7;

/// Returns the commands that a person may mean by `word`, which is none.
pub(super) fn suggest(word: &str) -> Vec<String> {
    let command = Cli::command();
    let visible: Vec<&str> = command
        .get_subcommands()
        .filter(|own| !own.is_hide_set())
        .map(Command::get_name)
        .collect();
    let others = || RENAMED.iter().chain(&SYNONYMS).chain(&MEANT);
    let meaning = |word: &str| {
        let other = others().find(|(own, _)| *own == word);
        other
            .map(|(_, words)| words.join(" "))
            .or_else(|| visible.contains(&word).then(|| word.to_owned()))
    };
    let word = word.to_lowercase();
    let singular = word.strip_suffix('s').unwrap_or(&word);
    let mut parts = word.split(['-', '_']);
    if let Some(meant) = [word.as_str(), singular]
        .into_iter()
        .chain(parts.by_ref())
        .find_map(meaning)
    {
        return vec![meant];
    }
    let names: Vec<&str> = visible
        .iter()
        .copied()
        .chain(others().map(|(own, _)| *own))
        .collect();
    let mut meant: Vec<String> = get_close_matches(&*word, &names, 3, MIN_SIMILARITY)
        .into_iter()
        .filter_map(meaning)
        .collect();
    let mut seen = std::collections::HashSet::new();
    meant.retain(|own| seen.insert(own.clone()));
    meant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_alias_leads_to_a_command_and_hides_none() {
        let command = Cli::command();
        for (name, words) in RENAMED.iter().chain(&SYNONYMS).chain(&MEANT) {
            assert!(command.find_subcommand(words[0]).is_some(), "{name}");
            assert!(command.find_subcommand(name).is_none(), "{name}");
        }
    }

    #[test]
    fn natural_words_and_typing_errors_lead_to_a_command() {
        let meant = |word: &str| suggest(word).join(", ");
        for (word, expected) in [
            ("topics", "topic"),
            ("notes", "list"),
            ("reminder", "remind list"),
            ("delete-all", "delete"),
            ("settings", "config"),
            ("serach", "search"),
            ("instal", "install"),
            ("backlnks", "link list"),
            ("Wirte", "write"),
            ("xyzzy", ""),
        ] {
            assert!(
                meant(word).split(", ").next() == Some(expected),
                "{word}: {}",
                meant(word)
            );
        }
    }

    #[test]
    fn add_writes_a_memory_unless_an_option_of_facts_follows() {
        let words = |rest: &[&str]| {
            let rest: Vec<OsString> = rest.iter().map(OsString::from).collect();
            CommandAlias::find(OsStr::new("add"), &rest).map(|alias| alias.words.join(" "))
        };
        for rest in [
            &["likes tea"][..],
            &["- crates of tea", "--tags", "a"],
            &["-c is a flag"],
            &["--", "-f"],
        ] {
            assert_eq!(words(rest).as_deref(), Some("write"), "{rest:?}");
        }
        for rest in [
            &["-c", "work", "likes tea"][..],
            &["-cwork", "likes tea"],
            &["--file=facts.json"],
            &["likes tea", "--no-git-versioning"],
        ] {
            assert_eq!(
                words(rest).as_deref(),
                Some("conversations add"),
                "{rest:?}"
            );
        }
    }
}
