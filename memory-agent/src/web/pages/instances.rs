//! The instances: the values of a key-value store and the sessions of a message history.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::instance::InstanceName;
use memory_core::instance::history::{
    self, Messages, RecordFilter, SessionName, Window, WindowEnd,
};
use memory_core::instance::kv::{self, KeyPrefix, KeyValues, ValueKey};
use memory_core::json::{JsonText, format_pretty};
use memory_core::{Code, ContentHash, SecretPolicy};

use crate::instance::{InstanceHandle, InstanceListing, backend};
use crate::web::error::{PageError, render};
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::json_view::render_json;
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Maximum number of keys or sessions that are listed.
const MAX_LISTED: usize = 500;

/// Number of records of a session that are shown.
const RECORDS: usize = 100;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/instances", get(show))
        .route(
            "/instances/{backend}/{name}",
            get(show_instance).post(write_value),
        )
        .route(
            "/instances/{backend}/{name}/value",
            get(show_value).post(write_value),
        )
        .route(
            "/instances/{backend}/{name}/value/delete",
            post(delete_value),
        )
        .route("/instances/{backend}/{name}/session", get(show_session))
        .route(
            "/instances/{backend}/{name}/session/delete",
            post(delete_session),
        )
}

/// The type and the name of an instance, as parameters of a route.
pub(super) type InstancePath = (String, String);

fn path_of((backend, name): &InstancePath) -> String {
    format!("/instances/{}/{}", encode(backend), encode(name))
}

/// Returns the path of the page of a session.
pub(super) fn session_path(place: &InstancePath, session: &str) -> String {
    format!("{}/session?session={}", path_of(place), encode(session))
}

fn open(request: &WebRequest, (kind, name): &InstancePath) -> Result<InstanceHandle, PageError> {
    let name: InstanceName = name.parse()?;
    Ok(request
        .web
        .config
        .instances
        .get_or_open(backend(kind)?, &name)?)
}

/// Returns the values of an instance; they record the ids of operations for the undo.
fn open_values(request: &WebRequest, place: &InstancePath) -> Result<KeyValues, PageError> {
    match open(request, place)? {
        InstanceHandle::Kv(values) => Ok(KeyValues {
            ids: Arc::clone(&request.services.ids),
            ..values
        }),
        InstanceHandle::History(_) | InstanceHandle::Tools(_) => {
            Err(PageError::invalid("the instance has no keys"))
        }
    }
}

/// Returns the sessions of an instance; they record the ids of operations for the undo.
pub(super) fn open_messages(
    request: &WebRequest,
    place: &InstancePath,
) -> Result<Messages, PageError> {
    match open(request, place)? {
        InstanceHandle::History(messages) => Ok(Messages {
            ids: Arc::clone(&request.services.ids),
            ..messages
        }),
        InstanceHandle::Kv(_) | InstanceHandle::Tools(_) => {
            Err(PageError::invalid("the instance has no sessions"))
        }
    }
}

/// An instance as a row.
struct InstanceRow {
    path: String,
    backend: Label,
    name: Label,
    fields: Result<SafeHtml, Label>,
    is_built_in: bool,
}

#[derive(Template)]
#[template(path = "instances.html")]
struct InstancesPage {
    layout: Layout,
    rows: Vec<InstanceRow>,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let row = |listing: InstanceListing| InstanceRow {
                path: path_of(&(listing.backend.clone(), listing.name.clone())),
                backend: Label::new(&listing.backend),
                name: Label::new(&listing.name),
                fields: listing
                    .fields
                    .map(|fields| render_json(&fields.into()))
                    .map_err(|error| Label::new(&error)),
                is_built_in: listing.is_built_in,
            };
            let rows = request
                .web
                .config
                .instances
                .definitions()
                .list()?
                .into_iter()
                .map(row)
                .collect();
            Ok(render(&InstancesPage {
                layout: request.layout("Instances"),
                rows,
            }))
        })
        .await
}

/// A key or a session as a row.
struct ItemRow {
    path: String,
    name: Label,
    size: String,
    time: Option<TimeLabel>,
}

#[derive(Template)]
#[template(path = "instance.html")]
struct InstancePage {
    layout: Layout,
    path: String,
    name: Label,
    search: String,
    is_kv: bool,
    is_history: bool,
    items: Vec<ItemRow>,
    more: usize,
    /// The page with the same content, for an instance of tools.
    elsewhere: Option<&'static str>,
}

async fn show_instance(Path(place): Path<InstancePath>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (path, search) = (
                path_of(&place),
                request.query.text("search").unwrap_or_default().to_owned(),
            );
            let handle = open(request, &place)?;
            let (is_kv, is_history) = (
                matches!(handle, InstanceHandle::Kv(_)),
                matches!(handle, InstanceHandle::History(_)),
            );
            let time = |at| TimeLabel::exact(request.local(at));
            let mut items: Vec<ItemRow> = match &handle {
                InstanceHandle::Kv(values) => {
                    let prefix: KeyPrefix = search.parse()?;
                    let item = |summary: kv::KeySummary| ItemRow {
                        path: format!("{path}/value?key={}", encode(summary.key.as_str())),
                        name: Label::cut(summary.key.as_str(), 140),
                        size: format!("{} bytes", summary.size_bytes),
                        time: Some(time(summary.updated_at)),
                    };
                    kv::list(values, &prefix)?.into_iter().map(item).collect()
                }
                InstanceHandle::History(messages) => {
                    let mut sessions = history::sessions(messages)?;
                    sessions.retain(|own| own.session.as_str().contains(&search));
                    sessions.sort_by(|one, other| {
                        other
                            .last_at
                            .cmp(&one.last_at)
                            .then_with(|| one.session.cmp(&other.session))
                    });
                    let item = |own: history::SessionSummary| ItemRow {
                        path: session_path(&place, own.session.as_str()),
                        name: Label::cut(own.session.as_str(), 140),
                        size: format!("{} records", own.records),
                        time: own.last_at.map(time),
                    };
                    sessions.into_iter().map(item).collect()
                }
                InstanceHandle::Tools(_) => Vec::new(),
            };
            let more = items.len().saturating_sub(MAX_LISTED);
            items.truncate(MAX_LISTED);
            let elsewhere = match place.0.as_str() {
                _ if is_kv || is_history => None,
                "bank" => Some("/banks"),
                "topic" => Some("/topics"),
                _ => Some("/memories"),
            };
            let name = format!("{}/{}", place.0, place.1);
            let page = InstancePage {
                layout: request.layout(&name),
                path,
                name: Label::new(&name),
                search,
                is_kv,
                is_history,
                items,
                more,
                elsewhere,
            };
            Ok(render(&page))
        })
        .await
}

#[derive(Template)]
#[template(path = "instance_value.html")]
struct ValuePage {
    layout: Layout,
    path: String,
    name: Label,
    key: Label,
    key_text: String,
    value: String,
    current: Option<SafeHtml>,
    error: Option<String>,
    is_json: bool,
    version: String,
    updated: TimeLabel,
}

impl ValuePage {
    fn new(
        request: &WebRequest,
        place: &InstancePath,
        key: &ValueKey,
        stored: &kv::StoredValue,
    ) -> Self {
        // Only objects and lists are indented; a text that happens to be a number remains as it is.
        let is_json = stored.text.trim_start().starts_with(['{', '['])
            && stored.text.parse::<JsonText>().is_ok();
        Self {
            layout: request.layout(key.as_str()),
            path: path_of(place),
            name: Label::new(&format!("{}/{}", place.0, place.1)),
            key: Label::new(key.as_str()),
            key_text: key.to_string(),
            value: if is_json {
                format_pretty(&stored.text)
            } else {
                stored.text.clone()
            },
            current: None,
            error: None,
            is_json,
            version: ContentHash::of(&stored.text).to_string(),
            updated: TimeLabel::exact(request.local(stored.updated_at)),
        }
    }
}

async fn show_value(Path(place): Path<InstancePath>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let key: ValueKey = request.query.get("key").parse()?;
            let stored = kv::get(&open_values(request, &place)?, &key)?;
            Ok(render(&ValuePage::new(request, &place, &key, &stored)))
        })
        .await
}

/// Sets a value. A value that was JSON must remain JSON. A conflict and an invalid value show the form again.
async fn write_value(Path(place): Path<InstancePath>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let form = &request.form;
            let key: ValueKey = form.get("key").parse()?;
            let values = open_values(request, &place)?;
            let value = form.get("value").replace("\r\n", "\n");
            let mut stored = values.store.get(&key)?;
            let seen = form.text("version");
            let mut is_changed = stored
                .as_ref()
                .map(|stored| ContentHash::of(&stored.text).to_string())
                .as_deref()
                != seen;
            let invalid = || {
                value
                    .parse::<JsonText>()
                    .err()
                    .map(|error| format!("the value is not JSON: {error}"))
            };
            let mistake = if is_changed || form.get("json") != "yes" {
                None
            } else {
                invalid()
            };
            if !is_changed && mistake.is_none() {
                let former = stored.as_ref().map(|stored| stored.text.as_str());
                match kv::replace(&values, &key, former, &value, SecretPolicy::Refuse) {
                    Ok(()) => return Ok(request.redirect(&path_of(&place))),
                    // Another program changed the value at this moment.
                    Err(error) if error.code() == Code::Conflict => {
                        is_changed = true;
                        stored = values.store.get(&key)?;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            let changed =
                || "the value was changed after you opened this form; nothing was saved".to_owned();
            let (code, message) = mistake.map_or_else(
                || (Code::Conflict, changed()),
                |mistake| (Code::InvalidJson, mistake),
            );
            let Some(stored) = stored else {
                return Err(PageError::new(code, message, "reload the instance"));
            };
            let page = ValuePage::new(request, &place, &key, &stored);
            let page = ValuePage {
                current: is_changed.then(|| SafeHtml::from_text(&page.value)),
                value,
                error: Some(message),
                ..page
            };
            let mut response = render(&page);
            *response.status_mut() = crate::http::status(code);
            Ok(response)
        })
        .await
}

async fn delete_value(Path(place): Path<InstancePath>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            kv::delete(
                &open_values(request, &place)?,
                &request.form.get("key").parse()?,
            )?;
            Ok(request.redirect(&path_of(&place)))
        })
        .await
}

/// A record of a session.
struct RecordRow {
    role: Label,
    time: Option<TimeLabel>,
    text: Label,
}

#[derive(Template)]
#[template(path = "instance_session.html")]
struct InstanceSessionPage {
    layout: Layout,
    path: String,
    name: Label,
    session: Label,
    session_text: String,
    records: Vec<RecordRow>,
    damaged: usize,
    limit: usize,
}

async fn show_session(Path(place): Path<InstancePath>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let session: SessionName = request.query.get("session").parse()?;
            let messages = open_messages(request, &place)?;
            let window = Window {
                offset: 0,
                limit: Some(RECORDS),
                end: WindowEnd::Last,
            };
            let (mut records, mut damaged) = (Vec::new(), 0);
            for record in history::records(&messages, &session, &RecordFilter::default(), window)? {
                match record {
                    Ok(record) => records.push(RecordRow {
                        role: Label::new(record.role().as_str()),
                        time: record.at().map(|at| TimeLabel::exact(request.local(at))),
                        text: Label::cut(&record_text(record.text().as_str()), 4_000),
                    }),
                    Err(_) => damaged += 1,
                }
            }
            let page = InstanceSessionPage {
                layout: request.layout(session.as_str()),
                path: path_of(&place),
                name: Label::new(&format!("{}/{}", place.0, place.1)),
                session: Label::new(session.as_str()),
                session_text: session.to_string(),
                records,
                damaged,
                limit: RECORDS,
            };
            Ok(render(&page))
        })
        .await
}

/// Returns the content of a record if it is a text, and otherwise the whole record.
fn record_text(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).unwrap_or_default();
    value
        .get("content")
        .and_then(serde_json::Value::as_str)
        .map_or_else(|| json.to_owned(), str::to_owned)
}

async fn delete_session(Path(place): Path<InstancePath>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            history::delete(
                &open_messages(request, &place)?,
                &request.form.get("session").parse()?,
            )?;
            Ok(request.redirect(&path_of(&place)))
        })
        .await
}
