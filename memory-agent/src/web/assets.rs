//! The style sheet, the script and the icons, under paths with the hash of their content.

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
        include_str!("../../assets/phone.js"),
        include_str!("../../assets/preview.js"),
        include_str!("../../assets/import.js"),
    ),
};
const ICON: Asset = Asset {
    name: "icon.svg",
    media_type: "image/svg+xml",
    text: include_str!("../../assets/icon.svg"),
};

/// A picture of the icon for the home screen of a phone, as PNG.
struct Picture {
    name: &'static str,
    bytes: &'static [u8],
}

const ICON_192: Picture = Picture {
    name: "icon-192.png",
    bytes: include_bytes!("../../assets/icon-192.png"),
};
const ICON_512: Picture = Picture {
    name: "icon-512.png",
    bytes: include_bytes!("../../assets/icon-512.png"),
};
/// Its edges may be cut off in any shape.
const MASKABLE: Picture = Picture {
    name: "icon-maskable-512.png",
    bytes: include_bytes!("../../assets/icon-maskable-512.png"),
};

/// The paths of all assets.
#[derive(Debug)]
pub(super) struct AssetPaths {
    pub(super) style: String,
    pub(super) script: String,
    pub(super) icon: String,
    pub(super) icon_192: String,
    pub(super) icon_512: String,
    pub(super) maskable: String,
}

/// Number of digits of the hash in a path.
const HASH_LENGTH: usize = 12;

fn short_hash(bytes: &[u8]) -> String {
    ContentHash::from_bytes(bytes)
        .to_string()
        .chars()
        .take(HASH_LENGTH)
        .collect()
}

/// The paths of all assets. A changed asset has another path, so browsers may cache them for ever.
pub(super) static PATHS: LazyLock<AssetPaths> = LazyLock::new(|| {
    let path = |name: &str, bytes: &[u8]| format!("/assets/{}/{name}", short_hash(bytes));
    let text = |asset: &Asset| path(asset.name, asset.text.as_bytes());
    let picture = |picture: &Picture| path(picture.name, picture.bytes);
    AssetPaths {
        style: text(&STYLE),
        script: text(&SCRIPT),
        icon: text(&ICON),
        icon_192: picture(&ICON_192),
        icon_512: picture(&ICON_512),
        maskable: picture(&MASKABLE),
    }
});

/// Returns an asset. It is the same for everyone, so no session is needed.
pub(super) async fn show(Path((hash, name)): Path<(String, String)>) -> Response {
    let texts =
        [&STYLE, &SCRIPT, &ICON].map(|asset| (asset.name, asset.media_type, asset.text.as_bytes()));
    let pictures =
        [&ICON_192, &ICON_512, &MASKABLE].map(|picture| (picture.name, "image/png", picture.bytes));
    let found = texts
        .into_iter()
        .chain(pictures)
        .find(|(own, _, bytes)| *own == name && short_hash(bytes) == hash);
    let Some((_, media_type, bytes)) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    response
}
