//! References to blocks, such as `((uuid))`, as links to the pages that contain the blocks.

use std::collections::HashMap;
use std::sync::LazyLock;

use memory_core::text::to_one_line;
use memory_core::wikilink;
use regex::Regex;

/// Maximum number of characters of the text of a block in a link.
const MAX_TEXT: usize = 120;

/// The blocks with an id. The program gives an id only to blocks that are referred to.
#[derive(Debug, Default)]
pub(super) struct Blocks(HashMap<String, Block>);

/// A block: the title of its page, and its text as the label of a link.
#[derive(Debug)]
struct Block {
    page: String,
    label: String,
}

impl Blocks {
    /// Returns whether a text may have blocks with an id.
    pub(super) fn are_in(text: &str) -> bool {
        text.contains("id:: ") || text.contains(":id: ") || text.contains(":ID: ")
    }

    /// Adds the blocks of a page with this title and text.
    pub(super) fn add_page(&mut self, page: &str, text: &str) {
        static ID: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"^\s*(?:- )?(?:id:: |:(?:id|ID): )\s*([0-9A-Fa-f-]{36})\s*$")
                .expect("the pattern is right")
        });
        let mut latest = "";
        for line in text.lines() {
            if let Some(found) = ID.captures(line) {
                let block = || Block {
                    page: page.to_owned(),
                    label: label(latest),
                };
                self.0
                    .entry(found[1].to_ascii_lowercase())
                    .or_insert_with(block);
                continue;
            }
            let trimmed = line.trim_start();
            let heading = trimmed.trim_start_matches('*');
            let is_heading = heading.len() < trimmed.len() && heading.starts_with(' ');
            if let Some(bullet) = trimmed.strip_prefix("- ") {
                latest = bullet;
            } else if is_heading {
                latest = heading;
            }
        }
    }

    /// Returns a text with links in place of its references to known blocks, and the pages of these blocks.
    pub(super) fn replace_references(&self, text: &str) -> (String, Vec<String>) {
        static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
            Regex::new(r"(?:\[([^\[\]\n]*)\]\()?\(\(([0-9A-Fa-f-]{36})\)\)(\)?)")
                .expect("the pattern is right")
        });
        if self.0.is_empty() || !text.contains("((") {
            return (text.to_owned(), Vec::new());
        }
        let prose = wikilink::blank_code(text);
        let (mut replaced, mut pages, mut end) = (String::new(), Vec::new(), 0);
        for found in REFERENCE.captures_iter(&prose) {
            let (Some(whole), Some(block)) =
                (found.get(0), self.0.get(&found[2].to_ascii_lowercase()))
            else {
                continue;
            };
            let own_label = found.get(1).map(|label| text[label.range()].trim());
            let is_labelled = own_label.is_some() && !found[3].is_empty();
            if own_label.is_some() && !is_labelled {
                continue;
            }
            let shown = own_label.unwrap_or(&block.label);
            let bar = if shown.is_empty() { "" } else { "|" };
            let span = whole.start()..whole.end();
            replaced.push_str(&text[end..span.start]);
            replaced.extend(["[[", &block.page, bar, shown, "]]"]);
            // A bracket behind a reference without a label belongs to the text.
            if !is_labelled {
                replaced.push_str(&found[3]);
            }
            end = span.end;
            pages.push(block.page.clone());
        }
        replaced.push_str(&text[end..]);
        (replaced, pages)
    }
}

/// Returns the text of a block without characters that a link cannot contain.
fn label(text: &str) -> String {
    let plain: String = text
        .chars()
        .filter(|character| !matches!(character, '[' | ']' | '|' | '`'))
        .collect();
    to_one_line(&plain, MAX_TEXT).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "64a1b2c3-0000-4000-8000-000000000001";

    #[test]
    fn references_become_links_with_the_text_of_their_block() {
        let mut blocks = Blocks::default();
        blocks.add_page(
            "Tea",
            &format!("- hot\n  - Sencha at 70 °C, see [[Kettle]]\n    id:: {ID}\n- later"),
        );
        let link = "[[Tea|Sencha at 70 °C, see Kettle]]";
        for (text, expected) in [
            (format!("as (({ID})) says"), format!("as {link} says")),
            (format!("(see (({ID})))"), format!("(see {link})")),
            (format!("[the tea]((({ID})))"), "[[Tea|the tea]]".to_owned()),
            (
                format!("{{{{embed (({ID}))}}}}"),
                format!("{{{{embed {link}}}}}"),
            ),
        ] {
            assert_eq!(
                blocks.replace_references(&text),
                (expected, vec!["Tea".to_owned()])
            );
        }
        for text in [
            format!("`(({ID}))`"),
            ID.replace('1', "2"),
            "((x))".to_owned(),
        ] {
            assert_eq!(blocks.replace_references(&text), (text.clone(), vec![]));
        }
        let mut org = Blocks::default();
        org.add_page(
            "Org",
            &format!("* TODO boil\n:PROPERTIES:\n:id: {ID}\n:END:\n"),
        );
        assert_eq!(
            org.replace_references(&format!("(({ID}))")).0,
            "[[Org|TODO boil]]"
        );
    }
}
