//! Reading a source on a second thread.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::{Source, SourceItem, StoreError};

/// Maximum number of findings per portion; the next constant limits the bytes of text.
///
/// Portions reduce the number of thread wake-ups.
const PORTION: usize = 128;
const PORTION_BYTES: usize = 1 << 20;

/// Maximum number of portions in the queue.
///
/// It covers about one batch, so that reading continues while a batch is written.
const MAX_QUEUED_PORTIONS: usize = 16;

/// Calls `take` with the result of `prepare` for each finding of `source`, in order.
///
/// A second thread reads the source and runs `prepare` ahead.
///
/// # Errors
/// The first error of `take`. Reading then stops.
pub(super) fn for_each_finding<T: Send>(
    source: &dyn Source,
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
                    let Some(finding) = findings.next() else { break };
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
        SourceItem::Note { draft, front_matter, .. } => draft.content.len() + front_matter.len(),
        SourceItem::Attachment(_) | SourceItem::Skipped { .. } => 0,
    }
}
