//! Being asked to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells long work to end early. Whoever works looks at it between two slices of a second or so.
#[derive(Debug, Clone, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks all who have a copy of this to stop; there is no way back.
    pub fn ask(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Tells whether somebody has asked.
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}
