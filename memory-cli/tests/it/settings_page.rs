//! Tests of the page with all settings: its table follows from the settings and their file of defaults.
//!
//! `MEMORY_README_UPDATE=1` writes the table into the page.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use serde_json::Value;

use self::description::described_keys;
use crate::sandbox::Sandbox;

#[path = "../../src/config/description.rs"]
mod description;

const START: &str = "<!-- settings: generated -->\n";
const END: &str = "<!-- settings: end -->";

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
    for key in described_keys() {
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
    let mut in_file: Vec<String> = described_keys()
        .iter()
        .map(|key| key.path.clone())
        .collect();
    in_file.sort_unstable();
    assert_eq!(in_file, defaults().into_keys().collect::<Vec<_>>());
    let silent: Vec<String> = described_keys()
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
