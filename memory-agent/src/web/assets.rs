//! The style sheet, the script and the icons, under paths with the hash of their content.

use std::io::Write as _;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use memory_core::ContentHash;

/// A file of the page.
struct Asset {
    media_type: &'static str,
    bytes: &'static [u8],
    /// The compressed bytes, if they are smaller.
    gzip: Vec<u8>,
    path: String,
}

/// Number of digits of the hash in a path.
const HASH_LENGTH: usize = 12;

impl Asset {
    fn new(name: &'static str, media_type: &'static str, bytes: &'static [u8]) -> Self {
        let hash = ContentHash::from_bytes(bytes).to_string();
        Self {
            media_type,
            bytes,
            gzip: compress(bytes).unwrap_or_default(),
            path: format!("/assets/{}/{name}", &hash[..HASH_LENGTH]),
        }
    }

    fn picture(name: &'static str, bytes: &'static [u8]) -> Self {
        Self::new(name, "image/png", bytes)
    }
}

/// Compresses a file; `None` if that does not make it smaller.
fn compress(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).ok()?;
    encoder
        .finish()
        .ok()
        .filter(|gzip| gzip.len() < bytes.len())
}

/// The assets in the order of [`AssetPaths`].
static ASSETS: LazyLock<[Asset; 6]> = LazyLock::new(|| {
    // One script for the browser, of parts that share their names.
    const SCRIPT: &str = concat!(
        include_str!("../../assets/decisions.js"),
        include_str!("../../assets/app.js"),
        include_str!("../../assets/forms.js"),
        include_str!("../../assets/graph.js"),
        include_str!("../../assets/palette.js"),
        include_str!("../../assets/phone.js"),
        include_str!("../../assets/preview.js"),
        include_str!("../../assets/import.js"),
    );
    let style = include_bytes!("../../assets/app.css");
    let icon = include_bytes!("../../assets/icon.svg");
    [
        Asset::new("app.css", "text/css; charset=utf-8", style),
        Asset::new(
            "app.js",
            "text/javascript; charset=utf-8",
            SCRIPT.as_bytes(),
        ),
        Asset::new("icon.svg", "image/svg+xml", icon),
        Asset::picture("icon-192.png", include_bytes!("../../assets/icon-192.png")),
        Asset::picture("icon-512.png", include_bytes!("../../assets/icon-512.png")),
        // Its edges may be cut off in any shape.
        Asset::picture(
            "icon-maskable-512.png",
            include_bytes!("../../assets/icon-maskable-512.png"),
        ),
    ]
});

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

/// The paths of all assets. A changed asset has another path, so browsers may cache them for ever.
pub(super) static PATHS: LazyLock<AssetPaths> = LazyLock::new(|| {
    let [style, script, icon, icon_192, icon_512, maskable] =
        ASSETS.each_ref().map(|asset| asset.path.clone());
    AssetPaths {
        style,
        script,
        icon,
        icon_192,
        icon_512,
        maskable,
    }
});

/// Returns an asset. It is the same for everyone, so no session is needed.
pub(super) async fn show(
    Path((hash, name)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response {
    let path = format!("/assets/{hash}/{name}");
    let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let accepts_gzip = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| coding.trim() == "gzip");
    let is_compressed = accepts_gzip && !asset.gzip.is_empty();
    let body = if is_compressed {
        asset.gzip.as_slice()
    } else {
        asset.bytes
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(asset.media_type));
    headers.insert(
        CACHE_CONTROL,
        HeaderValue::from_static("public, max-age=31536000, immutable"),
    );
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if is_compressed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
