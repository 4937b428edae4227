//! How well search finds what is meant: `retrieval FOLDER [--model FOLDER] [--fit]`.
//!
//! FOLDER holds `*.corpus.jsonl` and `*.questions.jsonl`: turns `{id, conversation, session, timestamp, speaker, text}` and
//! questions `{id, conversation, text, category, gold, gold_sessions}`, such as those made of `LoCoMo`
//! (<https://github.com/snap-research/locomo>; its licence does not let us keep it here). Each turn becomes a memory of its
//! conversation, each question is asked of its own; adversarial ones have no answer and are left out. Prints any@k, all@k,
//! frac@k and MRR@10 of turns and of sessions, and what each part of the ranking gives: the same with that part switched off.
//!
//! With `--model`, the sentence-transformer in that folder reads the turns first, and vectors count too.
//!
//! With `--fit`, fits the weights: for each conversation on the others, which gives the honest figures, and then on all. A
//! listwise softmax over the candidates of a question, L2 on weights in standard deviations, on the conversations as they are
//! and on two shuffled copies of them, so that nothing leans on neighbours that tell nothing.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::{env, fs};

use chrono::NaiveDateTime;
use memory_agent::model::LocalEmbedder;
use memory_core::rank::{PARTS, Part, WITH_VECTORS, WITHOUT_VECTORS, Weights};
use memory_core::{
    Draft, EmbedError, Embedder, Embedding, Exported, Filter, Found, History, MemoryId, MemoryStore, Query, Ranking, Scope,
    Secrets, Services, embed, import, search,
};
use memory_store::{FileStore, Options, RandomIds, SystemClock};
use serde_json::Value;

type Outcome<T> = Result<T, Box<dyn Error>>;
type Row = [f64; PARTS.len()];

/// How many answers count for the figures.
const LISTED: usize = 200;

/// How many candidates of each question are weighed against each other.
const CANDIDATES: usize = 2_000;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let folder = arguments.first().ok_or("usage: retrieval FOLDER [--model FOLDER] [--fit]")?;
    let data = Data::read(Path::new(folder))?;
    let model = arguments.iter().position(|argument| argument == "--model").map(|place| arguments.get(place + 1));
    let model = match model {
        Some(folder) => {
            Some(Arc::new(Model::read(Path::new(folder.ok_or("--model wants a folder")?), &data)?) as Arc<dyn Embedder>)
        }
        None => None,
    };
    let model = model.as_ref();
    if arguments.iter().any(|argument| argument == "--fit") { fit(&data, model) } else { ablate(&data, model) }
}

/// Prints the figures of the ranking as it is, and of each part of it switched off.
fn ablate(data: &Data, model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    let home = Home::of(data, Order::AsIs, model)?;
    let usual = if model.is_some() { WITH_VECTORS } else { WITHOUT_VECTORS };
    println!("| ranking | {} |", NAMES.join(" | "));
    println!("|---|{}", "---:|".repeat(NAMES.len()));
    print("all parts", &home.figures(data, &usual)?);
    let mut words = Weights([0.0; PARTS.len()]);
    words.0[Part::Words as usize] = 1.0;
    print("words alone (BM25)", &home.figures(data, &words)?);
    for part in PARTS.into_iter().filter(|part| usual.0[*part as usize] != 0.0) {
        let mut weights = usual;
        weights.0[part as usize] = 0.0;
        print(&format!("without {}", part.as_str()), &home.figures(data, &weights)?);
    }
    Ok(())
}

fn print(name: &str, figures: &[f64]) {
    let figures: Vec<String> = figures.iter().map(|figure| format!("{:.1}", 100.0 * figure)).collect();
    println!("| {name} | {} |", figures.join(" | "));
}

/// A model that remembers what it made of each text: every copy of the conversations has the same, and every table asks the
/// same questions.
#[derive(Debug)]
struct Model {
    identity: String,
    known: HashMap<String, Embedding>,
}

impl Model {
    fn read(folder: &Path, data: &Data) -> Outcome<Self> {
        let embedder = LocalEmbedder::open(folder, None)?;
        let all: Vec<&str> = data.turns.iter().chain(&data.questions).map(|value| text(value, "text").trim()).collect();
        let vectors = embedder.embed(&all)?;
        let known = all.into_iter().map(str::to_owned).zip(vectors).collect();
        Ok(Self { identity: embedder.identity().to_owned(), known })
    }
}

impl Embedder for Model {
    fn identity(&self) -> &str {
        &self.identity
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
        let unknown = |text: &str| EmbedError { why: format!("{text:?} is neither a turn nor a question"), hint: None };
        texts.iter().map(|text| self.known.get(text.trim()).cloned().ok_or_else(|| unknown(text))).collect()
    }
}

/// The conversations and what is asked of them.
struct Data {
    turns: Vec<Value>,
    questions: Vec<Value>,
}

impl Data {
    fn read(folder: &Path) -> Outcome<Self> {
        let (mut turns, mut questions) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.to_string_lossy().into_owned();
            let lines = |path: &Path| -> Outcome<Vec<Value>> {
                Ok(fs::read_to_string(path)?.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
            };
            if name.ends_with(".corpus.jsonl") {
                turns.extend(lines(&path)?);
            } else if name.ends_with(".questions.jsonl") {
                questions.extend(lines(&path)?);
            }
        }
        questions.retain(|question| question["category"] != "adversarial" && !text(question, "id").is_empty());
        if turns.is_empty() || questions.is_empty() {
            return Err(format!("{} holds no *.corpus.jsonl and *.questions.jsonl", folder.display()).into());
        }
        Ok(Self { turns, questions })
    }

    fn conversations(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        self.turns.iter().map(|turn| text(turn, "conversation")).filter(|conversation| seen.insert(*conversation)).collect()
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

fn texts<'v>(value: &'v Value, key: &str) -> Vec<&'v str> {
    value[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

/// In which order the turns of a conversation are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    AsIs,
    /// Every session keeps its turns, in any order.
    WithinSessions,
    /// Every turn may stand anywhere, with any date of its conversation.
    Anywhere,
}

/// A home with all turns.
struct Home {
    services: Services,
    turn_of: HashMap<MemoryId, usize>,
    sessions: Vec<String>,
    ids: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Home {
    fn of(data: &Data, order: Order, model: Option<&Arc<dyn Embedder>>) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let store = Arc::new(FileStore::open(folder.path(), Options::default())?);
        let services = Services {
            store: Arc::clone(&store) as Arc<dyn MemoryStore>,
            history: store as Arc<dyn History>,
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            embedder: model.cloned(),
            reranking: None,
            actor: "bench".into(),
        };
        let mut places: Vec<usize> = (0..data.turns.len()).collect();
        let mut chance = corpus::Chance::new(7);
        for conversation in data.conversations() {
            let of: Vec<usize> =
                (0..data.turns.len()).filter(|turn| text(&data.turns[*turn], "conversation") == conversation).collect();
            match order {
                Order::AsIs => {}
                Order::WithinSessions => {
                    for group in of.chunk_by(|one, other| data.turns[*one]["session"] == data.turns[*other]["session"]) {
                        shuffle(&mut chance, &mut places, group);
                    }
                }
                Order::Anywhere => shuffle(&mut chance, &mut places, &of),
            }
        }
        // The moment belongs to the place, so that neighbours are strangers.
        let exported = places.iter().zip(&data.turns).map(|(turn, place)| exported(&data.turns[*turn], place));
        let report = import(&services, exported.map(|exported| Ok((String::new(), exported))), Secrets::Keep, &mut |_| ())?;
        if !report.skipped.is_empty() {
            return Err(format!("{} turns were not kept: {}", report.skipped.len(), report.skipped[0].reason).into());
        }
        if model.is_some() {
            embed(&services, &mut |_| (), None)?;
        }
        let turn_of = data.turns.iter().enumerate().map(|(number, turn)| (MemoryId::of_path(text(turn, "id")), number)).collect();
        let sessions = data.turns.iter().map(|turn| text(turn, "session").to_owned()).collect();
        let ids = data.turns.iter().map(|turn| text(turn, "id").to_owned()).collect();
        Ok(Self { services, turn_of, sessions, ids, _folder: folder })
    }

    fn ask(&self, question: &Value, weights: &Weights, limit: usize) -> Outcome<Found> {
        let scope = Some(Scope::Conversation(text(question, "conversation").to_owned()));
        let ranking = Ranking { recency: 0.0, weights: Some(*weights), ..Ranking::default() };
        let query =
            Query { text: text(question, "text").to_owned(), filter: Filter { scope, ..Filter::default() }, limit, ranking };
        let found = search(&self.services, &query)?;
        match found.degraded {
            Some(why) => Err(why.into()),
            None => Ok(found),
        }
    }

    fn figures(&self, data: &Data, weights: &Weights) -> Outcome<Vec<f64>> {
        let mut sums = vec![0.0; NAMES.len()];
        for question in &data.questions {
            let found = self.ask(question, weights, LISTED)?;
            let ranked: Vec<usize> =
                found.hits.iter().filter_map(|hit| self.turn_of.get(&hit.stored.memory.id).copied()).collect();
            sums.iter_mut().zip(self.judge(question, &ranked)).for_each(|(sum, figure)| *sum += figure);
        }
        #[expect(clippy::cast_precision_loss, reason = "there are hundreds of questions")]
        let count = data.questions.len() as f64;
        Ok(sums.into_iter().map(|sum| sum / count).collect())
    }

    /// Returns the figures of one question, in the order of [`NAMES`].
    fn judge(&self, question: &Value, ranked: &[usize]) -> Vec<f64> {
        let turns: Vec<&str> = ranked.iter().map(|turn| self.ids[*turn].as_str()).collect();
        let mut seen = HashSet::new();
        let sessions = ranked.iter().map(|turn| self.sessions[*turn].as_str()).filter(|session| seen.insert(*session)).collect();
        let mut figures = judge(&turns, &texts(question, "gold"));
        figures.extend(judge(&sessions, &texts(question, "gold_sessions")));
        figures
    }
}

fn shuffle(chance: &mut corpus::Chance, places: &mut [usize], group: &[usize]) {
    for index in (1..group.len()).rev() {
        let other = chance.below(u32::try_from(index + 1).unwrap_or(u32::MAX)) as usize;
        places.swap(group[index], group[other]);
    }
}

fn exported(turn: &Value, dated: &Value) -> Exported {
    let mut draft = Draft::new(text(turn, "text"));
    text(turn, "speaker").clone_into(&mut draft.source);
    draft.scope = Scope::Conversation(text(turn, "conversation").to_owned());
    draft.created_at =
        NaiveDateTime::parse_from_str(text(dated, "timestamp"), "%Y-%m-%dT%H:%M:%S").ok().map(|moment| moment.and_utc());
    Exported {
        id: Some(MemoryId::of_path(text(turn, "id"))),
        draft,
        updated_at: None,
        access_count: 0,
        links: Vec::new(),
        version: None,
        supersedes: Vec::new(),
        superseded_by: None,
    }
}

const NAMES: [&str; 14] = [
    "turn any@5",
    "any@10",
    "all@5",
    "all@10",
    "frac@5",
    "frac@10",
    "mrr",
    "session any@5",
    "any@10",
    "all@5",
    "all@10",
    "frac@5",
    "frac@10",
    "mrr",
];

#[expect(clippy::cast_precision_loss, reason = "ranks and counts are small")]
fn judge(ranked: &Vec<&str>, gold: &[&str]) -> Vec<f64> {
    let gold: HashSet<&str> = gold.iter().copied().collect();
    let within = |k: usize| ranked.iter().take(k).filter(|turn| gold.contains(**turn)).count();
    let first = ranked.iter().take(10).position(|turn| gold.contains(turn));
    let is = |is: bool| if is { 1.0 } else { 0.0 };
    vec![
        is(0 < within(5)),
        is(0 < within(10)),
        is(within(5) == gold.len()),
        is(within(10) == gold.len()),
        within(5) as f64 / gold.len() as f64,
        within(10) as f64 / gold.len() as f64,
        first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
    ]
}

/// The candidates of one question, and which of them are answers.
struct Sample {
    conversation: String,
    question: usize,
    rows: Vec<Row>,
    turns: Vec<usize>,
    gold: Vec<usize>,
}

/// Fits the weights and prints them, and what they give on conversations they were not fitted on.
fn fit(data: &Data, model: Option<&Arc<dyn Embedder>>) -> Outcome<()> {
    let homes = [Order::AsIs, Order::WithinSessions, Order::Anywhere].map(|order| Home::of(data, order, model));
    let mut samples = Vec::new();
    for (number, home) in homes.iter().enumerate() {
        let home = home.as_ref().map_err(ToString::to_string)?;
        let of: Vec<Sample> = data
            .questions
            .iter()
            .enumerate()
            .map(|(question, asked)| sample(home, data, question, asked))
            .collect::<Outcome<_>>()?;
        eprintln!("copy {number}: {} questions", of.len());
        samples.push(of);
    }
    keep_dates(&mut samples);
    let home = homes[0].as_ref().map_err(ToString::to_string)?;
    println!("| fitted on the others, asked of | {} |", NAMES.join(" | "));
    println!("|---|{}", "---:|".repeat(NAMES.len()));
    let mut sums = vec![vec![0.0; NAMES.len()]; samples.len()];
    for conversation in data.conversations() {
        let others: Vec<&Sample> = samples.iter().flatten().filter(|sample| sample.conversation != conversation).collect();
        let weights = descend(&others);
        for (copy, sums) in samples.iter().zip(&mut sums) {
            for sample in copy.iter().filter(|sample| sample.conversation == conversation) {
                let mut ranked: Vec<(f64, usize)> =
                    sample.rows.iter().zip(&sample.turns).map(|(row, turn)| (dot(row, &weights), *turn)).collect();
                ranked.sort_by(|left, right| right.0.total_cmp(&left.0));
                let ranked: Vec<usize> = ranked.into_iter().map(|(_, turn)| turn).collect();
                sums.iter_mut()
                    .zip(home.judge(&data.questions[sample.question], &ranked))
                    .for_each(|(sum, figure)| *sum += figure);
            }
        }
    }
    for (name, sums) in ["as they are", "shuffled within sessions", "shuffled"].iter().zip(sums) {
        #[expect(clippy::cast_precision_loss, reason = "there are hundreds of questions")]
        let count = data.questions.len() as f64;
        print(name, &sums.into_iter().map(|sum| sum / count).collect::<Vec<_>>());
    }
    let weights = descend(&samples.iter().flatten().collect::<Vec<_>>());
    println!();
    for (part, weight) in PARTS.iter().zip(weights) {
        println!("{weight:>8.4}  {}", part.as_str());
    }
    Ok(())
}

/// Gives every turn of a shuffled copy the nearness to the date that it has in truth: only the neighbours are to be strangers.
fn keep_dates(samples: &mut [Vec<Sample>]) {
    let Some((truth, copies)) = samples.split_first_mut() else { return };
    for copy in copies {
        for (sample, truth) in copy.iter_mut().zip(&*truth) {
            let dates: HashMap<usize, f64> =
                truth.turns.iter().copied().zip(truth.rows.iter().map(|row| row[Part::Date as usize])).collect();
            for (row, turn) in sample.rows.iter_mut().zip(&sample.turns) {
                row[Part::Date as usize] = dates.get(turn).copied().unwrap_or_default();
            }
        }
    }
}

fn sample(home: &Home, data: &Data, number: usize, question: &Value) -> Outcome<Sample> {
    // With every weight 1, every part is told.
    let found = home.ask(question, &Weights([1.0; PARTS.len()]), CANDIDATES)?;
    let gold: HashSet<&str> = texts(question, "gold").into_iter().collect();
    let mut sample = Sample {
        conversation: text(question, "conversation").into(),
        question: number,
        rows: Vec::new(),
        turns: Vec::new(),
        gold: Vec::new(),
    };
    for hit in &found.hits {
        let Some(turn) = home.turn_of.get(&hit.stored.memory.id) else { continue };
        let mut row = [0.0; PARTS.len()];
        for part in &hit.explanation.parts {
            row[part.part as usize] = f64::from(part.value);
        }
        if gold.contains(text(&data.turns[*turn], "id")) {
            sample.gold.push(sample.rows.len());
        }
        sample.rows.push(row);
        sample.turns.push(*turn);
    }
    Ok(sample)
}

fn dot(row: &Row, weights: &Row) -> f64 {
    row.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// Minimises the listwise loss by gradient descent with momentum, in standard deviations of each part.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
fn descend(samples: &[&Sample]) -> Row {
    const ROUNDS: usize = 400;
    const PENALTY: f64 = 1.0;
    let samples: Vec<&&Sample> = samples.iter().filter(|sample| !sample.gold.is_empty()).collect();
    let rows = || samples.iter().flat_map(|sample| &sample.rows);
    let count = rows().count().max(1) as f64;
    let mut deviations = [0.0; PARTS.len()];
    for (part, deviation) in deviations.iter_mut().enumerate() {
        let mean = rows().map(|row| row[part]).sum::<f64>() / count;
        *deviation = (rows().map(|row| (row[part] - mean).powi(2)).sum::<f64>() / count).sqrt().max(1e-9);
    }
    let (mut weights, mut first, mut second) = ([0.0; PARTS.len()], [0.0; PARTS.len()], [0.0_f64; PARTS.len()]);
    for round in 1..=ROUNDS {
        let exponent = i32::try_from(round).unwrap_or(i32::MAX);
        let mut gradient = weights.map(|weight: f64| PENALTY * weight);
        for sample in &samples {
            let scores: Vec<f64> = sample
                .rows
                .iter()
                .map(|row| (0..PARTS.len()).map(|part| row[part] / deviations[part] * weights[part]).sum())
                .collect();
            let most = scores.iter().copied().fold(f64::MIN, f64::max);
            let shares: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
            let all: f64 = shares.iter().sum();
            let goal = 1.0 / sample.gold.len() as f64;
            for (number, row) in sample.rows.iter().enumerate() {
                let wanted = if sample.gold.contains(&number) { goal } else { 0.0 };
                let pull = shares[number] / all - wanted;
                for part in 0..PARTS.len() {
                    gradient[part] += pull * row[part] / deviations[part];
                }
            }
        }
        // Adam, with a step that shrinks.
        let step = 0.05 * (1.0 - round as f64 / (ROUNDS as f64 * 1.05));
        for part in 0..PARTS.len() {
            first[part] = 0.9 * first[part] + 0.1 * gradient[part];
            second[part] = 0.999 * second[part] + 0.001 * gradient[part].powi(2);
            let (mean, spread) = (first[part] / (1.0 - 0.9_f64.powi(exponent)), second[part] / (1.0 - 0.999_f64.powi(exponent)));
            weights[part] -= step * mean / (spread.sqrt() + 1e-9);
        }
    }
    let mut plain = [0.0; PARTS.len()];
    for part in 0..PARTS.len() {
        plain[part] = weights[part] / deviations[part];
        if deviations[part] <= 1e-9 {
            plain[part] = 0.0;
        }
    }
    plain
}
