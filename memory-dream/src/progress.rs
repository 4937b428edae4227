//! Progress reports and cancellation of long operations.

use std::ops::ControlFlow;

use memory_core::{Progress, StoreError};

/// A callback that reports the progress of a long operation and can cancel it.
pub struct ProgressCallback<'p>(&'p mut dyn FnMut(Progress) -> ControlFlow<()>);

impl std::fmt::Debug for ProgressCallback<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Pace").finish_non_exhaustive()
    }
}

/// The reason why a long operation ended early.
#[derive(Debug, thiserror::Error)]
pub enum DreamError {
    /// The caller cancelled the operation. Each change that was already applied is complete.
    #[error("the operation was cancelled")]
    Asked,
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl<'p> ProgressCallback<'p> {
    /// Creates a `ProgressCallback` that calls `step` after each step; `step` returns [`ControlFlow::Break`] to cancel.
    pub fn new(step: &'p mut dyn FnMut(Progress) -> ControlFlow<()>) -> Self {
        Self(step)
    }

    /// Reports the progress.
    ///
    /// # Errors
    /// [`DreamError::Asked`] if the callback cancels the operation.
    pub(crate) fn report(&mut self, progress: Progress) -> Result<(), DreamError> {
        match (self.0)(progress) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(DreamError::Asked),
        }
    }
}
