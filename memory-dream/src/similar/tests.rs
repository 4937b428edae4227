//! Tests of the comparison of texts.

mod everyday;
mod recall;

use memory_core::testing::any_text;
use memory_core::text::fold;
use proptest::prelude::*;

use super::{MinHash, SKETCH_BYTES, TextFingerprint, candidate_pairs, compare_texts};

#[test]
fn a_sketch_of_another_length_is_none() {
    assert_eq!(MinHash::from_bytes(&[0; SKETCH_BYTES - 1]), None);
    assert_eq!(MinHash::from_bytes(&[]), None);
}

#[test]
fn a_sketch_stays_what_it_is_on_every_machine() {
    let bytes = MinHash::of("Anna likes tea. 安娜喜欢茶。").to_bytes();
    assert_eq!(
        bytes[..8],
        FIRST_BYTES,
        "another sketch of the same text needs another version"
    );
}

const FIRST_BYTES: [u8; 8] = [208, 203, 239, 98, 65, 203, 239, 161];

#[test]
fn thousands_that_are_alike_give_few_pairs_and_the_equal_ones_are_among_them() {
    let note = |day: usize| {
        format!(
            "Daily note. Woke up early, had coffee and bread, walked to work. Day {day} of the journey to the sea."
        )
    };
    let sketches: Vec<_> = (0..2_000)
        .map(|number| MinHash::of(&note(number % 1_000)))
        .collect();
    let pairs = candidate_pairs(&sketches);
    assert!(pairs.len() < 100 * sketches.len(), "{}", pairs.len());
    let found = (0..1_000)
        .filter(|number| pairs.binary_search(&(*number, number + 1_000)).is_ok())
        .count();
    assert!(990 <= found, "{found}");
}

#[test]
fn nothing_has_no_candidates() {
    assert!(candidate_pairs(&[]).is_empty());
    assert!(candidate_pairs(&[MinHash::of("Anna likes tea")]).is_empty());
}

proptest! {
    #[test]
    fn the_sketch_of_folded_text_is_the_same(text in any_text()) {
        prop_assert_eq!(MinHash::of(&fold(&text)), MinHash::of(&text));
    }

    #[test]
    fn a_sketch_survives_its_bytes(text in any_text()) {
        let sketch = MinHash::of(&text);
        prop_assert_eq!(MinHash::from_bytes(&sketch.to_bytes()), Some(sketch));
    }

    #[test]
    fn the_order_of_two_texts_does_not_matter(
        one in "((Anna|Ben|likes|not|tea|on|8080|的|不|茶|`x`)[ .\n]){0,12}",
        other in "((Anna|Ben|likes|not|tea|on|8080|的|不|茶|`x`)[ .\n]){0,12}",
        any in any_text(),
    ) {
        prop_assert_eq!(compare_texts(&one, &other), compare_texts(&other, &one));
        let quick = TextFingerprint::of(&one).is_duplicate_of(&TextFingerprint::of(&other));
        prop_assert_eq!(quick, compare_texts(&one, &other).is_duplicate());
        prop_assert_eq!(compare_texts(&one, &any), compare_texts(&any, &one));
    }

    #[test]
    fn every_text_is_a_duplicate_of_itself_and_of_itself_in_capitals(text in any_text()) {
        let own = compare_texts(&text, &text);
        prop_assert!(own.is_duplicate() && own.differences.is_empty());
        let prose = text.replace(['`', '~', '$', '<'], "");
        prop_assume!(fold(&prose.to_uppercase()) == fold(&prose));
        prop_assert!(compare_texts(&prose, &prose.to_uppercase()).is_duplicate());
    }
}
