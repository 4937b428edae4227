//! The search for credentials.

use std::ops::Range;

use super::prefilter::each_hit;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// What it is, for people: `GitHub token`, `private key`, `password`.
    pub kind: &'static str,
    /// The bytes of the text that must not be kept. Of an assignment and of a URL that is only the value.
    pub span: Range<usize>,
}

/// Returns the credentials in `text`, in order and apart from each other.
///
/// Placeholders such as `sk-xxxx`, `${TOKEN}` or `<password>`, hashes and UUIDs are none. Text without anything that
/// credentials begin with costs one pass over its bytes; a pattern is compiled only when it is needed for the first time.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    let mut covered = 0;
    each_hit(text, &mut |rule, hit| {
        // Such a value ends where the one around it does, and it may be long.
        if rule.is_assignment() && hit.start < covered {
            return;
        }
        if let Some(span) = rule.span(text, hit) {
            covered = covered.max(span.end);
            found.push((span, rule));
        }
    });
    // Of those that begin together, the first rule knows best what it is.
    found.sort_by_key(|(span, rule)| (span.start, rule.order()));

    let mut secrets = Vec::<Secret>::new();
    for (span, rule) in found {
        match secrets.last_mut() {
            Some(before) if span.start < before.span.end => before.span.end = before.span.end.max(span.end),
            _ => secrets.push(Secret { kind: rule.kind, span }),
        }
    }
    secrets
}

#[cfg(test)]
mod tests;
