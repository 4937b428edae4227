//! What goes over the wire, as `OpenAI` and many others speak it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What is asked.
#[derive(Debug, Serialize)]
pub(super) struct Request<'a> {
    pub(super) model: &'a str,
    pub(super) input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) dimensions: Option<usize>,
}

#[derive(Debug, Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f64>,
}

/// Returns the vectors of an answer in the order of the `count` texts.
///
/// Servers may answer in any order and say which is which; where none says so, they stand in order.
///
/// # Errors
/// Says what is wrong with the answer.
pub(super) fn vectors(body: &[u8], count: usize) -> Result<Vec<Vec<f64>>, String> {
    let response: Response = serde_json::from_slice(body).map_err(|error| format!("no list of vectors ({error})"))?;
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

/// Returns what a server says about a failure, if it says something that can be read.
pub(super) fn complaint(body: &[u8]) -> Option<String> {
    const LONGEST: usize = 200;
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(value) => ["/error/message", "/error", "/message", "/detail"]
            .iter()
            .find_map(|place| value.pointer(place)?.as_str().map(str::to_owned))?,
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    // A page of HTML tells a person nothing.
    let is_page = text.trim_start().starts_with('<');
    let words: Vec<&str> = text.split(|character: char| character.is_whitespace() || character.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (!line.is_empty() && !is_page).then(|| line.chars().take(LONGEST).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn vectors_stand_in_the_order_of_their_texts() {
        let of = |body: &str| vectors(body.as_bytes(), 2);
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
            assert_eq!(vectors(body.as_bytes(), 1), Err(why.into()), "{body}");
        }
        let twice = r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#;
        assert_eq!(vectors(twice.as_bytes(), 2), Err("two vectors for text 0".into()));
        let half = r#"{"data":[{"index":0,"embedding":[1]},{"embedding":[1]}]}"#;
        assert_eq!(vectors(half.as_bytes(), 2), Err("a vector for no text".into()));
    }

    #[test]
    fn complaints_are_found_where_servers_put_them() {
        let of = |body: &str| complaint(body.as_bytes());
        let says = |text: &str| Some(text.to_owned());
        assert_eq!(of(r#"{"error":{"message":"no such model","type":"x"}}"#), says("no such model"));
        assert_eq!(of(r#"{"error":"no such model"}"#), says("no such model"));
        assert_eq!(of("busy\n\u{1b}[31m  now"), says("busy [31m now"));
        assert_eq!(of("<html><title>502</title>"), None);
        assert_eq!(of(" "), None);
        assert_eq!(of(r#"{"fine":true}"#), None);
        assert_eq!(of(&"é".repeat(999)).map(|text| text.chars().count()), Some(200));
    }

    proptest! {
        #[test]
        fn no_answer_is_too_odd(body in prop::collection::vec(any::<u8>(), 0..200), count in 0..4_usize) {
            let _ = vectors(&body, count);
            prop_assert!(complaint(&body).is_none_or(|text| !text.chars().any(char::is_control)));
        }
    }
}
