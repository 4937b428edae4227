//! The banks: JSON values under keys, to browse, search and edit.

#![expect(
    clippy::needless_pass_by_value,
    reason = "the parameters of a route belong to its handler"
)]

use std::cmp::Reverse;
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use chrono::SecondsFormat;
use memory_core::bank::{
    self, BankEntry, BankListing, BankMatch, BankName, BankScope, BankSearchFields,
    BankWriteCondition, BankWriteRequest, Key, ScopeChoice,
};
use memory_core::json::{JsonText, format_pretty};
use memory_core::text::counted;
use memory_core::{SecretPolicy, parse_rfc3339};

use crate::web::collection::{
    Cell, CollectionPage, EntryEditor, EntryForm, EntryRow, FormControl, FormField, PageAction,
    PagePart, change, show,
};
use crate::web::error::PageError;
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Number of characters of a value in a list.
const PREVIEW: usize = 120;

/// Maximum number of matches in all banks.
const MAX_MATCHES: usize = 500;

const NO_MATCH: &str = "No key and no value matches";

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/banks", show(show_banks))
        .route(
            "/banks/{scope}/{bank}",
            show(show_bank).merge(change(add_entry)),
        )
        .route("/banks/{scope}/{bank}/delete", change(delete_bank))
        .route(
            "/banks/{scope}/{bank}/entry",
            show(show_entry).merge(change(replace_entry)),
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

fn preview(entry: &BankEntry) -> Cell {
    let text = Label::cut(entry.value.as_str(), PREVIEW);
    Cell::within("code", "", &text)
}

fn show_banks(request: &WebRequest, (): ()) -> Result<Response, PageError> {
    let about = "JSON values under keys, for agents and programs.";
    let mut page = CollectionPage::new(request, "Banks", about);
    let search = page.search(request, "Search keys and values");
    if !search.is_empty() {
        push_matches(request, &mut page, &search)?;
    }
    let mut banks = bank::list(&request.banks(), ScopeChoice::Detected)?;
    banks.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    if page.sort(request, &[("name", "name"), ("changed", "last changed")]) == "changed" {
        banks.sort_by_key(|bank| Reverse(bank.state.as_ref().ok().map(|(_, at)| *at)));
    }
    let columns = &["Bank", "Stored in", "Keys", "Changed"];
    let about = "They appear here when an agent or a program stores a value.";
    page.table(request, banks, columns, ("No banks", about), |bank| {
        bank_row(request, bank)
    });
    Ok(page.respond())
}

fn bank_row(request: &WebRequest, listing: BankListing) -> EntryRow {
    let (scope, name) = (listing.scope, listing.name);
    let bank = NamedBank { scope, name };
    let place = if listing.is_hidden {
        "hidden by another bank of this name"
    } else {
        bank.place()
    };
    let (keys, changed) = match listing.state {
        Ok((keys, at)) => (Cell::number(keys), Some(request.exact(at))),
        Err(error) => {
            let error = Label::new(&error.to_string());
            (Cell::within("span", "error", &error), None)
        }
    };
    let cells = vec![Cell::new(&Label::new(place)), keys, Cell::time(changed, "")];
    let path = (!listing.is_hidden).then(|| bank.path());
    (Label::new(bank.name.as_str()), path, cells)
}

/// Adds the entries of all banks that match a search.
fn push_matches(
    request: &WebRequest,
    page: &mut CollectionPage,
    search: &str,
) -> Result<(), PageError> {
    let (banks, choice) = (request.banks(), ScopeChoice::Detected);
    let found = bank::search(&banks, search, BankSearchFields::Values, choice)?;
    let row = |found: &BankMatch| {
        let (scope, name) = (found.scope, found.bank.clone());
        let path = NamedBank { scope, name }.entry_path(&found.key);
        let bank = Cell::new(&Label::new(found.bank.as_str()));
        let key = Label::cut(found.key.as_str(), PREVIEW);
        (key, Some(path), vec![bank, preview(&found.entry)])
    };
    page.push(PagePart::Heading("Matches"));
    page.push(if found.matches.is_empty() {
        PagePart::Note(NO_MATCH.to_owned())
    } else {
        let matches = found.matches.iter().take(MAX_MATCHES);
        PagePart::Table(&["Key", "Bank", "Value"], matches.map(row).collect())
    });
    let errors: Vec<_> = found.unreadable.iter().map(ToString::to_string).collect();
    let errors = errors.iter().map(|error| ("Error", error.as_str()));
    page.unreadable("Banks and entries that cannot be read:", errors);
    page.push(PagePart::Heading("All banks"));
    Ok(())
}

fn show_bank(request: &WebRequest, place: BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(&place)?;
    let (_, found) = bank::read_bank(&request.banks(), &bank.name, bank.choice())?;
    let mut page = CollectionPage::new(request, bank.name.as_str(), "")
        .below([("Banks", "/banks".to_owned())]);
    page.actions = vec![PageAction::Chip(bank.place())];
    let search = page.search(request, "Search in this bank").to_lowercase();
    let is_match = |text: &str| text.to_lowercase().contains(&search);
    let mut own: Vec<_> = found.entries.iter().collect();
    own.sort_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
    own.retain(|(key, entry)| is_match(key.as_str()) || is_match(entry.value.as_str()));
    if page.sort(request, &[("key", "key"), ("changed", "last changed")]) == "changed" {
        own.sort_by_key(|(_, entry)| Reverse(entry.updated_at));
    }
    let row = |(key, entry): &(Key, BankEntry)| {
        let changed = Cell::time(Some(request.exact(entry.updated_at)), "");
        let expires = entry.expires_at().map(|at| request.exact(at));
        let cells = vec![preview(entry), changed, Cell::time(expires, "never")];
        let title = Label::cut(key.as_str(), PREVIEW);
        (title, Some(bank.entry_path(key)), cells)
    };
    let columns = &["Key", "Value", "Changed", "Expires"];
    let title = if search.is_empty() {
        "The bank is empty"
    } else {
        NO_MATCH
    };
    page.table(request, own, columns, (title, ""), row);
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
    let keys = counted(found.entries.len() as u64, "key");
    page.push(PagePart::Form(EntryForm {
        path: format!("{}/delete", bank.path()),
        title: Some("Delete the bank"),
        note: Some(format!(
            "The bank with {keys} goes to the trash. Undo brings it back."
        )),
        submit: "Delete",
        ..EntryForm::default()
    }));
    Ok(page.respond())
}

fn value_fields(value: &str, ttl: &str, rows: usize) -> [FormField; 2] {
    let ttl_label = "Seconds until it expires, from this change; empty for never";
    [
        FormField(
            "value",
            "Value, as JSON",
            FormControl::Code(rows),
            value.to_owned(),
        ),
        FormField("ttl", ttl_label, FormControl::Number, ttl.to_owned()),
    ]
}

/// Returns the form of a stored entry.
fn editor(request: &WebRequest, bank: &NamedBank, key: &Key) -> Result<EntryEditor, PageError> {
    let entry = bank::read(&request.banks(), &bank.name, key, bank.choice())?.entry;
    let mut page = CollectionPage::new(request, key.as_str(), "").below([
        ("Banks", "/banks".to_owned()),
        (bank.name.as_str(), bank.path()),
    ]);
    let key_field = ("key", key.to_string());
    let path = format!("{}/entry/delete", bank.path());
    page.delete_button("Delete the entry", path, Some(key_field.clone()));
    let times = [
        ("Created", Some(entry.created_at)),
        ("Changed", Some(entry.updated_at)),
        ("Expires", entry.expires_at()),
    ];
    let times = times.into_iter();
    page.push(PagePart::Facts(
        times
            .filter_map(|(name, at)| Some((name, request.exact(at?))))
            .collect(),
    ));
    let value = format_pretty(entry.value.as_str());
    let ttl = entry.ttl.map(|ttl| ttl.to_string()).unwrap_or_default();
    Ok(EntryEditor {
        page,
        paths: [format!("{}/entry", bank.path()), bank.path()],
        hidden: vec![key_field],
        fields: value_fields(&value, &ttl, 16).into(),
        current: ("The value now", value),
        version: entry.updated_at.to_rfc3339_opts(SecondsFormat::Nanos, true),
    })
}

fn show_entry(request: &WebRequest, place: BankPath) -> Result<Response, PageError> {
    let key = request.query.get("key").parse()?;
    Ok(editor(request, &NamedBank::parse(&place)?, &key)?.respond())
}

/// Writes the fields `key`, `value` and `ttl`.
fn write(
    request: &WebRequest,
    bank: &NamedBank,
    condition: BankWriteCondition,
) -> Result<(), PageError> {
    let form = &request.form;
    let value: Result<JsonText, _> = form.get("value").parse();
    let value =
        value.map_err(|error| PageError::invalid(format!("the value is not JSON: {error}")))?;
    let ttl = form.text("ttl").map(str::parse::<u64>).transpose();
    let ttl = ttl.map_err(|_| PageError::invalid("the time to live is not a number of seconds"))?;
    let write = BankWriteRequest {
        bank: bank.name.clone(),
        key: form.get("key").parse()?,
        value,
        ttl,
        condition,
        scope: bank.choice(),
        secrets: SecretPolicy::Refuse,
    };
    bank::write(&request.banks(), &write)?;
    Ok(())
}

fn add_entry(request: &WebRequest, place: BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(&place)?;
    write(request, &bank, BankWriteCondition::Absent)?;
    Ok(request.redirect(&bank.path()))
}

fn replace_entry(request: &WebRequest, place: BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(&place)?;
    let key = request.form.get("key").parse()?;
    let seen = parse_rfc3339(request.form.get("version"))
        .ok_or_else(|| PageError::invalid("the version is invalid"))?;
    match write(request, &bank, BankWriteCondition::WrittenAt(seen)) {
        Ok(()) => Ok(request.redirect(&bank.path())),
        Err(error) => Ok(editor(request, &bank, &key)?.respond_to_failure(request, &error)),
    }
}

fn delete_entry(request: &WebRequest, place: BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(&place)?;
    let key = request.form.get("key").parse()?;
    bank::delete(&request.banks(), &bank.name, &key, bank.choice())?;
    Ok(request.redirect(&bank.path()))
}

fn delete_bank(request: &WebRequest, place: BankPath) -> Result<Response, PageError> {
    let bank = NamedBank::parse(&place)?;
    bank::delete_bank(&request.banks(), &bank.name, bank.choice())?;
    Ok(request.redirect("/banks"))
}
