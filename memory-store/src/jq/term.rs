//! Translates jq's constructs to terms that jaq evaluates like jq.
//!
//! jaq differs in the order of multiple outputs, in updates, and in folds with a body that has no output or several outputs, and
//! it does not support `?//`. The names that are generated here start with `$` and contain a space, which is impossible in a
//! program.

use jaq_core::load::Arena;
use jaq_core::load::lex::StrPart;
use jaq_core::load::parse::{BinaryOp, Def, Pattern, Term};
use jaq_core::path::{Opt, Part, Path};

const LEFT: &str = "$ left";
const RIGHT: &str = "$ right";
const KEY: &str = "$ key";
const FROM: &str = "$ from";
const UNTIL: &str = "$ until";
const NEW: &str = "$ new";
const BOUND: &str = "$ bound";
const INPUT: &str = "$ input";

/// Filters without arguments that give exactly one output or fail.
const SINGLE: [&str; 17] = [
    "length",
    "keys",
    "not",
    "tostring",
    "tonumber",
    "type",
    "add",
    "tojson",
    "floor",
    "sqrt",
    "true",
    "false",
    "null",
    "reverse",
    "sort",
    "error",
    "ascii_downcase",
];

pub(crate) fn text(text: &str) -> Term<&str> {
    Term::Str(None, vec![StrPart::Str(text)])
}

pub(crate) fn pipe<'s>(left: Term<&'s str>, right: Term<&'s str>) -> Term<&'s str> {
    binary(left, BinaryOp::Pipe(None), right)
}

pub(crate) fn binary<'s>(
    left: Term<&'s str>,
    operator: BinaryOp<&'s str>,
    right: Term<&'s str>,
) -> Term<&'s str> {
    Term::BinOp(Box::new(left), operator, Box::new(right))
}

fn with<'s>(value: Term<&'s str>, name: &'s str, body: Term<&'s str>) -> Term<&'s str> {
    binary(value, BinaryOp::Pipe(Some(Pattern::Var(name))), body)
}

/// Translates `left operator right`; the right side is the outer loop and fails first.
pub(crate) fn operation<'s>(
    left: Term<&'s str>,
    operator: BinaryOp<&'s str>,
    right: Term<&'s str>,
) -> Term<&'s str> {
    match operator {
        BinaryOp::Math(_) | BinaryOp::Cmp(_)
            if !(is_infallible(&left) || is_infallible(&right)) =>
        {
            let result = binary(Term::Var(LEFT), operator, Term::Var(RIGHT));
            with(right, RIGHT, with(left, LEFT, result))
        }
        BinaryOp::Assign => Term::Call("_assign", vec![left, right]),
        BinaryOp::Update => Term::Call("_modify", vec![left, right]),
        BinaryOp::UpdateMath(operator) => {
            let new = binary(Term::Id, BinaryOp::Math(operator), Term::Var(NEW));
            with(right, NEW, Term::Call("_modify", vec![left, new]))
        }
        BinaryOp::UpdateAlt => {
            let new = binary(Term::Id, BinaryOp::Alt, Term::Var(NEW));
            with(right, NEW, Term::Call("_modify", vec![left, new]))
        }
        other => binary(left, other, right),
    }
}

/// Translates `term[part]`; the index is the outer loop and has the same input as `term`.
pub(crate) fn step<'s>(
    term: Term<&'s str>,
    (part, opt): (Part<Term<&'s str>>, Opt),
) -> Term<&'s str> {
    let plain = |term: Term<&'s str>, part| match term {
        Term::Path(inner, mut path) => {
            path.0.push((part, opt));
            Term::Path(inner, path)
        }
        other => Term::Path(Box::new(other), Path(vec![(part, opt)])),
    };
    match part {
        Part::Index(key) if !(has_single_output(&key) || matches!(term, Term::Id)) => {
            with(key, KEY, plain(term, Part::Index(Term::Var(KEY))))
        }
        Part::Range(Some(from), Some(until))
            if !(has_single_output(&from) && has_single_output(&until)) =>
        {
            let part = Part::Range(Some(Term::Var(FROM)), Some(Term::Var(UNTIL)));
            with(from, FROM, with(until, UNTIL, plain(term, part)))
        }
        part => plain(term, part),
    }
}

/// Translates `value as pattern ?// pattern | body`.
///
/// If a pattern does not match or its body fails, the next pattern is tried.
pub(crate) fn bind_patterns<'s>(
    value: Term<&'s str>,
    mut patterns: Vec<Pattern<&'s str>>,
    body: Term<&'s str>,
) -> Term<&'s str> {
    if patterns.len() == 1 {
        let pattern = patterns.pop().expect("there is one");
        return binary(value, BinaryOp::Pipe(Some(pattern)), body);
    }
    let mut names = Vec::new();
    for pattern in &patterns {
        variables(pattern, &mut names);
    }
    let mut alternatives = patterns.into_iter().rev().map(|pattern| {
        let mut body = binary(
            Term::Var(BOUND),
            BinaryOp::Pipe(Some(pattern)),
            body.clone(),
        );
        for name in &names {
            body = with(Term::Call("null", Vec::new()), name, body);
        }
        body
    });
    let last = alternatives.next().expect("there are several");
    let chain = alternatives.fold(last, |next, alternative| {
        let next = pipe(Term::Var(INPUT), next);
        Term::TryCatch(Box::new(alternative), Some(Box::new(next)))
    });
    with(value, BOUND, with(Term::Id, INPUT, chain))
}

fn variables<'s>(pattern: &Pattern<&'s str>, names: &mut Vec<&'s str>) {
    match pattern {
        Pattern::Var(name) => {
            if !names.contains(name) {
                names.push(name);
            }
        }
        Pattern::Arr(patterns) => patterns
            .iter()
            .for_each(|pattern| variables(pattern, names)),
        Pattern::Obj(fields) => fields
            .iter()
            .for_each(|(_, pattern)| variables(pattern, names)),
    }
}

/// Translates `reduce` and `foreach`.
///
/// The next round starts with the last output of the body, or with `null` if there is no output.
pub(crate) fn fold<'s>(
    word: &'s str,
    source: Term<&'s str>,
    mut patterns: Vec<Pattern<&'s str>>,
    args: Vec<Term<&'s str>>,
) -> Term<&'s str> {
    let mut args = args.into_iter();
    let (init, mut update) = (args.next().expect("checked"), args.next().expect("checked"));
    let mut project = args.next();
    let pattern = if patterns.len() == 1 {
        patterns.pop().expect("there is one")
    } else {
        update = bind_patterns(Term::Var(RIGHT), patterns.clone(), update);
        project = project.map(|project| bind_patterns(Term::Var(RIGHT), patterns, project));
        Pattern::Var(RIGHT)
    };
    let source = Box::new(source);
    if has_exactly_one(&update) {
        let args = [init, update].into_iter().chain(project).collect();
        return Term::Fold(word, source, pattern, args);
    }
    if word == "reduce" {
        let update = Term::Call("_last_or_null", vec![update]);
        return Term::Fold(word, source, pattern, vec![init, update]);
    }
    let last = Term::Call("_last_of_round", Vec::new());
    let round = Term::Arr(Some(Box::new(pipe(last, update))));
    let init = pipe(init, Term::Arr(Some(Box::new(Term::Id))));
    let each = Term::Path(
        Box::new(Term::Id),
        Path(vec![(Part::Range(None, None), Opt::Essential)]),
    );
    let project = match project {
        Some(project) => pipe(each, project),
        None => each,
    };
    Term::Fold(word, source, pattern, vec![init, round, project])
}

/// Translates a string with interpolations; the last interpolation is the outermost loop.
pub(crate) fn string<'s>(
    mut parts: Vec<StrPart<&'s str, Term<&'s str>>>,
    arena: &'s Arena,
) -> Term<&'s str> {
    let many = parts
        .iter()
        .filter(|part| matches!(part, StrPart::Term(term) if !has_single_output(term)))
        .count();
    if many < 2 {
        return Term::Str(None, parts);
    }
    let mut bindings = Vec::new();
    for (index, part) in parts.iter_mut().enumerate() {
        if let StrPart::Term(term) = part {
            let name = arena.alloc(format!("$ part {index}")).as_str();
            bindings.push((name, std::mem::replace(term, Term::Var(name))));
        }
    }
    bindings
        .into_iter()
        .fold(Term::Str(None, parts), |body, (name, value)| {
            with(value, name, body)
        })
}

/// Adds definitions of `a` to the body of `def f($a): …` if the body calls `a`.
pub(crate) fn with_values_as_filters<'s>(
    args: &[&'s str],
    body: Term<&'s str>,
    calls: &[(String, usize)],
) -> Term<&'s str> {
    let called = |name: &str| {
        calls
            .iter()
            .any(|(called, arity)| *arity == 0 && called == name)
    };
    let values = args
        .iter()
        .filter(|arg| arg.starts_with('$') && called(&arg[1..]));
    let definitions: Vec<_> = values
        .map(|arg| Def {
            name: &arg[1..],
            args: Vec::new(),
            body: Term::Var(*arg),
        })
        .collect();
    if definitions.is_empty() {
        body
    } else {
        Term::Def(definitions, Box::new(body))
    }
}

/// Returns whether the term certainly has one output and never fails.
///
/// The evaluation order of such a term does not matter.
fn is_infallible(term: &Term<&str>) -> bool {
    match term {
        Term::Id | Term::Num(_) | Term::Var(_) | Term::Arr(None) => true,
        Term::Str(_, parts) => parts.iter().all(|part| !matches!(part, StrPart::Term(_))),
        Term::Obj(fields) => fields.is_empty(),
        Term::Neg(term) => matches!(**term, Term::Num(_)),
        Term::Call(name, args) => args.is_empty() && matches!(*name, "true" | "false" | "null"),
        _ => false,
    }
}

/// Returns whether the term certainly has at most one output.
fn has_single_output(term: &Term<&str>) -> bool {
    match term {
        Term::Id | Term::Num(_) | Term::Var(_) | Term::Arr(_) => true,
        Term::Str(_, parts) => parts.iter().all(|part| match part {
            StrPart::Term(term) => has_single_output(term),
            _ => true,
        }),
        Term::Obj(fields) => fields.iter().all(|(key, value)| {
            has_single_output(key) && value.as_ref().is_none_or(has_single_output)
        }),
        Term::Neg(term) => has_single_output(term),
        Term::BinOp(left, operator, right) => {
            !matches!(operator, BinaryOp::Comma)
                && has_single_output(left)
                && has_single_output(right)
        }
        Term::IfThenElse(branches, otherwise) => {
            branches
                .iter()
                .all(|(condition, then)| has_single_output(condition) && has_single_output(then))
                && otherwise
                    .as_ref()
                    .is_none_or(|otherwise| has_single_output(otherwise))
        }
        Term::Call("format", args) => args.iter().all(has_single_output),
        Term::Call(name, args) => args.is_empty() && SINGLE.contains(name) || *name == "_modify",
        Term::Path(term, path) => {
            has_single_output(term) && path.0.iter().all(|(part, _)| has_single_index(part))
        }
        _ => false,
    }
}

fn has_single_index(part: &Part<Term<&str>>) -> bool {
    match part {
        Part::Index(key) => has_single_output(key),
        Part::Range(None, None) => false,
        Part::Range(from, until) => {
            from.as_ref().is_none_or(has_single_output)
                && until.as_ref().is_none_or(has_single_output)
        }
    }
}

/// Returns whether the term certainly has exactly one output or fails.
fn has_exactly_one(term: &Term<&str>) -> bool {
    has_single_output(term) && is_never_empty(term)
}

/// Returns whether no part of the term can have an empty output.
fn is_never_empty(term: &Term<&str>) -> bool {
    match term {
        Term::Path(term, path) => {
            is_never_empty(term)
                && path.0.iter().all(|(part, opt)| {
                    matches!(opt, Opt::Essential)
                        && match part {
                            Part::Index(key) => is_never_empty(key),
                            Part::Range(from, until) => {
                                from.as_ref().is_none_or(is_never_empty)
                                    && until.as_ref().is_none_or(is_never_empty)
                            }
                        }
                })
        }
        Term::Neg(term) => is_never_empty(term),
        Term::BinOp(left, _, right) => is_never_empty(left) && is_never_empty(right),
        Term::IfThenElse(branches, otherwise) => {
            branches
                .iter()
                .all(|(condition, then)| is_never_empty(condition) && is_never_empty(then))
                && otherwise
                    .as_ref()
                    .is_none_or(|otherwise| is_never_empty(otherwise))
        }
        Term::Str(_, parts) => parts.iter().all(|part| match part {
            StrPart::Term(term) => is_never_empty(term),
            _ => true,
        }),
        Term::Obj(fields) => fields
            .iter()
            .all(|(key, value)| is_never_empty(key) && value.as_ref().is_none_or(is_never_empty)),
        _ => true,
    }
}
