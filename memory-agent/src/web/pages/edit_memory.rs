//! The form to edit a memory, and the conflict with a change by another program.
//!
//! Purpose: correct a memory. First seen: its text, with the preview beside it.
//! Actions by frequency: change the text; move it, tag it, choose other readers; give it an expiry or a pin.
//! If another program changed it meanwhile, both versions are shown, and nothing is merged.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use memory_core::html::visible_text;
use memory_core::{
    Code, ContentHash, FileVersion, MemoryStep, MemoryStoreExt, SecretPolicy, StoreError,
    StoredMemory, memory_history, update,
};

use super::editor::{EditedFields, Editor};
use super::memory::redirect_to;
use crate::web::card::{memory_path, title};
use crate::web::diff::render_diff;
use crate::web::error::{PageError, render};
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
    editor: Editor,
    /// The page to which the person returns after saving, if it is not that of the memory.
    next: Option<String>,
    /// The current version, if another program has changed the memory since the form was opened.
    conflict: Option<Conflict>,
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

async fn show(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let stored = request.services.store.get_by(&id)?;
            if MAX_TEXT < stored.memory.content.len() {
                let hint = "Edit its file with another program. The path is among the attributes of the memory.";
                return Err(PageError::new(Code::LimitExceeded, "the text is too long for the form", hint));
            }
            let fields = EditedFields::of(request, &stored.memory);
            Ok(render(&EditPage::new(request, &stored, fields)?))
        })
        .await
}

async fn save(Path(id): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let before = request.services.store.get_by(&id)?;
            let fields = EditedFields::from_form(&request.form);
            let version = request.form.get("version");
            if request.form.text("preview").is_some() {
                let page = EditPage::new(request, &before, fields)?;
                return Ok(render(&EditPage {
                    version: version.to_owned(),
                    ..page
                }));
            }
            let base = FileVersion(version.parse::<ContentHash>()?);
            if base != before.stamp {
                return EditPage::conflict(request, &before, fields);
            }
            let patch = fields.patch(request, &before.memory)?;
            match update(
                &request.services,
                &id,
                &patch,
                Some(base),
                SecretPolicy::Refuse,
            ) {
                Ok(stored) => Ok(redirect_to(request, &before, &stored)),
                Err(StoreError::Conflict { .. }) => {
                    let current = request.services.store.get_by(&id)?;
                    EditPage::conflict(request, &current, fields)
                }
                Err(error) => Err(PageError::from(error).in_field_if(Code::SecretFound, "content")),
            }
        })
        .await
}

impl EditPage {
    fn new(
        request: &WebRequest,
        stored: &StoredMemory,
        fields: EditedFields,
    ) -> Result<Self, PageError> {
        Ok(Self {
            layout: request.layout(&format!("Edit {}", visible_text(stored.memory.headline()))),
            path: memory_path(&stored.memory),
            title: title(&stored.memory),
            version: stored.stamp.0.to_string(),
            editor: Editor::new(request, fields, Some(stored))?,
            next: [&request.form, &request.query]
                .into_iter()
                .find_map(|fields| fields.text("next"))
                .map(str::to_owned),
            conflict: None,
        })
    }

    fn conflict(
        request: &WebRequest,
        current: &StoredMemory,
        fields: EditedFields,
    ) -> Result<Response, PageError> {
        let shown = EditedFields::of(request, &current.memory);
        let diff = render_diff(&shown.content.replace("\r\n", "\n"), &fields.content);
        let (by, at) = author_of(request, current);
        let conflict = Conflict {
            by,
            at,
            diff,
            attributes: fields.differences(&shown),
            current: SafeHtml::from_text(&shown.content),
        };
        let page = Self {
            conflict: Some(conflict),
            ..Self::new(request, current, fields)?
        };
        Ok((StatusCode::CONFLICT, render(&page)).into_response())
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
