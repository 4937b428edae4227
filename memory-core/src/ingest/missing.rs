//! Memories of notes that a source no longer contains.

use super::SkippedFile;
use super::source_state::RecordedSteps;
use super::survey::Survey;
use crate::{Filter, MemoryId, Services, StoreError};

/// A note that the source no longer contains, with its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MissingNote {
    /// The memory.
    pub id: MemoryId,
    /// The title of the memory, if it has one.
    pub title: Option<String>,
    /// The path that the note had in the source.
    pub path: String,
    /// Whether a field of the memory that a source gives was changed since it was ingested. It is then not deleted with the
    /// others.
    pub is_edited: bool,
}

impl MissingNote {
    /// Determines whether the memory was changed since it was ingested. A memory that cannot be read counts as changed.
    pub(super) fn compare(&mut self, steps: &RecordedSteps<'_>) -> Result<(), StoreError> {
        self.is_edited = match steps.services().store.get(&self.id) {
            Ok(stored) => steps.is_edited(&stored)?,
            Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => true,
            Err(error) => return Err(error),
        };
        Ok(())
    }
}

impl Survey {
    /// Returns the memories that were ingested from the place of this source, and that none of its notes belongs to.
    ///
    /// Notes in `skipped` exist, although they cannot be read. A source without any note has no known place, so that
    /// nothing is missing. They are not compared with the state that the source gave them.
    pub(super) fn missing_notes(
        &self,
        services: &Services,
        skipped: &[SkippedFile],
    ) -> Result<Vec<MissingNote>, StoreError> {
        let Some(place) = self.place() else {
            return Ok(Vec::new());
        };
        let is_skipped = |path: &str| {
            let is_below = |skipped: &str| {
                path.strip_prefix(skipped)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            skipped.iter().any(|file| is_below(&file.path))
        };
        let (mut missing, present) = (Vec::new(), self.memories());
        let filter = Filter {
            source: Some(place.source.clone()),
            ..Filter::all()
        };
        for stored in services.store.memories(&filter, services.clock.now()) {
            let memory = match stored {
                Ok(stored) => stored.memory,
                Err(StoreError::Damaged(_)) => continue,
                Err(error) => return Err(error),
            };
            if present.contains(&memory.id) {
                continue;
            }
            let here = memory.origin.iter().chain(&memory.other_origins);
            let mut here = here
                .filter(|origin| (&origin.source, &origin.root) == (&place.source, &place.root))
                .peekable();
            let Some(first) = here.peek().map(|origin| origin.path.clone()) else {
                continue;
            };
            if !here.any(|origin| self.find(&origin.path).is_some() || is_skipped(&origin.path)) {
                missing.push(MissingNote {
                    id: memory.id,
                    title: memory.title,
                    path: first,
                    is_edited: false,
                });
            }
        }
        missing.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(missing)
    }
}
