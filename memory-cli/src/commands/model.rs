//! The `memory model` command.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use memory_agent::model::{BUILT_IN_MODEL, KNOWN_MODELS, KnownModel, LocalEmbedder};
use memory_core::{
    Embedder, ModelTest, ModelVerdict, SearchQuality, Services, StoreError, test_model,
};
use serde_json::{Value, json};

use super::config::store_setting;
use crate::app::App;
use crate::config::{EmbeddingChoice, Settings};
use crate::embedding;
use crate::failure::Failure;
use crate::home::Home;
use crate::print::{Table, TableColumn};
use crate::signals::DeleteOnSignal;

/// Cell of a column without a value.
const NO_VALUE: &str = "-";

/// Number of digits of a hash in the table; JSON contains all of them.
const SHOWN_HASH_DIGITS: usize = 12;

/// Texts for the trial of a model. Most vocabularies cover one of them, so that the weights are used.
const TRIAL_TEXTS: [&str; 4] = ["a", "memory", "память", "记忆"];

/// List, select and test embedding models for searches by meaning
///
/// A model is the one in this program, or a folder that you downloaded: a sentence transformer (BERT or XLM-R, with model.safetensors and
/// tokenizer.json) or static embeddings (model2vec). This program downloads nothing.
#[derive(Debug, Args)]
pub(crate) struct ModelArgs {
    #[command(subcommand)]
    command: ModelCommand,
}

#[derive(Debug, Subcommand)]
enum ModelCommand {
    /// List the model in this program, small published models that run here, and those in your folders
    ///
    /// Download the files of a model from huggingface.co/PUBLISHER/NAME into a folder with that name. This command
    /// searches ~/models, models/ in the home, the folder that contains the current model, and the Hugging Face cache. The
    /// data is that of the publishers. The table shows the first digits of the SHA-256 of model.safetensors, if it is known.
    ///
    /// JSON: {models: [{name, publisher, license, size_mb, languages, sha256, folder, in_use}]}
    List,
    Use(ModelUseArgs),
    Test(ModelTestArgs),
}

/// Select a model for searches, or none
///
/// The model is opened and tried first, and the settings change only if it works. Run `memory embed` afterwards to compute vectors.
///
/// JSON: {model, identity, dimensions}, without dimensions for the built-in model; with --none, {model: null}
#[derive(Debug, Args)]
struct ModelUseArgs {
    /// Folder of the model, its name in `memory model list` if it was found, or built-in for the model in this program
    #[arg(required_unless_present = "none", value_name = "FOLDER|NAME")]
    model: Option<String>,
    /// Disable the model: search by words only
    #[arg(long, conflicts_with = "model")]
    none: bool,
}

/// Measure on your own memories whether a model improves searches
///
/// Copies up to 2,000 memories without credentials to a temporary folder of the home, which is deleted in the end, up to 300
/// of them without one of their middle sentences, and searches for each such sentence, by words only and with the model. recall@10 is the share of memories among the first 10 hits,
/// MRR the mean of 1 / rank. Your memories and settings stay unchanged.
///
/// JSON: {model, questions, verdict, scripts: [{script, questions, unreadable, words: {recall, mrr}, with_model: {recall, mrr}, better, worse,
/// verdict}]}; a verdict is too_few, better, worse or no_difference
#[derive(Debug, Args)]
struct ModelTestArgs {
    /// Folder or name of the model, or built-in [default: the current model]
    #[arg(value_name = "FOLDER|NAME")]
    model: Option<String>,
}

impl ModelArgs {
    pub(super) fn run(&self, app: &mut App) -> Result<(), Failure> {
        match &self.command {
            ModelCommand::List => list(app),
            ModelCommand::Use(ModelUseArgs {
                model: Some(model), ..
            }) => use_model(model, app),
            ModelCommand::Use(_) => use_none(app),
            ModelCommand::Test(ModelTestArgs { model }) => test(model.as_deref(), app),
        }
    }
}

fn list(app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let used = settings.embedding.folder().map(canonical_path);
    let found = find_models(&settings);
    let mut rows: Vec<(String, Option<&KnownModel>, Option<PathBuf>)> = Vec::new();
    for known in KNOWN_MODELS {
        let folders: Vec<&PathBuf> = found
            .iter()
            .filter(|(name, _)| name == known.name)
            .map(|(_, folder)| folder)
            .collect();
        if folders.is_empty() {
            rows.push((known.name.to_owned(), Some(known), None));
        }
        rows.extend(
            folders
                .into_iter()
                .map(|folder| (known.name.to_owned(), Some(known), Some(folder.clone()))),
        );
    }
    let is_known = |name: &str| KNOWN_MODELS.iter().any(|known| known.name == name);
    rows.extend(
        found
            .iter()
            .filter(|(name, _)| !is_known(name))
            .map(|(name, folder)| (name.clone(), None, Some(folder.clone()))),
    );
    if embedding::built_in().is_ok() {
        rows.insert(
            0,
            (BUILT_IN_MODEL.name.to_owned(), Some(&BUILT_IN_MODEL), None),
        );
    }
    let is_built_in = settings.embedding.model.value == Some(EmbeddingChoice::BuiltIn);
    let is_used = |name: &str, folder: &Option<PathBuf>| match folder {
        Some(_) => *folder == used,
        None => is_built_in && name == BUILT_IN_MODEL.name,
    };
    if app.output.is_json() {
        let shape = |(name, known, folder): &(String, Option<&KnownModel>, Option<PathBuf>)| {
            json!({
                "name": name,
                "publisher": known.map(|known| known.publisher),
                "license": known.map(|known| known.license),
                "size_mb": known.map(|known| known.megabytes),
                "languages": known.map(|known| known.languages),
                "sha256": known.and_then(|known| known.sha256),
                "folder": folder,
                "in_use": is_used(name, folder),
            })
        };
        let models: Vec<Value> = rows.iter().map(shape).collect();
        return app.output.json(&json!({ "models": models }));
    }
    let columns = [
        TableColumn::Whole("name"),
        TableColumn::Text("license"),
        TableColumn::Number("MB"),
        TableColumn::Text("languages"),
        TableColumn::Text("publisher"),
        TableColumn::Text("sha256"),
        TableColumn::Text("folder"),
        TableColumn::Text("in use"),
    ];
    let mut table = Table::new(columns);
    for (name, known, folder) in &rows {
        let of =
            |fact: &dyn Fn(&KnownModel) -> String| known.map_or_else(|| NO_VALUE.to_owned(), fact);
        table.push([
            name.as_str(),
            &of(&|known| known.license.into()),
            &of(&|known| known.megabytes.to_string()),
            &of(&|known| known.languages.into()),
            &of(&|known| known.publisher.into()),
            &of(&|known| {
                known.sha256.map_or(NO_VALUE.into(), |hash| {
                    hash.chars().take(SHOWN_HASH_DIGITS).collect()
                })
            }),
            &folder.as_deref().map_or_else(
                || NO_VALUE.to_owned(),
                |folder| app.output.display_path(folder),
            ),
            if is_used(name, folder) { "yes" } else { "no" },
        ]);
    }
    app.output.table(&table)
}

fn use_model(model: &str, app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    if model == BUILT_IN_MODEL.name {
        return use_built_in(app);
    }
    let folder = find_model(model, &settings, app)?;
    let opened = open_model(&folder)?;
    opened.embed(&TRIAL_TEXTS).map_err(StoreError::from)?;
    let text = folder.to_str().ok_or_else(|| {
        let hint = "move the model to a folder with a UTF-8 name";
        Failure::usage(
            format!("cannot write {} to the settings", folder.display()),
            hint,
        )
    })?;
    store_setting("embedding.model", text, app)?;
    warn_of_environment(app)?;
    let (identity, dimensions) = (opened.identity().to_owned(), opened.dimensions());
    if app.output.is_json() {
        return app
            .output
            .json(&json!({ "model": folder, "identity": identity, "dimensions": dimensions }));
    }
    let place = app.output.display_path(&folder);
    app.output.fields(&[&place])?;
    app.output.note(
        "run `memory embed` to compute vectors, and `memory model test` to measure the effect",
    )
}

fn use_built_in(app: &mut App) -> Result<(), Failure> {
    let embedder = embedding::built_in().map_err(StoreError::from)?;
    store_setting("embedding.model", "built-in", app)?;
    warn_of_environment(app)?;
    if app.output.is_json() {
        let identity = embedder.identity();
        return app
            .output
            .json(&json!({ "model": "built-in", "identity": identity }));
    }
    app.output.fields(&["built-in"])?;
    app.output
        .note("run `memory embed` to compute the vectors of existing memories")
}

fn use_none(app: &mut App) -> Result<(), Failure> {
    store_setting("embedding.model", "none", app)?;
    warn_of_environment(app)?;
    if app.output.is_json() {
        return app.output.json(&json!({ "model": null }));
    }
    app.output
        .note("searches use words only; existing vectors are retained")
}

fn warn_of_environment(app: &mut App) -> Result<(), Failure> {
    if app.environment.embedding_model.is_some() {
        app.output
            .warning("MEMORY_EMBEDDING_MODEL is set and overrides the settings")?;
    }
    Ok(())
}

fn test(model: Option<&str>, app: &mut App) -> Result<(), Failure> {
    let settings = app.settings()?;
    let (name, embedder): (String, Arc<dyn Embedder>) = if model == Some(BUILT_IN_MODEL.name) {
        let embedder = embedding::built_in().map_err(StoreError::from)?;
        (BUILT_IN_MODEL.name.to_owned(), embedder)
    } else if let Some(model) = model {
        let folder = find_model(model, &settings, app)?;
        (folder.display().to_string(), Arc::new(open_model(&folder)?))
    } else {
        let embedder = embedding::open(&settings)
            .map_err(StoreError::from)?
            .ok_or(StoreError::NoModel)?;
        (embedder.identity().to_owned(), embedder)
    };
    let Home {
        services: home,
        store,
        ..
    } = app.open()?;
    let mut bar = app.output.progress_bar("embedding");
    let tests = {
        let trial = store.empty_trial()?;
        // Declared last, so that it is dropped first: after a signal, nothing is printed about the missing folder.
        let _guard = DeleteOnSignal::new(trial.folder().to_owned())
            .map_err(Failure::file("listen for signals"))?;
        let scratch = Services {
            store: trial.store.clone(),
            history: trial.store.clone(),
            embedder: Some(embedder),
            ..home.clone()
        };
        test_model(&home, &scratch, &mut |progress| bar.show(progress))?
    };
    drop(bar);
    let mut all = ModelTest::default();
    for test in tests.values() {
        all.merge(test);
    }
    if app.output.is_json() {
        let answer = json!({
            "model": name,
            "questions": all.questions,
            "verdict": verdict_name(all.verdict()),
            "scripts": tests.iter().map(|(script, test)| shape(script, test)).collect::<Vec<_>>(),
        });
        return app.output.json(&answer);
    }
    print_test(&tests, &all, app)
}

fn print_test(
    tests: &BTreeMap<&'static str, ModelTest>,
    all: &ModelTest,
    app: &mut App,
) -> Result<(), Failure> {
    let mut table = Table::new([
        TableColumn::Whole("script"),
        TableColumn::Number("questions"),
        TableColumn::Number("unreadable"),
        TableColumn::Number("recall words"),
        TableColumn::Number("recall model"),
        TableColumn::Number("MRR words"),
        TableColumn::Number("MRR model"),
        TableColumn::Number("better"),
        TableColumn::Number("worse"),
    ]);
    let every = (1 < tests.len()).then_some(("all", all));
    for (script, test) in tests
        .iter()
        .map(|(script, test)| (*script, test))
        .chain(every)
    {
        let (words, with_model) = (
            rounded_metrics(test.words, test.questions),
            rounded_metrics(test.with_model, test.questions),
        );
        table.push([
            script,
            &test.questions.to_string(),
            &test.unreadable.to_string(),
            &format!("{:.3}", words.0),
            &format!("{:.3}", with_model.0),
            &format!("{:.3}", words.1),
            &format!("{:.3}", with_model.1),
            &test.better.to_string(),
            &test.worse.to_string(),
        ]);
    }
    app.output.table(&table)?;
    for (script, test) in tests {
        let verdict = match test.verdict() {
            ModelVerdict::TooFew => {
                "too few questions: at least 30 are needed, from memories with two or more sentences"
            }
            ModelVerdict::Better => "the model finds memories better",
            ModelVerdict::Worse => "the model finds memories worse",
            ModelVerdict::NoDifference => "no significant difference",
        };
        app.output.note(&format!("{script}: {verdict}"))?;
    }
    if tests.is_empty() {
        app.output
            .note("no memory has two sentences to test with")?;
    }
    Ok(())
}

fn shape(script: &str, test: &ModelTest) -> Value {
    let findings = |findings| {
        let (recall, mrr) = rounded_metrics(findings, test.questions);
        json!({ "recall": recall, "mrr": mrr })
    };
    json!({
        "script": script,
        "questions": test.questions,
        "unreadable": test.unreadable,
        "words": findings(test.words),
        "with_model": findings(test.with_model),
        "better": test.better,
        "worse": test.worse,
        "verdict": verdict_name(test.verdict()),
    })
}

/// Returns recall@10 and the mean reciprocal rank, rounded to four decimals.
#[expect(
    clippy::cast_precision_loss,
    reason = "there are a few hundred questions"
)]
fn rounded_metrics(findings: SearchQuality, questions: u64) -> (f64, f64) {
    let share = |sum: f64| {
        if questions == 0 {
            0.0
        } else {
            (sum / questions as f64 * 1e4).round() / 1e4
        }
    };
    (
        share(findings.found as f64),
        share(findings.reciprocal_ranks),
    )
}

fn verdict_name(verdict: ModelVerdict) -> &'static str {
    match verdict {
        ModelVerdict::TooFew => "too_few",
        ModelVerdict::Better => "better",
        ModelVerdict::Worse => "worse",
        ModelVerdict::NoDifference => "no_difference",
    }
}

fn open_model(folder: &Path) -> Result<LocalEmbedder, Failure> {
    Ok(LocalEmbedder::open(folder, None).map_err(StoreError::from)?)
}

/// Returns the folder of a model: `model` if it is a folder, else the folder found under that name.
fn find_model(model: &str, settings: &Settings, app: &App) -> Result<PathBuf, Failure> {
    let folder = app.environment.absolute_path(Path::new(model));
    if folder.is_dir() {
        return Ok(canonical_path(&folder));
    }
    let found = find_models(settings);
    let mut folders = found
        .into_iter()
        .filter(|(name, _)| name == model)
        .map(|(_, folder)| folder);
    folders.next().ok_or_else(|| {
        let is_known = KNOWN_MODELS.iter().any(|known| known.name == model);
        let why = if is_known { format!("{model} was not found in any folder") } else { format!("folder {model} not found") };
        Failure::usage(why, "`memory model list --help` explains where models are downloaded and which folders are searched")
    })
}

/// Returns the models in the usual folders by name, each with its folder.
fn find_models(settings: &Settings) -> BTreeSet<(String, PathBuf)> {
    let home = settings.environment.home.as_deref();
    let beside = settings
        .embedding
        .folder()
        .and_then(Path::parent)
        .map(Path::to_owned);
    let folders = [
        home.map(|home| home.join("models")),
        Some(settings.root.value.join("models")),
        beside,
    ];
    let mut models: BTreeSet<(String, PathBuf)> = BTreeSet::new();
    for folder in folders
        .into_iter()
        .flatten()
        .flat_map(|folder| subfolders(&folder))
        .filter(|folder| is_model(folder))
    {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        models.insert((name, canonical_path(&folder)));
    }
    // The cache of Hugging Face: models--PUBLISHER--NAME/snapshots/REVISION.
    for folder in home
        .map(|home| subfolders(&home.join(".cache/huggingface/hub")))
        .unwrap_or_default()
    {
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let Some((_, name)) = name
            .strip_prefix("models--")
            .and_then(|name| name.split_once("--"))
        else {
            continue;
        };
        let snapshots = subfolders(&folder.join("snapshots"))
            .into_iter()
            .filter(|folder| is_model(folder));
        models.extend(snapshots.map(|folder| (name.to_owned(), canonical_path(&folder))));
    }
    models
}

fn subfolders(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_dir())
        .collect()
}

fn is_model(folder: &Path) -> bool {
    let has = |file: &str| folder.join(file).is_file();
    has("model.safetensors") && has("config.json") || has("modules.json")
}

fn canonical_path(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}
