//! Tests of the settings.

use super::*;
use crate::config::DEFAULT_FILE;

fn load(text: &str) -> Result<Settings, ConfigError> {
    let home = tempfile::tempdir().expect("a folder");
    let file = home.path().join("config.yaml");
    std::fs::write(&file, text).expect("a file");
    let environment = Environment {
        home: Some("/home/me".into()),
        config: Some(file),
        ..Environment::default()
    };
    Settings::load(None, &environment)
}

fn values(settings: &Settings) -> Vec<(String, Value)> {
    settings
        .all()
        .into_iter()
        .map(|(key, value, _)| (key, value))
        .collect()
}

#[test]
fn the_default_file_changes_nothing() {
    let settings = load(DEFAULT_FILE).expect("settings");
    assert!(settings.unknown.is_empty(), "{:?}", settings.unknown);
    assert!(
        settings
            .all()
            .iter()
            .all(|(.., from)| *from == SettingsLayer::Default)
    );
}

#[test]
fn the_default_file_tells_every_key_and_its_default() {
    let uncommented = DEFAULT_FILE.lines().map(|line| {
        let bare = line.trim_start();
        let indent = &line[..line.len() - bare.len()];
        let is_key = |key: &str| {
            key.bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_lowercase())
        };
        let said = bare
            .strip_prefix("# ")
            .filter(|said| said.split_once(": ").is_some_and(|(key, _)| is_key(key)));
        format!("{indent}{}", said.unwrap_or(bare))
    });
    let uncommented = uncommented.collect::<Vec<_>>().join("\n");
    let settings = load(&uncommented).expect("settings");
    assert!(settings.unknown.is_empty(), "{:?}", settings.unknown);
    assert!(
        settings
            .all()
            .iter()
            .all(|(.., from)| *from == SettingsLayer::File)
    );
    let (mut told, defaults) = (values(&settings), load("").expect("settings"));
    // Keys without a default have an example instead.
    let none = [
        "storage.store",
        "storage.default_scope",
        "timezone",
        "trusted_folders",
        "reranking.model",
        "llm.base_url",
        "llm.model",
        "llm.api_key",
        "llm.api_key_env",
        "http.allowed_origins",
        "review.rules",
    ];
    let has_none = |key: &str| {
        let nameless = [
            "openai_base_url",
            "openai_api_key_env",
            "openai_api_key",
            "embedding_model",
            "embedding_base_url",
            "memory_path",
        ];
        let is_nameless = key
            .strip_prefix("proxy.")
            .is_some_and(|key| nameless.contains(&key));
        none.contains(&key)
            || is_nameless
            || (key.starts_with("embedding.") && key != "embedding.model")
            || key.starts_with("hooks.")
    };
    told.iter_mut()
        .filter(|(key, _)| has_none(key))
        .for_each(|(_, value)| *value = Value::Null);
    assert_eq!(told, values(&defaults));
}

#[test]
fn unknown_keys_are_named_and_wrong_values_refused() {
    let settings = load("storage:\n  rot: /x\nllm:\n  modell: y\n").expect("settings");
    assert_eq!(settings.unknown, ["storage.rot", "llm.modell"]);
    let wrong = |text: &str| load(text).expect_err("no settings").to_string();
    assert!(
        wrong("daemon:\n  interval: soon\n")
            .ends_with("config.yaml: invalid value of daemon.interval")
    );
    assert!(wrong("storage: here\n").ends_with("storage must contain keys with values"));
    assert!(wrong("- 1\n").ends_with("the file must contain keys with values"));
    assert!(wrong("a: [\n").ends_with("is not valid YAML"));
}

#[test]
fn a_key_is_never_shown_wherever_it_comes_from() {
    let shown = |settings: &Settings| format!("{settings:?} {:?}", settings.all());
    let settings = load("llm:\n  api_key: sk-from-the-file\n").expect("settings");
    assert!(
        !shown(&settings).contains("sk-from"),
        "{}",
        shown(&settings)
    );
    assert!(values(&settings).contains(&("llm.api_key".into(), "(hidden)".into())));
    let settings = load("llm:\n  base_url: https://me:sk-from-there@host/v1\n").expect("settings");
    assert!(
        !format!("{:?}", settings.all()).contains("sk-from"),
        "{:?}",
        settings.all()
    );
    let error = load("llm:\n  api_key: sk from the file\n").expect_err("it is no key");
    let said = format!(
        "{error} {error:?} {:?}",
        std::error::Error::source(&error).map(ToString::to_string)
    );
    assert!(!said.contains("sk from"), "{said}");
    let environment = Environment {
        home: Some("/home/me".into()),
        llm_api_key: Some("sk-from-the-environment".parse()),
        llm_model: Some("some-model".into()),
        ..Environment::default()
    };
    let settings = Settings::load(None, &environment).expect("settings");
    assert!(
        !shown(&settings).contains("sk-from") && !format!("{environment:?}").contains("sk-from")
    );
    assert_eq!(settings.llm.api_key.from, SettingsLayer::Environment);
    assert_eq!(
        settings.llm.model,
        Setting {
            value: Some("some-model".into()),
            from: SettingsLayer::Environment
        }
    );
    let wrong = Environment {
        llm_api_key: Some("sk from".parse()),
        ..environment
    };
    let error = Settings::load(None, &wrong)
        .expect_err("it is no key")
        .to_string();
    assert_eq!(
        error,
        "environment variable MEMORY_LLM_API_KEY contains no valid API key: a key is one word of ASCII characters"
    );
}

#[test]
fn a_point_has_one_hook_or_several_in_order() {
    let settings = load("hooks:\n  before_tool_call: one\n  after_tool_call: [two, three]\n")
        .expect("settings");
    let commands: Vec<_> = settings
        .hooks
        .iter()
        .map(|(point, command)| (point.as_str(), command.as_str()))
        .collect();
    assert_eq!(
        commands,
        [
            ("before_tool_call", "one"),
            ("after_tool_call", "two"),
            ("after_tool_call", "three")
        ]
    );
    let wrong = |text: &str| load(text).expect_err("no settings").to_string();
    assert!(
        wrong("hooks:\n  on_event: {run: this}\n")
            .ends_with("config.yaml: invalid value of hooks.on_event")
    );
    assert!(
        wrong("hooks:\n  on_event: [\"\"]\n")
            .ends_with("config.yaml: invalid value of hooks.on_event")
    );
    assert_eq!(
        load("hooks:\n  on_call: this\n").expect("settings").unknown,
        ["hooks.on_call"]
    );
}

#[test]
fn a_day_may_be_without_a_limit() {
    let settings = load("llm:\n  calls_a_day: none\n  tokens_a_day: 0\n").expect("settings");
    assert_eq!(
        (
            settings.llm.budget().calls_a_day,
            settings.llm.budget().tokens_a_day
        ),
        (None, Some(0))
    );
    assert!(load("llm:\n  calls_a_day: many\n").is_err());
    let local = |more: &str| {
        let text = format!("llm:\n  base_url: http://localhost:11434/v1\n{more}");
        load(&text).expect("settings").llm.budget().calls_a_day
    };
    assert_eq!((local(""), local("  calls_a_day: 3\n")), (None, Some(3)));
}
