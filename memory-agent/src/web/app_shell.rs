//! What makes the page an app on a phone: its manifest, its icons, and the page that is shown while the computer is out of reach.
//!
//! - Purpose: open the memory from the home screen, and send a text to it from the share menu of another app.
//! - First thing a person sees: the usual first page; out of reach, one sentence that says why, and *Try again*.
//! - Actions by frequency: open, share a text (`/write`), try again.
//! - The service worker stores style, script, icons and that one page, and never a memory. It answers no form.
//!
//! These responses are the same for everyone, so they need no session.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use serde_json::json;

use super::assets::PATHS;
use super::error::render;
use super::layout::Layout;
use super::state::WebState;

const MANIFEST: &str = "/manifest.webmanifest";
const WORKER: &str = "/service-worker.js";
const OFFLINE: &str = "/offline";

/// The background of the header in the light theme, as in the style sheet.
const THEME: &str = "#ffffff";

/// The background of the page in the light theme, as in the style sheet.
const BACKGROUND: &str = "#f6f6f3";

/// Returns whether the response for a path is the same for everyone.
pub(super) fn is_public(path: &str) -> bool {
    path.starts_with("/assets/") || [MANIFEST, WORKER, OFFLINE].contains(&path)
}

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new()
        .route(MANIFEST, get(show_manifest))
        .route(WORKER, get(show_worker))
        .route(OFFLINE, get(|| async { render(&OfflinePage::new()) }))
}

#[derive(Template)]
#[template(path = "offline.html")]
struct OfflinePage {
    layout: Layout,
}

impl OfflinePage {
    fn new() -> Self {
        Self {
            layout: Layout::signed_out("Out of reach"),
        }
    }
}

async fn show_manifest() -> Response {
    let picture = |path: &str, size: u32, purpose: &str| json!({ "src": path, "sizes": format!("{size}x{size}"), "type": "image/png", "purpose": purpose });
    let shortcut = |name: &str, url: &str| json!({ "name": name, "url": url });
    let manifest = json!({
        "id": "/",
        "name": "Memory",
        "short_name": "Memory",
        "description": "One memory for all your assistants, on your own computer",
        "start_url": "/",
        "scope": "/",
        "display": "standalone",
        "theme_color": THEME,
        "background_color": BACKGROUND,
        "icons": [
            { "src": PATHS.icon, "sizes": "any", "type": "image/svg+xml" },
            picture(&PATHS.icon_192, 192, "any"),
            picture(&PATHS.icon_512, 512, "any"),
            picture(&PATHS.maskable, 512, "maskable"),
        ],
        "shortcuts": [shortcut("Inbox", "/inbox"), shortcut("Reminders", "/reminders")],
        "share_target": { "action": "/write", "method": "GET", "params": { "title": "title", "text": "text" } },
    });
    with_type("application/manifest+json", manifest.to_string())
}

async fn show_worker() -> Response {
    let shell = json!([
        OFFLINE,
        PATHS.style,
        PATHS.script,
        PATHS.icon,
        PATHS.icon_192
    ]);
    let text = format!(
        "const OFFLINE = {};\nconst SHELL = {shell};\n{}",
        json!(OFFLINE),
        include_str!("../../assets/service-worker.js")
    );
    with_type("text/javascript; charset=utf-8", text)
}

/// Returns a response that browsers check for changes each time.
fn with_type(media_type: &'static str, text: String) -> Response {
    (
        [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "no-cache")],
        text,
    )
        .into_response()
}
