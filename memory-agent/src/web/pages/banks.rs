//! The banks: JSON values under keys, to browse, search and edit.

use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use chrono::SecondsFormat;
use memory_core::bank::{
    self, BankEntry, BankListing, BankMatch, BankName, BankScope, BankSearchFields,
    BankWriteCondition, BankWriteRequest, Key, ScopeChoice,
};
use memory_core::json::{JsonText, format_pretty};
use memory_core::{Code, SecretPolicy, parse_rfc3339};

use crate::web::collection::{
    Cell, CollectionPage, EntryList, EntryRow, FormControl, FormField, NO_MATCH, NoParameters,
    PageAction, PagePart, change, show,
};
use crate::web::error::PageError;
use crate::web::fields::encode;
use crate::web::html::SafeHtml;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Maximum number of matches in all banks.
const MAX_MATCHES: usize = 500;

const BANKS: EntryList = EntryList {
    columns: &["Bank", "Stored in", "Keys", "Changed"],
    search: "",
    orders: &[("name", "name", 0), ("changed", "last changed", 3)],
    empty: (
        "No banks",
        "They appear here when an agent or a program stores a value.",
    ),
};

const ENTRIES: EntryList = EntryList {
    columns: &["Key", "Value", "Changed", "Expires"],
    search: "Search in this bank",
    orders: &[("key", "key", 0), ("changed", "last changed", 2)],
    empty: ("The bank is empty", ""),
};

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/banks", show(show_banks))
        .route(
            "/banks/{scope}/{bank}",
            show(show_bank).merge(change(write_entry)),
        )
        .route("/banks/{scope}/{bank}/delete", change(delete_bank))
        .route(
            "/banks/{scope}/{bank}/entry",
            show(show_entry).merge(change(write_entry)),
        )
        .route("/banks/{scope}/{bank}/entry/delete", change(delete_entry))
}

/// The scope and the name of a bank, as parameters of a route.
type BankPath = (String, String);

/// A bank that a route names.
struct NamedBank {
    scope: BankScope,
    name: BankName,
}

impl NamedBank {
    fn parse((scope, name): &BankPath) -> Result<Self, PageError> {
        Ok(Self {
            scope: scope.parse()?,
            name: name.parse()?,
        })
    }

    fn path(&self) -> String {
        format!("/banks/{}/{}", self.scope, encode(self.name.as_str()))
    }

    fn entry_path(&self, key: &Key) -> String {
        format!("{}/entry?key={}", self.path(), encode(key.as_str()))
    }

    const fn choice(&self) -> ScopeChoice {
        ScopeChoice::Only(self.scope)
    }

    /// Returns where the bank is stored, in words.
    const fn place(&self) -> &'static str {
        match self.scope {
            BankScope::Project => "project",
            BankScope::User => "home",
        }
    }
}

fn show_banks(request: &WebRequest, _: &NoParameters) -> Result<Response, PageError> {
    let about = "JSON values under keys, for agents and programs.";
    let mut page = CollectionPage::new(request, "Banks", about);
    let search = page.search(request, "Search keys and values");
    if !search.is_empty() {
        push_matches(request, &mut page, &search)?;
    }
    let banks = bank::list(&request.banks(), ScopeChoice::Detected)?;
    page.list(request, banks.into_iter().map(bank_row).collect(), &BANKS);
    Ok(page.respond())
}

fn bank_row(listing: BankListing) -> EntryRow {
    let (scope, name) = (listing.scope, listing.name);
    let bank = NamedBank { scope, name };
    let place = if listing.is_hidden {
        "hidden by another bank of this name"
    } else {
        bank.place()
    };
    let (keys, changed) = match listing.state {
        Ok((keys, at)) => (Cell::Number(keys as u64), Cell::Time(at)),
        Err(error) => (Cell::Error(error.to_string()), Cell::Missing("")),
    };
    let path = (!listing.is_hidden).then(|| bank.path());
    let cells = vec![Cell::Text(place.to_owned()), keys, changed];
    (bank.name.to_string(), path, cells)
}

/// Adds the entries of all banks that match a search.
fn push_matches(
    request: &WebRequest,
    page: &mut CollectionPage,
    search: &str,
) -> Result<(), PageError> {
    let (banks, choice) = (request.banks(), ScopeChoice::Detected);
    // The text is searched as it is, as in a bank.
    let pattern = format!("(?i){}", regex::escape(search));
    let found = bank::search(&banks, &pattern, BankSearchFields::Values, choice)?;
    let row = |found: &BankMatch| {
        let (scope, name) = (found.scope, found.bank.clone());
        let path = NamedBank { scope, name }.entry_path(&found.key);
        let bank = Cell::Text(found.bank.to_string());
        let value = Cell::Value(found.entry.value.to_string());
        (found.key.to_string(), Some(path), vec![bank, value])
    };
    page.push(PagePart::Heading("Matches"));
    page.push(if found.matches.is_empty() {
        PagePart::Note(NO_MATCH.0.to_owned())
    } else {
        let rows = found.matches.iter().take(MAX_MATCHES).map(row);
        PagePart::table(request, &["Key", "Bank", "Value"], rows)
    });
    let errors: Vec<_> = found.unreadable.iter().map(ToString::to_string).collect();
    let errors = errors.iter().map(|error| ("Error", error.as_str()));
    page.unreadable("Banks and entries that cannot be read:", errors);
    page.push(PagePart::Heading("All banks"));
    Ok(())
}

fn show_bank(request: &WebRequest, place: &BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(place)?;
    let (_, found) = bank::read_bank(&request.banks(), &bank.name, bank.choice())?;
    let mut page = CollectionPage::new(request, bank.name.as_str(), "").below("Banks", "/banks");
    page.actions = vec![PageAction::Chip(bank.place())];
    page.delete_button("Delete the bank", &bank.path(), None);
    let row = |(key, entry): &(Key, BankEntry)| {
        let value = Cell::Value(entry.value.to_string());
        let expires = Cell::time(entry.expires_at(), "never");
        let cells = vec![value, Cell::Time(entry.updated_at), expires];
        (key.to_string(), Some(bank.entry_path(key)), cells)
    };
    page.list(request, found.entries.iter().map(row).collect(), &ENTRIES);
    let damaged = found.damaged.iter();
    page.unreadable(
        "Entries that cannot be read:",
        damaged.map(|(key, why)| (key.as_str(), why.as_str())),
    );
    let mut fields = vec![FormField::new("key", "Key", FormControl::Line)];
    fields.extend(value_fields("", "", 6));
    page.form("Add an entry", bank.path(), fields, "Add");
    if let Some(schema) = &found.meta.schema {
        let schema = SafeHtml::from_text(&format_pretty(schema.as_str()));
        page.push(PagePart::Source("Schema of the values", schema));
    }
    Ok(page.respond())
}

fn value_fields(value: &str, ttl: &str, rows: usize) -> [FormField; 2] {
    let ttl_label = "Seconds until it expires, from this change; empty for never";
    let code = FormControl::Code(rows);
    [
        FormField("value", "Value, as JSON", code, value.to_owned()),
        FormField("ttl", ttl_label, FormControl::Number, ttl.to_owned()),
    ]
}

fn show_entry(request: &WebRequest, place: &BankPath) -> Result<Response, PageError> {
    let (bank, key): (_, Key) = (NamedBank::parse(place)?, request.query.get("key").parse()?);
    let entry = bank::read(&request.banks(), &bank.name, &key, bank.choice())?.entry;
    let (path, form) = (bank.path(), format!("{}/entry", bank.path()));
    let mut page = CollectionPage::new(request, key.as_str(), "")
        .below("Banks", "/banks")
        .below(bank.name.as_str(), &path);
    page.delete_button("Delete the entry", &form, Some(("key", key.as_str())));
    let times = [
        ("Created", Some(entry.created_at)),
        ("Changed", Some(entry.updated_at)),
        ("Expires", entry.expires_at()),
    ];
    page.times(request, times);
    let ttl = entry.ttl.map(|ttl| ttl.to_string()).unwrap_or_default();
    let fields = value_fields(&format_pretty(entry.value.as_str()), &ttl, 16);
    let version = entry.updated_at.to_rfc3339_opts(SecondsFormat::Nanos, true);
    let hidden = vec![("key", key.to_string()), ("version", version)];
    page.editor([form, path], hidden, fields.into());
    Ok(page.respond())
}

/// Adds or replaces an entry. Without a field `version`, its key must be new.
fn write_entry(request: &WebRequest, place: &BankPath) -> Result<Response, PageError> {
    let (bank, form) = (NamedBank::parse(place)?, &request.form);
    let value: JsonText = form
        .get("value")
        .parse()
        .map_err(|error| PageError::of_field("value", format!("the value is not JSON: {error}")))?;
    let ttl = form.text("ttl").map(str::parse::<u64>).transpose();
    let message = "the time to live is not a number of seconds";
    let ttl = ttl.map_err(|_| PageError::of_field("ttl", message))?;
    let condition = match form.text("version").map(parse_rfc3339) {
        None => BankWriteCondition::Absent,
        Some(Some(seen)) => BankWriteCondition::WrittenAt(seen),
        Some(None) => return Err(PageError::invalid("the version is invalid")),
    };
    let write = BankWriteRequest {
        bank: bank.name.clone(),
        key: form
            .get("key")
            .parse()
            .map_err(|error| PageError::from(error).in_field("key"))?,
        value,
        ttl,
        condition,
        scope: bank.choice(),
        secrets: SecretPolicy::Refuse,
    };
    bank::write(&request.banks(), &write).map_err(|error| {
        let field = match error.code() {
            Code::KeyExists => Some("key"),
            Code::SecretFound | Code::SchemaViolation => Some("value"),
            _ => None,
        };
        let error = PageError::from(error);
        match field {
            Some(field) => error.in_field(field),
            None => error,
        }
    })?;
    Ok(request.redirect(&bank.path()))
}

fn delete_entry(request: &WebRequest, place: &BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(place)?;
    let key = request.form.get("key").parse()?;
    bank::delete(&request.banks(), &bank.name, &key, bank.choice())?;
    Ok(request.redirect(&bank.path()))
}

fn delete_bank(request: &WebRequest, place: &BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(place)?;
    bank::delete_bank(&request.banks(), &bank.name, bank.choice())?;
    Ok(request.redirect("/banks"))
}
