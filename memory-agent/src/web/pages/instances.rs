//! The instances: the values of a key-value store and the sessions of a message history.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use memory_core::instance::InstanceName;
use memory_core::instance::history::{
    self, Messages, RecordFilter, SessionName, SessionSummary, Window, WindowEnd,
};
use memory_core::instance::kv::{self, KeyPrefix, KeySummary, KeyValues, ValueKey};
use memory_core::json::{JsonText, format_pretty};
use memory_core::text::counted;
use memory_core::{Code, ContentHash, SecretPolicy};

use crate::instance::{InstanceHandle, InstanceListing, backend};
use crate::web::collection::{
    Cell, CollectionPage, EntryList, EntryRow, FormControl, FormField, Message, NoParameters,
    PageAction, PagePart, change, show,
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

const INSTANCES: EntryList = EntryList {
    columns: &["Instance"],
    search: "Search the instances",
    orders: &[("type", "type", 0), ("name", "name", 1)],
    empty: ("No instances", ""),
};

fn show_instances(request: &WebRequest, _: &NoParameters) -> Result<Response, PageError> {
    let about = "Named data sets, each of one type and with its own location.";
    let mut page = CollectionPage::new(request, "Instances", about);
    let card = |listing: InstanceListing| -> EntryRow {
        let title = format!("{} / {}", listing.backend, listing.name);
        let path = path_of(&(listing.backend, listing.name));
        let (fields, problem) = match listing.fields {
            Ok(fields) => (render_json(&fields.into()), None),
            Err(error) => (SafeHtml::default(), Some(Cell::Error(error))),
        };
        let chip = listing.is_built_in.then_some(Cell::Chip("built in"));
        let cells = std::iter::once(Cell::Html(fields))
            .chain(chip)
            .chain(problem);
        (title, Some(path), cells.collect())
    };
    let mut all = request.web.config.instances.definitions().list()?;
    if page.sort(request, INSTANCES.orders) == 1 {
        all.sort_by(|one, other| one.name.cmp(&other.name));
    }
    let cards = all.into_iter().map(card).collect();
    page.cards(request, cards, &INSTANCES);
    Ok(page.respond())
}

/// The orders of the keys or sessions, the default first.
const ORDERS: &[(&str, &str, usize)] = &[("changed", "last changed", 2), ("name", "name", 0)];

const KEYS: EntryList = EntryList {
    columns: &["Key", "Bytes", "Changed"],
    search: "Search the keys",
    orders: ORDERS,
    empty: ("The instance is empty", ""),
};

const SESSIONS: EntryList = EntryList {
    columns: &["Session", "Records", "Last record"],
    search: "Search the sessions",
    ..KEYS
};

fn show_instance(request: &WebRequest, place: &InstancePath) -> Result<Response, PageError> {
    let mut page =
        CollectionPage::new(request, &name_of(place), "").below("Instances", "/instances");
    match open(request, place)? {
        InstanceHandle::Kv(values) => {
            let row = |own: KeySummary| -> EntryRow {
                let path = format!("{}/value?key={}", path_of(place), encode(own.key.as_str()));
                let cells = vec![Cell::Number(own.size_bytes), Cell::Time(own.updated_at)];
                (own.key.to_string(), Some(path), cells)
            };
            let keys = kv::list(&values, &KeyPrefix::default())?;
            page.list(request, keys.into_iter().map(row).collect(), &KEYS);
            let key = FormField::new("key", "Key", FormControl::Line);
            let value = FormField::new("value", "Value", FormControl::Code(6));
            page.form("Add a key", path_of(place), vec![key, value], "Add");
        }
        InstanceHandle::History(messages) => {
            let row = |own: SessionSummary| -> EntryRow {
                let path = session_path(place, own.session.as_str());
                let last = Cell::time(own.last_at, "");
                let cells = vec![Cell::Number(own.records as u64), last];
                (own.session.to_string(), Some(path), cells)
            };
            let sessions = history::sessions(&messages)?;
            page.list(request, sessions.into_iter().map(row).collect(), &SESSIONS);
        }
        InstanceHandle::Tools(_) => {
            let path = match place.0.as_str() {
                "bank" => "/banks",
                "topic" => "/topics",
                _ => "/memories",
            };
            page.actions = vec![PageAction::Link("Open its content", path.to_owned())];
        }
    }
    Ok(page.respond())
}

fn show_value(request: &WebRequest, place: &InstancePath) -> Result<Response, PageError> {
    let key: ValueKey = request.query.get("key").parse()?;
    let stored = kv::get(&open_values(request, place)?, &key)?;
    // Only objects and lists are indented; a text that happens to be a number remains as it is.
    let is_json =
        stored.text.trim_start().starts_with(['{', '[']) && stored.text.parse::<JsonText>().is_ok();
    let (label, value, json) = if is_json {
        ("Value, as JSON", format_pretty(&stored.text), "yes")
    } else {
        ("Value", stored.text.clone(), "")
    };
    let (path, form) = (path_of(place), format!("{}/value", path_of(place)));
    let mut page = CollectionPage::new(request, key.as_str(), "")
        .below("Instances", "/instances")
        .below(&name_of(place), &path);
    page.delete_button("Delete the key", &form, Some(("key", key.as_str())));
    page.times(request, [("Changed", Some(stored.updated_at))]);
    let hidden = vec![
        ("key", key.to_string()),
        ("json", json.to_owned()),
        ("version", ContentHash::of(&stored.text).to_string()),
    ];
    let field = FormField("value", label, FormControl::Code(16), value);
    page.editor([form, path], hidden, vec![field]);
    Ok(page.respond())
}

/// Adds a value, or replaces that of the version in the form. A value that was JSON must remain JSON.
fn write_value(request: &WebRequest, place: &InstancePath) -> Result<Response, PageError> {
    let (form, values) = (&request.form, open_values(request, place)?);
    let key: ValueKey = form
        .get("key")
        .parse()
        .map_err(|error| PageError::from(error).in_field("key"))?;
    let value = form.get("value").replace("\r\n", "\n");
    let stored = values.store.get(&key)?.map(|stored| stored.text);
    let version = stored
        .as_ref()
        .map(|text| ContentHash::of(text).to_string());
    if version.as_deref() != form.text("version") {
        return Err(match form.text("version") {
            Some(_) => PageError::changed("the value"),
            None => PageError::exists(&format!("the key {key}")).in_field("key"),
        });
    }
    if form.get("json") == "yes"
        && let Err(error) = value.parse::<JsonText>()
    {
        let message = format!("the value is not JSON: {error}");
        return Err(PageError::of_field("value", message));
    }
    kv::replace(
        &values,
        &key,
        stored.as_deref(),
        &value,
        SecretPolicy::Refuse,
    )
    .map_err(|error| PageError::from(error).in_field_if(Code::SecretFound, "value"))?;
    Ok(request.redirect(&path_of(place)))
}

fn delete_value(request: &WebRequest, place: &InstancePath) -> Result<Response, PageError> {
    let key = request.form.get("key").parse()?;
    kv::delete(&open_values(request, place)?, &key)?;
    Ok(request.redirect(&path_of(place)))
}

fn show_session(request: &WebRequest, place: &InstancePath) -> Result<Response, PageError> {
    let session: SessionName = request.query.get("session").parse()?;
    let messages = open_messages(request, place)?;
    let window = Window {
        offset: 0,
        limit: Some(RECORDS),
        end: WindowEnd::Last,
    };
    let mut page = CollectionPage::new(request, session.as_str(), "")
        .below("Instances", "/instances")
        .below(&name_of(place), &path_of(place));
    let path = format!("{}/session", path_of(place));
    let field = ("session", session.as_str());
    page.delete_button("Delete the session", &path, Some(field));
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

fn delete_session(request: &WebRequest, place: &InstancePath) -> Result<Response, PageError> {
    let session = request.form.get("session").parse()?;
    history::delete(&open_messages(request, place)?, &session)?;
    Ok(request.redirect(&path_of(place)))
}
