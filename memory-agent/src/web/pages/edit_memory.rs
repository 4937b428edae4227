//! The form to edit a memory, and the conflict with a change by another program.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use memory_core::html::visible_text;
use memory_core::{
    Category, Code, ContentHash, FileVersion, Memory, MemoryStep, MemoryStoreExt, Patch, Phase,
    Scope, SecretPolicy, StoredMemory, Tags, ToolError, memory_history, update,
};

use super::memory::{parse_tags, redirect_to};
use crate::http::status;
use crate::web::card::{memory_path, title};
use crate::web::diff::render_diff;
use crate::web::error::{PageError, render};
use crate::web::fields::Fields;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route("/memories/{id}/edit", get(show).post(save))
}

/// Maximum size of a text that the form accepts, in bytes. Escaped, it still fits into a request.
const MAX_TEXT: usize = 2 << 20;

#[derive(Template)]
#[template(path = "edit_memory.html")]
struct EditPage {
    layout: Layout,
    path: String,
    title: Label,
    /// The version of the file on which the fields are based.
    version: String,
    fields: EditedFields,
    categories: Vec<Category>,
    /// Why the memory was not saved.
    error: Option<(String, Option<String>)>,
    /// The current version, if another program has changed the memory since the form was opened.
    conflict: Option<Conflict>,
}

/// The fields of the form, as the person sees and edits them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct EditedFields {
    title: String,
    content: String,
    category: String,
    tags: String,
    scope: String,
}

/// Both versions of a memory that was changed at the same time.
struct Conflict {
    /// The author of the current version.
    by: Label,
    at: Option<TimeLabel>,
    current: SafeHtml,
    /// The difference from the current text to the text in the form.
    diff: SafeHtml,
    /// The other fields that differ: name, current value and value in the form.
    attributes: Vec<(&'static str, Label, Label)>,
}

impl EditedFields {
    fn of(memory: &Memory) -> Self {
        Self {
            title: memory.title.clone().unwrap_or_default(),
            content: memory.content.clone(),
            category: if memory.phase == Phase::Inbox {
                Category::Inbox
            } else {
                memory.category
            }
            .to_string(),
            tags: memory.tags.as_slice().join(", "),
            scope: memory.scope.to_string(),
        }
    }

    /// Returns the fields of a sent form. A browser sends each line break as CR LF.
    fn from_form(form: &Fields) -> Self {
        Self {
            title: form.get("title").trim().to_owned(),
            content: form.get("content").replace("\r\n", "\n"),
            category: form.get("category").to_owned(),
            tags: form.get("tags").to_owned(),
            scope: form.get("scope").to_owned(),
        }
    }

    /// Returns the patch that changes `memory` to these fields. Fields that are the same are left out.
    fn patch(&self, memory: &Memory) -> Result<Patch, PageError> {
        let tags = parse_tags(&self.tags);
        let category: Category = self.category.parse()?;
        let scope: Scope = self.scope.parse()?;
        let shown = Self::of(memory);
        let title = Some(self.title.clone()).filter(|title| !title.is_empty());
        Ok(Patch {
            content: new_content(&memory.content, &self.content),
            title: Some(title).filter(|title| *title != memory.title),
            category: Some(category).filter(|category| category.as_str() != shown.category),
            scope: Some(scope).filter(|scope| *scope != memory.scope),
            remove_tags: memory
                .tags
                .iter()
                .map(String::as_str)
                .filter(|tag| !tags.contains(tag))
                .collect::<Tags>(),
            add_tags: tags,
            ..Patch::default()
        })
    }

    fn differences(&self, current: &Self) -> Vec<(&'static str, Label, Label)> {
        let rows = [
            ("Title", &current.title, &self.title),
            ("Category", &current.category, &self.category),
            ("Tags", &current.tags, &self.tags),
            ("Readers", &current.scope, &self.scope),
        ];
        let differing = rows.into_iter().filter(|(_, current, own)| current != own);
        differing
            .map(|(name, current, own)| (name, Label::new(current), Label::new(own)))
            .collect()
    }
}

/// Returns the content to store for the text of the form, or `None` if the person did not change it.
///
/// The line endings of the file are those of its owner, so a text with CR LF receives them again.
fn new_content(old: &str, edited: &str) -> Option<String> {
    let uses_crlf = old.contains("\r\n");
    if old.replace("\r\n", "\n") == edited {
        return None;
    }
    Some(if uses_crlf {
        edited.replace('\n', "\r\n")
    } else {
        edited.to_owned()
    })
}

async fn show(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let stored = request.services.store.get_by(&id)?;
            if MAX_TEXT < stored.memory.content.len() {
                let hint = format!("edit it with `memory edit {}`", stored.memory.id.short());
                return Err(PageError::new(
                    Code::LimitExceeded,
                    "the text is too long for the form",
                    hint,
                ));
            }
            Ok(render(&EditPage::new(
                request,
                &stored,
                EditedFields::of(&stored.memory),
            )))
        })
        .await
}

async fn save(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let before = request.services.store.get_by(&id)?;
            let fields = EditedFields::from_form(&request.form);
            let base = FileVersion(request.form.get("version").parse::<ContentHash>()?);
            if base != before.stamp {
                return Ok(EditPage::conflict(request, &before, fields));
            }
            let done = fields.patch(&before.memory).and_then(|patch| {
                Ok(update(
                    &request.services,
                    &id,
                    &patch,
                    Some(base),
                    SecretPolicy::Refuse,
                )?)
            });
            match done {
                Ok(stored) => Ok(redirect_to(request, &before, &stored)),
                Err(error) if error.error.code == Code::Conflict => {
                    let current = request.services.store.get_by(&id)?;
                    Ok(EditPage::conflict(request, &current, fields))
                }
                // The text in the form must not be lost.
                Err(error) => Ok(EditPage::failed(request, &before, fields, error.error)),
            }
        })
        .await
}

impl EditPage {
    fn new(request: &WebRequest, stored: &StoredMemory, fields: EditedFields) -> Self {
        Self {
            layout: request.layout(&format!("Edit {}", visible_text(stored.memory.headline()))),
            path: memory_path(&stored.memory),
            title: title(&stored.memory),
            version: stored.stamp.0.to_string(),
            fields,
            categories: Category::ALL
                .into_iter()
                .filter(|category| {
                    *category != Category::Reminders
                        || stored.memory.category == Category::Reminders
                })
                .collect(),
            error: None,
            conflict: None,
        }
    }

    fn conflict(request: &WebRequest, current: &StoredMemory, fields: EditedFields) -> Response {
        let shown = EditedFields::of(&current.memory);
        let diff = render_diff(&shown.content.replace("\r\n", "\n"), &fields.content);
        let (by, at) = author_of(request, current);
        let current_text = SafeHtml::from_text(&shown.content);
        let conflict = Conflict {
            by,
            at,
            diff,
            attributes: fields.differences(&shown),
            current: current_text,
        };
        let page = Self {
            conflict: Some(conflict),
            ..Self::new(request, current, fields)
        };
        (StatusCode::CONFLICT, render(&page)).into_response()
    }

    fn failed(
        request: &WebRequest,
        stored: &StoredMemory,
        fields: EditedFields,
        error: ToolError,
    ) -> Response {
        let page = Self {
            error: Some((error.message, error.hint)),
            ..Self::new(request, stored, fields)
        };
        (status(error.code), render(&page)).into_response()
    }
}

/// Returns the author and the time of the current version. A change outside of the log is one of another program.
fn author_of(request: &WebRequest, current: &StoredMemory) -> (Label, Option<TimeLabel>) {
    let history = memory_history(&request.services, &current.memory.id, 1);
    let last = history
        .ok()
        .and_then(|history| history.steps.into_iter().next());
    match last.filter(|step| !step.is_edited_after && !step.operation.by.is_empty()) {
        Some(MemoryStep { operation, .. }) => {
            let now = request.local(request.services.clock.now());
            (
                Label::cut(&operation.by, 60),
                Some(TimeLabel::new(request.local(operation.at), now)),
            )
        }
        None => (Label::new("another program"), None),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn line_endings_of_the_file_are_restored() {
        assert_eq!(new_content("a\r\nb", "a\nb"), None);
        assert_eq!(
            new_content("a\r\nb", "a\nc\n").as_deref(),
            Some("a\r\nc\r\n")
        );
        assert_eq!(new_content("a\nb", "a\nc").as_deref(), Some("a\nc"));
    }

    proptest! {
        #[test]
        fn an_unchanged_text_is_not_rewritten(text in "[a\r\n]{0,12}") {
            let sent = text.replace("\r\n", "\n");
            prop_assert_eq!(new_content(&text, &sent), None);
        }
    }
}
