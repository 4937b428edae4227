//! Memories that relate to another one.

use std::fmt::Debug;

use crate::{Memory, MemoryId, Services, StoreError, WriteResult};

/// A memory that relates to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// What the other one is to this memory.
    pub relation: NeighbourRelation,
    /// The memory.
    pub id: MemoryId,
    /// Its text.
    pub text: String,
}

/// The relation of a memory to one of its neighbours, the most important one first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum NeighbourRelation {
    /// It says that what the neighbour states has changed.
    Updates,
    /// Both cannot hold.
    Contradicts,
    /// Both state the same.
    Duplicate,
    /// Both are about the same.
    Related,
}

impl NeighbourRelation {
    /// Returns the name for programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Updates => "updates",
            Self::Contradicts => "contradicts",
            Self::Duplicate => "duplicate",
            Self::Related => "related",
        }
    }
}

/// Finds the memories that relate to another one.
pub trait NeighbourFinder: Debug + Send + Sync {
    /// Returns the neighbours of `memory` among those that `services` contain, by relation; `except` does not count.
    ///
    /// The memory does not have to be stored.
    ///
    /// # Errors
    /// If the memories cannot be read.
    fn neighbours(
        &self,
        services: &Services,
        memory: &Memory,
        except: Option<MemoryId>,
    ) -> Result<Vec<Neighbour>, StoreError>;
}

impl Services {
    /// Returns the memories that `memory` updates, contradicts, repeats or resembles by its words; none without a finder.
    ///
    /// # Errors
    /// If the memories cannot be read.
    pub fn neighbours(
        &self,
        memory: &Memory,
        except: Option<MemoryId>,
    ) -> Result<Vec<Neighbour>, StoreError> {
        let by_words = Self {
            embedder: None,
            ..self.clone()
        };
        by_words.find_neighbours(memory, except)
    }

    /// Returns the neighbours of a memory that was just written, also by meaning; none if the text existed and is still in effect.
    ///
    /// The write succeeded, so a failure to read is not reported.
    pub fn neighbours_of_written(&self, written: &WriteResult) -> Vec<Neighbour> {
        if !written.created && written.merged.stated_at.is_none() {
            return Vec::new();
        }
        let new = self.store.get(&written.id);
        new.map(|stored| self.neighbours_of_stored(&stored.memory))
            .unwrap_or_default()
    }

    /// Returns the neighbours of a memory that was just changed, also by meaning; none if they cannot be read.
    pub fn neighbours_of_stored(&self, memory: &Memory) -> Vec<Neighbour> {
        self.find_neighbours(memory, None).unwrap_or_default()
    }

    fn find_neighbours(
        &self,
        memory: &Memory,
        except: Option<MemoryId>,
    ) -> Result<Vec<Neighbour>, StoreError> {
        self.neighbour_finder
            .as_ref()
            .map_or(Ok(Vec::new()), |finder| {
                finder.neighbours(self, memory, except)
            })
    }
}
