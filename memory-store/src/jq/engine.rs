//! The interface between values and jaq's evaluator, and the state of a running program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use jaq_core::box_iter::{BoxIter, box_once};
use jaq_core::path::Opt;
use jaq_core::{DataT, Exn, Lut, ValT, ValX, data::HasLut};

use super::error::{JqEvalResult, cannot_iterate, runtime_error};
use super::json_path;
use super::read::JsonReader;
use super::value::{Map, Val};

/// The types that native functions get from the evaluator.
#[derive(Debug)]
pub(crate) struct JqTypes;

impl DataT for JqTypes {
    type V<'a> = Val;
    type Data<'a> = JqRunContext<'a>;
}

/// The context of one run of a program.
#[derive(Clone)]
pub(crate) struct JqRunContext<'a> {
    lut: &'a Lut<JqTypes>,
    shared: Rc<JqRunState<'a>>,
}

/// The state of one run of a program.
#[derive(Debug, Default)]
pub(crate) struct JqRunState<'a> {
    /// The whole input.
    pub(crate) text: &'a str,
    /// The offset of the next input value.
    pub(crate) at: Cell<usize>,
    /// The value that was passed to `halt_error`.
    pub(crate) halted: RefCell<Option<Val>>,
}

impl<'a> JqRunContext<'a> {
    pub(crate) fn new(lut: &'a Lut<JqTypes>, shared: Rc<JqRunState<'a>>) -> Self {
        Self { lut, shared }
    }

    pub(crate) fn shared(&self) -> &JqRunState<'a> {
        &self.shared
    }
}

impl<'a> HasLut<'a, JqTypes> for JqRunContext<'a> {
    fn lut(&self) -> &'a Lut<JqTypes> {
        self.lut
    }
}

impl JqRunState<'_> {
    /// Parses the next value of the input.
    pub(crate) fn next(&self) -> Option<Result<Val, super::read::JsonSyntaxError>> {
        let mut reader = JsonReader::from_offset(self.text, self.at.get());
        let value = reader.next();
        let broken = matches!(value, Some(Err(_)));
        self.at.set(if broken {
            self.text.len()
        } else {
            reader.position()
        });
        value
    }
}

impl ValT for Val {
    fn from_num(text: &str) -> JqEvalResult {
        Val::parse_number(text.trim_end())
            .ok_or_else(|| runtime_error(format!("Invalid numeric literal '{text}'")))
    }

    fn from_map<I: IntoIterator<Item = (Self, Self)>>(fields: I) -> JqEvalResult {
        let mut map = Map::default();
        for (key, value) in fields {
            match key {
                Val::Str(key) => map.insert(key, value),
                other => {
                    let key = super::error::describe(&other);
                    return Err(runtime_error(format!("Cannot use {key} as object key")));
                }
            };
        }
        Ok(Val::object(map))
    }

    fn key_values(self) -> BoxIter<'static, JqEvalResult<(Self, Self)>> {
        match self {
            Val::Arr(values) => Box::new(
                (0..values.len()).map(move |index| Ok((Val::count(index), values[index].clone()))),
            ),
            Val::Obj(map) => Box::new((0..map.len()).filter_map(move |index| {
                map.get_index(index)
                    .map(|(key, value)| Ok((Val::Str(key.clone()), value.clone())))
            })),
            other => box_once(Err(cannot_iterate(&other))),
        }
    }

    fn values(self) -> Box<dyn Iterator<Item = JqEvalResult>> {
        match self {
            Val::Arr(values) => match Rc::try_unwrap(values) {
                Ok(values) => Box::new(values.into_iter().map(Ok)),
                Err(values) => {
                    Box::new((0..values.len()).map(move |index| Ok(values[index].clone())))
                }
            },
            Val::Obj(map) => match Rc::try_unwrap(map) {
                Ok(map) => Box::new(map.into_values().map(Ok)),
                Err(map) => Box::new(
                    (0..map.len())
                        .filter_map(move |index| map.get_index(index).map(|(_, v)| Ok(v.clone()))),
                ),
            },
            other => box_once(Err(cannot_iterate(&other))),
        }
    }

    fn index(self, key: &Self) -> JqEvalResult {
        json_path::get(&self, key)
    }

    fn range(self, range: jaq_core::val::Range<&Self>) -> JqEvalResult {
        json_path::get(&self, &Val::from(range.start.cloned()..range.end.cloned()))
    }

    fn map_values<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        opt: Opt,
        update: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        match self {
            Val::Arr(values) => values.iter().cloned().flat_map(update).collect(),
            Val::Obj(map) => {
                let mut new = Map::default();
                for (key, value) in map.iter() {
                    if let Some(value) = update(value.clone()).next() {
                        new.insert(key.clone(), value?);
                    }
                }
                Ok(Val::object(new))
            }
            other => opt.fail(other, |other| Exn::from(cannot_iterate(&other))),
        }
    }

    fn map_index<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        key: &Self,
        opt: Opt,
        update: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        let result = json_path::get(&self, key)
            .map_err(Exn::from)
            .and_then(|child| match update(child).next() {
                Some(child) => Ok(json_path::set(self.clone(), key, child?)?),
                None => Ok(self.clone()),
            });
        match (result, opt) {
            (Err(_), Opt::Optional) => Ok(self),
            (result, _) => result,
        }
    }

    fn map_range<'a, I: Iterator<Item = ValX<'a, Self>>>(
        self,
        range: jaq_core::val::Range<&Self>,
        opt: Opt,
        update: impl Fn(Self) -> I,
    ) -> ValX<'a, Self> {
        self.map_index(
            &Val::from(range.start.cloned()..range.end.cloned()),
            opt,
            update,
        )
    }

    fn as_bool(&self) -> bool {
        self.truthy()
    }

    fn into_string(self) -> Self {
        Val::Str(self.text())
    }
}
