//! A type of instances, and the execution of its actions.

use std::fmt::Write;
use std::sync::Arc;

use memory_core::instance::InstanceError;
use memory_core::json::JsonText;
use memory_core::text::to_one_line;
use memory_core::{Code, SecretPolicy, ToolError};

use super::action::ActionHandler;
use super::parameters::is_word_list;
use super::{Action, ActionCaller, ActionResult, Field, FieldKind, InstanceHandle};
use crate::exact_json;
use crate::parameters::allowed_types;
use crate::tools::fit_types;
use crate::validation;

/// The setting that permits agents to store credentials.
const AGENT_SECRETS: &str = "agents.allow_secret";

/// A type of instances with its fields and actions.
#[derive(Debug)]
pub struct Backend {
    /// The name.
    pub name: &'static str,
    /// The description.
    pub description: &'static str,
    /// The fields of the definition of an instance, in the order in which they are prompted for.
    pub fields: Vec<Field>,
    /// The actions.
    pub actions: Vec<Action>,
}

impl Backend {
    /// Returns the action with this name.
    ///
    /// # Errors
    /// [`InstanceError::ActionNotFound`].
    pub fn action(&self, name: &str) -> Result<&Action, InstanceError> {
        self.actions
            .iter()
            .find(|action| action.name == name)
            .ok_or_else(|| InstanceError::ActionNotFound {
                backend: self.name.to_owned(),
                action: to_one_line(name, 80),
            })
    }

    /// Returns whether each instance has a storage driver of its own.
    pub fn has_drivers(&self) -> bool {
        self.fields.iter().any(|field| field.name == "driver")
    }

    /// Runs `action` on an opened instance.
    ///
    /// # Errors
    /// [`Code::InvalidInput`] if the parameters do not fit the schema of the action; otherwise those of the action.
    ///
    /// # Panics
    /// If `holding` or `action` belongs to another type.
    pub fn run(
        &self,
        action: &Action,
        holding: &InstanceHandle,
        asker: &ActionCaller,
        parameters: &JsonText,
    ) -> Result<ActionResult, ToolError> {
        let mut value = exact_json::to_value(parameters);
        let own = match &action.run {
            ActionHandler::Own(own) => own,
            ActionHandler::Tool(tool) => {
                let done = Arc::clone(holding.tools()).call_tool(asker, tool, value);
                return done
                    .map(|answer| ActionResult::of(exact_json::to_text(&answer)))
                    .map_err(|mut error| {
                        error.hint = error.hint.map(|hint| self.with_actions(&hint));
                        error
                    });
            }
        };
        let fitted =
            fit_types(&action.parameters, &mut value).then(|| exact_json::to_json_text(&value));
        let parameters = fitted.as_ref().unwrap_or(parameters);
        if let Some(faults) = validation::faults(&action.parameters, &value) {
            let hint = format!(
                "`memory instance run {}/NAME {} --help` shows the fields",
                self.name, action.name
            );
            return Err(ToolError::new(Code::InvalidInput, faults, Some(hint)));
        }
        if !matches!(
            asker,
            ActionCaller::Agent {
                secrets: SecretPolicy::Refuse,
                ..
            }
        ) {
            return own(holding, parameters);
        }
        let hint = || {
            Some(format!(
                "remove the credential, or ask a person to store it by memory instance run with -p allow_secret=true, \
                 or to permit it with {AGENT_SECRETS}: true"
            ))
        };
        if value["allow_secret"] == true {
            let message = format!("agents may not use allow_secret ({AGENT_SECRETS} is false)");
            return Err(ToolError::new(Code::Forbidden, message, hint()));
        }
        own(holding, parameters).map_err(|mut error| {
            if error.code == Code::SecretFound {
                error.hint = hint();
            }
            error
        })
    }

    /// Replaces tool names in a hint by the actions that call them.
    fn with_actions(&self, hint: &str) -> String {
        let word = |word: &str| {
            let action = self
                .actions
                .iter()
                .find(|action| matches!(action.run, ActionHandler::Tool(tool) if tool == word));
            action.map_or_else(
                || word.to_owned(),
                |action| format!("the action {}", action.name),
            )
        };
        let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let (mut text, mut rest) = (String::with_capacity(hint.len()), hint);
        while let Some(at) = rest.find(is_of_name) {
            let end = rest[at..]
                .find(|letter| !is_of_name(letter))
                .map_or(rest.len(), |length| at + length);
            text.extend([&rest[..at], &word(&rest[at..end])]);
            rest = &rest[end..];
        }
        text.push_str(rest);
        text
    }

    /// Validates the definition of an instance, and returns it with defaults, in the order of the fields.
    ///
    /// A field that depends on the value of another field is left out if it is empty and does not apply.
    ///
    /// # Errors
    /// [`InstanceError::Invalid`], which names the field but never the value of a secret.
    pub fn check_fields<'a>(
        &self,
        given: &[(&str, &'a str)],
    ) -> Result<Vec<(Field, &'a str)>, InstanceError> {
        let hint = || format!("`memory instance backends {}` shows the fields", self.name);
        let invalid = |why: String| InstanceError::invalid(why, hint());
        if let Some((name, _)) = given
            .iter()
            .find(|(name, _)| !self.fields.iter().any(|field| field.name == *name))
        {
            return Err(invalid(format!(
                "{} has no field {}",
                self.name,
                to_one_line(name, 80)
            )));
        }
        let mut checked: Vec<(Field, &str)> = Vec::new();
        // Independent fields are resolved first, since the others depend on them.
        let (first, then): (Vec<&Field>, Vec<&Field>) = self
            .fields
            .iter()
            .partition(|field| field.shown_when.is_none());
        for field in first.into_iter().chain(then) {
            let value = given
                .iter()
                .find(|(name, _)| *name == field.name)
                .map(|(_, value)| *value);
            let value = value.filter(|value| !value.is_empty());
            let is_meant = field.shown_when.is_none_or(|(other, wanted)| {
                checked
                    .iter()
                    .any(|(known, value)| known.name == other && *value == wanted)
            });
            let value = match (value, field.shown_when.filter(|_| !is_meant)) {
                (Some(_), Some((other, wanted))) => {
                    return Err(invalid(format!(
                        "the field {} is only valid with {other}={wanted}",
                        field.name
                    )));
                }
                (None, Some(_)) => continue,
                (value, None) => value.or(field.default),
            };
            match (value, field.kind) {
                (None, _) if field.required => {
                    return Err(invalid(format!("the field {} is missing", field.name)));
                }
                (None, _) => {}
                (Some(value), _) if value.contains('\0') => {
                    return Err(invalid(format!(
                        "the field {} contains a NUL character",
                        field.name
                    )));
                }
                (Some(value), FieldKind::Choice(words)) if !words.contains(&value) => {
                    let why = format!(
                        "the field {} must be one of {}",
                        field.name,
                        words.join(", ")
                    );
                    return Err(invalid(why));
                }
                (Some(value), _) => checked.push((*field, value)),
            }
        }
        checked.sort_by_key(|(field, _)| self.fields.iter().position(|own| own.name == field.name));
        Ok(checked)
    }
}

/// Renders the description of an action and its fields.
pub fn render_help(backend: &Backend, action: &Action) -> String {
    let mut text = format!(
        "{}\n\nUsage: memory instance run {}/NAME {}",
        action.description, backend.name, action.name
    );
    let required: Vec<&str> = action.parameters["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str())
        .collect();
    // Writing to a `String` cannot fail.
    for name in &required {
        let _ = write!(text, " -p {name}=…");
    }
    let properties: Vec<_> = action.parameters["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .collect();
    if properties.is_empty() {
        text.push('\n');
        return text;
    }
    text.push_str(if required.len() < properties.len() {
        " [-p FIELD=VALUE …]\n\nFields:\n"
    } else {
        "\n\nFields:\n"
    });
    let width = properties
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0);
    for (name, property) in properties {
        let kinds = allowed_types(property);
        let kind = match kinds.first().copied() {
            Some("array") if is_word_list(property) => "list",
            Some("string") | None => "text",
            Some("boolean") => "true or false",
            Some("integer" | "number") => "number",
            Some(_) => "JSON",
        };
        let need = if required.contains(&name.as_str()) {
            "required"
        } else {
            ""
        };
        let description = property["description"].as_str().unwrap_or_default();
        let _ = writeln!(text, "  {name:width$}  {kind:13}  {need:8}  {description}");
    }
    text
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use memory_core::testing::{FakeMessages, FakeValues, messages, values};
    use memory_core::{Code, SecretPolicy, View};
    use serde_json::json;

    use super::super::{ActionCaller, InstanceHandle, backend, backends};
    use crate::exact_json;

    fn checked(given: &[(&str, &str)]) -> Result<Vec<(&'static str, String)>, String> {
        let checked = backend("history")
            .unwrap()
            .check_fields(given)
            .map_err(|error| error.to_string())?;
        Ok(checked
            .into_iter()
            .map(|(field, value)| (field.name, value.to_owned()))
            .collect())
    }

    #[test]
    fn fields_have_defaults_and_depend_on_each_other() {
        assert_eq!(checked(&[]).unwrap(), [("driver", "file".into())]);
        assert_eq!(
            checked(&[("dir", "~/x"), ("dsn", "")]).unwrap(),
            [("driver", "file".into()), ("dir", "~/x".into())]
        );
        assert_eq!(
            checked(&[("dsn", "postgres://h"), ("driver", "postgres")])
                .unwrap()
                .len(),
            2
        );
        for (given, why) in [
            (vec![("driver", "postgres")], "the field dsn is missing"),
            (
                vec![("dsn", "postgres://secret")],
                "the field dsn is only valid with driver=postgres",
            ),
            (
                vec![("driver", "redis")],
                "the field driver must be one of file, postgres",
            ),
            (vec![("dri", "file")], "history has no field dri"),
            (
                vec![("dir", "a\0b")],
                "the field dir contains a NUL character",
            ),
        ] {
            assert_eq!(checked(&given).unwrap_err(), why);
        }
    }

    #[test]
    fn the_content_of_a_record_may_be_null_beside_tool_calls() {
        let history = backends()
            .iter()
            .find(|backend| backend.name == "history")
            .unwrap();
        let handle = InstanceHandle::History(messages(Arc::new(FakeMessages::default())).0);
        let run = |tool_calls: serde_json::Value| {
            let given = json!({ "session": "s", "role": "assistant", "content": null, "tool_calls": tool_calls });
            let action = history.action("append").unwrap();
            history.run(
                action,
                &handle,
                &ActionCaller::Person,
                &exact_json::to_json_text(&given),
            )
        };
        run(json!([{ "id": "1", "name": "sum", "arguments": "{}" }])).unwrap();
        assert_eq!(run(json!(null)).unwrap_err().code, Code::InvalidInput);
    }

    #[test]
    fn an_agent_stores_a_credential_only_if_the_setting_permits_it() {
        let agent = |secrets| ActionCaller::Agent {
            view: View::default(),
            secrets,
        };
        let (refused, permitted) = (agent(SecretPolicy::Refuse), agent(SecretPolicy::Keep));
        let token = format!("{}{}", "gh", "p_1aB2cD3eF4gH5iJ6kL7mN8oP9qR0sT1uV2wX");
        let mut seen = Vec::new();
        for backend in backends() {
            for action in &backend.actions {
                if action.parameters["properties"]["allow_secret"].is_null() {
                    continue;
                }
                seen.push(action.name);
                let holding = match backend.name {
                    "kv" => InstanceHandle::Kv(values(Arc::new(FakeValues::default()))),
                    _ => InstanceHandle::History(messages(Arc::new(FakeMessages::default())).0),
                };
                let run = |caller: &ActionCaller, allow_secret: bool| {
                    let mut given = match backend.name {
                        "kv" => json!({ "key": "a", "value": token }),
                        _ => json!({ "session": "s", "role": "user", "content": token }),
                    };
                    given["allow_secret"] = allow_secret.into();
                    let given = exact_json::to_json_text(&given);
                    backend.run(action, &holding, caller, &given)
                };
                let mut errors = vec![(run(&refused, true), Code::Forbidden)];
                if backend.name == "kv" {
                    errors.push((run(&refused, false), Code::SecretFound));
                    let error = run(&ActionCaller::Person, false).unwrap_err();
                    assert_eq!(error.code, Code::SecretFound);
                } else {
                    let appended = run(&refused, false).unwrap();
                    assert_eq!(
                        appended.warnings,
                        ["a credential was redacted (GitHub token)"]
                    );
                }
                for (result, code) in errors {
                    let error = result.unwrap_err();
                    assert_eq!(error.code, code);
                    let hint = error.hint.expect("a hint");
                    assert!(hint.contains("agents.allow_secret: true"), "{hint}");
                    assert!(hint.contains("-p allow_secret=true"), "{hint}");
                }
                run(&permitted, true).unwrap();
                run(&ActionCaller::Person, true).unwrap();
            }
        }
        assert_eq!(seen, ["append", "set"]);
    }

    #[test]
    fn hints_of_tools_name_actions() {
        let hint = backend("bank")
            .unwrap()
            .with_actions("bank_list shows the banks; memory_list does not, nor bank_lists ü");
        assert_eq!(
            hint,
            "the action list shows the banks; memory_list does not, nor bank_lists ü"
        );
    }

    #[test]
    fn every_action_refuses_other_fields_and_describes_its_own() {
        for backend in backends().iter().filter(|backend| backend.has_drivers()) {
            for action in &backend.actions {
                let schema = &action.parameters;
                assert_eq!(schema["additionalProperties"], false, "{}", action.name);
                let mut properties = schema["properties"].as_object().into_iter().flatten();
                assert!(
                    properties.all(|(_, property)| property["description"].is_string()),
                    "{}",
                    action.name
                );
            }
        }
    }
}
