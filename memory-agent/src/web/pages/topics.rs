//! The topics: Markdown files about one subject, to browse, search and edit.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::Path;
use axum::response::Response;
use axum::routing::{get, post};
use memory_core::topic::{self, Topic, TopicKind, TopicWriteRequest, Topics};
use memory_core::{Code, ContentHash, SecretPolicy, front_matter};

use crate::web::error::{PageError, render};
use crate::web::fields::encode;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::Layout;
use crate::web::markdown::render_markdown;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

/// Maximum number of matches.
const MAX_MATCHES: usize = 50;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/topics", get(show).post(create))
        .route("/topics/{name}", get(show_topic))
        .route("/topics/{name}/edit", get(show_form).post(edit))
        .route("/topics/{name}/delete", post(delete))
}

fn topics(request: &WebRequest) -> Result<&Topics, PageError> {
    request.services.topics.as_ref().ok_or_else(|| {
        let hint = "start `memory ui` in the folder of a project, or set `topics` in config.yaml";
        PageError::new(Code::PathNotFound, "no folder of topics is open", hint)
    })
}

/// A topic as a row.
struct TopicRow {
    path: String,
    title: Label,
    description: Label,
    kind: &'static str,
    updated: Option<String>,
    problem: Option<Label>,
    snippet: Option<Label>,
}

impl TopicRow {
    fn new(topic: &Topic) -> Self {
        Self {
            path: format!("/topics/{}", encode(topic.name.as_str())),
            title: Label::cut(&topic.title, 140),
            description: Label::cut(&topic.description, 300),
            kind: topic.kind.as_str(),
            updated: topic.updated.map(|day| day.to_string()),
            problem: topic.problem.as_deref().map(Label::new),
            snippet: None,
        }
    }
}

#[derive(Template)]
#[template(path = "topics.html")]
struct TopicsPage {
    layout: Layout,
    is_open: bool,
    place: Label,
    search: String,
    rows: Vec<TopicRow>,
    misnamed: Vec<(Label, Label)>,
    kinds: Vec<TopicKind>,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let search = request.query.text("search").unwrap_or_default().to_owned();
            let mut page = TopicsPage {
                layout: request.layout("Topics"),
                is_open: false,
                place: Label::default(),
                search,
                rows: Vec::new(),
                misnamed: Vec::new(),
                kinds: TopicKind::GIVEN.to_vec(),
            };
            if let Some(topics) = &request.services.topics {
                page.is_open = true;
                page.place = Label::new(&topics.store.location());
                if page.search.is_empty() {
                    let listing = topic::list(topics)?;
                    page.rows = listing.topics.iter().map(TopicRow::new).collect();
                    page.misnamed = listing
                        .misnamed
                        .iter()
                        .map(|(name, why)| (Label::new(name), Label::new(why)))
                        .collect();
                } else {
                    let (hits, _) = topic::search(topics, &page.search, MAX_MATCHES)?;
                    let row = |hit: &topic::TopicHit| TopicRow {
                        snippet: Some(Label::marked(&hit.snippet.text, &hit.snippet.marks)),
                        ..TopicRow::new(&hit.topic)
                    };
                    page.rows = hits.iter().map(row).collect();
                }
            }
            Ok(render(&page))
        })
        .await
}

/// Creates a topic of the fields `name`, `kind`, `description` and `content`.
async fn create(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let name = form.text("name").unwrap_or_default();
            let name = if std::path::Path::new(name)
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("md"))
            {
                name.to_owned()
            } else {
                format!("{name}.md")
            };
            let name: topic::TopicName = name.parse()?;
            if topic::list(topics(request)?)?
                .topics
                .iter()
                .any(|own| own.name == name)
            {
                return Err(PageError::new(
                    Code::InvalidInput,
                    format!("the topic {name} exists already"),
                    "open the topic and edit it",
                ));
            }
            let write = TopicWriteRequest {
                title: None,
                description: form.text("description").map(str::to_owned),
                kind: form.text("kind").map(str::parse).transpose()?,
                content: Some(form.get("content").replace("\r\n", "\n")),
                secrets: SecretPolicy::Refuse,
                name: name.clone(),
            };
            topic::write(topics(request)?, &write)?;
            Ok(request.redirect(&format!("/topics/{}", encode(name.as_str()))))
        })
        .await
}

#[derive(Template)]
#[template(path = "topic.html")]
struct TopicPage {
    layout: Layout,
    path: String,
    title: Label,
    description: Label,
    kind: &'static str,
    updated: Option<String>,
    problem: Option<Label>,
    text: SafeHtml,
    links: Vec<(Label, Option<String>)>,
}

async fn show_topic(Path(name): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let found = topic::read(topics(request)?, &name)?;
            let topic = &found.topic;
            let path = |name: &topic::TopicName| format!("/topics/{}", encode(name.as_str()));
            let page = TopicPage {
                layout: request.layout(&topic.title),
                path: path(&topic.name),
                title: Label::new(&topic.title),
                description: Label::new(&topic.description),
                kind: topic.kind.as_str(),
                updated: topic.updated.map(|day| day.to_string()),
                problem: topic.problem.as_deref().map(Label::new),
                text: render_markdown(front_matter::split(&found.text).body, &|_| None),
                links: found
                    .links
                    .iter()
                    .map(|(link, name)| (Label::new(link), name.as_ref().map(path)))
                    .collect(),
            };
            Ok(render(&page))
        })
        .await
}

#[derive(Template)]
#[template(path = "topic_edit.html")]
struct TopicForm {
    layout: Layout,
    path: String,
    title: Label,
    text: String,
    /// The text in the file, if another program changed it since the form was opened.
    current: Option<SafeHtml>,
    version: String,
}

async fn show_form(Path(name): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let found = topic::read(topics(request)?, &name)?;
            let page = TopicForm {
                layout: request.layout(&format!("Edit {}", found.topic.title)),
                path: format!("/topics/{}", encode(found.topic.name.as_str())),
                title: Label::new(&found.topic.title),
                version: ContentHash::of(&found.text).to_string(),
                text: found.text,
                current: None,
            };
            Ok(render(&page))
        })
        .await
}

/// Replaces the whole text of a topic. A conflict shows both versions.
async fn edit(Path(name): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            let topics = topics(request)?;
            let found = topic::read(topics, &name)?;
            let path = format!("/topics/{}", encode(found.topic.name.as_str()));
            let text = request.form.get("text").replace("\r\n", "\n");
            let version = ContentHash::of(&found.text).to_string();
            if version != request.form.get("version") {
                let page = TopicForm {
                    layout: request.layout(&format!("Edit {}", found.topic.title)),
                    path,
                    title: Label::new(&found.topic.title),
                    text,
                    current: Some(SafeHtml::from_text(&found.text)),
                    version,
                };
                let mut response = render(&page);
                *response.status_mut() = axum::http::StatusCode::CONFLICT;
                return Ok(response);
            }
            // The whole text is replaced only if it is still the same.
            topic::file::replace(
                topics,
                found.topic.name.path(),
                &found.text,
                &text,
                SecretPolicy::Refuse,
            )?;
            Ok(request.redirect(&path))
        })
        .await
}

async fn delete(Path(name): Path<String>, request: WebRequest) -> Response {
    request
        .respond(move |request| {
            topic::delete(topics(request)?, &name)?;
            Ok(request.redirect("/topics"))
        })
        .await
}
