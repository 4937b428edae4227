//! One view of all data that is a list with entries: banks, topics, conversations and instances.
//!
//! Purpose: to find what programs and agents stored beside memories, and to correct it. A person first sees the lists by name, with
//! their size and last change; then the entries of one list; then one entry in a form. Actions by frequency: open, search, sort,
//! edit, add, delete.
//!
//! A page is data, which one template displays: a heading with actions, and parts below each other.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use chrono::{DateTime, NaiveDate, Utc};
use memory_core::text::counted;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::{PageError, render};
use super::html::{Label, SafeHtml};
use super::layout::Layout;
use super::pager::{Pager, SortMenu};
use super::request::WebRequest;
use super::state::WebState;
use super::time_label::TimeLabel;

/// Number of entries of a page.
const PAGE: usize = 100;

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 140;

/// Maximum number of characters of a value in a list.
const MAX_VALUE: usize = 120;

/// The text of a list without an entry that matches.
pub(crate) const NO_MATCH: (&str, &str) = ("Nothing matches", "");

/// The work of a handler of a route with the parameters `P`.
type PageWork<P> = fn(&WebRequest, &P) -> Result<Response, PageError>;

/// The parameters of a route that has none.
#[derive(Clone, Deserialize)]
pub(crate) struct NoParameters;

/// Returns the route of a page.
pub(crate) fn show<P: ToOwned + ?Sized + 'static>(work: PageWork<P>) -> MethodRouter<Arc<WebState>>
where
    P::Owned: DeserializeOwned + Send,
{
    get(move |Path(place): Path<P::Owned>, request: WebRequest| {
        request.respond(move |request| work(request, place.borrow()))
    })
}

/// Returns the route of a form.
pub(crate) fn change<P: ToOwned + ?Sized + 'static>(
    work: PageWork<P>,
) -> MethodRouter<Arc<WebState>>
where
    P::Owned: DeserializeOwned + Send,
{
    post(move |Path(place): Path<P::Owned>, request: WebRequest| {
        request.respond(move |request| work(request, place.borrow()))
    })
}

/// A page of a collection.
#[derive(Template)]
#[template(path = "collection.html")]
pub(crate) struct CollectionPage {
    layout: Layout,
    /// The links to the pages above, in order.
    above: Vec<(Label, String)>,
    heading: Label,
    about: Option<SafeHtml>,
    pub(crate) actions: Vec<PageAction>,
    /// The label of the search field, if there is one, and its text.
    search: Option<(&'static str, String)>,
    sort: Option<SortMenu>,
    parts: Vec<PagePart>,
}

/// A control next to the heading or an entry.
pub(crate) enum PageAction {
    Chip(&'static str),
    Link(&'static str, String),
    Button(ActionButton),
}

/// A button that changes something at once.
pub(crate) struct ActionButton {
    pub(crate) label: &'static str,
    pub(crate) path: String,
    /// The field that names the object.
    pub(crate) field: Option<(&'static str, String)>,
}

/// A part of a page.
pub(crate) enum PagePart {
    Empty(&'static str, &'static str),
    Heading(&'static str),
    Note(String),
    /// What could not be read, and each object with the reason.
    Unreadable(&'static str, Vec<(Label, Label)>),
    /// The names of the columns, each with whether it has numbers, and the rows.
    Table(Vec<(&'static str, bool)>, Vec<TableRow>),
    /// Entries with a description, which is the first cell.
    Cards(Vec<TableRow>),
    Messages(Vec<Message>),
    Text(SafeHtml),
    Facts(Vec<(&'static str, TimeLabel)>),
    Links(Vec<(Label, Option<String>)>),
    /// A folded text with its title.
    Source(&'static str, SafeHtml),
    Failure(String),
    Form(EntryForm),
    Pager(Pager),
}

/// An entry of a list: its title, its page, and the cells after the title.
pub(crate) type EntryRow = (String, Option<String>, Vec<Cell>);

/// A row of a table.
type TableRow = (Label, Option<String>, Vec<SafeHtml>);

/// A list of entries.
pub(crate) struct EntryList {
    /// The names of the columns. The first is the name of an entry.
    pub(crate) columns: &'static [&'static str],
    /// The label of the search in the titles and values; empty if the page has its own search.
    pub(crate) search: &'static str,
    /// The orders, the default first: its value, its name for people, and the column. The first column, 0, is in ascending order, the
    /// others in descending order.
    pub(crate) orders: &'static [(&'static str, &'static str, usize)],
    /// The text of an empty list.
    pub(crate) empty: (&'static str, &'static str),
}

/// A cell of a table.
pub(crate) enum Cell {
    Text(String),
    Html(SafeHtml),
    Chip(&'static str),
    Day(NaiveDate),
    /// A word for a missing value.
    Missing(&'static str),
    /// A value, of which the list shows the start.
    Value(String),
    Error(String),
    Number(u64),
    Time(DateTime<Utc>),
}

impl Cell {
    /// Returns the cell of a time, or of a word if there is none.
    pub(crate) fn time(time: Option<DateTime<Utc>>, otherwise: &'static str) -> Self {
        time.map_or(Self::Missing(otherwise), Self::Time)
    }

    /// Returns the place in an order; only numbers and times have one.
    fn rank(&self) -> Option<i64> {
        match self {
            Self::Number(number) => i64::try_from(*number).ok(),
            Self::Time(time) => Some(time.timestamp_micros()),
            _ => None,
        }
    }

    fn html(&self, request: &WebRequest) -> SafeHtml {
        let within = |element: &str, class: &str, label: &Label| {
            SafeHtml::from_escaped(format!("<{element} class=\"{class}\">{label}</{element}>"))
        };
        match self {
            Self::Text(text) => SafeHtml::of(&Label::new(text)),
            Self::Html(html) => html.clone(),
            Self::Chip(text) => within("span", "chip", &Label::new(text)),
            Self::Day(day) => {
                SafeHtml::from_escaped(format!("<time datetime=\"{day}\">{day}</time>"))
            }
            Self::Missing(word) => within("span", "muted", &Label::new(word)),
            Self::Value(text) => within("code", "", &Label::cut(text, MAX_VALUE)),
            Self::Error(text) => within("span", "error", &Label::new(text)),
            Self::Number(number) => SafeHtml::from_text(&number.to_string()),
            Self::Time(time) => SafeHtml::of(&request.exact(*time)),
        }
    }
}

/// Returns whether the title or a value contains a text in lower case.
fn is_match((title, _, cells): &EntryRow, text: &str) -> bool {
    let values = cells.iter().filter_map(|cell| match cell {
        Cell::Value(value) => Some(value),
        _ => None,
    });
    let mut texts = std::iter::once(title).chain(values);
    texts.any(|own| own.to_lowercase().contains(text))
}

/// A message of a dialogue, or a fact about it.
pub(crate) struct Message {
    pub(crate) author: Option<Label>,
    pub(crate) time: Option<TimeLabel>,
    pub(crate) text: SafeHtml,
    pub(crate) is_assistant: bool,
    pub(crate) delete: Option<ActionButton>,
}

/// A form to add, change or delete something.
pub(crate) struct EntryForm {
    path: String,
    /// The title, if the form is folded.
    title: Option<&'static str>,
    hidden: Vec<(&'static str, String)>,
    fields: Vec<FormField>,
    submit: &'static str,
    cancel: Option<String>,
}

/// A field of a form: its name, label, kind and value.
pub(crate) struct FormField(
    pub(crate) &'static str,
    pub(crate) &'static str,
    pub(crate) FormControl,
    pub(crate) String,
);

/// How a field is edited. Texts and code have a number of lines.
pub(crate) enum FormControl {
    Line,
    Number,
    Text(usize),
    Code(usize),
    Choice(Vec<&'static str>),
}

impl FormField {
    /// Returns an empty field.
    pub(crate) const fn new(name: &'static str, label: &'static str, control: FormControl) -> Self {
        Self(name, label, control, String::new())
    }
}

impl CollectionPage {
    pub(crate) fn new(request: &WebRequest, title: &str, about: &str) -> Self {
        Self {
            layout: request.layout(title),
            above: Vec::new(),
            heading: Label::cut(title, MAX_TITLE),
            about: (!about.is_empty()).then(|| SafeHtml::from_text(about)),
            actions: Vec::new(),
            search: None,
            sort: None,
            parts: Vec::new(),
        }
    }

    /// Adds a link to a page above.
    pub(crate) fn below(mut self, name: &str, path: &str) -> Self {
        self.above
            .push((Label::cut(name, MAX_TITLE), path.to_owned()));
        self
    }

    pub(crate) fn push(&mut self, part: PagePart) {
        self.parts.push(part);
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.push(PagePart::Note(text.into()));
    }

    /// Adds what could not be read, if there is something.
    pub(crate) fn unreadable<'t>(
        &mut self,
        title: &'static str,
        items: impl Iterator<Item = (&'t str, &'t str)>,
    ) {
        let labels = items.map(|(name, why)| (Label::cut(name, MAX_TITLE), Label::new(why)));
        let labels: Vec<_> = labels.collect();
        if !labels.is_empty() {
            self.push(PagePart::Unreadable(title, labels));
        }
    }

    /// Adds the entries of the current page of a list that contain the searched text, in the chosen order.
    pub(crate) fn list(&mut self, request: &WebRequest, mut rows: Vec<EntryRow>, list: &EntryList) {
        self.filter(request, &mut rows, list);
        rows.sort_by(|one, other| one.0.cmp(&other.0));
        if let Some(column) = self.sort(request, list.orders).checked_sub(1) {
            rows.sort_by_key(|(_, _, cells)| Reverse(cells[column].rank()));
        }
        self.push_page(request, rows, list, |rows| {
            PagePart::table(request, list.columns, rows)
        });
    }

    /// Adds the entries of the current page of a list that contain the searched text as cards, in their order.
    pub(crate) fn cards(
        &mut self,
        request: &WebRequest,
        mut rows: Vec<EntryRow>,
        list: &EntryList,
    ) {
        self.filter(request, &mut rows, list);
        self.push_page(request, rows, list, |rows| {
            PagePart::Cards(rows.map(|row| table_row(request, row)).collect())
        });
    }

    /// Removes the entries that do not contain the searched text, if the list has a search of its own.
    fn filter(&mut self, request: &WebRequest, rows: &mut Vec<EntryRow>, list: &EntryList) {
        if !list.search.is_empty() {
            let text = self.search(request, list.search).to_lowercase();
            rows.retain(|row| is_match(row, &text));
        }
    }

    /// Adds a part with the items of the current page, their number and the links to the other pages.
    fn push_page(
        &mut self,
        request: &WebRequest,
        items: Vec<EntryRow>,
        list: &EntryList,
        part: impl FnOnce(std::iter::Take<std::iter::Skip<std::vec::IntoIter<EntryRow>>>) -> PagePart,
    ) {
        let (page, total) = (Pager::page(request), items.len() as u64);
        if total == 0 {
            let is_search = self
                .search
                .as_ref()
                .is_some_and(|(_, text)| !text.is_empty());
            let empty = if is_search { NO_MATCH } else { list.empty };
            return self.push(PagePart::Empty(empty.0, empty.1));
        }
        let pager = Pager::new(request, page, PAGE, total);
        self.push(part(items.into_iter().skip(page * PAGE).take(PAGE)));
        if pager.pages.is_empty() {
            self.note(counted(total, &list.columns[0].to_lowercase()));
        } else {
            self.push(PagePart::Pager(pager));
        }
    }

    /// Adds a button to delete the object of the page.
    pub(crate) fn delete_button(
        &mut self,
        label: &'static str,
        parent: &str,
        field: Option<(&'static str, &str)>,
    ) {
        self.actions.push(PageAction::Button(ActionButton {
            label,
            path: format!("{parent}/delete"),
            field: field.map(|(name, value)| (name, value.to_owned())),
        }));
    }

    /// Adds a folded form.
    pub(crate) fn form(
        &mut self,
        title: &'static str,
        path: String,
        fields: Vec<FormField>,
        submit: &'static str,
    ) {
        self.push(PagePart::Form(EntryForm {
            path,
            title: Some(title),
            hidden: Vec::new(),
            fields,
            submit,
            cancel: None,
        }));
    }

    /// Adds a search field, and returns its text.
    pub(crate) fn search(&mut self, request: &WebRequest, label: &'static str) -> String {
        let text = request.query.text("search").unwrap_or_default().to_owned();
        self.search = Some((label, text.clone()));
        text
    }

    /// Adds a menu of orders, and returns the column of the chosen one.
    pub(crate) fn sort(
        &mut self,
        request: &WebRequest,
        orders: &[(&'static str, &'static str, usize)],
    ) -> usize {
        let words: Vec<_> = orders.iter().map(|order| (order.0, order.1)).collect();
        let (menu, chosen) = SortMenu::new(request, &words);
        self.sort = Some(menu);
        orders[chosen].2
    }

    /// Adds the times at which something happened, if it did.
    pub(crate) fn times<const N: usize>(
        &mut self,
        request: &WebRequest,
        times: [(&'static str, Option<DateTime<Utc>>); N],
    ) {
        let times = times.into_iter();
        let times = times.filter_map(|(name, at)| Some((name, request.exact(at?))));
        self.push(PagePart::Facts(times.collect()));
    }

    pub(crate) fn respond(&self) -> Response {
        render(self)
    }

    /// Adds the form that changes the entry of the page, and a link to the page `back`.
    ///
    /// A change of another version fails with a conflict; see `refused_form.rs`.
    pub(crate) fn editor(
        &mut self,
        [path, back]: [String; 2],
        hidden: Vec<(&'static str, String)>,
        fields: Vec<FormField>,
    ) {
        self.push(PagePart::Form(EntryForm {
            path,
            title: None,
            hidden,
            fields,
            submit: "Save",
            cancel: Some(back),
        }));
    }
}

/// Returns an entry with the HTML of its cells.
fn table_row(request: &WebRequest, (title, path, cells): EntryRow) -> TableRow {
    let cells = cells.iter().map(|cell| cell.html(request)).collect();
    (Label::cut(&title, MAX_TITLE), path, cells)
}

impl PagePart {
    /// Returns a table; `columns` has the names of all its columns.
    pub(crate) fn table(
        request: &WebRequest,
        columns: &[&'static str],
        rows: impl Iterator<Item = EntryRow>,
    ) -> Self {
        let mut columns: Vec<_> = columns.iter().map(|name| (*name, false)).collect();
        let mark_numbers = |(_, _, cells): &EntryRow| {
            for (cell, column) in cells.iter().zip(&mut columns[1..]) {
                column.1 |= matches!(cell, Cell::Number(_));
            }
        };
        let rows = rows.inspect(mark_numbers);
        let rows = rows.map(|row| table_row(request, row)).collect();
        Self::Table(columns, rows)
    }
}
