//! The health of the home: defects of files, and the state of the program.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use serde_json::Value;

use crate::tools::without_commands;
use crate::web::error::{PageError, render};
use crate::web::html::SafeHtml;
use crate::web::json_view::render_json;
use crate::web::layout::Layout;
use crate::web::request::WebRequest;
use crate::web::state::WebState;

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route("/health", get(show))
        .route("/health/doctor", get(show_doctor))
}

/// The fields of the report and of the status, and their words on the page. A field with an empty text is left out.
const WORDS: [(&str, &str); 42] = [
    ("began_at", "Last start"),
    ("checked", "Files that were read"),
    ("chores", "Regular work"),
    ("client", "Assistant"),
    ("code", ""),
    ("daemon", "Background service"),
    ("database", "Shared database"),
    ("due", "Reminders that are due"),
    ("due_at", "Next start"),
    ("ended_at", "Last end"),
    ("ending", "Result"),
    ("entries", "Facts and turns of conversations"),
    ("expiring", "Memories that expire soon"),
    ("findings", "Problems"),
    ("fixed", "Corrected"),
    ("healthy", ""),
    ("hint", "Next step"),
    ("inbox", "Notes and proposals in the inbox"),
    ("last_contact", "Last contact"),
    ("name", "Work"),
    ("newer_format", "Written by a newer version"),
    ("outdated_assistants", "Assistants with an old connection"),
    ("outdated_plugins", "Assistants with an old plugin"),
    ("overdue", "Proposals that wait for long"),
    ("page", "Address of this page"),
    ("path", "File"),
    ("pid", "Number of the process"),
    ("principal", "Person"),
    ("proposals", "Proposals of them"),
    ("queued", "Changes that wait for the database"),
    ("queued_since", "Waiting since"),
    ("reachable", "Database answers"),
    ("running", "Running"),
    ("said", "Report"),
    ("socket", "Address for programs"),
    ("started_at", "Started"),
    ("stopped_at", "Stopped"),
    ("trash_bytes", "Bytes in the trash"),
    ("trash_files", "Files in the trash"),
    ("watching", "Watched folders"),
    ("what", "Problem"),
    ("worked_at", "Last change"),
];

/// Returns a report with words in place of the names of its fields, and without commands in its texts.
///
/// A text that consists of a command stays: without it the next step would be empty.
fn with_words(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let named = fields.into_iter().filter_map(|(name, value)| {
                let words = WORDS.iter().find(|(own, _)| *own == name);
                let words = words.map_or(name.as_str(), |(_, words)| words);
                (!words.is_empty()).then(|| (words.to_owned(), with_words(value)))
            });
            Value::Object(named.collect())
        }
        Value::Array(items) => items.into_iter().map(with_words).collect(),
        Value::String(text) => without_commands(&text).unwrap_or(text).into(),
        other => other,
    }
}

#[derive(Template)]
#[template(path = "health.html")]
struct HealthPage {
    layout: Layout,
    /// The findings of the check, which reads every file and is therefore a page of its own.
    doctor: Option<SafeHtml>,
    is_healthy: bool,
    status: SafeHtml,
}

async fn show(request: WebRequest) -> Response {
    request
        .respond(|request| render_health(request, None))
        .await
}

async fn show_doctor(request: WebRequest) -> Response {
    request
        .respond(|request| render_health(request, Some(request.web.config.host.doctor()?)))
        .await
}

fn render_health(request: &WebRequest, doctor: Option<Value>) -> Result<Response, PageError> {
    let host = &request.web.config.host;
    let findings = doctor
        .as_ref()
        .and_then(|report| report.get("findings"))
        .and_then(Value::as_array);
    let page = HealthPage {
        layout: request.layout("Health"),
        is_healthy: findings.is_some_and(Vec::is_empty),
        doctor: doctor.map(|report| render_json(&with_words(report))),
        status: render_json(&with_words(host.status()?)),
    };
    Ok(render(&page))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_next_step_is_never_empty() {
        for (hint, shown) in [
            (
                "restore it from the trash or a backup, or record the deletion with `memory doctor --fix`",
                "restore it from the trash or a backup",
            ),
            (
                "`memory doctor --fix` adds the missing link",
                "`memory doctor --fix` adds the missing link",
            ),
            (
                "close the file; `memory doctor` checks it again",
                "close the file",
            ),
        ] {
            let report = with_words(json!({ "code": "x", "hint": hint }));
            assert_eq!(report, json!({ "Next step": shown }));
        }
    }
}
