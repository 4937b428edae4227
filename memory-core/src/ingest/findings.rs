//! Reading the findings of a source ahead of their processing.

use std::sync::mpsc::sync_channel;
use std::thread;

use super::redact_text;
use crate::{Draft, Scope, Source, SourceItem, StoreError, Tags, secret};

/// Maximum number of findings per portion; the next constant limits the bytes of text.
///
/// Portions reduce the number of thread wake-ups.
const PORTION: usize = 128;
const PORTION_BYTES: usize = 1 << 20;

/// Maximum number of portions in the queue.
///
/// It covers about one batch, so that reading continues while a batch is written.
const MAX_QUEUED_PORTIONS: usize = 16;

/// Redacts credentials in the names by which an item is found: the scope of a note, and its places in sources.
fn redact_names(item: &mut SourceItem) {
    match item {
        SourceItem::Note(note) => {
            let draft = &mut note.draft;
            draft.scope.name_mut().into_iter().for_each(redact_text);
            redact_text(&mut draft.source);
            let others = &mut note.former.other_origins;
            for origin in draft.origin.iter_mut().chain(others) {
                redact_text(&mut origin.source);
                redact_text(&mut origin.root);
                redact_text(&mut origin.path);
            }
        }
        // The path is compared with the redacted paths of notes.
        SourceItem::Skipped { path, reason } => {
            redact_text(path);
            redact_text(reason);
        }
        SourceItem::Attachment(_) => {}
    }
}

/// Gives a note without a scope of its own that of the user: on the node of a principal, it is for the principal alone.
fn replace_global_scope(item: &mut SourceItem, default_scope: &Scope) {
    if let SourceItem::Note(note) = item
        && note.draft.scope == Scope::Global
    {
        note.draft.scope = default_scope.clone();
    }
}

/// Calls `take` with the result of `prepare` for each finding of `source`, in order.
///
/// A second thread reads the source and runs `prepare` ahead.
///
/// # Errors
/// The first error of `take`. Reading then stops.
pub(super) fn for_each_finding<T: Send>(
    source: &dyn Source,
    default_scope: &Scope,
    prepare: &(dyn Fn(SourceItem) -> T + Sync),
    take: &mut dyn FnMut(T) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(MAX_QUEUED_PORTIONS);
        scope.spawn(move || {
            let mut findings = source.items();
            loop {
                let (mut portion, mut bytes) = (Vec::with_capacity(PORTION), 0);
                while portion.len() < PORTION && bytes < PORTION_BYTES {
                    let Some(mut finding) = findings.next() else {
                        break;
                    };
                    redact_names(&mut finding);
                    replace_global_scope(&mut finding, default_scope);
                    bytes += length(&finding);
                    portion.push(prepare(finding));
                }
                // The receiver is dropped after an error.
                if portion.is_empty() || sender.send(portion).is_err() {
                    return;
                }
            }
        });
        receiver.into_iter().flatten().try_for_each(take)
    })
}

/// Returns the length of the text of a finding in bytes.
fn length(finding: &SourceItem) -> usize {
    match finding {
        SourceItem::Note(note) => note.draft.content.len() + note.front_matter.len(),
        SourceItem::Attachment(_) | SourceItem::Skipped { .. } => 0,
    }
}

/// Redacts credentials in a draft, and returns their kinds.
pub(super) fn redact(draft: &mut Draft) -> Vec<&'static str> {
    let mut kinds = Vec::new();
    let mut clean = |text: &mut String| {
        if let Some(redacted) = secret::redact(text) {
            *text = redacted.text;
            kinds.extend(redacted.kinds);
        }
    };
    clean(&mut draft.content);
    draft
        .title
        .iter_mut()
        .chain(&mut draft.aliases)
        .for_each(&mut clean);
    let mut tags = draft.tags.as_slice().to_vec();
    tags.iter_mut().for_each(&mut clean);
    draft.tags = tags.into_iter().collect::<Tags>();
    kinds
}

/// Redacts credentials in front matter. A property with a credential in its key is left out, since a redacted key may not be
/// valid or unique.
pub(super) fn redact_front_matter(lines: String, kinds: &mut Vec<&'static str>) -> String {
    if secret::find(&lines).is_empty() {
        return lines;
    }
    let (mut rest, mut is_left_out) = (String::with_capacity(lines.len()), false);
    for line in lines.split_inclusive('\n') {
        if !line.starts_with([' ', '\t', '-', '\n', '\r']) {
            let found = secret::find(line.split(": ").next().unwrap_or_default());
            is_left_out = !found.is_empty();
            kinds.extend(found.iter().map(|found| found.kind));
        }
        if !is_left_out {
            rest.push_str(line);
        }
    }
    let redacted = secret::redact(&rest);
    kinds.extend(
        redacted
            .iter()
            .flat_map(|redacted| redacted.kinds.iter().copied()),
    );
    redacted.map_or(rest, |redacted| redacted.text)
}
