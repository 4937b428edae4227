//! Tests of the page with all settings: its table follows from the settings and their file of defaults.
//!
//! `MEMORY_README_UPDATE=1` writes the table into the page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use crate::sandbox::Sandbox;

/// The file that `memory config init` writes: each key has its meaning in the comment above it.
const DEFAULT_FILE: &str = include_str!("../../src/config/default.yaml");

const START: &str = "<!-- settings: generated -->\n";
const END: &str = "<!-- settings: end -->";

/// A key of the file: its path, the value after it, and its comment as one line.
struct Key {
    path: String,
    value: String,
    meaning: String,
}

/// Reads the keys of the file in their order.
fn keys() -> Vec<Key> {
    let (mut keys, mut sections, mut comment): (Vec<Key>, Vec<&str>, Vec<&str>) =
        (Vec::new(), Vec::new(), Vec::new());
    for line in DEFAULT_FILE.lines() {
        let depth = (line.len() - line.trim_start().len()) / 2;
        let text = line.trim();
        let uncommented = text.strip_prefix("# ").unwrap_or(text);
        let is_name = |name: &&str| {
            !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-".contains(c))
        };
        match uncommented
            .split_once(':')
            .filter(|(name, value)| is_name(name) && (value.starts_with(' ') || value.is_empty()))
        {
            Some((name, "")) if !text.starts_with('#') => {
                sections.truncate(depth);
                sections.push(name);
                comment.clear();
            }
            Some((name, value)) if !value.is_empty() => {
                let parents = &sections[..depth.min(sections.len())];
                let path = parents
                    .iter()
                    .chain([&name])
                    .copied()
                    .collect::<Vec<_>>()
                    .join(".");
                let value = value.trim().trim_matches('"').to_owned();
                keys.push(Key {
                    path,
                    value,
                    meaning: comment.join(" "),
                });
                comment.clear();
            }
            _ if text.is_empty() => comment.clear(),
            _ => comment.push(uncommented),
        }
    }
    keys
}

/// Returns the value of each key without a file, as JSON.
fn defaults() -> BTreeMap<String, Value> {
    let shown = Sandbox::new().run_json(&["config", "show"]);
    let settings = shown["settings"].as_array().expect("a list of settings");
    settings
        .iter()
        .map(|it| {
            (
                it["key"].as_str().expect("a key").to_owned(),
                it["value"].clone(),
            )
        })
        .collect()
}

fn table() -> String {
    let defaults = defaults();
    let mut table = String::from("\n| key | default | meaning |\n|---|---|---|\n");
    for key in keys() {
        let default = match defaults.get(&key.path) {
            Some(Value::Null) => format!("none; example: `{}`", key.value),
            _ => format!("`{}`", key.value),
        };
        let meaning = key.meaning.replace('|', "\\|");
        writeln!(table, "| `{}` | {default} | {meaning} |", key.path).expect("a string takes all");
    }
    table.push('\n');
    table
}

#[test]
fn every_setting_is_in_the_file_of_defaults_with_its_meaning() {
    let mut in_file: Vec<String> = keys().iter().map(|key| key.path.clone()).collect();
    in_file.sort_unstable();
    assert_eq!(in_file, defaults().into_keys().collect::<Vec<_>>());
    let silent: Vec<String> = keys()
        .into_iter()
        .filter(|key| key.meaning.is_empty())
        .map(|key| key.path)
        .collect();
    assert_eq!(silent, [""; 0], "each key has a comment of its own");
}

#[test]
fn the_page_of_settings_follows_from_them() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/configuration.md");
    let page = std::fs::read_to_string(&path).expect("the page");
    let (before, rest) = page.split_once(START).expect("the start of the table");
    let (found, after) = rest.split_once(END).expect("the end of the table");
    let expected = table();
    if std::env::var_os("MEMORY_README_UPDATE").is_some() {
        std::fs::write(&path, format!("{before}{START}{expected}{END}{after}"))
            .expect("the page is written");
        return;
    }
    assert_eq!(found, expected, "MEMORY_README_UPDATE=1 writes the table");
}
