//! Writing a new memory.
//!
//! Purpose: a thought becomes a memory in seconds, from any page (the button in the header, or the key `n`).
//! First seen: an empty text field with the focus. Everything else is optional and has a sensible value.
//! Actions by frequency: type and save; link to another memory with `[[`; choose readers or a category; check the preview; set an expiry.
//! After saving, the page of the memory offers the undo. `?title=`, `?text=` and `?url=` fill the fields in, for other pages and programs that
//! share a text.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use memory_core::{
    Code, Filter, ListOrder, Memory, PageRequest, Query, SecretPolicy, Services, StoredMemory,
    list, search, write,
};
use serde_json::json;

use super::editor::{EditedFields, Editor};
use crate::web::card::memory_path_of;
use crate::web::error::{PageError, render};
use crate::web::layout::{ALREADY_STORED, Layout};
use crate::web::request::{WebRequest, redirect_with_notice};
use crate::web::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/write", get(show).post(save))
        .route("/write/titles", get(complete_title))
}

#[derive(Template)]
#[template(path = "write.html")]
struct WritePage {
    layout: Layout,
    editor: Editor,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let query = &request.query;
            let texts: Vec<&str> = ["text", "url"]
                .into_iter()
                .filter_map(|name| query.text(name))
                .collect();
            let fields = EditedFields {
                title: query.get("title").trim().to_owned(),
                content: texts.join("\n\n"),
                scope: query.text("scope").map_or_else(
                    || request.services.default_scope().to_string(),
                    str::to_owned,
                ),
                ..EditedFields::default()
            };
            page(request, fields)
        })
        .await
}

fn page(request: &WebRequest, fields: EditedFields) -> Result<Response, PageError> {
    Ok(render(&WritePage {
        layout: request.layout("Write"),
        editor: Editor::new(request, fields, None)?,
    }))
}

async fn save(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let fields = EditedFields::from_form(&request.form);
            if request.form.text("preview").is_some() {
                return page(request, fields);
            }
            let written = write(
                &request.services,
                fields.draft(request)?,
                SecretPolicy::Refuse,
            )
            .map_err(|error| PageError::from(error).in_field_if(Code::SecretFound, "content"))?;
            let path = memory_path_of(&written.id);
            Ok(if written.created || !written.merged.is_empty() {
                request.redirect(&path)
            } else {
                redirect_with_notice(&path, ALREADY_STORED)
            })
        })
        .await
}

/// Number of titles that are offered.
const MAX_TITLES: usize = 8;

/// Returns the titles that match the field `q` as JSON: `[{title, link}]`. Without a word, they are those of the newest memories.
async fn complete_title(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let found = find_titles(&request.services, request.query.get("q"))?;
            let titles: Vec<_> = found
                .iter()
                .map(|stored| json!({ "title": stored.memory.headline(), "link": link_to(&stored.memory) }))
                .collect();
            Ok(([(CONTENT_TYPE, "application/json")], json!(titles).to_string()).into_response())
        })
        .await
}

fn find_titles(services: &Services, text: &str) -> Result<Vec<StoredMemory>, PageError> {
    let words: String = text
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() {
                letter
            } else {
                ' '
            }
        })
        .collect();
    let words = words.trim();
    if words.is_empty() {
        let newest = PageRequest {
            order: ListOrder::Created,
            offset: 0,
            limit: Some(MAX_TITLES),
        };
        return Ok(list(services, &Filter::default(), &newest)?.memories);
    }
    // A search runs after each key, so it uses no model.
    let services = Services {
        embedder: None,
        reranking: None,
        ..services.clone()
    };
    let found = search(
        &services,
        &Query::new(&format!(
            "{words} {}*",
            words.rsplit(' ').next().unwrap_or(words)
        ))
        .limit(MAX_TITLES * 4),
    )?;
    let mut found: Vec<StoredMemory> = found.hits.into_iter().map(|hit| hit.stored).collect();
    // Titles that start with the words come first, then titles that contain them, then other texts.
    let words = words.to_lowercase();
    found.sort_by_key(|stored| {
        let title = stored.memory.headline().to_lowercase();
        (!title.starts_with(&words), !title.contains(&words))
    });
    found.truncate(MAX_TITLES);
    Ok(found)
}

/// Returns the inner text of a wikilink to a memory: its title, or its id if the title has a character with a meaning in links.
fn link_to(memory: &Memory) -> String {
    match memory.title_or_heading() {
        Some(title) if !title.contains(['[', ']', '|', '#', '^', '\n']) => title.to_owned(),
        _ => {
            let shown: String = memory
                .headline()
                .chars()
                .filter(|letter| !['[', ']', '|'].contains(letter))
                .take(60)
                .collect();
            format!("{}|{}", memory.id, shown.trim())
        }
    }
}
