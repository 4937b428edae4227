//! Detects the script of a text.

/// A script, or a family of scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TextScript {
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
pub(super) fn predominant_script(text: &str) -> TextScript {
    let mut counts = [0_usize; 10];
    for character in text.chars() {
        counts[character_script(character) as usize] += if character < '\u{2e80}' { 1 } else { 3 };
    }
    counts[TextScript::None as usize] = 0;
    let (han, kana) = (counts[TextScript::Han as usize], counts[TextScript::Kana as usize]);
    if han / 10 < kana {
        counts[TextScript::Kana as usize] += han;
        counts[TextScript::Han as usize] = 0;
    }
    let order = [
        TextScript::Latin,
        TextScript::Greek,
        TextScript::Cyrillic,
        TextScript::Hebrew,
        TextScript::Arabic,
        TextScript::Han,
        TextScript::Kana,
        TextScript::Hangul,
        TextScript::Other,
    ];
    let most = order.into_iter().max_by_key(|script| counts[*script as usize]).unwrap_or(TextScript::None);
    if counts[most as usize] == 0 { TextScript::None } else { most }
}

fn character_script(character: char) -> TextScript {
    match character {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => TextScript::Latin,
        '\u{370}'..='\u{3ff}' => TextScript::Greek,
        '\u{400}'..='\u{52f}' => TextScript::Cyrillic,
        '\u{590}'..='\u{5ff}' => TextScript::Hebrew,
        '\u{600}'..='\u{6ff}' => TextScript::Arabic,
        '\u{3040}'..='\u{30ff}' => TextScript::Kana,
        '\u{3400}'..='\u{9fff}' | '\u{20000}'..='\u{3fffd}' => TextScript::Han,
        '\u{ac00}'..='\u{d7a3}' => TextScript::Hangul,
        _ if character.is_alphabetic() => TextScript::Other,
        _ => TextScript::None,
    }
}
