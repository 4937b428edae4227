//! The in-memory vectors and cached analyses.

use super::FakeStore;
use crate::{
    CachedAnalysis, ContentHash, Embeddings, Memory, MemoryId, MemorySummaries, MemorySummary, Scope, StoreError, TextVector,
    embedded_text, is_nonzero,
};

impl Embeddings for FakeStore {
    fn memories_without_vector(&self, identity: &str) -> Result<Vec<MemoryId>, StoreError> {
        let state = self.state();
        let memories = state.memories.values().map(|(_, memory)| memory);
        let mut lacking: Vec<&Memory> = memories.filter(|memory| state.vector(identity, memory).is_none()).collect();
        lacking.sort_by_key(|memory| (std::cmp::Reverse(memory.created_at), memory.id));
        Ok(lacking.into_iter().map(|memory| memory.id).collect())
    }

    fn has_vectors(&self, identity: Option<&str>) -> Result<bool, StoreError> {
        let is_wanted = |own: &str| identity.is_none_or(|identity| identity == own);
        Ok(self.state().vectors.iter().any(|(own, kept)| is_wanted(own) && !kept.is_empty()))
    }

    fn cosines(&self, pairs: &[(MemoryId, MemoryId)]) -> Result<Vec<Option<f32>>, StoreError> {
        let state = self.state();
        let of = |(one, other): &(MemoryId, MemoryId)| {
            let (one, other) = (&state.memories.get(one)?.1, &state.memories.get(other)?.1);
            let mut models: Vec<&String> = state.vectors.keys().collect();
            models.sort();
            let vectors = |model: &&String| Some((state.vector(model, one)?, state.vector(model, other)?));
            let are_read = |(one, other): &(&TextVector, &TextVector)| is_nonzero(&one.vector) && is_nonzero(&other.vector);
            let (one, other) = models.iter().filter_map(vectors).find(are_read)?;
            Some(one.vector.iter().zip(&other.vector).map(|(one, other)| one * other).sum())
        };
        Ok(pairs.iter().map(of).collect())
    }

    fn store_vectors(&self, identity: &str, vectors: &[TextVector]) -> Result<u64, StoreError> {
        let mut state = self.state();
        let is_current = |own: &&TextVector| {
            let memory = state.memories.get(&own.id).map(|(_, memory)| memory);
            memory.is_some_and(|memory| ContentHash::of(&embedded_text(memory)) == own.text)
        };
        let kept: Vec<TextVector> = vectors.iter().filter(is_current).cloned().collect();
        let count = kept.len() as u64;
        state.vectors.entry(identity.to_owned()).or_default().extend(kept.into_iter().map(|own| (own.id, own)));
        Ok(count)
    }
}

impl MemorySummaries for FakeStore {
    fn summaries(&self) -> Result<Vec<MemorySummary>, StoreError> {
        let state = self.state();
        let of = |(id, (_, memory)): (&MemoryId, &(String, Memory))| {
            let text = ContentHash::of(&embedded_text(memory));
            MemorySummary {
                id: *id,
                phase: memory.phase,
                category: memory.category,
                scope: memory.scope.clone(),
                created_at: memory.created_at,
                updated_at: memory.updated_at,
                is_superseded: memory.superseded_by.is_some(),
                ends_at: memory.ends_at().filter(|_| memory.superseded_by.is_none()),
                access_count: memory.access_count + state.accesses.get(id).copied().unwrap_or_default(),
                is_damaged: false,
                text,
                impression: state.impressions.get(id).filter(|(of, _)| *of == text).map(|(_, bytes)| bytes.clone()),
            }
        };
        Ok(state.memories.iter().map(of).collect())
    }

    fn scopes(&self, ids: &[MemoryId]) -> Result<Vec<Option<Scope>>, StoreError> {
        let state = self.state();
        Ok(ids.iter().map(|id| state.memories.get(id).map(|(_, memory)| memory.scope.clone())).collect())
    }

    fn store_analyses(&self, impressions: &[CachedAnalysis]) -> Result<(), StoreError> {
        let mut state = self.state();
        for CachedAnalysis { id, text, bytes } in impressions {
            let current = state.memories.get(id).map(|(_, memory)| ContentHash::of(&embedded_text(memory)));
            if current == Some(*text) {
                state.impressions.insert(*id, (*text, bytes.clone()));
            }
        }
        Ok(())
    }
}
