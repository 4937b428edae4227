//! The conversations as memories.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use chrono::NaiveDateTime;
use memory_core::rank::RankWeights;
use memory_core::{
    Draft, Embedder, ExportedMemory, Filter, MemoryId, Query, Ranking, Scope, SearchResults,
    SecretPolicy, Services, ShownMemories, build_context, embed, import, search,
};
use memory_store::{FileStore, FileStoreOptions};
use serde_json::Value;

use crate::Outcome;
use crate::data_set::{DataSet, text_field, text_list};
use crate::metrics::{NAMES, ranking_metrics};

/// How many answers count for the figures.
const MAX_RESULTS: usize = 200;

/// A home with all turns.
pub(crate) struct ConversationHome {
    services: Services,
    pub(crate) turn_of: HashMap<MemoryId, usize>,
    pub(crate) sessions: Vec<String>,
    ids: Vec<String>,
    _folder: tempfile::TempDir,
}

impl ConversationHome {
    /// Imports all turns of a set, each into the scope of its conversation.
    pub(crate) fn of(data: &DataSet, model: Option<&Arc<dyn Embedder>>) -> Outcome<Self> {
        Self::import(
            data,
            &|turn| {
                Some(Scope::Conversation(
                    text_field(turn, "conversation").to_owned(),
                ))
            },
            model,
        )
    }

    /// Imports one conversation of a set as the memories of a project, which is how an agent sees them.
    pub(crate) fn from_conversation(
        data: &DataSet,
        conversation: &str,
        model: Option<&Arc<dyn Embedder>>,
    ) -> Outcome<Self> {
        let scope = |turn: &Value| {
            (text_field(turn, "conversation") == conversation)
                .then(|| Scope::Project(conversation.to_owned()))
        };
        Self::import(data, &scope, model)
    }

    /// Imports the turns that have a scope.
    fn import(
        data: &DataSet,
        scope: &dyn Fn(&Value) -> Option<Scope>,
        model: Option<&Arc<dyn Embedder>>,
    ) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let store = Arc::new(FileStore::open(folder.path(), FileStoreOptions::default())?);
        let services = Services {
            embedder: model.cloned(),
            actor: "bench".into(),
            ..Services::new(store)
        };
        let exported = data
            .turns
            .iter()
            .filter_map(|turn| Some(exported_turn(turn, scope(turn)?)));
        let report = import(
            &services,
            exported.map(|exported| Ok((String::new(), exported))),
            SecretPolicy::Keep,
            &mut |_| (),
        )?;
        if !report.skipped.is_empty() {
            return Err(format!(
                "{} turns were not imported: {}",
                report.skipped.len(),
                report.skipped[0].reason
            )
            .into());
        }
        if model.is_some() {
            embed(&services, &mut |_| (), None)?;
        }
        let turn_of = data
            .turns
            .iter()
            .enumerate()
            .map(|(number, turn)| (MemoryId::for_path(text_field(turn, "id")), number))
            .collect();
        let sessions = data
            .turns
            .iter()
            .map(|turn| text_field(turn, "session").to_owned())
            .collect();
        let ids = data
            .turns
            .iter()
            .map(|turn| text_field(turn, "id").to_owned())
            .collect();
        Ok(Self {
            services,
            turn_of,
            sessions,
            ids,
            _folder: folder,
        })
    }

    /// Asks a question, with other weights than usual if any are given.
    pub(crate) fn search(
        &self,
        question: &Value,
        weights: Option<&RankWeights>,
        limit: usize,
    ) -> Outcome<SearchResults> {
        let scope = Some(Scope::Conversation(
            text_field(question, "conversation").to_owned(),
        ));
        let ranking = Ranking {
            recency: 0.0,
            weights: weights.copied(),
            ..Ranking::default()
        };
        let query = Query {
            text: text_field(question, "text").to_owned(),
            filter: Filter {
                scope,
                ..Filter::default()
            },
            limit,
            ranking,
        };
        let found = search(&self.services, &query)?;
        match found.degraded {
            // A quoted phrase that no memory contains is no reason to stop.
            Some(why) if why.contains("searched by words only") => Err(why.into()),
            _ => Ok(found),
        }
    }

    pub(crate) fn mean_metrics(
        &self,
        data: &DataSet,
        weights: Option<&RankWeights>,
    ) -> Outcome<Vec<f64>> {
        let mut sums = vec![0.0; NAMES.len()];
        for question in &data.questions {
            let found = self.search(question, weights, MAX_RESULTS)?;
            let hidden = data.hidden_turns(question);
            let turns = found
                .hits
                .iter()
                .filter_map(|hit| self.turn_of.get(&hit.stored.memory.id).copied());
            let ranked: Vec<usize> = turns.filter(|turn| !hidden.contains(turn)).collect();
            sums.iter_mut()
                .zip(self.question_metrics(question, &ranked))
                .for_each(|(sum, figure)| *sum += figure);
        }
        Ok(data.mean(sums))
    }

    /// Returns the ids of the turns in the context of a model, in at most `budget` tokens.
    pub(crate) fn context_turns(&self, question: &Value, budget: usize) -> Outcome<Vec<&str>> {
        let context = build_context(
            &self.services,
            text_field(question, "text"),
            budget,
            &ShownMemories::default(),
            &self.services.clock.now(),
        )?;
        let turns = context
            .memories
            .iter()
            .filter_map(|stored| self.turn_of.get(&stored.memory.id));
        Ok(turns.map(|turn| self.ids[*turn].as_str()).collect())
    }

    /// Returns the figures of one question, in the order of [`NAMES`].
    pub(crate) fn question_metrics(&self, question: &Value, ranked: &[usize]) -> Vec<f64> {
        let turns: Vec<&str> = ranked.iter().map(|turn| self.ids[*turn].as_str()).collect();
        let mut seen = HashSet::new();
        let sessions = ranked
            .iter()
            .map(|turn| self.sessions[*turn].as_str())
            .filter(|session| seen.insert(*session))
            .collect();
        let mut figures = ranking_metrics(&turns, &text_list(question, "gold"));
        figures.extend(ranking_metrics(
            &sessions,
            &text_list(question, "gold_sessions"),
        ));
        figures
    }
}

fn exported_turn(turn: &Value, scope: Scope) -> ExportedMemory {
    let mut draft = Draft::new(text_field(turn, "text"));
    text_field(turn, "speaker").clone_into(&mut draft.source);
    draft.scope = scope;
    draft.created_at =
        NaiveDateTime::parse_from_str(text_field(turn, "timestamp"), "%Y-%m-%dT%H:%M:%S")
            .ok()
            .map(|moment| moment.and_utc());
    ExportedMemory {
        id: Some(MemoryId::for_path(text_field(turn, "id"))),
        ..ExportedMemory::from(draft)
    }
}
