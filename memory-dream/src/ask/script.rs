//! Detects the script of a text.

/// A script, or a family of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Script {
    None,
    Latin,
    Greek,
    Cyrillic,
    Hebrew,
    Arabic,
    Han,
    Kana,
    Hangul,
    Other,
}

/// Returns the predominant script of a text.
///
/// Characters from U+2E80 count three times, since one carries the content of several letters. Text with more than a little Kana is
/// Japanese.
pub(super) fn script(text: &str) -> Script {
    let mut counts = [0_usize; 10];
    for character in text.chars() {
        counts[script_of(character) as usize] += if character < '\u{2e80}' { 1 } else { 3 };
    }
    counts[Script::None as usize] = 0;
    let (han, kana) = (counts[Script::Han as usize], counts[Script::Kana as usize]);
    if han / 10 < kana {
        counts[Script::Kana as usize] += han;
        counts[Script::Han as usize] = 0;
    }
    let order = [
        Script::Latin,
        Script::Greek,
        Script::Cyrillic,
        Script::Hebrew,
        Script::Arabic,
        Script::Han,
        Script::Kana,
        Script::Hangul,
        Script::Other,
    ];
    let most = order.into_iter().max_by_key(|script| counts[*script as usize]).unwrap_or(Script::None);
    if counts[most as usize] == 0 { Script::None } else { most }
}

fn script_of(character: char) -> Script {
    match character {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Script::Latin,
        '\u{370}'..='\u{3ff}' => Script::Greek,
        '\u{400}'..='\u{52f}' => Script::Cyrillic,
        '\u{590}'..='\u{5ff}' => Script::Hebrew,
        '\u{600}'..='\u{6ff}' => Script::Arabic,
        '\u{3040}'..='\u{30ff}' => Script::Kana,
        '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3fffd}' => Script::Han,
        '\u{ac00}'..='\u{d7a3}' => Script::Hangul,
        _ if character.is_alphabetic() => Script::Other,
        _ => Script::None,
    }
}
