//! Reading a source while what was read is dealt with.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::{Finding, Source, StoreError};

/// How many findings are handed over at once, and how many bytes of text: a thread that is woken for each does little else.
const PORTION: usize = 128;
const PORTION_BYTES: usize = 1 << 20;

/// How many portions may have been read and not yet been taken: as many as are written with one sync, so that reading goes on
/// while that lasts.
const AHEAD: usize = 16;

/// Calls `take` with what `prepare` makes of everything that `source` finds, in its order, while a second thread reads and
/// prepares on.
///
/// # Errors
/// The first error of `take`; nothing more is read then.
pub(super) fn each_finding<T: Send>(
    source: &dyn Source,
    prepare: &(dyn Fn(Finding) -> T + Sync),
    take: &mut dyn FnMut(T) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        scope.spawn(move || {
            let mut findings = source.findings();
            loop {
                let (mut portion, mut bytes) = (Vec::with_capacity(PORTION), 0);
                while portion.len() < PORTION && bytes < PORTION_BYTES {
                    let Some(finding) = findings.next() else { break };
                    bytes += length(&finding);
                    portion.push(prepare(finding));
                }
                // Nobody listens any longer once something went wrong.
                if portion.is_empty() || sender.send(portion).is_err() {
                    return;
                }
            }
        });
        receiver.into_iter().flatten().try_for_each(take)
    })
}

/// Returns how long the text of a finding is, in bytes.
fn length(finding: &Finding) -> usize {
    match finding {
        Finding::Note { draft, front_matter, .. } => draft.content.len() + front_matter.len(),
        Finding::Attachment(_) | Finding::Skipped { .. } => 0,
    }
}
