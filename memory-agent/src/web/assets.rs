//! The style sheet, the script and the icon, under paths with the hash of their content.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use memory_core::ContentHash;

/// A file of the page.
struct Asset {
    name: &'static str,
    media_type: &'static str,
    text: &'static str,
}

const STYLE: Asset = Asset {
    name: "app.css",
    media_type: "text/css; charset=utf-8",
    text: include_str!("../../assets/app.css"),
};
const SCRIPT: Asset = Asset {
    name: "app.js",
    media_type: "text/javascript; charset=utf-8",
    // One file for the browser, of parts that share their names.
    text: concat!(
        include_str!("../../assets/decisions.js"),
        include_str!("../../assets/app.js"),
        include_str!("../../assets/forms.js"),
        include_str!("../../assets/graph.js"),
        include_str!("../../assets/palette.js"),
        include_str!("../../assets/preview.js"),
        include_str!("../../assets/import.js"),
    ),
};
const ICON: Asset = Asset {
    name: "icon.svg",
    media_type: "image/svg+xml",
    text: include_str!("../../assets/icon.svg"),
};

/// The paths of all assets.
#[derive(Debug)]
pub(super) struct AssetPaths {
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
}

/// Number of digits of the hash in a path.
const HASH_LENGTH: usize = 12;

fn short_hash(asset: &Asset) -> String {
    ContentHash::of(asset.text)
        .to_string()
        .chars()
        .take(HASH_LENGTH)
        .collect()
}

/// The paths of all assets. A changed asset has another path, so browsers may cache them for ever.
pub(super) static PATHS: LazyLock<AssetPaths> = LazyLock::new(|| {
    let path = |asset: &Asset| format!("/assets/{}/{}", short_hash(asset), asset.name);
    AssetPaths {
        style: path(&STYLE),
        script: path(&SCRIPT),
        icon: path(&ICON),
    }
});

/// Returns an asset. Its text is the same for everyone, so no session is needed.
pub(super) async fn show(Path((hash, name)): Path<(String, String)>) -> Response {
    let found = [&STYLE, &SCRIPT, &ICON]
        .into_iter()
        .find(|asset| asset.name == name && short_hash(asset) == hash);
    let Some(asset) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = asset.text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    response
}
