//! The merge of two memories: the choice of the other memory, the preview, and the merge.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::response::Response;
use axum::routing::get;
use memory_core::{
    Memory, MemoryMerge, MemoryStoreExt, MergeOptions, SecretPolicy, StoreError, StoredMemory,
    merge, plan_merge, resolve_wikilink,
};

use super::editor::new_content;
use super::inbox::lines_of_form;
use super::inbox_item::{ItemVersion, MAX_HEADLINE};
use crate::web::card::{describe_readers, memory_path, title};
use crate::web::diff::{changed_attributes, render_diff};
use crate::web::error::{PageError, render};
use crate::web::fields::encode_pairs;
use crate::web::html::{Label, SafeHtml};
use crate::web::layout::{ITEM_DECIDED, Layout};
use crate::web::markdown::render_markdown;
use crate::web::memory_choice::{MemoryCandidate, find_candidates, memory_reference};
use crate::web::request::{WebRequest, redirect_with_notice};
use crate::web::state::WebState;

/// The path of these pages.
const PATH: &str = "/memories/merge";

pub(super) fn routes() -> Router<Arc<WebState>> {
    Router::new().route(PATH, get(show_merge).post(merge_versions))
}

/// Returns the path of the choice of a memory to merge `item` into.
pub(super) fn choice_path(item: &StoredMemory, next: &str) -> String {
    format!(
        "{PATH}?{}",
        encode_pairs([("item", ItemVersion::of(item).as_str()), ("next", next)])
    )
}

/// Returns the path of the preview of the merge of `item` into `target`.
pub(super) fn merge_path(item: &StoredMemory, target: &Memory, next: &str) -> String {
    let fields = [
        ("item", ItemVersion::of(item)),
        ("into", target.id.to_string()),
        ("next", next.to_owned()),
    ];
    format!(
        "{PATH}?{}",
        encode_pairs(fields.iter().map(|(name, value)| (*name, value.as_str())))
    )
}

/// Merges the memory, proposal or note of the field `item` into the version of a memory in the field `into`, which the preview showed.
///
/// Any other value of the field leads to the preview or to the choice of a memory.
async fn merge_versions(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let form = &request.form;
            let next = form.text("next").unwrap_or("/memories");
            let into = form.text("into").unwrap_or_default();
            let Ok(target) = ItemVersion::parse(into) else {
                let fields = [("item", form.get("item")), ("into", into), ("next", next)];
                return Ok(request.redirect_after(&format!("{PATH}?{}", encode_pairs(fields)), &[]));
            };
            let item = ItemVersion::parse(form.get("item"))?;
            let planned = plan_merge(&request.services, &item.id, &target.id)?;
            let edited = form.all("content").next().map(lines_of_form);
            let merged = planned.merged.content.trim_end();
            let content = edited.and_then(|text| new_content(merged, text.trim_end()));
            let options = MergeOptions {
                item: Some(item.version),
                target: Some(target.version),
                content: content.as_deref(),
            };
            let merged = merge(
                &request.services,
                &item.id,
                &target.id,
                options,
                SecretPolicy::Refuse,
            )?;
            // The page of the merged memory does not exist any more.
            let is_gone = next.contains(&item.id);
            Ok(request.redirect(
                if is_gone {
                    memory_path(&merged.memory)
                } else {
                    next.to_owned()
                }
                .as_str(),
            ))
        })
        .await
}

#[derive(Template)]
#[template(path = "merge.html")]
struct MergePage {
    layout: Layout,
    /// The value of the field `item`.
    item: String,
    headline: Label,
    words: String,
    next: String,
    candidates: Vec<MemoryCandidate>,
}

#[derive(Template)]
#[template(path = "merge_preview.html")]
struct MergePreviewPage {
    layout: Layout,
    /// The value of the field `item`.
    item: String,
    headline: Label,
    /// The value of the field `into`.
    into: String,
    path: String,
    target: Label,
    next: String,
    /// The path of the choice of another memory.
    choice: String,
    /// The path of the merge in the other direction; `None` for a proposal.
    reverse: Option<String>,
    /// Who reads the text before and after the merge, if that differs.
    readers: Option<(Label, Label)>,
    has_effect: bool,
    attributes: Vec<(&'static str, Label, Label)>,
    diff: Option<SafeHtml>,
    /// The text of the memory after the merge, as HTML and as it can be edited.
    text: SafeHtml,
    content: String,
}

/// Shows the result of a merge into the memory of the field `into`, or the memories that match its words.
async fn show_merge(request: WebRequest) -> Response {
    request
        .respond(|request| {
            let into = request.query.text("into").unwrap_or_default();
            let item = ItemVersion::parse(request.query.get("item"))?;
            match request.services.store.get_by(&item.id) {
                Err(StoreError::NotFound { .. }) => {
                    return Ok(redirect_with_notice(
                        request.query.text("next").unwrap_or("/memories"),
                        ITEM_DECIDED,
                    ));
                }
                found => drop(found?),
            }
            match memory_reference(into) {
                Some(reference) => Ok(render(&preview_merge(request, reference)?)),
                None => Ok(render(&choose_merge(request, into)?)),
            }
        })
        .await
}

fn preview_merge(request: &WebRequest, reference: &str) -> Result<MergePreviewPage, PageError> {
    let item = ItemVersion::parse(request.query.get("item"))?;
    let next = request.query.text("next").unwrap_or("/memories");
    let MemoryMerge {
        item: merged_item,
        target,
        merged,
    } = plan_merge(&request.services, &item.id, reference)?;
    let find_path = |name: &str| {
        let id = resolve_wikilink(request.services.store.as_ref(), name, &target).ok()??;
        Some(format!("/memories/{id}"))
    };
    let before = &target.memory;
    Ok(MergePreviewPage {
        layout: request.layout("Merge"),
        item: request.query.get("item").to_owned(),
        headline: Label::cut(merged_item.memory.headline(), MAX_HEADLINE),
        into: ItemVersion::of(&target),
        path: memory_path(before),
        target: title(before),
        choice: format!(
            "{PATH}?{}",
            encode_pairs([("item", request.query.get("item")), ("next", next)])
        ),
        next: next.to_owned(),
        reverse: (!merged_item.memory.is_proposal())
            .then(|| merge_path(&target, &merged_item.memory, next)),
        readers: (merged_item.memory.scope != before.scope).then(|| {
            [&merged_item.memory.scope, &before.scope]
                .map(|scope| Label::new(&describe_readers(scope)))
                .into()
        }),
        has_effect: merged != *before,
        attributes: changed_attributes(before, &merged),
        diff: (before.content != merged.content)
            .then(|| render_diff(&before.content, &merged.content)),
        text: render_markdown(&merged.content, &find_path),
        content: merged.content,
    })
}

/// Returns the page with the memories that match `words`, or with those of the item if there are none.
fn choose_merge(request: &WebRequest, words: &str) -> Result<MergePage, PageError> {
    let query = &request.query;
    let item = ItemVersion::parse(query.get("item"))?;
    let stored = request.services.store.get_by(&item.id)?;
    let searched = if words.is_empty() {
        stored.memory.headline()
    } else {
        words
    };
    let mut candidates = find_candidates(request, searched)?;
    candidates.retain(|candidate| candidate.id != item.id);
    Ok(MergePage {
        layout: request.layout("Merge"),
        item: query.get("item").to_owned(),
        headline: Label::cut(stored.memory.headline(), MAX_HEADLINE),
        words: words.to_owned(),
        next: query.text("next").unwrap_or("/memories").to_owned(),
        candidates,
    })
}
