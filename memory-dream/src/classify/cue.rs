//! Cue words: words and phrases that name the category of a note.
//!
//! A cue takes precedence over the statistical model, in this order:
//!
//! 1. The first label of the note: a heading, or the words before a colon (`Lesson learned: …`, `偏好：…`).
//! 2. A tag that names a category: the note is left to the model, in which tags have the highest weight.
//! 3. A phrase of a sentence (`we decided`, `prefers`, `教训`): the first one outside subordinate clauses, else the first one. A request for
//!    a reminder precedes the date or the question in it.
//!
//! Quoted words and code are not cues, nor are the exceptions under `not` in `cues.txt`: negations and other meanings of the words.
//! `strong` phrases precede `likely` ones; `weak` ones are only features of the model.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::LazyLock;

use memory_core::Category;
use memory_core::text::fold;
use regex::Regex;

use super::feature::{ClassifierInput, fnv_hash};

/// The table of all cues.
const CUE_TABLE: &str = include_str!("cues.txt");

/// Number of characters of a note that are searched for cues.
const SEARCHED_CHARACTERS: usize = 400;

/// Maximum number of characters of a label.
const LONGEST_LABEL: usize = 60;

/// The cues of a note.
#[derive(Debug, Default)]
pub(super) struct NoteCues {
    /// The cue that determines the category, if there is one.
    pub(super) decisive: Option<Category>,
    /// The categories of the weak phrases in the note.
    pub(super) weak: Vec<Category>,
}

/// Returns the cues of `note`; `has_category_tag` is whether one of its tags names a category.
pub(super) fn find_cues(note: &ClassifierInput<'_>, has_category_tag: bool) -> NoteCues {
    let text = searched_text(note);
    let subordinate: Vec<Range<usize>> = SUBORDINATE
        .find_iter(&text)
        .map(|found| found.range())
        .collect();
    let of_strength = |strength: CueStrength| {
        CUE_PATTERNS
            .phrases
            .iter()
            .filter(move |pattern| pattern.strength == strength)
    };
    let decide = |strength| find_phrase(&text, of_strength(strength), &subordinate);
    let decisive = find_label(&text).or_else(|| {
        if has_category_tag {
            None
        } else {
            decide(CueStrength::Strong).or_else(|| decide(CueStrength::Likely))
        }
    });
    let speaks = |pattern: &&CuePattern| first_match(&text, pattern, &subordinate).is_some();
    NoteCues {
        decisive,
        weak: of_strength(CueStrength::Weak)
            .filter(speaks)
            .map(|pattern| pattern.category)
            .collect(),
    }
}

/// Returns a hash of the table of cues, as its version.
pub(crate) const fn cue_version() -> u32 {
    fnv_hash(CUE_TABLE)
}

/// The certainty of a phrase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CueStrength {
    Strong,
    Likely,
    Weak,
}

/// The pattern of one category and strength.
#[derive(Debug)]
struct CuePattern {
    category: Category,
    strength: CueStrength,
    regex: Regex,
}

/// All patterns, compiled.
#[derive(Debug)]
struct CuePatterns {
    labels: Vec<(Category, Regex)>,
    phrases: Vec<CuePattern>,
    exceptions: HashMap<Category, Regex>,
}

static CUE_PATTERNS: LazyLock<CuePatterns> = LazyLock::new(|| compile_patterns(&read_table()));

/// The alternatives of a category, by key.
type CueAlternatives = BTreeMap<&'static str, String>;

fn read_table() -> Vec<(Category, CueAlternatives)> {
    let mut all: Vec<(Category, CueAlternatives)> = Vec::new();
    for line in CUE_TABLE
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some(name) = line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            all.push((
                name.parse().expect("a test reads the table"),
                BTreeMap::new(),
            ));
        } else if let (Some((key, patterns)), Some((_, alternatives))) =
            (line.split_once(" = "), all.last_mut())
        {
            let joined = alternatives.entry(key).or_default();
            if !joined.is_empty() {
                joined.push('|');
            }
            joined.push_str(patterns);
        }
    }
    all
}

fn compile_patterns(table: &[(Category, CueAlternatives)]) -> CuePatterns {
    let regex = |pattern: &str| Regex::new(pattern).expect("a test compiles all patterns");
    let (mut labels, mut phrases, mut exceptions): (Vec<_>, Vec<_>, HashMap<_, _>) =
        Default::default();
    for (category, alternatives) in table {
        if let Some(pattern) = label_pattern(alternatives) {
            labels.push((*category, regex(&pattern)));
        }
        for (key, strength) in [
            ("strong", CueStrength::Strong),
            ("likely", CueStrength::Likely),
            ("weak", CueStrength::Weak),
        ] {
            if let Some(pattern) = phrase_pattern(alternatives, key) {
                phrases.push(CuePattern {
                    category: *category,
                    strength,
                    regex: regex(&pattern),
                });
            }
        }
        if let Some(pattern) = phrase_pattern(alternatives, "not") {
            exceptions.insert(*category, regex(&pattern));
        }
    }
    CuePatterns {
        labels,
        phrases,
        exceptions,
    }
}

fn phrase_pattern(alternatives: &CueAlternatives, key: &str) -> Option<String> {
    let english = alternatives
        .get(format!("{key}.en").as_str())
        .map(|words| format!(r"(?-u:\b(?:{words})\b)"));
    let chinese = alternatives
        .get(format!("{key}.zh").as_str())
        .map(|words| format!("(?:{words})"));
    let both: Vec<String> = english.into_iter().chain(chinese).collect();
    (!both.is_empty()).then(|| both.join("|"))
}

fn label_pattern(alternatives: &CueAlternatives) -> Option<String> {
    let (english, chinese) = alternatives
        .get("label.en")
        .zip(alternatives.get("label.zh"))?;
    let english = format!(r"(?:[^ ]+ ){{0,3}}?(?P<en>{english})(?: (?:{PREPOSITIONS}|#?[0-9]).*)?");
    let chinese = format!(r"[^ ]{{0,12}}?(?P<zh>{chinese})[^ ]{{0,4}}?");
    Some(format!(r"^(?:{english}|{chinese})(?: ?\(.*\))?$"))
}

/// The prepositions that can follow the noun of a label: `lesson from the project`.
const PREPOSITIONS: &str = "from|of|for|on|about|in|after|regarding|by|to";

static FRONT_MATTER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\A---\n(?s:.*?)\n---\s*\n").expect("it is a pattern"));
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        "(?s:```.*?(?:```|\\z))|`[^`\n]*`|\"[^\"\n]{2,}\"|“[^”\n]{2,}”|「[^」\n]*」|『[^』\n]*』",
    )
    .expect("it is a pattern")
});
static SUBORDINATE: LazyLock<Regex> = LazyLock::new(|| {
    let words = r"(?-u:\b(?:because|since|although|though|even though|if|when|while|as soon as|after|before|unless|given that|considering|despite|due to)\b)|因为|由于|虽然|尽管|如果|既然|当|鉴于|考虑到";
    Regex::new(&format!(r"(?:\A|[.!?;:。\n,]\s*)(?:{words})[^,.。!?;\n]*"))
        .expect("it is a pattern")
});

/// Returns the start of `note` that is searched for cues: folded, without quoted words and code.
fn searched_text(note: &ClassifierInput<'_>) -> String {
    let folded = |text: &str| fold(&text[..text.floor_char_boundary(4 * SEARCHED_CHARACTERS)]);
    let content = folded(note.content);
    let content = FRONT_MATTER.replace(&content, "");
    let text = match note.title {
        // A title counts as a label of its note.
        Some(title) => format!("{}:\n{content}", folded(title).trim_end_matches(':')),
        None => content.into_owned(),
    };
    let text = QUOTED.replace_all(&text, " ");
    let mut searched = String::with_capacity(text.len());
    for character in text.chars().take(SEARCHED_CHARACTERS) {
        let is_blank = matches!(character, ' ' | '\t');
        if !(is_blank && searched.ends_with(' ')) {
            searched.push(if is_blank { ' ' } else { character });
        }
    }
    let end = searched
        .trim_end_matches(|character: char| character.is_whitespace() || ".。!".contains(character))
        .len();
    searched.truncate(end);
    searched
}

fn is_border(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | ';' | '\n' | '。')
}

/// Returns the first label of a text.
fn find_label(text: &str) -> Option<Category> {
    text.split(is_border).find_map(|sentence| {
        let is_heading = sentence.trim_start().starts_with('#');
        let start = sentence.trim_start_matches(|character: char| {
            " -*#>[【(•".contains(character) || character.is_ascii_digit()
        });
        let head = label_text(start).or_else(|| is_heading.then_some(start))?;
        let head = head.trim_matches(|character: char| " *]】".contains(character));
        (head.chars().count() <= LONGEST_LABEL)
            .then(|| match_label(head))
            .flatten()
    })
}

/// Returns the part of a sentence before the first colon, dash or closing bracket.
fn label_text(sentence: &str) -> Option<&str> {
    let end = |mark: &str| {
        sentence
            .find(mark)
            .filter(|at| !sentence[*at..].starts_with("://"))
    };
    let at = [":", "—", "–", " - ", " -- ", "]", "】"]
        .into_iter()
        .filter_map(end)
        .min()?;
    Some(&sentence[..at])
}

/// Returns the category that a label names; of several names the last one counts: `project decision`.
fn match_label(head: &str) -> Option<Category> {
    let named = |(category, regex): &(Category, Regex)| {
        let captures = regex.captures(head)?;
        let name = captures.name("en").or_else(|| captures.name("zh"))?;
        let is_noun = !head[..name.start()]
            .split(' ')
            .any(|word| PREPOSITIONS.split('|').any(|own| own == word));
        is_noun.then(|| (name.start(), name.len(), *category))
    };
    // Captures are slow, and most labels have no match.
    let all = CUE_PATTERNS
        .labels
        .iter()
        .filter(|(_, regex)| regex.is_match(head))
        .filter_map(named);
    all.max_by_key(|(start, length, _)| (*start, *length))
        .map(|(.., category)| category)
}

/// Returns the decisive phrase.
fn find_phrase<'p>(
    text: &str,
    patterns: impl Iterator<Item = &'p CuePattern>,
    subordinate: &[Range<usize>],
) -> Option<Category> {
    let found = |pattern: &'p CuePattern| {
        Some((first_match(text, pattern, subordinate)?, pattern.category))
    };
    let all: Vec<_> = patterns.filter_map(found).collect();
    let first = all.iter().min_by_key(|((is_subordinate, range), _)| {
        (*is_subordinate, range.start, usize::MAX - range.len())
    })?;
    let reminder = all
        .iter()
        .find(|(_, category)| *category == Category::Reminders);
    let is_about = matches!(first.1, Category::Date | Category::Feedback);
    let (_, category) = reminder.filter(|_| is_about).unwrap_or(first);
    Some(*category)
}

/// Returns the first match of `pattern` outside exceptions, and whether it is in a subordinate clause.
fn first_match(
    text: &str,
    pattern: &CuePattern,
    subordinate: &[Range<usize>],
) -> Option<(bool, Range<usize>)> {
    let mut exceptions: Option<Vec<Range<usize>>> = None;
    let mut later = None;
    for found in pattern.regex.find_iter(text) {
        let exceptions = exceptions.get_or_insert_with(|| {
            let of_category = CUE_PATTERNS.exceptions.get(&pattern.category);
            of_category
                .iter()
                .flat_map(|regex| regex.find_iter(text))
                .map(|found| found.range())
                .collect()
        });
        let is_exception = exceptions
            .iter()
            .any(|range| range.start < found.end() && found.start() < range.end);
        if is_exception || is_in_question(text, found.end(), pattern.category) {
            continue;
        }
        if !subordinate
            .iter()
            .any(|range| range.contains(&found.start()))
        {
            return Some((false, found.range()));
        }
        later.get_or_insert((true, found.range()));
    }
    later
}

/// Returns whether the sentence around `end` is a question, which states nothing.
///
/// Requests can have the form of a question, so categories of requests are exempt.
fn is_in_question(text: &str, end: usize, category: Category) -> bool {
    let is_statement = !matches!(
        category,
        Category::Soul | Category::Feedback | Category::Reminders
    );
    is_statement && text[end..].chars().find(|character| is_border(*character)) == Some('?')
}

#[cfg(test)]
mod tests;
