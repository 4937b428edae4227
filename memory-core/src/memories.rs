//! The memories of one home, behind the few methods that most programs need.

use std::sync::Arc;

use crate::bank::Banks;
use crate::topic::Topics;
use crate::{
    ChatModel, Clock, Context, Draft, Embedder, Filter, History, IdSource, InboxTtl, MemoryPage,
    MemoryStore, PageRequest, Patch, Query, Reranking, ReviewPolicy, SearchResults, SecretPolicy,
    Services, ShownMemories, StoreError, StoredMemory, UndoReport, WriteResult, build_context,
};

/// The memories of one home.
///
/// Each method is a call of the function with the same name, such as [`crate::write()`], which takes the [`Services`] that
/// [`Self::services`] returns. A clone has the same store.
///
/// ```
/// use memory_core::{Draft, MemStore, Memories, Query};
///
/// let memories = Memories::builder(MemStore::default()).build();
/// memories.write("The user prefers dark mode")?;
/// memories.write(Draft::new("We deploy on Fridays").title("Deployment").tags(["work"]))?;
/// for hit in memories.search(Query::new("dark mode").limit(5))?.hits {
///     println!("{}", hit.memory.content);
/// }
/// memories.undo()?;
/// # Ok::<(), memory_core::StoreError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Memories {
    services: Services,
    secrets: SecretPolicy,
}

impl From<Services> for Memories {
    /// Returns the memories of these services. Texts with credentials are refused.
    fn from(services: Services) -> Self {
        Self {
            services,
            secrets: SecretPolicy::Refuse,
        }
    }
}

impl From<Memories> for Services {
    fn from(memories: Memories) -> Self {
        memories.services
    }
}

impl Memories {
    /// Starts with a store, such as [`MemStore`](crate::MemStore); see [`MemoriesBuilder`].
    ///
    /// `memory_store::builder` opens a store of files.
    pub fn builder(store: impl MemoryStore + History + 'static) -> MemoriesBuilder {
        MemoriesBuilder(Services::new(Arc::new(store)).into())
    }

    /// Returns the dependencies, for the functions of this crate.
    pub fn services(&self) -> &Services {
        &self.services
    }

    /// Stores a text or a draft; a text that exists already is merged.
    ///
    /// # Errors
    /// Those of [`crate::write()`].
    pub fn write(&self, draft: impl Into<Draft>) -> Result<WriteResult, StoreError> {
        crate::write(&self.services, draft.into(), self.secrets)
    }

    /// Searches for a text or a query, best hit first.
    ///
    /// # Errors
    /// Those of [`crate::search()`].
    pub fn search(&self, query: impl Into<Query>) -> Result<SearchResults, StoreError> {
        crate::search(&self.services, &query.into())
    }

    /// Returns the memory with this id, file name, title or alias, and counts the read.
    ///
    /// # Errors
    /// Those of [`crate::read()`].
    pub fn read(&self, reference: &str) -> Result<StoredMemory, StoreError> {
        crate::read(&self.services, reference)
    }

    /// Returns a page of the memories that pass the filter.
    ///
    /// # Errors
    /// Those of [`crate::list()`].
    pub fn list(&self, filter: &Filter, page: &PageRequest) -> Result<MemoryPage, StoreError> {
        crate::list(&self.services, filter, page)
    }

    /// Changes a memory, and returns its new version.
    ///
    /// # Errors
    /// Those of [`crate::update()`].
    pub fn update(&self, reference: &str, patch: &Patch) -> Result<StoredMemory, StoreError> {
        crate::update(&self.services, reference, patch, None, self.secrets)
    }

    /// Moves a memory to the trash, and returns it.
    ///
    /// # Errors
    /// Those of [`crate::delete()`].
    pub fn delete(&self, reference: &str) -> Result<StoredMemory, StoreError> {
        crate::delete(&self.services, reference)
    }

    /// Undoes the last operation on memories that is not undone, of any author.
    ///
    /// # Errors
    /// Those of [`crate::undo()`].
    pub fn undo(&self) -> Result<UndoReport, StoreError> {
        crate::undo(&self.services, None)
    }

    /// Undoes the operation with an id that starts with `reference`, of at least 4 digits.
    ///
    /// # Errors
    /// Those of [`crate::undo()`].
    pub fn undo_operation(&self, reference: &str) -> Result<UndoReport, StoreError> {
        crate::undo(&self.services, Some(reference))
    }

    /// Returns the memories that a language model needs to answer a prompt, as a text of at most `budget` tokens.
    ///
    /// # Errors
    /// Those of [`build_context()`].
    pub fn context(&self, prompt: &str, budget: usize) -> Result<Context, StoreError> {
        build_context(
            &self.services,
            prompt,
            budget,
            &ShownMemories::default(),
            &self.services.clock.now(),
        )
    }
}

/// The settings of [`Memories`]; each has a default.
#[derive(Debug, Clone)]
pub struct MemoriesBuilder(Memories);

impl MemoriesBuilder {
    /// Sets the author of the operations; `api` by default.
    #[must_use]
    pub fn actor(mut self, actor: &str) -> Self {
        actor.clone_into(&mut self.0.services.actor);
        self
    }

    /// Replaces the clock of the system.
    #[must_use]
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.0.services.clock = clock;
        self
    }

    /// Replaces the random source of ids.
    #[must_use]
    pub fn ids(mut self, ids: Arc<dyn IdSource>) -> Self {
        self.0.services.ids = ids;
        self
    }

    /// Sets the model that embeds texts; without one, only words are compared.
    #[must_use]
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.0.services.embedder = Some(embedder);
        self
    }

    /// Sets the model that reads the best hits again.
    #[must_use]
    pub fn reranking(mut self, reranking: Reranking) -> Self {
        self.0.services.reranking = Some(reranking);
        self
    }

    /// Sets the language model.
    #[must_use]
    pub fn chat(mut self, chat: Arc<dyn ChatModel>) -> Self {
        self.0.services.chat = Some(chat);
        self
    }

    /// Sets the banks.
    #[must_use]
    pub fn banks(mut self, banks: Banks) -> Self {
        self.0.services.banks = Some(banks);
        self
    }

    /// Sets the topics.
    #[must_use]
    pub fn topics(mut self, topics: Topics) -> Self {
        self.0.services.topics = Some(topics);
        self
    }

    /// Sets the policy for changes by agents; without one, they take effect at once.
    #[must_use]
    pub fn review(mut self, review: ReviewPolicy) -> Self {
        self.0.services.review = review;
        self
    }

    /// Sets the maximum time of a memory in the inbox.
    #[must_use]
    pub fn inbox_ttl(mut self, inbox_ttl: InboxTtl) -> Self {
        self.0.services.inbox_ttl = inbox_ttl;
        self
    }

    /// Sets whether texts with credentials are refused, which is the default.
    #[must_use]
    pub fn secrets(mut self, secrets: SecretPolicy) -> Self {
        self.0.secrets = secrets;
        self
    }

    /// Returns the memories.
    pub fn build(self) -> Memories {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Category, MemStore, Scope};

    fn memories() -> Memories {
        Memories::builder(MemStore::default()).actor("test").build()
    }

    #[test]
    fn a_draft_and_a_query_are_built_from_texts_or_fields() {
        let memories = memories();
        let id = memories.write("The user prefers dark mode").unwrap().id;
        let draft = Draft::new("We deploy on Fridays")
            .title("Deployment")
            .tags(["work"])
            .category(Category::Habits);
        memories
            .write(draft.scope(Scope::Project("web".into())).pinned())
            .unwrap();
        assert_eq!(memories.search("dark mode").unwrap().hits[0].memory.id, id);
        let found = memories
            .search(
                Query::new("deploy")
                    .tag("work")
                    .scope(Scope::Project("web".into()))
                    .limit(1),
            )
            .unwrap();
        assert_eq!(
            (found.hits.len(), found.hits[0].memory.title.as_deref()),
            (1, Some("Deployment"))
        );
        assert!(found.hits[0].memory.pinned);
        assert!(
            memories
                .search(Query::new("deploy").category(Category::People))
                .unwrap()
                .hits
                .is_empty()
        );
        assert!(
            memories
                .context("which mode?", 500)
                .unwrap()
                .text
                .contains("dark mode")
        );
    }

    #[test]
    fn a_change_is_undone_and_recorded_under_the_actor() {
        let memories = memories();
        let id = memories.write("tea").unwrap().id.to_string();
        memories
            .update(
                &id,
                &Patch {
                    content: Some("green tea".into()),
                    ..Patch::default()
                },
            )
            .unwrap();
        memories.delete(&id).unwrap();
        let undone = memories.undo().unwrap();
        assert_eq!(undone.record.operation.by, "test");
        assert_eq!(memories.read(&id).unwrap().memory.content, "green tea");
        memories.undo_operation(undone.undo.as_str()).unwrap();
        assert!(matches!(
            memories.read(&id),
            Err(StoreError::NotFound { .. })
        ));
    }

    #[test]
    fn a_text_with_a_credential_is_refused_unless_it_is_allowed() {
        let secret = "the key is ghp_0123456789abcdefghijABCDEFGHIJ012345";
        assert!(matches!(
            memories().write(secret),
            Err(StoreError::Secret { .. })
        ));
        let lenient = Memories::builder(MemStore::default())
            .secrets(SecretPolicy::Keep)
            .build();
        assert!(lenient.write(secret).unwrap().created);
    }
}
