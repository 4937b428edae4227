//! The health of the home: defects of files, and the state of the program.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use serde_json::Value;

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
        .respond(|request| render_health(request, Some(&request.web.config.host.doctor()?)))
        .await
}

fn render_health(request: &WebRequest, doctor: Option<&Value>) -> Result<Response, PageError> {
    let host = &request.web.config.host;
    let findings = doctor
        .and_then(|report| report.get("findings"))
        .and_then(Value::as_array);
    let page = HealthPage {
        layout: request.layout("Health"),
        is_healthy: findings.is_some_and(Vec::is_empty),
        doctor: doctor.map(render_json),
        status: render_json(&host.status()?),
    };
    Ok(render(&page))
}
