//! Stopping in the middle of long work.

use std::ops::ControlFlow;

use memory_core::{Progress, StoreError};

/// Tells how far long work has come, and hears whether to go on with it.
pub struct Pace<'p>(&'p mut dyn FnMut(Progress) -> ControlFlow<()>);

impl std::fmt::Debug for Pace<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pace").finish_non_exhaustive()
    }
}

/// Why long work was not done to its end.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// Somebody asked to stop. What was done so far is whole.
    #[error("it was stopped")]
    Asked,
    /// The store says why.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'p> Pace<'p> {
    /// Tells `step` of each step; it breaks to stop.
    pub fn new(step: &'p mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        Self(step)
    }

    /// Tells how far the work has come.
    pub(crate) fn step(&mut self, progress: Progress) -> Result<(), Halt> {
        match (self.0)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Halt::Asked),
        }
    }
}
