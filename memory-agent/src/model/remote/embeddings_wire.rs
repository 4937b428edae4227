//! JSON requests and responses of the `OpenAI` embeddings API.

use serde::{Deserialize, Serialize};

/// The JSON body of a request.
#[derive(Debug, Serialize)]
pub(super) struct EmbeddingsRequest<'a> {
    pub(super) model: &'a str,
    pub(super) input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dimensions: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingsResponse {
    data: Vec<EmbeddingItem>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingItem {
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// Returns the vectors of a response in the order of the `count` texts.
///
/// A response may contain the vectors in any order if each has an index. Without indices, the order is that of the
/// texts.
///
/// # Errors
/// A description of the defect in the response.
pub(super) fn parse_vectors(body: &[u8], count: usize) -> Result<Vec<Vec<f64>>, String> {
    let response: EmbeddingsResponse = serde_json::from_slice(body).map_err(|error| format!("no list of vectors ({error})"))?;
    if response.data.len() != count {
        return Err(format!("{} vectors for {count} texts", response.data.len()));
    }
    let mut vectors = vec![None; count];
    let is_numbered = response.data.iter().any(|item| item.index.is_some());
    for (place, item) in response.data.into_iter().enumerate() {
        let index = if is_numbered { item.index.unwrap_or(usize::MAX) } else { place };
        match vectors.get_mut(index) {
            Some(vector @ None) => *vector = Some(item.embedding),
            Some(Some(_)) => return Err(format!("two vectors for text {index}")),
            None => return Err("a vector for no text".into()),
        }
    }
    Ok(vectors.into_iter().map(|vector| vector.expect("as many vectors as texts, and none twice")).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_stand_in_the_order_of_their_texts() {
        let of = |body: &str| parse_vectors(body.as_bytes(), 2);
        let both = Ok(vec![vec![1.0, 0.0], vec![0.0, 2.0]]);
        assert_eq!(of(r#"{"data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[1,0]}],"model":"m"}"#), both);
        assert_eq!(of(r#"{"data":[{"embedding":[1,0]},{"embedding":[0,2]}]}"#), both);
    }

    #[test]
    fn anything_else_than_one_vector_for_each_text_is_told() {
        for (body, why) in [
            ("", "no list of vectors (EOF while parsing a value at line 1 column 0)"),
            (r#"{"data":[]}"#, "0 vectors for 1 texts"),
            (r#"{"data":[{"index":1,"embedding":[1]}]}"#, "a vector for no text"),
            (r#"{"data":[{"embedding":[null]}]}"#, "no list of vectors (invalid type: null, expected f64 at line 1 column 27)"),
            (r#"{"data":[{"embedding":[NaN]}]}"#, "no list of vectors (expected value at line 1 column 24)"),
            (r#"{"data":[{"embedding":[1e999]}]}"#, "no list of vectors (number out of range at line 1 column 28)"),
        ] {
            assert_eq!(parse_vectors(body.as_bytes(), 1), Err(why.into()), "{body}");
        }
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        assert_eq!(parse_vectors(twice.as_bytes(), 2), Err("two vectors for text 0".into()));
        let half = r#"{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}"#;
        assert_eq!(parse_vectors(half.as_bytes(), 2), Err("a vector for no text".into()));
    }

    proptest! {
        #[test]
        fn no_answer_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..200), count in 0..4_usize) {
            let _ = parse_vectors(&body, count);
        }
    }
}
