//! The decisions on several items of the inbox.

use memory_core::StoreError;

use crate::app::App;
use crate::failure::Failure;

/// The decisions on several items, each of which is printed at once.
pub(super) struct Decisions<T> {
    pub(super) made: Vec<T>,
    /// The first failure, which ends the command after all decisions.
    failure: Option<StoreError>,
}

impl<T> Default for Decisions<T> {
    fn default() -> Self {
        Self {
            made: Vec::new(),
            failure: None,
        }
    }
}

impl<T> Decisions<T> {
    /// Prints a decision, and keeps it.
    pub(super) fn add(
        &mut self,
        result: Result<T, StoreError>,
        print: impl FnOnce(&T, &mut App) -> Result<(), Failure>,
        app: &mut App,
    ) -> Result<(), Failure> {
        match result {
            Ok(made) => {
                if !app.output.is_json() {
                    print(&made, app)?;
                }
                self.made.push(made);
            }
            // The first failure is printed at the end of the command.
            Err(error) if self.failure.is_none() => self.failure = Some(error),
            Err(error) => app.output.error(
                &error.code().as_str().to_ascii_lowercase(),
                &error.to_string(),
            )?,
        }
        Ok(())
    }

    /// Returns the first failure.
    pub(super) fn finish(self) -> Result<(), Failure> {
        self.failure.map_or(Ok(()), |error| Err(error.into()))
    }
}
