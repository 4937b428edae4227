//! Distribution of work over threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Returns the results of `work` for all items, in order; each idle thread takes the next item.
///
/// Each thread has its own workspace. If the system starts fewer threads than requested, the work runs on fewer.
pub(super) fn map_parallel<T: Sync, W: Default, R: Send>(
    threads: NonZeroUsize,
    items: &[T],
    work: impl Fn(&mut W, &T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let take_part = || {
        let mut workspace = W::default();
        let mut done = Vec::new();
        while let Some((place, item)) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, items.get(n)?)))
        {
            done.push((place, work(&mut workspace, item)));
        }
        done
    };
    let others = threads.get().min(items.len()).saturating_sub(1);
    let mut done = thread::scope(|scope| {
        let spawned: Vec<_> = (0..others)
            .filter_map(|_| thread::Builder::new().spawn_scoped(scope, take_part).ok())
            .collect();
        let mut done = take_part();
        for thread in spawned {
            done.extend(
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            );
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_item_is_done_once_and_in_order(items in prop::collection::vec(any::<u16>(), 0..50), threads in 1..9_usize) {
            let threads = NonZeroUsize::new(threads).expect("it is at least 1");
            let doubled = map_parallel(threads, &items, |(): &mut (), item| u32::from(*item) * 2);
            prop_assert_eq!(doubled, items.iter().map(|item| u32::from(*item) * 2).collect::<Vec<_>>());
        }
    }
}
