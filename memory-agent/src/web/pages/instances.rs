//! The instances: the values of a key-value store and the sessions of a message history.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the parameters of a route belong to its handler"
)]

use std::cmp::Reverse;
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use chrono::{DateTime, Utc};
use memory_core::instance::InstanceName;
use memory_core::instance::history::{
    self, Messages, RecordFilter, SessionName, SessionSummary, Window, WindowEnd,
};
use memory_core::instance::kv::{self, KeyPrefix, KeySummary, KeyValues, StoredValue, ValueKey};
use memory_core::json::{JsonText, format_pretty};
use memory_core::text::counted;
use memory_core::{ContentHash, SecretPolicy};

use crate::instance::{InstanceHandle, InstanceListing, backend};
use crate::web::collection::{
    Cell, CollectionPage, EntryCard, EntryEditor, FormControl, FormField, Message, PageAction,
    PagePart, change, show,
};
use crate::web::error::PageError;
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::json_view::render_json;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Number of records of a session that are shown.
const RECORDS: usize = 100;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/instances", show(show_instances))
        .route(
            "/instances/{backend}/{name}",
            show(show_instance).merge(change(write_value)),
        )
        .route(
            "/instances/{backend}/{name}/value",
            show(show_value).merge(change(write_value)),
        )
        .route(
            "/instances/{backend}/{name}/value/delete",
            change(delete_value),
        )
        .route("/instances/{backend}/{name}/session", show(show_session))
        .route(
            "/instances/{backend}/{name}/session/delete",
            change(delete_session),
        )
}

/// The type and the name of an instance, as parameters of a route.
pub(super) type InstancePath = (String, String);

fn path_of((backend, name): &InstancePath) -> String {
    format!("/instances/{}/{}", encode(backend), encode(name))
}

fn name_of((backend, name): &InstancePath) -> String {
    format!("{backend}/{name}")
}

/// Returns the path of the page of a session.
pub(super) fn session_path(place: &InstancePath, session: &str) -> String {
    format!("{}/session?session={}", path_of(place), encode(session))
}

fn open(request: &WebRequest, (kind, name): &InstancePath) -> Result<InstanceHandle, PageError> {
    let name: InstanceName = name.parse()?;
    let instances = &request.web.config.instances;
    Ok(instances.get_or_open(backend(kind)?, &name)?)
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

fn show_instances(request: &WebRequest, (): ()) -> Result<Response, PageError> {
    let about = "Named data sets, each of one type and with its own location.";
    let mut page = CollectionPage::new(request, "Instances", about);
    let card = |listing: InstanceListing| EntryCard {
        title: Label::new(&format!("{} / {}", listing.backend, listing.name)),
        path: path_of(&(listing.backend, listing.name)),
        problem: listing.fields.as_ref().err().map(|error| Label::new(error)),
        text: listing
            .fields
            .map(|fields| render_json(&fields.into()))
            .unwrap_or_default(),
        chip: listing.is_built_in.then_some("built in"),
        day: None,
    };
    let all = request.web.config.instances.definitions().list()?;
    let cards = all.into_iter().map(card).collect();
    page.cards(request, cards, "instance", ("No instances", ""));
    Ok(page.respond())
}

/// A key or a session: its name, its path, the bytes or records that it has, and the time of its last change.
type InstanceItem = (String, String, u64, Option<DateTime<Utc>>);

/// Returns the keys that begin with `search`, in their order.
fn keys(
    place: &InstancePath,
    values: &KeyValues,
    search: &str,
) -> Result<Vec<InstanceItem>, PageError> {
    let prefix: KeyPrefix = search.parse()?;
    let item = |own: KeySummary| {
        let path = format!("{}/value?key={}", path_of(place), encode(own.key.as_str()));
        (
            own.key.to_string(),
            path,
            own.size_bytes,
            Some(own.updated_at),
        )
    };
    Ok(kv::list(values, &prefix)?.into_iter().map(item).collect())
}

/// Returns the sessions whose names contain `search`, in the order of their names.
fn sessions(
    place: &InstancePath,
    messages: &Messages,
    search: &str,
) -> Result<Vec<InstanceItem>, PageError> {
    let item = |own: SessionSummary| {
        let path = session_path(place, own.session.as_str());
        (
            own.session.to_string(),
            path,
            own.records as u64,
            own.last_at,
        )
    };
    let mut items: Vec<_> = history::sessions(messages)?.into_iter().map(item).collect();
    items.retain(|(name, ..)| name.contains(search));
    items.sort();
    Ok(items)
}

fn show_instance(request: &WebRequest, place: InstancePath) -> Result<Response, PageError> {
    let mut page = CollectionPage::new(request, &name_of(&place), "")
        .below([("Instances", "/instances".to_owned())]);
    let (mut items, columns): (_, &'static [&'static str]) = match open(request, &place)? {
        InstanceHandle::Kv(values) => {
            let search = page.search(request, "Keys that begin with");
            let items = keys(&place, &values, &search)?;
            (items, &["Key", "Bytes", "Changed"])
        }
        InstanceHandle::History(messages) => {
            let search = page.search(request, "Sessions that contain");
            let items = sessions(&place, &messages, &search)?;
            (items, &["Session", "Records", "Last record"])
        }
        InstanceHandle::Tools(_) => {
            let path = match place.0.as_str() {
                "bank" => "/banks",
                "topic" => "/topics",
                _ => "/memories",
            };
            page.actions = vec![PageAction::Link("Open its content", path.to_owned())];
            return Ok(page.respond());
        }
    };
    if page.sort(request, &[("changed", "last changed"), ("name", "name")]) == "changed" {
        items.sort_by_key(|(_, _, _, at)| Reverse(*at));
    }
    let row = |(name, path, size, at): InstanceItem| {
        let changed = at.map(|at| request.exact(at));
        let cells = vec![Cell::number(size), Cell::time(changed, "")];
        (Label::cut(&name, 140), Some(path), cells)
    };
    let is_search = request.query.text("search").is_some();
    let title = if is_search {
        "Nothing matches"
    } else {
        "The instance is empty"
    };
    page.table(request, items, columns, (title, ""), row);
    if columns[0] == "Key" {
        let key = FormField::new("key", "Key", FormControl::Line);
        let value = FormField::new("value", "Value", FormControl::Code(6));
        page.form("Add a key", path_of(&place), vec![key, value], "Add");
    }
    Ok(page.respond())
}

/// Returns the form of a stored value.
fn editor(
    request: &WebRequest,
    place: &InstancePath,
    key: &ValueKey,
    stored: &StoredValue,
) -> EntryEditor {
    // Only objects and lists are indented; a text that happens to be a number remains as it is.
    let is_json =
        stored.text.trim_start().starts_with(['{', '[']) && stored.text.parse::<JsonText>().is_ok();
    let (label, value) = if is_json {
        ("Value, as JSON", format_pretty(&stored.text))
    } else {
        ("Value", stored.text.clone())
    };
    let path = path_of(place);
    let above = [
        ("Instances", "/instances".to_owned()),
        (&name_of(place), path.clone()),
    ];
    let mut page = CollectionPage::new(request, key.as_str(), "").below(above);
    let key_field = ("key", key.to_string());
    let delete = format!("{path}/value/delete");
    page.delete_button("Delete the key", delete, Some(key_field.clone()));
    let changed = request.exact(stored.updated_at);
    page.push(PagePart::Facts(vec![("Changed", changed)]));
    let json = is_json.then(|| ("json", "yes".to_owned()));
    EntryEditor {
        page,
        paths: [format!("{path}/value"), path],
        hidden: json.into_iter().chain([key_field]).collect(),
        fields: vec![FormField(
            "value",
            label,
            FormControl::Code(16),
            value.clone(),
        )],
        current: ("The value now", value),
        version: ContentHash::of(&stored.text).to_string(),
    }
}

fn show_value(request: &WebRequest, place: InstancePath) -> Result<Response, PageError> {
    let key: ValueKey = request.query.get("key").parse()?;
    let stored = kv::get(&open_values(request, &place)?, &key)?;
    Ok(editor(request, &place, &key, &stored).respond())
}

/// Sets a value.
fn write_value(request: &WebRequest, place: InstancePath) -> Result<Response, PageError> {
    let key: ValueKey = request.form.get("key").parse()?;
    let values = open_values(request, &place)?;
    let Err(error) = replace_value(request, &values, &key) else {
        return Ok(request.redirect(&path_of(&place)));
    };
    match values.store.get(&key)? {
        Some(stored) => {
            Ok(editor(request, &place, &key, &stored).respond_to_failure(request, &error))
        }
        None => Err(error),
    }
}

/// Replaces the value of the version in the form. A value that was JSON must remain JSON.
fn replace_value(
    request: &WebRequest,
    values: &KeyValues,
    key: &ValueKey,
) -> Result<(), PageError> {
    let form = &request.form;
    let value = form.get("value").replace("\r\n", "\n");
    let stored = values.store.get(key)?;
    let former = stored.as_ref().map(|stored| stored.text.as_str());
    let version = former.map(|text| ContentHash::of(text).to_string());
    if version.as_deref() != form.text("version") {
        return Err(PageError::changed("the value"));
    }
    if form.get("json") == "yes"
        && let Err(error) = value.parse::<JsonText>()
    {
        return Err(PageError::invalid(format!(
            "the value is not JSON: {error}"
        )));
    }
    Ok(kv::replace(
        values,
        key,
        former,
        &value,
        SecretPolicy::Refuse,
    )?)
}

fn delete_value(request: &WebRequest, place: InstancePath) -> Result<Response, PageError> {
    let key = request.form.get("key").parse()?;
    kv::delete(&open_values(request, &place)?, &key)?;
    Ok(request.redirect(&path_of(&place)))
}

fn show_session(request: &WebRequest, place: InstancePath) -> Result<Response, PageError> {
    let session: SessionName = request.query.get("session").parse()?;
    let messages = open_messages(request, &place)?;
    let window = Window {
        offset: 0,
        limit: Some(RECORDS),
        end: WindowEnd::Last,
    };
    let above = [
        ("Instances", "/instances".to_owned()),
        (&name_of(&place), path_of(&place)),
    ];
    let mut page = CollectionPage::new(request, session.as_str(), "").below(above);
    let path = format!("{}/session/delete", path_of(&place));
    let field = ("session", session.to_string());
    page.delete_button("Delete the session", path, Some(field));
    let (mut records, mut damaged) = (Vec::new(), 0);
    for record in history::records(&messages, &session, &RecordFilter::default(), window)? {
        let Ok(record) = record else {
            damaged += 1;
            continue;
        };
        let text = Label::cut(&record_text(record.text().as_str()), 4_000);
        records.push(Message {
            author: Some(Label::new(record.role().as_str())),
            time: record.at().map(|at| request.exact(at)),
            text: SafeHtml::from_escaped(format!("<div class=\"source\">{text}</div>")),
            is_assistant: record.role().as_str() == "assistant",
            delete: None,
        });
    }
    if 0 < damaged {
        page.note(format!("{} cannot be read.", counted(damaged, "record")));
    }
    page.note(match records.len() {
        0 => "The session has no records.".to_owned(),
        RECORDS => format!("The last {RECORDS} records"),
        count => counted(count as u64, "record"),
    });
    page.push(PagePart::Messages(records));
    Ok(page.respond())
}

/// Returns the content of a record if it is a text, and otherwise the whole record.
fn record_text(json: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(json).unwrap_or_default();
    value
        .get("content")
        .and_then(serde_json::Value::as_str)
        .map_or_else(|| json.to_owned(), str::to_owned)
}

fn delete_session(request: &WebRequest, place: InstancePath) -> Result<Response, PageError> {
    let session = request.form.get("session").parse()?;
    history::delete(&open_messages(request, &place)?, &session)?;
    Ok(request.redirect(&path_of(&place)))
}
