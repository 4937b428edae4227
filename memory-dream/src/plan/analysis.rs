//! Analyses texts and caches the results.

use std::thread;

use memory_core::{
    CachedAnalysis, ContentHash, Filter, Memory, MemoryId, MemorySummary, Progress, Services,
    StoreError, StoreResults, embedded_text,
};

use super::DreamPlan;
use crate::dream::{DreamError, ProgressCallback};
use crate::text_analysis::TextAnalysis;

/// Number of texts to analyse before the results are saved.
const ANALYSIS_BATCH: usize = 2_048;

/// If at least one memory in `FULL_READ_SHARE` must be read, all are read, since a sequential scan is faster.
const FULL_READ_SHARE: usize = 4;

/// Minimum number of texts for which a second thread is worth its cost.
const MIN_PARALLEL_TEXTS: usize = 64;

/// The index data of all memories, with the analyses of their texts.
#[derive(Debug)]
pub(crate) struct AnalysedMemories {
    /// The index data of each memory, sorted by id.
    pub(crate) outlines: Vec<MemorySummary>,
    /// The analysis of each text; `None` if it is not needed or the text cannot be read.
    pub(crate) glances: Vec<Option<TextAnalysis>>,
}

impl AnalysedMemories {
    /// Analyses the texts of the memories for which `matters` returns true, unless cached.
    ///
    /// # Errors
    /// [`DreamError::Asked`] if the caller cancels, or an error of the store.
    pub(crate) fn analyse(
        services: &Services,
        mut outlines: Vec<MemorySummary>,
        matters: &dyn Fn(&MemorySummary) -> bool,
        pace: &mut ProgressCallback<'_>,
    ) -> Result<Self, DreamError> {
        let remembered = |outline: &mut MemorySummary| {
            outline
                .impression
                .take()
                .and_then(|bytes| TextAnalysis::from_bytes(&bytes))
        };
        let glances: Vec<Option<TextAnalysis>> = outlines.iter_mut().map(remembered).collect();
        let is_new = |place: &usize| glances[*place].is_none() && matters(&outlines[*place]);
        let new: Vec<MemoryId> = (0..outlines.len())
            .filter(is_new)
            .map(|place| outlines[place].id)
            .collect();
        let total = new.len() as u64;
        let mut looked = Self { outlines, glances };
        let mut done = 0;
        let mut texts = read_memories(services, new, looked.outlines.len());
        loop {
            let batch: Vec<Memory> = texts
                .by_ref()
                .take(ANALYSIS_BATCH)
                .collect::<Result<_, _>>()?;
            if batch.is_empty() {
                return Ok(looked);
            }
            done += batch.len() as u64;
            let impressions: Vec<CachedAnalysis> = analyse_texts(&batch)
                .into_iter()
                .map(|(glance, id, text)| looked.record_analysis(glance, id, text))
                .collect();
            // A lost impression is recomputed, so an error here is ignored.
            let _ = services.store.store_analyses(&impressions);
            pace.report(Progress {
                done,
                total: Some(total),
            })?;
        }
    }

    /// Checks that a plan changes only these memories, without conflicts.
    pub(crate) fn check_plan(&self, plan: &DreamPlan) -> Result<(), StoreError> {
        let known = self.outlines.iter().map(|outline| outline.id).collect();
        plan.check(&known).map_err(|error| StoreError::Invalid {
            why: error.to_string(),
        })
    }

    /// Marks the texts of these memories as summaries.
    pub(crate) fn mark_summarised(&mut self, ids: &[MemoryId]) {
        for id in ids {
            if let Some(glance) = self
                .position(id)
                .and_then(|place| self.glances[place].as_mut())
            {
                glance.is_summarised = true;
            }
        }
    }

    /// Returns the index of a memory in `outlines`.
    pub(crate) fn position(&self, id: &MemoryId) -> Option<usize> {
        self.outlines
            .binary_search_by_key(id, |outline| outline.id)
            .ok()
    }

    fn record_analysis(
        &mut self,
        glance: TextAnalysis,
        id: MemoryId,
        text: ContentHash,
    ) -> CachedAnalysis {
        let bytes = glance.to_bytes();
        // If the text changed since the outline was read, it is analysed in the next dream.
        if let Some(place) = self
            .position(&id)
            .filter(|place| self.outlines[*place].text == text)
        {
            self.glances[place] = Some(glance);
        }
        CachedAnalysis { id, text, bytes }
    }
}

/// Iterates over the memories with these ids; missing and unreadable ones are skipped.
///
/// `all` is the total number of memories in the store, which decides between single reads and a scan.
pub(super) fn read_memories(
    services: &Services,
    mut ids: Vec<MemoryId>,
    all: usize,
) -> StoreResults<'_, Memory> {
    if ids.len() * FULL_READ_SHARE < all {
        return Box::new(
            ids.into_iter()
                .filter_map(|id| match services.store.get(&id) {
                    Ok(stored) => Some(Ok(stored.memory)),
                    Err(StoreError::NotFound { .. } | StoreError::Damaged(_)) => None,
                    Err(error) => Some(Err(error)),
                }),
        );
    }
    ids.sort_unstable();
    let wanted = move |id: &MemoryId| ids.binary_search(id).is_ok();
    let memories = services
        .store
        .memories(&Filter::all(), services.clock.now());
    let memories = memories.map(|stored| stored.map(|stored| stored.memory));
    Box::new(
        memories.filter(move |memory| memory.as_ref().map_or(true, |memory| wanted(&memory.id))),
    )
}

fn analyse_texts(memories: &[Memory]) -> Vec<(TextAnalysis, MemoryId, ContentHash)> {
    let look_all = |memories: &[Memory]| {
        let look = |memory: &Memory| {
            (
                TextAnalysis::of(memory),
                memory.id,
                ContentHash::of(&embedded_text(memory)),
            )
        };
        memories.iter().map(look).collect::<Vec<_>>()
    };
    if memories.len() < MIN_PARALLEL_TEXTS {
        return look_all(memories);
    }
    let (first, second) = memories.split_at(memories.len() / 2);
    thread::scope(|scope| {
        let helper = scope.spawn(|| look_all(second));
        let mut all = look_all(first);
        all.extend(helper.join().expect("looking at a text does not panic"));
        all
    })
}

/// Returns the impression to save for an updated analysis.
pub(crate) fn encode_impression(outline: &MemorySummary, glance: &TextAnalysis) -> CachedAnalysis {
    CachedAnalysis {
        id: outline.id,
        text: outline.text,
        bytes: glance.to_bytes(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use memory_core::testing::services;
    use memory_core::{Draft, MemStore, SecretPolicy, write};

    use super::*;

    #[test]
    fn each_text_is_looked_at_once() {
        let services = services(Arc::new(MemStore::default()));
        for number in 0..100 {
            write(
                &services,
                Draft::new(&format!("note {number} tells of {}", number * 7)),
                SecretPolicy::Refuse,
            )
            .unwrap();
        }
        let mut looks = Vec::new();
        for _ in 0..2 {
            let mut seen = 0;
            let mut step = |progress: Progress| {
                seen = progress.done;
                ControlFlow::Continue(())
            };
            let outlines = services.store.summaries().unwrap();
            let looked = AnalysedMemories::analyse(
                &services,
                outlines,
                &|_| true,
                &mut ProgressCallback::new(&mut step),
            )
            .unwrap();
            assert!(looked.glances.iter().all(Option::is_some));
            looks.push(seen);
        }
        assert_eq!(looks, [100, 0]);
        let distinct: HashSet<_> = services
            .store
            .summaries()
            .unwrap()
            .into_iter()
            .map(|outline| outline.impression)
            .collect();
        assert_eq!(distinct.len(), 100);
    }
}
