//! Exports, which the browser stores as files.

use std::fs::File;
use std::io::{self, Read};

use axum::body::{Body, Bytes};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use axum::response::Response;
use memory_core::Filter;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::events::ChannelBody;

/// The memories that are exported, and how.
#[derive(Debug, Clone)]
pub struct ExportRequest {
    /// The name of the format.
    pub format: String,
    /// The filter of the memories.
    pub filter: Filter,
    /// Whether previous versions are included, if the format can contain them.
    pub has_history: bool,
}

/// An export.
#[derive(Debug)]
pub struct ExportDownload {
    /// The name of the file: ASCII characters without quotation marks.
    pub name: String,
    /// Its media type.
    pub media_type: &'static str,
    /// Its content, from the start.
    pub file: File,
}

/// Size of the parts in which a file is sent, in bytes.
const PART: usize = 64 << 10;

/// Returns a response that the browser stores as a file.
pub(super) fn download(exported: ExportDownload) -> io::Result<Response> {
    let ExportDownload {
        name,
        media_type,
        mut file,
    } = exported;
    let size = file.metadata()?.len();
    let (sender, receiver) = mpsc::channel(2);
    spawn_blocking(move || {
        let mut part = vec![0; PART];
        loop {
            let read = match file.read(&mut part) {
                Ok(0) => return,
                Ok(count) => Ok(Bytes::copy_from_slice(&part[..count])),
                Err(error) => Err(error),
            };
            let is_end = read.is_err();
            // A closed channel means that the browser left.
            if sender.blocking_send(read).is_err() || is_end {
                return;
            }
        }
    });
    let mut response = Response::new(Body::new(ChannelBody(receiver)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(size));
    let disposition = format!("attachment; filename=\"{name}\"");
    let disposition = HeaderValue::try_from(disposition).map_err(io::Error::other)?;
    headers.insert(CONTENT_DISPOSITION, disposition);
    Ok(response)
}
