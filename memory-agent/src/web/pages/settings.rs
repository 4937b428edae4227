//! The settings.
//!
//! Its purpose: a person finds a setting by what it is for, understands it, and changes it. The file remains the truth.
//! A person first sees the groups by purpose, then each setting with its meaning, its value, and where the value is from.
//! The actions by frequency: read; change a value; change it back; restore a default.
//!
//! Each group is one form. A value that is not accepted is shown again with the reason at its field, and the others are saved.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};

use askama::Template;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};

use crate::web::error::{PageError, render, with_code};
use crate::web::fields::Fields;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::setting_fields::{SavedSetting, SettingField, SettingKind};
use crate::web::state::WebState;

const PATH: &str = "/settings";

/// The field of the query after a change.
const SAVED: &str = "saved";

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route(PATH, get(show).post(save))
        .route("/settings/back", post(change_back))
}

#[derive(Template)]
#[template(path = "settings.html")]
struct SettingsPage {
    layout: Layout,
    file: Label,
    unknown: Vec<Label>,
    groups: Vec<GroupView>,
    /// The settings that were saved before this page, with their previous values.
    saved: Vec<SavedSetting>,
    has_problem: bool,
}

struct GroupView {
    title: &'static str,
    purpose: &'static str,
    fields: Vec<FieldView>,
}

struct FieldView {
    key: String,
    /// The part of the key after its section, as words.
    name: String,
    /// The section of the key.
    section: String,
    meaning: SafeHtml,
    value: String,
    usual: String,
    is_example: bool,
    kind: SettingKind,
    is_in_file: bool,
    fixed: Option<String>,
    needs_restart: bool,
    problem: Option<SafeHtml>,
    /// The value that the form shows at first.
    was: String,
}

impl FieldView {
    /// Returns the field; `typed` is what the person entered, and `problem` why it was not accepted.
    fn new(field: SettingField, typed: Option<String>, problem: Option<&str>) -> Self {
        let (section, name) = field.key.rsplit_once('.').unwrap_or(("", &field.key));
        Self {
            name: sentence(name),
            section: sentence(section),
            meaning: with_code(&field.meaning),
            value: typed.unwrap_or_else(|| field.value.clone()),
            was: field.value,
            usual: field.usual,
            is_example: field.is_example,
            kind: field.kind,
            is_in_file: field.is_in_file,
            fixed: field.fixed,
            needs_restart: field.needs_restart,
            problem: problem.map(with_code),
            key: field.key,
        }
    }

    /// Returns the present value if the field shows another one, which was not accepted. A secret is never returned.
    fn stored(&self) -> Option<&str> {
        let is_secret = matches!(self.kind, SettingKind::Secret(_));
        if is_secret || self.problem.is_none() || self.value == self.was {
            return None;
        }
        Some(if self.was.is_empty() {
            "none"
        } else {
            &self.was
        })
    }

    fn is_on(&self) -> bool {
        self.value == "true"
    }
}

/// Returns the words of a key as the start of a sentence, such as `Short term ttl`.
fn sentence(key: &str) -> String {
    let words = key.replace(['_', '-', '.'], " ");
    let mut letters = words.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let is_after_change = !request.query.get(SAVED).is_empty();
            let saved = if is_after_change {
                former(&request.web).clone()
            } else {
                Vec::new()
            };
            Ok(render(&settings_page(request, &HashMap::new(), saved)?))
        })
        .await
}

/// Returns the settings that were changed last, with the values that their file had before.
fn former(web: &WebState) -> MutexGuard<'_, Vec<SavedSetting>> {
    web.former_settings
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
}

/// Returns the page. `problems` are the fields that were not accepted, with the reasons.
fn settings_page(
    request: &WebRequest,
    problems: &HashMap<String, String>,
    saved: Vec<SavedSetting>,
) -> Result<SettingsPage, PageError> {
    let overview = request.web.config.host.settings()?;
    let view = |field: SettingField| {
        let problem = problems.get(&field.key).map(String::as_str);
        let typed = problem.map(|_| typed_value(&request.form, &field));
        FieldView::new(field, typed, problem)
    };
    let groups = overview.groups.into_iter().map(|group| GroupView {
        title: group.title,
        purpose: group.purpose,
        fields: group.fields.into_iter().map(view).collect(),
    });
    Ok(SettingsPage {
        layout: request.layout("Settings"),
        file: Label::new(&overview.file),
        unknown: overview.unknown.iter().map(|key| Label::new(key)).collect(),
        groups: groups.collect(),
        saved,
        has_problem: !problems.is_empty(),
    })
}

/// Returns the value of a field in the form. A switch that is off is not sent.
fn typed_value(form: &Fields, field: &SettingField) -> String {
    match form.get(&field.key).trim() {
        "" if field.kind == SettingKind::Switch => "false".to_owned(),
        typed => typed.replace("\r\n", "\n"),
    }
}

/// Saves the fields of a group that differ from the present values, or restores the default of one.
async fn save(request: WebRequest) -> Response {
    request
        .respond(|request| {
            request.check_on_computer()?;
            let form = &request.form;
            let host = &request.web.config.host;
            let fields = host
                .settings()?
                .groups
                .into_iter()
                .flat_map(|group| group.fields);
            let group: Vec<&str> = form.all("key").collect();
            let reset = form.text("reset");
            let (mut saved, mut problems) = (Vec::new(), HashMap::new());
            for field in fields.filter(|field| field.fixed.is_none()) {
                let is_reset = reset == Some(field.key.as_str());
                let value = match is_reset {
                    true => String::new(),
                    false if !group.contains(&field.key.as_str()) => continue,
                    false => typed_value(form, &field),
                };
                let was = form.all(&format!("was:{}", field.key)).next();
                let was = was.map(|was| was.replace("\r\n", "\n"));
                if !is_reset && (value == field.value || was.as_ref() == Some(&value)) {
                    continue;
                }
                if !is_reset && was.is_some_and(|was| was != field.value) {
                    let problem = "It was changed since you opened this page. Compare both values, then save again.";
                    problems.insert(field.key, problem.to_owned());
                    continue;
                }
                match host.change_setting(&field.key, &value) {
                    Ok(()) => {
                        let is_secret = matches!(field.kind, SettingKind::Secret(_));
                        let former = if field.is_in_file {
                            field.value
                        } else {
                            String::new()
                        };
                        saved.extend((!is_secret).then_some(SavedSetting {
                            key: field.key,
                            former,
                            value: String::new(),
                        }));
                    }
                    Err(error) => {
                        let hint = error.hint.map(|hint| format!("; {hint}"));
                        let problem = error.message + &hint.unwrap_or_default();
                        problems.insert(field.key, problem);
                    }
                }
            }
            let overview = host.settings()?;
            for own in &mut saved {
                own.value = overview.value(&own.key).unwrap_or_default().to_owned();
            }
            (*former(&request.web)).clone_from(&saved);
            if problems.is_empty() {
                return Ok(Redirect::to("/settings?saved=1").into_response());
            }
            let page = settings_page(request, &problems, saved)?;
            Ok((StatusCode::UNPROCESSABLE_ENTITY, render(&page)).into_response())
        })
        .await
}

/// Restores the values that the last change replaced, except of settings that were changed since.
async fn change_back(request: WebRequest) -> Response {
    request
        .respond(|request| {
            request.check_on_computer()?;
            let host = &request.web.config.host;
            let overview = host.settings()?;
            for saved in std::mem::take(&mut *former(&request.web)) {
                if overview.value(&saved.key).unwrap_or_default() == saved.value {
                    host.change_setting(&saved.key, &saved.former)?;
                }
            }
            Ok(Redirect::to(PATH).into_response())
        })
        .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_a_key_are_the_start_of_a_sentence() {
        assert_eq!(sentence("short_term_ttl"), "Short term ttl");
        assert_eq!(sentence("ingestion.claude-mem"), "Ingestion claude mem");
        assert_eq!(sentence(""), "");
    }
}
