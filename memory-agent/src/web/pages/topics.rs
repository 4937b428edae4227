//! The topics: Markdown files about one subject, to browse, search and edit.

use std::cmp::Reverse;
use std::sync::Arc;

use axum::Router;
use axum::response::Response;
use memory_core::topic::{self, Topic, TopicKind, TopicName, TopicWriteRequest, Topics};
use memory_core::{Code, ContentHash, SecretPolicy, front_matter};

use crate::web::collection::{
    Cell, CollectionPage, EntryList, EntryRow, FormControl, FormField, NoParameters, PageAction,
    PagePart, change, show,
};
use crate::web::error::PageError;
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Maximum number of matches.
const MAX_MATCHES: usize = 50;

/// The search finds also words within the texts, the best match first.
const TOPICS: EntryList = EntryList {
    columns: &["Topic"],
    search: "",
    orders: &[("index", "index", 0), ("changed", "last changed", 1)],
    empty: ("No topics", "Agents write topics, and so can you below."),
};

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/topics", show(show_topics).merge(change(create)))
        .route("/topics/{name}", show(show_topic))
        .route("/topics/{name}/edit", show(show_form).merge(change(edit)))
        .route("/topics/{name}/delete", change(delete))
}

fn topics(request: &WebRequest) -> Result<&Topics, PageError> {
    request.services.topics.as_ref().ok_or_else(|| {
        let hint = "Topics are in the folder of a project: open the page from there, or name a folder in the settings.";
        PageError::new(Code::PathNotFound, "no folder of topics is open", hint)
    })
}

fn path_of(name: &TopicName) -> String {
    format!("/topics/{}", encode(name.as_str()))
}

fn card(topic: &Topic, text: &Label) -> EntryRow {
    let mut cells = vec![
        Cell::Html(SafeHtml::of(text)),
        Cell::Chip(topic.kind.as_str()),
    ];
    cells.extend(topic.updated.map(Cell::Day));
    cells.extend(topic.problem.clone().map(Cell::Error));
    (topic.title.clone(), Some(path_of(&topic.name)), cells)
}

fn show_topics(request: &WebRequest, _: &NoParameters) -> Result<Response, PageError> {
    let Some(topics) = &request.services.topics else {
        let mut page = CollectionPage::new(request, "Topics", "");
        page.push(PagePart::Empty(
            "No folder of topics",
            "Start this page in the folder of a project that has topics.",
        ));
        return Ok(page.respond());
    };
    let about = format!(
        "Markdown files in {}, listed in an index that agents read at the start of a session.",
        topics.store.location()
    );
    let mut page = CollectionPage::new(request, "Topics", &about);
    let search = page.search(request, "Search topics");
    let mut misnamed = Vec::new();
    let is_by_change = page.sort(request, TOPICS.orders) == 1;
    let cards: Vec<_> = if search.is_empty() {
        let mut found = topic::list(topics)?;
        if is_by_change {
            found.topics.sort_by_key(|topic| Reverse(topic.updated));
        }
        misnamed = found.misnamed;
        let describe = |topic| card(topic, &Label::cut(&topic.description, 300));
        found.topics.iter().map(describe).collect()
    } else {
        let (mut hits, _) = topic::search(topics, &search, MAX_MATCHES)?;
        if is_by_change {
            hits.sort_by_key(|hit| Reverse(hit.topic.updated));
        }
        let hits = hits.iter().map(|hit| {
            let snippet = Label::marked(&hit.snippet.text, &hit.snippet.marks);
            card(&hit.topic, &snippet)
        });
        hits.collect()
    };
    page.cards(request, cards, &TOPICS);
    page.unreadable(
        "Files that are not topics because of their names:",
        misnamed
            .iter()
            .map(|(name, why)| (name.as_str(), why.as_str())),
    );
    let kinds = TopicKind::GIVEN.iter().map(|kind| kind.as_str()).collect();
    let fields = vec![
        FormField::new("name", "File name, such as editor.md", FormControl::Line),
        FormField::new("kind", "Type", FormControl::Choice(kinds)),
        FormField::new("description", "Description, on one line", FormControl::Line),
        FormField::new("content", "Text", FormControl::Text(8)),
    ];
    page.form("Add a topic", "/topics".to_owned(), fields, "Add");
    Ok(page.respond())
}

/// Creates a topic of the fields `name`, `kind`, `description` and `content`.
fn create(request: &WebRequest, _: &NoParameters) -> Result<Response, PageError> {
    let form = &request.form;
    let name = form.text("name").unwrap_or_default();
    let has_extension = std::path::Path::new(name)
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("md"));
    let extension = if has_extension { "" } else { ".md" };
    let name: TopicName = format!("{name}{extension}")
        .parse()
        .map_err(|error| PageError::from(error).in_field("name"))?;
    let existing = topic::list(topics(request)?)?.topics;
    if existing.iter().any(|own| own.name == name) {
        return Err(PageError::exists(&format!("the topic {name}")).in_field("name"));
    }
    let write = TopicWriteRequest {
        title: None,
        description: form.text("description").map(str::to_owned),
        kind: form
            .text("kind")
            .map(str::parse)
            .transpose()
            .map_err(|error| PageError::from(error).in_field("kind"))?,
        content: Some(form.get("content").replace("\r\n", "\n")),
        secrets: SecretPolicy::Refuse,
        name: name.clone(),
    };
    topic::write(topics(request)?, &write)
        .map_err(|error| PageError::from(error).in_field_if(Code::SecretFound, "content"))?;
    Ok(request.redirect(&path_of(&name)))
}

fn show_topic(request: &WebRequest, name: &str) -> Result<Response, PageError> {
    let found = topic::read(topics(request)?, name)?;
    let (topic, path) = (&found.topic, path_of(&found.topic.name));
    let mut page =
        CollectionPage::new(request, &topic.title, &topic.description).below("Topics", "/topics");
    page.actions = vec![
        PageAction::Chip(topic.kind.as_str()),
        PageAction::Link("Edit", format!("{path}/edit")),
    ];
    page.delete_button("Delete", &path, None);
    if let Some(problem) = &topic.problem {
        page.push(PagePart::Failure(problem.clone()));
    }
    let body = front_matter::split(&found.text).body;
    page.push(PagePart::Text(render_markdown(body, &|_| None)));
    if !found.links.is_empty() {
        let links = found.links.iter();
        let links = links.map(|(link, name)| (Label::new(link), name.as_ref().map(path_of)));
        page.push(PagePart::Links(links.collect()));
    }
    if let Some(day) = topic.updated {
        page.note(format!("Changed on {day}"));
    }
    Ok(page.respond())
}

fn show_form(request: &WebRequest, name: &str) -> Result<Response, PageError> {
    let found = topic::read(topics(request)?, name)?;
    let (title, path) = (&found.topic.title, path_of(&found.topic.name));
    let mut page = CollectionPage::new(request, &format!("Edit {title}"), "")
        .below("Topics", "/topics")
        .below(title, &path);
    let (label, control) = ("The whole file, with its header", FormControl::Code(24));
    let version = ContentHash::of(&found.text).to_string();
    page.editor(
        [format!("{path}/edit"), path],
        vec![("version", version)],
        vec![FormField("text", label, control, found.text)],
    );
    Ok(page.respond())
}

/// Replaces the whole text of a topic.
fn edit(request: &WebRequest, name: &str) -> Result<Response, PageError> {
    let topics = topics(request)?;
    let found = topic::read(topics, name)?;
    let text = request.form.get("text").replace("\r\n", "\n");
    if ContentHash::of(&found.text).to_string() != request.form.get("version") {
        return Err(PageError::changed("the file"));
    }
    // The whole text is replaced only if it is still the same.
    let path = found.topic.name.path();
    topic::file::replace(topics, path, &found.text, &text, SecretPolicy::Refuse)
        .map_err(|error| PageError::from(error).in_field("text"))?;
    Ok(request.redirect(&path_of(&found.topic.name)))
}

fn delete(request: &WebRequest, name: &str) -> Result<Response, PageError> {
    topic::delete(topics(request)?, name)?;
    Ok(request.redirect("/topics"))
}
