//! The `memory embed` command.

use clap::Args;
use memory_core::{EmbedReport, Filter, ListOrder, PageRequest, StoreError, embed};
use serde_json::json;

use crate::app::App;
use crate::embedding;
use crate::failure::Failure;

/// Compute vectors for the memories, so that searches find them by meaning
///
/// Only memories without a vector are processed; finished ones are stored even if the command is interrupted. Configure the
/// model in config.yaml: the one in this program (`memory model use built-in`), a folder with a sentence transformer such as all-MiniLM-L6-v2 or a model2vec model (`embedding:
/// {model: FOLDER}`, or the variable MEMORY_EMBEDDING_MODEL), or a server (`embedding: {base_url: URL, name: MODEL}`).
///
/// JSON: {model, embedded, unreadable, left}; `unreadable` counts new vectors of memories in scripts that the model does
/// not support
#[derive(Debug, Args)]
pub(crate) struct EmbedArgs {
    /// Print only the number of memories with and without a vector
    #[arg(long)]
    status: bool,
}

impl EmbedArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        let settings = app.settings()?;
        let embedder = embedding::open(&settings)
            .map_err(StoreError::from)?
            .ok_or(StoreError::NoModel)?;
        let model = embedder.identity().to_owned();
        let mut services = app.open()?.services;
        services.embedder = Some(embedder);
        let report = if self.status {
            services.store.refresh()?;
            let left = services.store.memories_without_vector(&model)?.len() as u64;
            let none = PageRequest {
                order: ListOrder::Created,
                offset: 0,
                limit: Some(0),
            };
            let all = services
                .store
                .list(&Filter::all(), &none, services.clock.now())?
                .total;
            EmbedReport {
                embedded: all.saturating_sub(left),
                unreadable: 0,
                left,
            }
        } else {
            let mut bar = app.output.progress_bar("embedding");
            embed(&services, &mut |progress| bar.show(progress), None)?
        };
        let EmbedReport {
            embedded,
            unreadable,
            left,
        } = report;
        if app.output.is_json() {
            return app
                .output
                .json(&json!({ "model": model, "embedded": embedded, "unreadable": unreadable, "left": left }));
        }
        for (what, count) in [("embedded", embedded), ("left", left)] {
            app.output.fields(&[what, &count.to_string()])?;
        }
        if 0 < unreadable {
            let whose = if unreadable == 1 {
                "1 of them is".to_owned()
            } else {
                format!("{unreadable} of them are")
            };
            app.output.note(&format!(
                "{whose} in scripts that the model does not support; only their words can be found"
            ))?;
        }
        Ok(())
    }
}
