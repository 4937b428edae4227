//! Numbered blocks, as numbered lists of Markdown.

use memory_core::wikilink;

/// The property of a block that Logseq shows with a number.
const NUMBERED: &str = "logseq.order-list-type:: number";

/// The latest block of a level.
struct OpenBlock {
    indent: usize,
    /// The index of its first line.
    line: usize,
    /// The number of the block before it on this level; zero without one.
    previous: usize,
    number: usize,
}

/// Returns a page with numbers in place of the bullets and properties of its numbered blocks.
pub(super) fn number_blocks(text: &str) -> String {
    if !text.contains(NUMBERED) {
        return text.to_owned();
    }
    let prose = wikilink::blank_code(text);
    let mut lines: Vec<String> = Vec::new();
    let mut open: Vec<OpenBlock> = Vec::new();
    for (line, plain) in text.split_inclusive('\n').zip(prose.split_inclusive('\n')) {
        if plain.trim() == NUMBERED
            && let Some(block) = open.last_mut()
        {
            if block.number == 0 {
                block.number = block.previous + 1;
                let bullet = &mut lines[block.line];
                bullet.replace_range(block.indent..=block.indent, &format!("{}.", block.number));
            }
            continue;
        }
        let trimmed = plain.trim_start();
        if trimmed.starts_with("- ") {
            let indent = plain.len() - trimmed.len();
            open.retain(|block| block.indent <= indent);
            let previous = open.pop_if(|block| block.indent == indent);
            open.push(OpenBlock {
                indent,
                line: lines.len(),
                previous: previous.map_or(0, |block| block.number),
                number: 0,
            });
        }
        lines.push(line.to_owned());
    }
    lines.concat().trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::number_blocks;

    #[test]
    fn numbered_blocks_become_numbered_lists_on_each_level() {
        let page = "- steps\n\t- test\n\t  logseq.order-list-type:: number\n\t- more\n\t  second line\n\t  \
                    logseq.order-list-type:: number\n\t\t- deep\n\t\t  logseq.order-list-type:: number\n\t- plain\n\t- \
                    again\n\t  logseq.order-list-type:: number\n- top\n  logseq.order-list-type:: number";
        let expected = "- steps\n\t1. test\n\t2. more\n\t  second line\n\t\t1. deep\n\t- plain\n\t1. again\n1. top";
        assert_eq!(number_blocks(page), expected);
    }

    #[test]
    fn code_and_other_properties_stay() {
        for page in [
            "- a\n  ```\n  - b\n  logseq.order-list-type:: number\n  ```",
            "- a\n  collapsed:: true",
            "logseq.order-list-type:: number",
        ] {
            assert_eq!(number_blocks(page), page);
        }
    }
}
