//! Settings of what agents and web pages may do.

use memory_agent::ProjectWrites;
use memory_agent::hook::HookPoint;
use memory_agent::http::{AllowedOrigins, WebOrigin};
use memory_core::{ParseError, ReviewPolicy, WritePolicy};

use super::document::{SettingsDocument, parse_bool, parser_for};
use super::setting::{show, show_list};
use super::{ConfigError, Setting};

/// The settings of the memories that agents write.
#[derive(Debug, Clone)]
pub(crate) struct AgentSettings {
    /// The scope of memories that an agent in a project writes without a scope.
    pub project_writes: Setting<ProjectWrites>,
    /// Whether agents may store credentials.
    pub allow_secret: Setting<bool>,
}

impl AgentSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        Ok(Self {
            project_writes: document.read(
                "agents.project_writes",
                parse_project_writes,
                ProjectWrites::Global,
                |scope| match scope {
                    ProjectWrites::Global => "global".into(),
                    ProjectWrites::Project => "project".into(),
                },
            )?,
            allow_secret: document.read("agents.allow_secret", parse_bool, false, show)?,
        })
    }
}

fn parse_project_writes(text: &str) -> Result<ProjectWrites, ParseError> {
    match text.trim() {
        "global" => Ok(ProjectWrites::Global),
        "project" => Ok(ProjectWrites::Project),
        _ => Err(ParseError::new(
            text,
            "a scope of writes in a project (global or project)",
        )),
    }
}

/// Takes the settings of the review of changes by agents from the document.
pub(super) fn take_review(document: &mut SettingsDocument) -> Result<ReviewPolicy, ConfigError> {
    let default = document.read(
        "review.policy",
        parser_for("direct or propose"),
        WritePolicy::Direct,
        |policy| policy.as_str().into(),
    )?;
    let rules = document.read_list(
        "review.rules",
        "a rule such as \"codex global propose\" (or none for no rule)",
        |text| split_rules(text).map(str::parse).collect(),
        show_list,
    )?;
    Ok(ReviewPolicy {
        default: default.value,
        rules: rules.value,
    })
}

/// Splits a text into rules at commas; `none` means no rule.
///
/// This allows `memory config set` to set several rules.
fn split_rules(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.trim() == "none" { "" } else { text };
    text.split(',')
        .map(str::trim)
        .filter(|part| !part.is_empty())
}

/// Takes the commands that run as hooks of tool calls from the document, in the order of execution.
pub(super) fn take_hooks(
    document: &mut SettingsDocument,
) -> Result<Vec<(HookPoint, String)>, ConfigError> {
    let mut hooks = Vec::new();
    for point in HookPoint::ALL {
        let commands = document.read_list(
            &format!("hooks.{}", point.as_str()),
            "a shell command or a list of shell commands",
            |text| Ok(vec![text.to_owned()]),
            show_list,
        )?;
        hooks.extend(commands.value.into_iter().map(|command| (point, command)));
    }
    Ok(hooks)
}

const EXPECTED_ORIGIN: &str = "a full origin such as http://localhost:3000 (or none for no origin)";

/// Takes the origins of web pages that may send requests to the HTTP servers from the document.
pub(super) fn take_origins(document: &mut SettingsDocument) -> Result<AllowedOrigins, ConfigError> {
    let origins = document.read_list(
        "http.allowed_origins",
        EXPECTED_ORIGIN,
        |text| split_origins(text).map(parse_origin).collect(),
        show_list,
    )?;
    Ok(AllowedOrigins(origins.value))
}

/// Splits a text into origins at commas and white space; `none` means no origin.
///
/// This allows `memory config set` to set several origins.
fn split_origins(text: &str) -> impl Iterator<Item = &str> {
    let text = if text.trim() == "none" { "" } else { text };
    text.split(|letter: char| letter == ',' || letter.is_whitespace())
        .filter(|part| !part.is_empty())
}

fn parse_origin(text: &str) -> Result<WebOrigin, ParseError> {
    text.parse()
        .map_err(|_| ParseError::new(text, EXPECTED_ORIGIN))
}
