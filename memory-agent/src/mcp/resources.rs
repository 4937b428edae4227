//! Exposes memories as MCP resources.

use memory_core::secret::without_secrets;
use memory_core::text::{to_one_line, token_count};
use memory_core::{
    Fault, Filter, ListOrder, MemoryStoreExt, Overview, PageRequest, RecalledId, Services,
    StoreError, StoredMemory, ToolError, escape_tags,
};
use rmcp::ErrorData;
use rmcp::model::{
    ErrorCode, ListResourcesResult, ReadResourceResult, Resource, ResourceContents,
    ResourceTemplate,
};
use serde_json::json;

use crate::agent::Session;

/// The URI of the overview.
const INDEX_URI: &str = "memory://index";

/// The URI prefix of a memory.
const NOTE_URI: &str = "memory://note/";

/// Number of memories per page.
const PAGE_SIZE: usize = 100;

const MARKDOWN: &str = "text/markdown";

/// Lists the index and the memories, newest first, by page; the cursor is the offset of the page.
pub(super) fn list(
    services: &Services,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let offset = cursor
        .map_or(Ok(0), str::parse)
        .map_err(|_| ErrorData::invalid_params("invalid cursor", None))?;
    let slice = PageRequest {
        order: ListOrder::Created,
        offset,
        limit: Some(PAGE_SIZE),
    };
    let page = memory_core::list(services, &Filter::default(), &slice)
        .map_err(|error| store_error(error, INDEX_URI))?;
    let index = || {
        let index = Resource::new(INDEX_URI, "index").with_title("Overview");
        index
            .with_description("Number of memories per category, and the newest memories")
            .with_mime_type(MARKDOWN)
    };
    let mut resources: Vec<Resource> = (offset == 0).then(index).into_iter().collect();
    resources.extend(page.memories.iter().map(resource));
    let next = offset + page.memories.len();
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor =
        ((next as u64) < page.total && !page.memories.is_empty()).then(|| next.to_string());
    Ok(result)
}

fn resource(stored: &StoredMemory) -> Resource {
    let memory = &stored.memory;
    let stem = stored
        .path
        .rsplit('/')
        .next()
        .unwrap_or_default()
        .trim_end_matches(".md");
    Resource::new(format!("{NOTE_URI}{}", memory.id), escape_tags(stem))
        .with_title(escape_tags(&to_one_line(memory.headline(), 80)))
        .with_description(format!(
            "{} of {}",
            memory.category,
            memory.created_at.format("%Y-%m-%d")
        ))
        .with_mime_type(MARKDOWN)
}

/// Describes the URI of a memory.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{NOTE_URI}{{id}}"), "note")
        .with_title("One memory")
        .with_mime_type(MARKDOWN)
}

/// Reads the index or a memory.
pub(super) fn read(session: &Session, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let services = &session.services();
    let (text, recalled) = match uri.strip_prefix(NOTE_URI) {
        Some(id) => {
            let found = services.store.get_by(id);
            let stored = found.map_err(|error| resource_error(error, uri))?;
            let recalled = vec![RecalledId::from(&stored)];
            (stored.memory.content, recalled)
        }
        None if uri == INDEX_URI => {
            let Overview { text, memories } =
                memory_core::overview(services).map_err(|error| resource_error(error, uri))?;
            (
                text,
                memories
                    .iter()
                    .map(|id| RecalledId::unranked(id.to_string()))
                    .collect(),
            )
        }
        None => return Err(not_found_error(uri)),
    };
    session.record_recall("resource", None, recalled, token_count(&text));
    Ok(ReadResourceResult::new(vec![
        ResourceContents::text(escape_tags(&text), uri).with_mime_type(MARKDOWN),
    ]))
}

/// Returns whether `uri` has the form of a resource, which may or may not exist.
pub(super) fn is_resource(uri: &str) -> bool {
    uri == INDEX_URI || uri.strip_prefix(NOTE_URI).is_some_and(|id| !id.is_empty())
}

/// Returns a value that changes whenever a resource changes.
///
/// # Errors
/// If the resource does not exist or cannot be read.
pub(super) fn existing_state(services: &Services, uri: &str) -> Result<String, ErrorData> {
    let state = match uri.strip_prefix(NOTE_URI) {
        Some(id) => services
            .store
            .get_by(id)
            .map(|stored| stored.memory.content_hash().to_string()),
        None if uri == INDEX_URI => memory_core::overview(services).map(|overview| overview.text),
        None => return Err(not_found_error(uri)),
    };
    state.map_err(|error| resource_error(error, uri))
}

/// Returns the state of a resource; a deleted memory has the empty state.
///
/// # Errors
/// If the resource cannot be read.
pub(super) fn resource_state(services: &Services, uri: &str) -> Result<String, ErrorData> {
    existing_state(services, uri).or_else(|error| match error.code {
        ErrorCode::RESOURCE_NOT_FOUND => Ok(String::new()),
        _ => Err(error),
    })
}

fn not_found_error(uri: &str) -> ErrorData {
    let uri = without_secrets(uri);
    let shown = to_one_line(&uri, 80);
    ErrorData::resource_not_found(
        format!("{shown} is neither {INDEX_URI} nor {NOTE_URI}<id>"),
        Some(json!({ "uri": uri })),
    )
}

/// Converts a store error about a resource into a protocol error that names the resource.
fn resource_error(error: StoreError, uri: &str) -> ErrorData {
    let mut error = store_error(error, uri);
    error.data = Some(json!({ "uri": without_secrets(uri) }));
    error
}

/// Converts a store error into a protocol error.
pub(super) fn store_error(error: StoreError, uri: &str) -> ErrorData {
    let error = ToolError::from(error);
    let message = without_secrets(&format!("{uri}: {}", error.message)).into_owned();
    match error.code.fault() {
        Fault::Missing => ErrorData::resource_not_found(message, None),
        Fault::Caller => ErrorData::invalid_params(message, None),
        _ => ErrorData::internal_error(message, None),
    }
}
