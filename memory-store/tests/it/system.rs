//! The machine's clock and chance.

use memory_core::testing::{clock_suite, id_suite};
use memory_store::{RandomIds, SystemClock};

#[test]
fn the_systems_clock_and_ids_keep_their_promises() {
    clock_suite(&SystemClock);
    id_suite(&RandomIds);
}
