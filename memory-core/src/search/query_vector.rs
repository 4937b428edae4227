//! Computes the vector of a query.

use crate::query_parser::{TextQuery, to_first_person};
use crate::{EmbedError, Embedding, Services, is_nonzero};

/// Returns the vector of the query, or `None` without a model, without stored vectors, or if the model knows no word of the query.
///
/// If the query names exactly one speaker, the vector is the mean of that of the text and that of the text in the first person.
///
/// # Errors
/// The reason why the model or the store fails.
pub(super) fn embed_query(services: &Services, text: &str, question: &TextQuery) -> Result<Option<Embedding>, String> {
    let Some(embedder) = &services.embedder else { return Ok(None) };
    let has_vectors = |identity| {
        let answer = services.store.has_vectors(identity);
        answer.map_err(|error| format!("the vectors cannot be used: {error}"))
    };
    // The identity may require opening the model, so it is requested last. If the model cannot be opened, it has no identity, and
    // `embed` returns the reason.
    if !has_vectors(None)? || (!embedder.identity().is_empty() && !has_vectors(Some(embedder.identity()))?) {
        return Ok(None);
    }
    let speakers = services.store.speakers(&question.names, None);
    let speakers = speakers.map_err(|error| format!("cannot read the speaker names: {error}"))?;
    // A query that names several speakers is not rewritten.
    let first_person = if let [only] = speakers.as_slice() { Some(to_first_person(text, only)) } else { None };
    let texts: Vec<&str> = [text].into_iter().chain(first_person.as_deref()).collect();
    let vectors = embedder.embed(&texts).map_err(|error| error.to_string())?;
    let is_sound = |vector: &Embedding| !vector.is_empty() && vector.iter().all(|part| part.is_finite());
    if vectors.len() != texts.len() || !vectors.iter().all(is_sound) {
        let why = "it returned no vector, or one with a value that is not a finite number".into();
        return Err(EmbedError { why, hint: None }.to_string());
    }
    Ok(Some(mean_vector(vectors)).filter(|vector| is_nonzero(vector)))
}

/// Returns the normalized mean of the vectors, or the first one if the mean is zero.
fn mean_vector(vectors: Vec<Embedding>) -> Embedding {
    let mut middle = vectors.first().cloned().unwrap_or_default();
    for vector in &vectors[1..] {
        middle.iter_mut().zip(vector).for_each(|(sum, part)| *sum += part);
    }
    let length = middle.iter().map(|part| part * part).sum::<f32>().sqrt();
    if vectors.len() == 1 || length < 1e-3 {
        return vectors.into_iter().next().unwrap_or_default();
    }
    middle.into_iter().map(|part| part / length).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::testing::services;
    use crate::{ContentHash, Draft, Embedder, Filter, MemStore, Scope, SecretPolicy, TextVector, query_parser, write};

    /// A model that records the embedded texts.
    #[derive(Debug, Default)]
    struct RecordingEmbedder(Mutex<Vec<String>>);

    impl Embedder for RecordingEmbedder {
        fn identity(&self) -> &'static str {
            "attentive"
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            self.0.lock().expect("nobody panics").extend(texts.iter().map(|text| (*text).to_owned()));
            Ok(vec![vec![1.0, 0.0]; texts.len()])
        }
    }

    #[test]
    fn the_one_speaker_who_is_named_is_made_to_ask_themselves() {
        let attentive = Arc::new(RecordingEmbedder::default());
        let services = Services { embedder: Some(Arc::clone(&attentive) as _), ..services(Arc::new(MemStore::default())) };
        for speaker in ["Anna", "Bob"] {
            let scope = Scope::Conversation("holidays".into());
            let text = format!("{speaker} likes the sea");
            let draft = Draft { source: speaker.into(), scope, ..Draft::new(&text) };
            let id = write(&services, draft, SecretPolicy::Refuse).expect("it is kept").id;
            let kept = TextVector { id, text: ContentHash::of(&text), vector: vec![1.0, 0.0] };
            services.store.store_vectors("attentive", &[kept]).expect("it is kept");
        }
        for text in ["Where was Anna?", "Where was Carl?", "Did Anna meet Bob?"] {
            let question = query_parser::parse(text, &Filter::default()).question;
            assert_eq!(embed_query(&services, text, &question), Ok(Some(vec![1.0, 0.0])));
        }
        let shown = attentive.0.lock().expect("nobody panics");
        assert_eq!(*shown, ["Where was Anna?", "Where was I?", "Where was Carl?", "Did Anna meet Bob?"]);
    }

    /// A model that knows no words.
    #[derive(Debug)]
    struct ZeroEmbedder;

    impl Embedder for ZeroEmbedder {
        fn identity(&self) -> &'static str {
            "blind"
        }

        fn embed(&self, texts: &[&str]) -> Result<Vec<Embedding>, EmbedError> {
            Ok(vec![vec![0.0, 0.0]; texts.len()])
        }
    }

    #[test]
    fn a_question_that_the_model_cannot_read_has_no_vector() {
        let services = Services { embedder: Some(Arc::new(ZeroEmbedder)), ..services(Arc::new(MemStore::default())) };
        let id = write(&services, Draft::new("sea"), SecretPolicy::Refuse).expect("it is kept").id;
        let kept = TextVector { id, text: ContentHash::of("sea"), vector: vec![1.0, 0.0] };
        services.store.store_vectors("blind", &[kept]).expect("it is kept");
        let question = query_parser::parse("sea", &Filter::default()).question;
        assert_eq!(embed_query(&services, "sea", &question), Ok(None));
    }

    #[test]
    fn the_middle_has_length_one_and_opposites_have_none() {
        let length = mean_vector(vec![vec![1.0, 0.0], vec![0.6, 0.8]]).iter().map(|part| part * part).sum::<f32>();
        assert!((length - 1.0).abs() < 1e-6);
        assert_eq!(mean_vector(vec![vec![1.0, 0.0], vec![-1.0, 0.0]]), [1.0, 0.0]);
    }
}
