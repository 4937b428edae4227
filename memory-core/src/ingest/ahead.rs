//! Reading a source while what was read is dealt with.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::{Finding, Source, StoreError};

/// How many findings are handed over at once: a thread that is woken for each does little else.
const PORTION: usize = 32;

/// How many portions may have been read and not yet been taken.
const AHEAD: usize = 32;

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
            let mut findings = source.findings().map(prepare);
            loop {
                let portion: Vec<T> = findings.by_ref().take(PORTION).collect();
                // Nobody listens any longer once something went wrong.
                if portion.is_empty() || sender.send(portion).is_err() {
                    return;
                }
            }
        });
        receiver.into_iter().flatten().try_for_each(take)
    })
}
