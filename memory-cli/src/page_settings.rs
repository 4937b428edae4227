//! The settings for the web page, in groups by their purpose.

use memory_agent::web::{SettingField, SettingGroup, SettingKind, SettingsOverview};
use memory_core::text::format_error_chain;
use memory_core::{Code, ToolError};
use serde_json::Value;

use crate::commands::config::{change_setting, start_versioning};
use crate::config::{
    ConfigError, HIDDEN, Settings, SettingsLayer, TRUSTED_KEY, described_keys, is_list,
};
use crate::failure::Failure;

/// The groups: the title, the purpose, and the starts of the keys.
const GROUPS: [(&str, &str, &[&str]); 10] = [
    (
        "Inbox and upkeep",
        "How long memories stay, and what happens to old ones.",
        &[
            "storage.short_term_ttl",
            "storage.trash_retention",
            "daemon.",
        ],
    ),
    (
        "What assistants may do",
        "Which changes of assistants wait for you, and who sees what they write.",
        &["review.", "agents.", "storage.default_scope", "hooks."],
    ),
    (
        "Reminders and time",
        "How reminders are shown, and the time zone of dates.",
        &["notification.", "timezone"],
    ),
    (
        "Record of recalls",
        "Which memories assistants received is recorded here.",
        &["recalls."],
    ),
    (
        "Search by meaning",
        "The models that compare texts. They run on this computer unless you name a server.",
        &["embedding.", "reranking."],
    ),
    (
        "Language model",
        "An optional model that classifies, summarises and compares memories, and its limits.",
        &["llm."],
    ),
    (
        "Chat proxy and access over HTTP",
        "A server that adds memory to a language model, and who may use it.",
        &["proxy.", "http."],
    ),
    (
        "Banks",
        "Limits of the values that programs keep here.",
        &["banks."],
    ),
    (
        "Files of other programs",
        "Where the notes of other programs are, and whether they are imported again when they change.",
        &["ingestion."],
    ),
    (
        "Home",
        "The folder of the memories, and how it is kept.",
        &["storage.", "git.", TRUSTED_KEY],
    ),
];

/// The settings with a few possible words.
const CHOICES: [(&str, &[&str]); 5] = [
    (
        "notification.method",
        &["auto", "osascript", "notify-send", "file"],
    ),
    ("reranking.normalise", &["sigmoid", "min-max"]),
    ("proxy.log_level", &["debug", "info", "warning", "error"]),
    ("agents.project_writes", &["global", "project"]),
    ("review.policy", &["direct", "propose"]),
];

/// The settings that are not changed from a browser, and why: the starts of keys, and the reason.
const FIXED: [(&str, &str); 4] = [
    (
        "hooks.",
        "It runs commands on this computer, so it is changed in the file only.",
    ),
    (
        TRUSTED_KEY,
        "It lets other users change what you read, so it is changed in the file only.",
    ),
    (
        "storage.root",
        "This page shows the memories of this folder.",
    ),
    (
        "storage.store",
        "It is set when the memories become shared.",
    ),
];

/// The settings that the background service reads when it starts: the starts of keys.
const OF_SERVICE: [&str; 7] = [
    "daemon.",
    "notification.",
    "proxy.",
    "http.",
    "git.",
    "storage.trash_retention",
    "ingestion.",
];

/// Returns all settings as they are in the file now. `running` are those that this process started with.
pub(crate) fn overview(running: &Settings) -> Result<SettingsOverview, ConfigError> {
    let settings = load(running)?;
    let shown = settings.all();
    let without_file = Settings::with_text("", None, &running.environment)?.all();
    let described = described_keys();
    let text = std::fs::read_to_string(&settings.file).unwrap_or_default();
    let written: serde_yaml::Value = serde_yaml::from_str(&text).unwrap_or_default();
    let mut fields: Vec<SettingField> = shown
        .into_iter()
        .map(|(key, value, from)| {
            let found = described.iter().find(|described| described.path == key);
            let (usual, meaning) = found.map_or(("", ""), |found| {
                (found.value.as_str(), found.meaning.as_str())
            });
            let mut defaults = without_file.iter();
            let has_default = defaults.any(|(own, value, _)| *own == key && !value.is_null());
            let mut field = SettingField {
                is_example: !has_default,
                ..field(&key, &value, from, (usual, meaning))
            };
            let is_plain = field.kind == SettingKind::Text && !field.value.is_empty();
            if is_plain && field.is_in_file {
                // A value such as `2m` keeps its spelling when a change of it is taken back.
                let spelling = key.split('.').try_fold(&written, |own, part| own.get(part));
                if let Some(spelling) = spelling.and_then(serde_yaml::Value::as_str) {
                    spelling.clone_into(&mut field.value);
                }
            }
            field
        })
        .collect();
    let mut groups = Vec::new();
    for (title, purpose, beginnings) in GROUPS {
        let is_own =
            |field: &mut SettingField| beginnings.iter().any(|begin| field.key.starts_with(begin));
        let fields = fields.extract_if(.., is_own).collect();
        groups.push(SettingGroup {
            title,
            purpose,
            fields,
        });
    }
    Ok(SettingsOverview {
        file: settings.file.display().to_string(),
        unknown: settings.unknown,
        groups,
    })
}

/// Phrases of the meanings that name a command or a flag, and the words for the same on the page.
const PAGE_PHRASES: [(&str, &str); 2] = [
    (
        "`memory inbox` lists these proposals",
        "Inbox lists these proposals",
    ),
    (
        " You always can, with --allow-secret or -p allow_secret=true.",
        "",
    ),
];

/// Loads the settings of the file that this process uses.
fn load(running: &Settings) -> Result<Settings, ConfigError> {
    let root = (running.root.from == SettingsLayer::Flag).then_some(running.root.value.as_path());
    Settings::load(root, &running.environment)
}

fn field(
    key: &str,
    value: &Value,
    from: SettingsLayer,
    (usual, meaning): (&str, &str),
) -> SettingField {
    let choice = CHOICES.iter().find(|(own, _)| *own == key);
    // A value with a credential is not whole, and saving it would lose the credential.
    let is_redacted = matches!(value, Value::String(text) if text.contains("[redacted: "));
    let kind = match (value, choice) {
        _ if is_list(key) => SettingKind::List,
        _ if is_redacted => SettingKind::Secret(true),
        _ if key.ends_with("api_key") => SettingKind::Secret(!value.is_null()),
        (_, Some((_, words))) => SettingKind::Choice(words),
        (Value::Bool(_), _) => SettingKind::Switch,
        (Value::Number(_), _) => SettingKind::Number,
        _ => SettingKind::Text,
    };
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) if is_redacted || text == HIDDEN => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let items = items.iter().filter_map(Value::as_str);
            let divider = if is_list(key) { "\n" } else { "; " };
            items.collect::<Vec<_>>().join(divider)
        }
        other => other.to_string(),
    };
    let fixed = match from {
        SettingsLayer::Environment => {
            Some("A variable of the environment sets it, which has precedence over the file.")
        }
        SettingsLayer::Flag => Some("The program was started with this value."),
        _ => FIXED
            .iter()
            .find(|(begin, _)| key.starts_with(begin))
            .map(|(_, why)| *why),
    };
    SettingField {
        key: key.to_owned(),
        meaning: PAGE_PHRASES
            .iter()
            .fold(meaning.to_owned(), |meaning, (phrase, words)| {
                meaning.replace(phrase, words)
            }),
        value: text,
        usual: usual.to_owned(),
        is_example: value.is_null(),
        kind,
        is_in_file: from == SettingsLayer::File,
        fixed: fixed.map(str::to_owned),
        needs_restart: OF_SERVICE.iter().any(|begin| key.starts_with(begin)),
    }
}

/// Changes a setting in the file, as `memory config set` does. An empty value restores the default.
pub(crate) fn change(running: &Settings, key: &str, value: &str) -> Result<(), ToolError> {
    let refuse = |why: String| ToolError::new(Code::InvalidInput, why, None);
    let never = FIXED.iter().find(|(begin, _)| key.starts_with(begin));
    if let Some((_, why)) = never {
        return Err(refuse((*why).to_owned()));
    }
    let root = (running.root.from == SettingsLayer::Flag).then_some(running.root.value.as_path());
    let changed = change_setting(
        (key, value),
        "the settings file",
        root,
        &running.environment,
    );
    let (_, read) = changed.map_err(|failure| match failure {
        Failure::Config(ConfigError::NewValue { source, .. }) => refuse(source.to_string()),
        Failure::Usage { why, hint } => ToolError::new(Code::InvalidInput, why, hint),
        failure => ToolError::new(failure.core_code(), format_error_chain(&failure), None),
    })?;
    start_versioning(key, &read).map_err(refuse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    fn settings(text: &str) -> Settings {
        let environment = Environment::default().with_home(std::path::Path::new("/home/ada"));
        Settings::with_text(text, None, &environment).expect("settings")
    }

    #[test]
    fn every_setting_is_in_one_group_and_has_a_meaning() {
        let all = settings("").all();
        for (key, value, from) in &all {
            let groups = GROUPS
                .iter()
                .filter(|(_, _, begins)| begins.iter().any(|begin| key.starts_with(begin)));
            // A key of the storage is in the first group that names it.
            assert!(0 < groups.count(), "{key}");
            let described = described_keys();
            let found = described.iter().find(|described| described.path == *key);
            let found = found.unwrap_or_else(|| panic!("{key}"));
            let field = field(key, value, *from, (&found.value, &found.meaning));
            if let SettingKind::Choice(words) = field.kind {
                assert!(
                    words.contains(&field.value.as_str()),
                    "{key}: {}",
                    field.value
                );
                assert!(words.iter().all(|word| {
                    let (section, name) = key.split_once('.').expect("a section");
                    let text = format!("{section}:\n  {name}: {word}\n");
                    settings(&text)
                        .all()
                        .iter()
                        .any(|(own, value, _)| own == key && value == word)
                }));
            }
        }
    }

    #[test]
    fn each_phrase_with_words_of_the_page_is_in_a_meaning() {
        for (phrase, _) in PAGE_PHRASES {
            let described = described_keys();
            assert!(
                described.iter().any(|key| key.meaning.contains(phrase)),
                "{phrase}"
            );
        }
    }

    #[test]
    fn an_api_key_is_no_part_of_a_field() {
        let all = settings("proxy:\n  openai_api_key: sk-0123456789\n").all();
        let (key, value, from) = all
            .into_iter()
            .find(|(key, ..)| key == "proxy.openai_api_key")
            .expect("the key");
        let field = field(&key, &value, from, ("", ""));
        assert_eq!(
            (field.kind, field.value.as_str()),
            (SettingKind::Secret(true), "")
        );
    }
}
