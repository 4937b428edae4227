//! The export of memories as a file.
//!
//! Its purpose: a person takes the memories along, as a copy or to another program.
//! A person first sees the format, then the filter, which may stay empty, and one button.
//! The actions by frequency: export everything; export in the format of another program; export a part.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use memory_core::{Category, Code, Filter, Lifetime, Tags, parse_day};

use super::memory_filter::parse_filter;
use crate::web::error::{PageError, render};
use crate::web::export_download::{ExportRequest, download};
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/export", get(show))
        .route("/export/file", get(send))
}

#[derive(Template)]
#[template(path = "export.html")]
struct ExportPage {
    layout: Layout,
    /// The name and the title of each format, and whether it is chosen.
    formats: Vec<(String, String, bool)>,
    categories: Vec<(&'static str, bool)>,
    /// The values of the text fields: their names, labels, examples and values.
    fields: Vec<(&'static str, &'static str, &'static str, String)>,
    from: String,
    to: String,
    has_history: bool,
    problem: Option<String>,
}

/// The text fields of the filter: the name, the label and an example.
const FIELDS: [(&str, &str, &str); 3] = [
    ("tags", "Tags", "garden, travel"),
    ("scope", "Readers", "project:website"),
    ("source", "Source", "obsidian"),
];

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| Ok(render(&export_page(request, None))))
        .await
}

fn export_page(request: &WebRequest, problem: Option<String>) -> ExportPage {
    let query = &request.query;
    let is_format = |name: &str| query.get("format") == name;
    let formats = request.web.config.host.export_formats().into_iter();
    ExportPage {
        layout: request.layout("Export"),
        formats: formats
            .map(|(name, title)| (name.clone(), title, is_format(&name)))
            .collect(),
        categories: Category::ALL
            .into_iter()
            .map(|category| {
                (
                    category.as_str(),
                    query.get("category") == category.as_str(),
                )
            })
            .collect(),
        fields: FIELDS
            .map(|(name, label, example)| (name, label, example, query.get(name).to_owned()))
            .into(),
        from: query.get("from").to_owned(),
        to: query.get("to").to_owned(),
        has_history: !query.get("history").is_empty(),
        problem,
    }
}

/// Sends the export as a file.
async fn send(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let filter = match filter(request) {
                Ok(filter) => filter,
                Err(problem) => {
                    let page = export_page(request, Some(problem));
                    return Ok((StatusCode::UNPROCESSABLE_ENTITY, render(&page)).into_response());
                }
            };
            let export = ExportRequest {
                format: request.query.get("format").to_owned(),
                filter,
                has_history: !request.query.get("history").is_empty(),
            };
            let exported = request.web.config.host.export(&export)?;
            download(exported).map_err(|error| {
                let message = format!("the export could not be read: {error}");
                PageError::new(Code::Io, message, "try it again")
            })
        })
        .await
}

/// Returns the filter of the form, or why it is invalid. Expired and superseded memories are included.
fn filter(request: &WebRequest) -> Result<Filter, String> {
    let query = &request.query;
    let (filter, ignored) = parse_filter(query);
    if let Some(problem) = ignored.into_iter().next() {
        return Err(problem);
    }
    let day = |name: &str| match query.text(name) {
        None => Ok(None),
        Some(text) => match parse_day(text) {
            Some(day) => Ok(Some(day)),
            None => Err(format!("{text:?} is not a day such as 2026-05-31")),
        },
    };
    let zone = request.zone();
    let start = |day: memory_core::chrono::NaiveDate| {
        zone.at_local(day.and_time(memory_core::chrono::NaiveTime::MIN))
    };
    let last = day("to")?.and_then(|day| day.succ_opt());
    let tags = query.get("tags").split(',').map(str::trim);
    Ok(Filter {
        from: day("from")?.map(start),
        until: last.map(start),
        tags: tags.filter(|tag| !tag.is_empty()).collect::<Tags>(),
        place: None,
        lifetime: Lifetime::All,
        ..filter
    })
}
