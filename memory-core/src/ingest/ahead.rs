//! Reading a source while what was read is dealt with.

use std::sync::mpsc::sync_channel;
use std::thread;

use crate::{Finding, Source, StoreError};

/// How many findings may have been read and not yet been taken.
const AHEAD: usize = 64;

/// Calls `take` with everything that `source` finds, in its order, while a second thread reads on.
///
/// # Errors
/// The first error of `take`; nothing more is read then.
pub(super) fn each_finding(
    source: &dyn Source,
    take: &mut dyn FnMut(Finding) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    thread::scope(|scope| {
        let (sender, receiver) = sync_channel(AHEAD);
        // Nobody listens any longer once something went wrong.
        scope.spawn(move || source.findings().try_for_each(|finding| sender.send(finding).ok()));
        receiver.into_iter().try_for_each(take)
    })
}
