//! One view of all data that is a list with entries: banks, topics, conversations and instances.
//!
//! Purpose: to find what programs and agents stored beside memories, and to correct it. A person first sees the lists by name, with
//! their size and last change; then the entries of one list; then one entry in a form. Actions by frequency: open, search, sort,
//! edit, add, delete. A change keeps the text of the form if it fails, and shows it with the current text after a conflict.
//!
//! A page is data, which one template displays: a heading with actions, and parts below each other.

use std::fmt::Display;
use std::sync::Arc;

use askama::Template;
use askama::filters::HtmlSafe;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
use memory_core::Code;
use memory_core::text::counted;
use serde::de::DeserializeOwned;

use super::error::{PageError, render};
use super::error_text::as_sentence;
use super::html::{Label, SafeHtml};
use super::layout::Layout;
use super::pager::{Pager, SortMenu};
use super::request::WebRequest;
use super::state::WebState;
use super::time_label::TimeLabel;
use crate::http::status;

/// Number of entries of a page.
const PAGE: usize = 100;

/// Maximum number of characters of a title.
const MAX_TITLE: usize = 140;

/// The work of a handler of a route with the parameters `P`.
type PageWork<P> = fn(&WebRequest, P) -> Result<Response, PageError>;

/// Returns the route of a page.
pub(crate) fn show<P: DeserializeOwned + Send + 'static>(
    work: PageWork<P>,
) -> MethodRouter<Arc<WebState>> {
    get(move |Path(place): Path<P>, request: WebRequest| {
        request.respond(move |request| work(request, place))
    })
}

/// Returns the route of a form.
pub(crate) fn change<P: DeserializeOwned + Send + 'static>(
    work: PageWork<P>,
) -> MethodRouter<Arc<WebState>> {
    post(move |Path(place): Path<P>, request: WebRequest| {
        request.respond(move |request| work(request, place))
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
    /// The names of the columns, and the rows.
    Table(&'static [&'static str], Vec<EntryRow>),
    Cards(Vec<EntryCard>),
    Messages(Vec<Message>),
    Text(SafeHtml),
    Facts(Vec<(&'static str, TimeLabel)>),
    Links(Vec<(Label, Option<String>)>),
    /// A folded text with its title.
    Source(&'static str, SafeHtml),
    /// What an entry is now, after a conflict.
    Current(&'static str, SafeHtml),
    Failure(String, Option<String>),
    Form(EntryForm),
    Pager(Pager),
}

/// An entry as a row of a table: a title, its page, and the cells after it.
pub(crate) type EntryRow = (Label, Option<String>, Vec<Cell>);

/// A cell of a table.
pub(crate) struct Cell {
    html: SafeHtml,
    is_number: bool,
}

impl Cell {
    pub(crate) fn new(html: &impl HtmlSafe) -> Self {
        Self {
            html: SafeHtml::of(html),
            is_number: false,
        }
    }

    pub(crate) fn number(number: impl Display) -> Self {
        Self {
            html: SafeHtml::from_text(&number.to_string()),
            is_number: true,
        }
    }

    /// Returns the cell of an element that contains a label.
    pub(crate) fn within(element: &str, class: &str, label: &Label) -> Self {
        let html = format!("<{element} class=\"{class}\">{label}</{element}>");
        Self::new(&SafeHtml::from_escaped(html))
    }

    /// Returns the cell of a time, or of a word if there is none.
    pub(crate) fn time(time: Option<TimeLabel>, otherwise: &str) -> Self {
        time.map_or_else(
            || Self::within("span", "muted", &Label::new(otherwise)),
            |time| Self::new(&time),
        )
    }
}

/// An entry with a description.
pub(crate) struct EntryCard {
    pub(crate) title: Label,
    pub(crate) path: String,
    pub(crate) text: SafeHtml,
    pub(crate) chip: Option<&'static str>,
    pub(crate) day: Option<String>,
    pub(crate) problem: Option<Label>,
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
#[derive(Default)]
pub(crate) struct EntryForm {
    pub(crate) path: String,
    /// The title, if the form is folded.
    pub(crate) title: Option<&'static str>,
    pub(crate) note: Option<String>,
    pub(crate) hidden: Vec<(&'static str, String)>,
    pub(crate) fields: Vec<FormField>,
    pub(crate) submit: &'static str,
    pub(crate) cancel: Option<String>,
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

    /// Adds the links to the pages above, each with its name and its path.
    pub(crate) fn below<const N: usize>(mut self, above: [(&str, String); N]) -> Self {
        let links = above.map(|(name, path)| (Label::cut(name, MAX_TITLE), path));
        self.above.extend(links);
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

    /// Adds the items of the current page of a list as rows of a table, or the text `empty` if there are none.
    pub(crate) fn table<T>(
        &mut self,
        request: &WebRequest,
        items: Vec<T>,
        columns: &'static [&'static str],
        empty: (&'static str, &'static str),
        row: impl Fn(T) -> EntryRow,
    ) {
        self.list(request, items, columns[0], empty, |items| {
            PagePart::Table(columns, items.map(row).collect())
        });
    }

    /// Adds the items of the current page of a list as cards, or the text `empty` if there are none.
    pub(crate) fn cards(
        &mut self,
        request: &WebRequest,
        cards: Vec<EntryCard>,
        noun: &str,
        empty: (&'static str, &'static str),
    ) {
        self.list(request, cards, noun, empty, |cards| {
            PagePart::Cards(cards.collect())
        });
    }

    /// Adds a part with the items of the current page, their number and the links to the other pages.
    fn list<T>(
        &mut self,
        request: &WebRequest,
        items: Vec<T>,
        noun: &str,
        empty: (&'static str, &'static str),
        part: impl FnOnce(std::iter::Take<std::iter::Skip<std::vec::IntoIter<T>>>) -> PagePart,
    ) {
        let (page, total) = (Pager::page(request), items.len() as u64);
        if total == 0 {
            return self.push(PagePart::Empty(empty.0, empty.1));
        }
        let pager = Pager::new(request, page, PAGE, total);
        self.push(part(items.into_iter().skip(page * PAGE).take(PAGE)));
        if pager.pages.is_empty() {
            self.note(counted(total, &noun.to_lowercase()));
        } else {
            self.push(PagePart::Pager(pager));
        }
    }

    /// Adds a button to delete the object of the page.
    pub(crate) fn delete_button(
        &mut self,
        label: &'static str,
        path: String,
        field: Option<(&'static str, String)>,
    ) {
        self.actions
            .push(PageAction::Button(ActionButton { label, path, field }));
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
            fields,
            submit,
            ..EntryForm::default()
        }));
    }

    /// Adds a search field, and returns its text.
    pub(crate) fn search(&mut self, request: &WebRequest, label: &'static str) -> String {
        let text = request.query.text("search").unwrap_or_default().to_owned();
        self.search = Some((label, text.clone()));
        text
    }

    /// Adds a menu of orders, and returns the value of the chosen one.
    pub(crate) fn sort(
        &mut self,
        request: &WebRequest,
        orders: &[(&'static str, &'static str)],
    ) -> &'static str {
        let (menu, chosen) = SortMenu::new(request, orders);
        self.sort = Some(menu);
        orders[chosen].0
    }

    pub(crate) fn respond(&self) -> Response {
        render(self)
    }

    /// Returns the names of the columns of a table, each with whether it has numbers.
    fn heads(columns: &[&'static str], rows: &[EntryRow]) -> Vec<(&'static str, bool)> {
        let cells = rows.first().map_or(&[][..], |(_, _, cells)| cells);
        let are_numbers = cells.iter().map(|cell| cell.is_number);
        let are_numbers = std::iter::once(false).chain(are_numbers);
        columns.iter().copied().zip(are_numbers).collect()
    }

    fn has_failure(&self) -> bool {
        matches!(self.parts.first(), Some(PagePart::Failure(..)))
    }
}

/// An entry in a form that changes it.
pub(crate) struct EntryEditor {
    pub(crate) page: CollectionPage,
    /// The path of the form, and the path of the page without a change.
    pub(crate) paths: [String; 2],
    pub(crate) hidden: Vec<(&'static str, String)>,
    pub(crate) fields: Vec<FormField>,
    /// The stored text, and its title after a conflict, such as `The value now`.
    pub(crate) current: (&'static str, String),
    /// The version of the stored text.
    pub(crate) version: String,
}

impl EntryEditor {
    pub(crate) fn respond(self) -> Response {
        self.show(StatusCode::OK)
    }

    /// Shows the form again with the input of the person.
    ///
    /// After a conflict the person sees the current text and may replace it.
    pub(crate) fn respond_to_failure(
        mut self,
        request: &WebRequest,
        error: &PageError,
    ) -> Response {
        let code = error.error.code;
        for FormField(name, _, _, value) in &mut self.fields {
            *value = request.form.get(name).replace("\r\n", "\n");
        }
        let hint = error.error.hint.as_deref().map(as_sentence);
        let failure = PagePart::Failure(as_sentence(&error.error.message), hint);
        self.page.parts.insert(0, failure);
        if code == Code::Conflict {
            let (title, text) = &self.current;
            let current = PagePart::Current(title, SafeHtml::from_text(text));
            self.page.parts.insert(1, current);
        } else {
            request.form.get("version").clone_into(&mut self.version);
        }
        self.show(status(code))
    }

    fn show(mut self, status: StatusCode) -> Response {
        let [path, cancel] = self.paths;
        self.hidden.push(("version", self.version));
        self.page.push(PagePart::Form(EntryForm {
            path,
            hidden: self.hidden,
            fields: self.fields,
            submit: "Save",
            cancel: Some(cancel),
            ..EntryForm::default()
        }));
        let mut response = render(&self.page);
        *response.status_mut() = status;
        response
    }
}
