//! The banks: JSON values under keys, to browse, search and edit.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use chrono::{DateTime, SecondsFormat, Utc};
use memory_core::bank::{
    self, BankEntry, BankName, BankScope, BankSearchFields, BankWriteCondition, BankWriteRequest,
    Key, ScopeChoice,
};
use memory_core::json::{JsonText, format_pretty};
use memory_core::{Code, SecretPolicy, parse_rfc3339};

use crate::web::error::{PageError, render};
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;
use crate::web::time_label::TimeLabel;

/// Number of characters of a value in a list.
const PREVIEW: usize = 120;

/// Maximum number of keys of a list.
const MAX_KEYS: usize = 500;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/banks", get(show))
        .route("/banks/{scope}/{bank}", get(show_bank).post(write_new))
        .route("/banks/{scope}/{bank}/delete", post(delete_bank))
        .route(
            "/banks/{scope}/{bank}/entry",
            get(show_entry).post(write_entry),
        )
        .route("/banks/{scope}/{bank}/entry/delete", post(delete_entry))
}

/// A bank as a row.
struct BankRow {
    path: String,
    name: Label,
    scope: &'static str,
    keys: Result<usize, Label>,
    updated: Option<TimeLabel>,
    is_hidden: bool,
}

/// An entry as a row.
struct BankEntryRow {
    path: String,
    /// The bank, if the list has entries of several.
    bank: Option<Label>,
    key: Label,
    preview: Label,
    updated: TimeLabel,
    expires: Option<TimeLabel>,
}

impl BankEntryRow {
    fn new(
        request: &WebRequest,
        scope: BankScope,
        bank: &BankName,
        key: &Key,
        entry: &BankEntry,
    ) -> Self {
        Self {
            path: entry_path(scope, bank, key),
            bank: None,
            key: Label::cut(key.as_str(), PREVIEW),
            preview: Label::cut(entry.value.as_str(), PREVIEW),
            updated: TimeLabel::exact(request.local(entry.updated_at)),
            expires: entry
                .expires_at()
                .map(|at| TimeLabel::exact(request.local(at))),
        }
    }
}

fn bank_path(scope: BankScope, bank: &BankName) -> String {
    format!("/banks/{scope}/{}", encode(bank.as_str()))
}

fn entry_path(scope: BankScope, bank: &BankName, key: &Key) -> String {
    format!(
        "{}/entry?key={}",
        bank_path(scope, bank),
        encode(key.as_str())
    )
}

/// Parses the parameters of a route.
fn parse_bank((scope, bank): &(String, String)) -> Result<(BankScope, BankName), PageError> {
    Ok((scope.parse()?, bank.parse::<BankName>()?))
}

#[derive(Template)]
#[template(path = "banks.html")]
struct BanksPage {
    layout: Layout,
    banks: Vec<BankRow>,
    search: String,
    matches: Vec<BankEntryRow>,
    unreadable: usize,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let banks = request.banks();
            let rows = bank::list(&banks, ScopeChoice::Detected)?
                .into_iter()
                .map(|listing| BankRow {
                    path: bank_path(listing.scope, &listing.name),
                    name: Label::new(listing.name.as_str()),
                    scope: if listing.scope == BankScope::Project {
                        "project"
                    } else {
                        "user"
                    },
                    updated: listing
                        .state
                        .as_ref()
                        .ok()
                        .map(|(_, at)| TimeLabel::exact(request.local(*at))),
                    keys: listing
                        .state
                        .map(|(keys, _)| keys)
                        .map_err(|error| Label::new(&error.to_string())),
                    is_hidden: listing.is_hidden,
                });
            let rows = rows.collect();
            let (mut matches, mut unreadable) = (Vec::new(), 0);
            let search = request.query.text("search").unwrap_or_default().to_owned();
            if !search.is_empty() {
                let found = bank::search(
                    &banks,
                    &search,
                    BankSearchFields::Values,
                    ScopeChoice::Detected,
                )?;
                unreadable = found.unreadable.len();
                matches.extend(
                    found
                        .matches
                        .iter()
                        .take(MAX_KEYS)
                        .map(|found| BankEntryRow {
                            bank: Some(Label::new(found.bank.as_str())),
                            ..BankEntryRow::new(
                                request,
                                found.scope,
                                &found.bank,
                                &found.key,
                                &found.entry,
                            )
                        }),
                );
            }
            Ok(render(&BanksPage {
                layout: request.layout("Banks"),
                banks: rows,
                search,
                matches,
                unreadable,
            }))
        })
        .await
}

#[derive(Template)]
#[template(path = "bank.html")]
struct BankPage {
    layout: Layout,
    path: String,
    name: Label,
    scope: BankScope,
    search: String,
    entries: Vec<BankEntryRow>,
    total: usize,
    more: usize,
    damaged: Vec<(Label, Label)>,
    schema: Option<SafeHtml>,
}

async fn show_bank(Path(place): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (scope, name) = parse_bank(&place)?;
            let (_, found) = bank::read_bank(&request.banks(), &name, ScopeChoice::Only(scope))?;
            let search = request.query.text("search").unwrap_or_default().to_owned();
            let wanted = search.to_lowercase();
            let matches = |(key, entry): &&(Key, BankEntry)| {
                wanted.is_empty()
                    || key.as_str().to_lowercase().contains(&wanted)
                    || entry.value.as_str().to_lowercase().contains(&wanted)
            };
            let own: Vec<_> = found.entries.iter().filter(matches).collect();
            let page = BankPage {
                layout: request.layout(name.as_str()),
                path: bank_path(scope, &name),
                name: Label::new(name.as_str()),
                scope,
                search,
                total: found.entries.len(),
                more: own.len().saturating_sub(MAX_KEYS),
                entries: own
                    .iter()
                    .take(MAX_KEYS)
                    .map(|(key, entry)| BankEntryRow::new(request, scope, &name, key, entry))
                    .collect(),
                damaged: found
                    .damaged
                    .iter()
                    .map(|(key, why)| (Label::cut(key, PREVIEW), Label::new(why)))
                    .collect(),
                schema: found
                    .meta
                    .schema
                    .as_ref()
                    .map(|schema| SafeHtml::from_text(&format_pretty(schema.as_str()))),
            };
            Ok(render(&page))
        })
        .await
}

#[derive(Template)]
#[template(path = "bank_entry.html")]
struct EntryPage {
    layout: Layout,
    bank_path: String,
    bank: Label,
    key: Label,
    key_text: String,
    /// The text in the form.
    value: String,
    /// The value in the bank, if another program changed it since the form was opened.
    current: Option<SafeHtml>,
    error: Option<String>,
    hint: Option<String>,
    version: String,
    ttl: String,
    created: TimeLabel,
    updated: TimeLabel,
    expires: Option<TimeLabel>,
}

impl EntryPage {
    fn new(
        request: &WebRequest,
        scope: BankScope,
        bank: &BankName,
        key: &Key,
        entry: &BankEntry,
    ) -> Self {
        Self {
            layout: request.layout(key.as_str()),
            bank_path: bank_path(scope, bank),
            bank: Label::new(bank.as_str()),
            key: Label::new(key.as_str()),
            key_text: key.as_str().to_owned(),
            value: format_pretty(entry.value.as_str()),
            current: None,
            error: None,
            hint: None,
            version: version(entry.updated_at),
            ttl: entry.ttl.map(|ttl| ttl.to_string()).unwrap_or_default(),
            created: TimeLabel::exact(request.local(entry.created_at)),
            updated: TimeLabel::exact(request.local(entry.updated_at)),
            expires: entry
                .expires_at()
                .map(|at| TimeLabel::exact(request.local(at))),
        }
    }
}

fn version(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::Nanos, true)
}

async fn show_entry(Path(place): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (scope, name) = parse_bank(&place)?;
            let key: Key = request.query.get("key").parse()?;
            let found = bank::read(&request.banks(), &name, &key, ScopeChoice::Only(scope))?;
            Ok(render(&EntryPage::new(
                request,
                scope,
                &name,
                &key,
                &found.entry,
            )))
        })
        .await
}

/// Returns the request to write the fields `key`, `value` and `ttl`.
fn parse_write(
    request: &WebRequest,
    scope: BankScope,
    bank: BankName,
    condition: BankWriteCondition,
) -> Result<BankWriteRequest, PageError> {
    let form = &request.form;
    let value = form
        .get("value")
        .parse::<JsonText>()
        .map_err(|error| PageError::invalid(format!("the value is not JSON: {error}")))?;
    let ttl = form.text("ttl").map(str::parse::<u64>).transpose();
    let ttl = ttl.map_err(|_| PageError::invalid("the time to live is not a number of seconds"))?;
    let key = form.get("key").parse()?;
    Ok(BankWriteRequest {
        bank,
        key,
        value,
        ttl,
        condition,
        scope: ScopeChoice::Only(scope),
        secrets: SecretPolicy::Refuse,
    })
}

/// Adds an entry.
async fn write_new(Path(place): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (scope, name) = parse_bank(&place)?;
            let path = bank_path(scope, &name);
            bank::write(
                &request.banks(),
                &parse_write(request, scope, name, BankWriteCondition::Absent)?,
            )?;
            Ok(request.redirect(&path))
        })
        .await
}

/// Replaces a value. An invalid value and a conflict show the form again, so that no input is lost.
async fn write_entry(Path(place): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (scope, name) = parse_bank(&place)?;
            let key: Key = request.form.get("key").parse()?;
            let seen = parse_rfc3339(request.form.get("version"))
                .ok_or_else(|| PageError::invalid("the version is invalid"))?;
            let condition = BankWriteCondition::WrittenAt(seen);
            let written = parse_write(request, scope, name.clone(), condition)
                .and_then(|write| bank::write(&request.banks(), &write).map_err(PageError::from));
            let Err(error) = written else {
                return Ok(request.redirect(&bank_path(scope, &name)));
            };
            let found = bank::read(&request.banks(), &name, &key, ScopeChoice::Only(scope))?;
            let is_conflict = error.error.code == Code::Conflict;
            let status = crate::http::status(error.error.code);
            let page = EntryPage::new(request, scope, &name, &key, &found.entry);
            let page = EntryPage {
                current: is_conflict.then(|| SafeHtml::from_text(&page.value)),
                value: request.form.get("value").replace("\r\n", "\n"),
                ttl: request.form.get("ttl").to_owned(),
                // After a conflict, the person has seen the current value and may replace it.
                version: if is_conflict {
                    page.version
                } else {
                    request.form.get("version").to_owned()
                },
                error: Some(error.error.message),
                hint: error.error.hint,
                ..page
            };
            let mut response = render(&page);
            *response.status_mut() = status;
            Ok(response)
        })
        .await
}

async fn delete_entry(Path(place): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (scope, name) = parse_bank(&place)?;
            bank::delete(
                &request.banks(),
                &name,
                &request.form.get("key").parse()?,
                ScopeChoice::Only(scope),
            )?;
            Ok(request.redirect(&bank_path(scope, &name)))
        })
        .await
}

async fn delete_bank(Path(place): Path<(String, String)>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let (scope, name) = parse_bank(&place)?;
            bank::delete_bank(&request.banks(), &name, ScopeChoice::Only(scope))?;
            Ok(request.redirect("/banks"))
        })
        .await
}
