//! Detection of credentials in text.

use std::ops::Range;

use super::prefilter::for_each_hit;

/// A credential in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
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
            Some(before) if span.start < before.span.end => before.span.end = before.span.end.max(span.end),
            _ => secrets.push(Secret { kind: rule.kind, span }),
        }
    }
    secrets
}

#[cfg(test)]
mod tests;
