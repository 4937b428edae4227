//! Selects the files to commit by their names. Any other file may contain a key.

use std::path::Path;

use memory_core::instance::kv::ValueKey;

use super::super::layout::{DELETED, ENTRIES, PLACES, is_entry_file};

/// The files of a folder to commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommittedFiles {
    /// The conversations in the folder.
    Conversations,
    /// The conversations in the folder, which is a home.
    ConversationsOfHome,
    /// All content of a home.
    Home,
}

/// The folders of a home with files to commit.
const HOME_FOLDERS: [&str; 9] = [
    "banks",
    "categories",
    ENTRIES,
    "history",
    "instances",
    "journal",
    "kv",
    "prompts",
    "topics",
];

impl CommittedFiles {
    /// Returns the folders with files to commit; they may contain other files too.
    pub(super) const fn folders(self) -> &'static [&'static str] {
        match self {
            Self::Conversations | Self::ConversationsOfHome => &[ENTRIES],
            Self::Home => &HOME_FOLDERS,
        }
    }

    /// Returns whether the file at a path below the folder is committed.
    pub(super) fn includes(self, path: &str) -> bool {
        match (self, path.split_once('/')) {
            (_, Some((ENTRIES, below))) => is_entry_path(below),
            (Self::Home, Some(("instances", below))) => is_instance_path(below),
            (Self::Home, Some((shape, below))) => is_shape_path(shape, below),
            (_, _) => false,
        }
    }
}

fn is_entry_path(below: &str) -> bool {
    let Some((conversation, rest)) = below.split_once('/') else {
        return false;
    };
    let is_entry = |path: &str| {
        path.rsplit_once('/').is_some_and(|(folder, name)| {
            is_entry_file(name) && PLACES.iter().any(|(place, _)| *place == folder)
        })
    };
    let deleted = rest
        .strip_prefix(DELETED)
        .and_then(|rest| rest.strip_prefix('/'));
    // Another program stores all tombstones in one folder next to the conversations.
    let beside = rest
        .split_once('/')
        .map(|(_, rest)| rest)
        .filter(|_| conversation == DELETED);
    [Some(rest), deleted, beside]
        .into_iter()
        .flatten()
        .any(is_entry)
}

/// The path starts with the type and the name of the instance.
fn is_instance_path(below: &str) -> bool {
    let mut parts = below.splitn(3, '/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("notes"), Some(_), Some(rest)) => CommittedFiles::Home.includes(rest),
        (Some("bank"), Some(_), Some(rest)) => is_shape_path("banks", rest),
        (Some("topic"), Some(_), Some(rest)) => is_shape_path("topics", rest),
        (Some(shape), Some(_), Some(rest)) => is_shape_path(shape, rest),
        _ => false,
    }
}

fn is_shape_path(shape: &str, below: &str) -> bool {
    let has_ending = |ending: &str| {
        Path::new(below)
            .extension()
            .is_some_and(|own| own == ending)
    };
    let is_seen = below.split('/').all(is_visible);
    let is_alone = is_seen && !below.contains('/');
    match shape {
        "categories" | "topics" => is_seen && has_ending("md"),
        "prompts" => is_alone && has_ending("md"),
        // The index of entries of banks is derived.
        "banks" => {
            is_alone
                && below != "_index.json"
                && (has_ending("json") || below.ends_with(".json.gz"))
        }
        "history" | "journal" => is_alone && has_ending("jsonl"),
        // A value may have any name that is a valid key.
        "kv" => below.parse::<ValueKey>().is_ok(),
        _ => false,
    }
}

fn is_visible(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.')
}

/// Paths that may contain a key, in a home that is edited by hand.
#[cfg(test)]
pub(in crate::conversation) const KEYS: [&str; 8] = [
    "config.yaml",
    ".configa1b2c3.yaml",
    ".config.yaml.swp",
    "config.yaml~",
    "#config.yaml#",
    "config.yaml.orig",
    "master.key",
    ".env",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_kept() {
        for path in [
            "categories/inbox/tea-550e8400.md",
            "categories/people/family/anna.md",
            "entries/default/facts/1__a.md",
            "entries/.hidden/facts/1__a.md",
            "entries/default/turns/user/1__a.md",
            "entries/default/turns/assistant/1__a.md",
            "entries/default/summaries/summary.md",
            "entries/default/deleted/facts/1__a.md",
            "entries/deleted/default/summaries/summary.md",
            "topics/user_prefs.md",
            "banks/session.json",
            "banks/large.json.gz",
            "history/深色 mode.jsonl",
            "history/%2Ehidden.jsonl",
            "journal/2026-05.jsonl",
            "prompts/facts.md",
            "kv/a/.b.tmp",
            "instances/kv/scratch/a/b",
            "instances/history/work/s1.jsonl",
            "instances/bank/work/session.json",
            "instances/topic/work/a/b.md",
            "instances/notes/work/categories/inbox/tea.md",
        ] {
            assert!(CommittedFiles::Home.includes(path), "{path}");
            assert_eq!(
                CommittedFiles::Conversations.includes(path),
                path.starts_with("entries/"),
                "{path}"
            );
        }
    }

    #[test]
    fn nothing_else_is() {
        let others = [
            "README.md",
            "src/main.rs",
            "memory.md",
            "pending.md",
            "index/daemon.json",
            "trash/2026-05/0a/tea.md",
            "usage/2026-05.jsonl",
            "recalls/2026-05.jsonl",
            "recalls/since",
            "entries/post.md",
            "entries/2026/05/post.md",
            "entries/default/facts/.new-1__a.md",
            "entries/default/facts/1__a.md~",
            "entries/default/facts/a/b.md",
            "categories/inbox/.tea.md.tmp",
            "categories/inbox/.#tea.md",
            "categories/inbox/#tea.md#",
            "categories/inbox/tea.md~",
            "categories/.obsidian/plugins/key.md",
            "categories/inbox/.env",
            "banks/.trash/2026-05.jsonl",
            "banks/.locks/0a",
            "banks/_index.json",
            "banks/session.json.tmp",
            "history/.trash/2026-05/0a.jsonl",
            "kv/#a#",
            "instances/notes/work/config.yaml",
            "instances/kv/scratch",
            "instances/kv",
            "categories",
        ];
        for path in KEYS.into_iter().chain(others) {
            assert!(
                !CommittedFiles::Home.includes(path)
                    && !CommittedFiles::Conversations.includes(path),
                "{path}"
            );
        }
    }
}
