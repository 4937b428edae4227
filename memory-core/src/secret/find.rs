//! Detection of credentials in text, and the rejection or redaction of such text.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::rule::{RULES, SecretRule};
use crate::StoreError;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Secret {
    /// The kind, for display: `GitHub token`, `private key`, `password`.
    pub kind: &'static str,
    /// The byte range of the credential. For an assignment and a URL, it covers only the value.
    pub span: Range<usize>,
}

/// Returns the credentials in `text`, in order and without overlaps.
///
/// Placeholders such as `sk-xxxx`, `${TOKEN}` or `<password>`, hashes and UUIDs are not credentials. Text without any
/// prefix of a credential costs one pass over its bytes. A pattern is compiled when it is first needed.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut covered = 0;
    for_each_hit(text, &mut |rule, hit| {
        // An assigned value inside another credential ends with it; skipping it avoids scanning a long value
        // repeatedly.
        if rule.is_assignment() && hit.start < covered {
            return;
        }
        if let Some(span) = rule.find_span(text, hit) {
            covered = covered.max(span.end);
            found.push((span, rule));
        }
    });
    // Of credentials with the same start, the first rule has the most specific kind.
    found.sort_by_key(|(span, rule)| (span.start, rule.index()));

    let mut secrets = Vec::<Secret>::new();
    for (span, rule) in found {
        match secrets.last_mut() {
            Some(before) if span.start < before.span.end => {
                before.span.end = before.span.end.max(span.end);
            }
            _ => secrets.push(Secret {
                kind: rule.kind,
                span,
            }),
        }
    }
    secrets
}

static PREFILTER: LazyLock<LiteralPrefilter> = LazyLock::new(LiteralPrefilter::new);

/// Calls `each` with every rule and position of its literals in `text`, in order of position.
fn for_each_hit(text: &str, each: &mut dyn FnMut(&'static SecretRule, Range<usize>)) {
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
        let literals: Vec<_> = RULES
            .iter()
            .flat_map(|rule| rule.literals.iter().map(move |&literal| (rule, literal)))
            .collect();
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

/// Checks that texts contain no credentials. All writes pass this check.
///
/// # Errors
/// [`StoreError::Secret`] with the kinds that were found.
pub fn reject_secrets<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<(), StoreError> {
    let mut kinds: Vec<_> = texts
        .into_iter()
        .flat_map(find)
        .map(|found| found.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        Ok(())
    } else {
        Err(StoreError::Secret { kinds })
    }
}

/// Checks that a text contains no credentials that the previous text `former` does not contain.
///
/// # Errors
/// Those of [`reject_secrets`].
pub fn reject_added_secrets(former: &str, text: &str) -> Result<(), StoreError> {
    let found = find(text);
    if found.is_empty() {
        return Ok(());
    }
    let known: HashSet<&str> = find(former)
        .into_iter()
        .map(|found| &former[found.span])
        .collect();
    let mut kinds: Vec<_> = found
        .into_iter()
        .filter(|found| !known.contains(&text[found.span.clone()]))
        .map(|found| found.kind)
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.is_empty() {
        Ok(())
    } else {
        Err(StoreError::Secret { kinds })
    }
}

/// A text with redacted credentials.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactedText {
    /// The text with `[redacted: <kind>]` in place of each credential.
    pub text: String,
    /// The redacted kinds without duplicates, in order of occurrence.
    pub kinds: Vec<&'static str>,
}

/// Maximum number of additional redaction passes.
const MAX_PASSES: usize = 8;

/// Returns `text` with redacted credentials, or `None` if it contains no credentials.
pub fn redact(text: &str) -> Option<RedactedText> {
    let mut redacted = redact_once(text)?;
    // A redaction may reveal a further match in the surrounding text.
    for _ in 0..MAX_PASSES {
        let Some(more) = redact_once(&redacted.text) else {
            break;
        };
        redacted.text = more.text;
        redacted.kinds.extend(
            more.kinds
                .into_iter()
                .filter(|kind| !redacted.kinds.contains(kind))
                .collect::<Vec<_>>(),
        );
    }
    Some(redacted)
}

fn redact_once(text: &str) -> Option<RedactedText> {
    let secrets = find(text);
    if secrets.is_empty() {
        return None;
    }
    let mut redacted = String::with_capacity(text.len());
    let mut kinds = Vec::new();
    let mut rest = 0;
    for secret in secrets {
        redacted.push_str(&text[rest..secret.span.start]);
        redacted.push_str("[redacted: ");
        redacted.push_str(secret.kind);
        redacted.push(']');
        rest = secret.span.end;
        if !kinds.contains(&secret.kind) {
            kinds.push(secret.kind);
        }
    }
    redacted.push_str(&text[rest..]);
    Some(RedactedText {
        text: redacted,
        kinds,
    })
}

#[cfg(test)]
mod tests;
