//! A prefilter that finds possible positions of credentials in one pass.

use std::ops::Range;
use std::sync::LazyLock;

use super::rule::{RULES, SecretRule};

static PREFILTER: LazyLock<LiteralPrefilter> = LazyLock::new(LiteralPrefilter::new);

/// Calls `each` with every rule and position of its literals in `text`, in order of position.
pub(super) fn for_each_hit(text: &str, each: &mut dyn FnMut(&'static SecretRule, Range<usize>)) {
    let prefilter = &*PREFILTER;
    for (at, window) in text.as_bytes().windows(3).enumerate() {
        let mut possible = prefilter.masks[0][usize::from(window[0])]
            & prefilter.masks[1][usize::from(window[1])]
            & prefilter.masks[2][usize::from(window[2])];
        while possible != 0 {
            let (rule, literal) = prefilter.literals[possible.trailing_zeros() as usize];
            if rule.matches_literal(literal, &text.as_bytes()[at..]) {
                each(rule, at..at + literal.len());
            }
            possible &= possible - 1;
        }
    }
}

/// Bit masks of the literals that match each of the first three bytes.
///
/// There is one bit per literal, in the order of `literals`.
struct LiteralPrefilter {
    masks: [[u64; 256]; 3],
    literals: Vec<(&'static SecretRule, &'static str)>,
}

impl LiteralPrefilter {
    fn new() -> Self {
        let literals: Vec<_> = RULES.iter().flat_map(|rule| rule.literals.iter().map(move |&literal| (rule, literal))).collect();
        let mut masks = [[0; 256]; 3];
        for (number, (rule, literal)) in literals.iter().enumerate() {
            for (mask, byte) in masks.iter_mut().zip(literal.bytes()) {
                mask[usize::from(byte)] |= 1 << number;
                if rule.any_case {
                    mask[usize::from(byte.to_ascii_uppercase())] |= 1 << number;
                }
            }
        }
        Self { masks, literals }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_literal_has_its_bit_and_three_bytes() {
        let literals = &PREFILTER.literals;
        assert!(literals.len() <= 64);
        for (rule, literal) in literals {
            assert!(3 <= literal.len(), "{literal}");
            assert!(!rule.any_case || *literal == literal.to_ascii_lowercase(), "{literal}");
        }
    }

    #[test]
    fn every_literal_is_hit_where_it_stands() {
        for (rule, literal) in &PREFILTER.literals {
            let mut hits = Vec::new();
            for_each_hit(&format!("é {literal}"), &mut |hit, at| hits.push((hit.kind, at.start)));
            assert!(hits.contains(&(rule.kind, 3)), "{literal}");
        }
    }
}
