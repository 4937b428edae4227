//! The kinds of data that the program stores, with commands to write and read each.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Output;

use regex::Regex;

use crate::sandbox::Sandbox;

/// A kind of data with its commands.
pub(super) struct DataShape {
    pub name: &'static str,
    /// Returns the command that writes an item with this name.
    write: fn(&str) -> Vec<String>,
    /// Returns everything that is stored.
    read: fn(&Sandbox) -> String,
}

pub(super) const SHAPES: [DataShape; 6] = [
    DataShape {
        name: "note",
        write: |name| words(&["write", &format!("what {name} says is a note")]),
        read: |home| query_item(home, &["export"]),
    },
    DataShape {
        name: "bank",
        write: |name| words(&["bank", "write", "shared", name, r#"{"kept": true}"#]),
        read: |home| query_item(home, &["bank", "read", "shared"]),
    },
    DataShape {
        name: "history",
        write: |name| {
            words(&[
                "instance",
                "run",
                "history",
                "append",
                "-p",
                "session=shared",
                "-p",
                "role=user",
                "-p",
                &format!("content={name}"),
            ])
        },
        read: |home| {
            query_item(
                home,
                &["instance", "run", "history", "read", "-p", "session=shared"],
            )
        },
    },
    DataShape {
        name: "kv",
        write: |name| {
            words(&[
                "instance",
                "run",
                "kv",
                "set",
                "-p",
                &format!("key=shared/{name}"),
                "-p",
                &format!("value={name}"),
            ])
        },
        read: |home| query_item(home, &["instance", "run", "kv", "list"]),
    },
    DataShape {
        name: "topic",
        write: |name| {
            words(&[
                "topic",
                "write",
                name,
                "what is told under it",
                "--dir",
                "topics",
                "--description",
                "one of many",
                "--type",
                "user",
            ])
        },
        read: |home| query_item(home, &["topic", "list", "--dir", "topics"]),
    },
    DataShape {
        name: "conversation",
        write: |name| words(&["conversations", "add", &format!("the user knows {name}")]),
        read: |home| texts_below(&home.path(".memory/entries/default")),
    },
];

impl DataShape {
    /// Returns the command that writes an item named `name`.
    pub(super) fn command(&self, home: &Sandbox, name: &str) -> std::process::Command {
        let words = (self.write)(name);
        home.command(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Writes an item named `name`.
    pub(super) fn write(&self, home: &Sandbox, name: &str) -> Output {
        Sandbox::finish(self.command(home, name), "")
    }

    /// Returns the names of all stored items.
    pub(super) fn names(&self, home: &Sandbox) -> BTreeSet<String> {
        let name = Regex::new(r"w\d+n\d+").expect("it is one");
        name.find_iter(&(self.read)(home))
            .map(|found| found.as_str().to_owned())
            .collect()
    }
}

/// Returns the name of an item: the `number`th of a writer.
pub(super) fn name(writer: usize, number: usize) -> String {
    format!("w{writer}n{number}")
}

/// Runs a query, which must succeed or return a "not found" error.
pub(super) fn query_item(home: &Sandbox, arguments: &[&str]) -> String {
    let output = Sandbox::finish(home.command(arguments), "");
    let said = combined_output(&output);
    let is_missing = said.to_lowercase().contains("_not_found");
    assert!(
        output.status.success() || is_missing,
        "{arguments:?} ended with {}: {said}",
        output.status
    );
    String::from_utf8(output.stdout).expect("text")
}

/// Returns the standard output and the standard error of a command.
pub(super) fn combined_output(output: &Output) -> String {
    (String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr)).into_owned()
}

/// Asserts that `memory doctor` finds no problem in a home.
pub(super) fn assert_healthy(home: &Sandbox) {
    let output = Sandbox::finish(home.command(&["doctor"]), "");
    assert!(output.status.success(), "{}", combined_output(&output));
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn texts_below(folder: &Path) -> String {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return String::new();
    };
    let mut texts = String::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        let is_hidden = path
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with('.'));
        match () {
            () if path.is_dir() => texts.push_str(&texts_below(&path)),
            () if is_hidden => {}
            () => texts.push_str(&std::fs::read_to_string(&path).expect("a text")),
        }
    }
    texts
}
