//! Settings of the review of changes by agents.

use memory_core::{ParseError, ReviewPolicy, ReviewRule, WritePolicy};
use serde_json::Value;

use super::document::{SettingsDocument, parser_for};
use super::setting::or_default;
use super::{ConfigError, Setting, SettingsLayer};

/// The settings of the review of changes by agents.
#[derive(Debug, Clone)]
pub(crate) struct ReviewSettings {
    /// The policy for changes that no rule covers.
    pub policy: Setting<WritePolicy>,
    /// The rules; the first that covers a change decides.
    pub rules: Setting<Vec<ReviewRule>>,
}

const RULES_KEY: &str = "review.rules";

impl ReviewSettings {
    /// Takes these settings from the document.
    pub(super) fn take(document: &mut SettingsDocument) -> Result<Self, ConfigError> {
        let policy = document.take("review.policy", parser_for("direct or propose"))?;
        let texts = document.take_list(
            RULES_KEY,
            "a rule such as \"codex global propose\" (or none for no rule)",
        )?;
        let rules = texts.map(|texts| {
            texts
                .iter()
                .flat_map(|text| split_rules(text))
                .map(str::parse)
                .collect()
        });
        let rules: Option<Result<Vec<ReviewRule>, ParseError>> = rules;
        let rules = rules
            .transpose()
            .map_err(|error| document.value_error(RULES_KEY, error))?;
        Ok(Self {
            policy: or_default(policy, WritePolicy::Direct),
            rules: or_default(rules, Vec::new()),
        })
    }

    /// Returns the policy for the use cases.
    pub(crate) fn policy(&self) -> ReviewPolicy {
        ReviewPolicy {
            default: self.policy.value,
            rules: self.rules.value.clone(),
        }
    }

    /// Returns every key with its value and layer, in file order.
    pub(super) fn all(&self) -> [(&'static str, (Value, SettingsLayer)); 2] {
        let rules = self.rules.display(|rules| match rules.as_slice() {
            [] => Value::Null,
            [rule] => rule.to_string().into(),
            several => several
                .iter()
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .into(),
        });
        [
            (
                "review.policy",
                self.policy.display(|policy| policy.as_str().into()),
            ),
            (RULES_KEY, rules),
        ]
    }
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
