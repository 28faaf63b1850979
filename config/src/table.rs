//! One table of an array of tables, such as `[[acquirer]]`, while it is read.
//!
//! The reader requests each key that it knows, needed or not; all other keys are refused as unknown. Problems are
//! recorded, and reported together with all others.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use toml::{Table, Value};

use super::file;
use super::nearest::{hint, nearest};
use super::problem::Origin;
use super::settings::{Given, Settings, scalar};

/// One table of an option that contains an array of them. In its keys, `_` and `-` are equivalent.
pub(super) struct OptionTable<'a> {
    pub(super) settings: &'a mut Settings,
    pub(super) origin: &'a Origin,
    /// Option that contains it.
    option: &'static str,
    index: usize,
    name: Option<String>,
    pub(super) entries: BTreeMap<String, Value>,
    /// Every requested key, in this order.
    asked: Vec<String>,
    is_refused: bool,
}

impl<'a> OptionTable<'a> {
    /// Wraps the table at this index of the option.
    pub(super) fn new(
        settings: &'a mut Settings,
        origin: &'a Origin,
        option: &'static str,
        index: usize,
        table: Table,
    ) -> Self {
        let name = None;
        let entries = BTreeMap::new();
        let asked = Vec::new();
        let mut reader = Self { settings, origin, option, index, name, entries, asked, is_refused: false };
        for (key, value) in table {
            match reader.entries.entry(key.replace('_', "-")) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(_) => reader.refuse(&key, "it is set twice; remove one of them"),
            }
        }
        reader
    }

    /// Adds its name to all later messages.
    pub(super) fn set_name(&mut self, name: &str) {
        self.name = Some(name.into());
    }

    /// Returns its name, if it has one.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Reads a required text or whole number.
    pub(super) fn required<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if !self.entries.contains_key(key) {
            let written = nearest(key, self.entries.keys().map(String::as_str));
            let why = match written {
                Some(written) => format!(
                    "it is missing; there is {written} instead: did you mean {key}? Allowed: {allowed}"
                ),
                None => format!("it is missing; allowed: {allowed}"),
            };
            self.refuse(key, &why);
        }
        self.optional(key, allowed, parse)
    }

    /// Reads a text or a whole number. Returns `None` if it is not set or was refused.
    pub(super) fn optional<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        self.asked.push(key.into());
        let text = scalar(self.entries.get(key)?);
        let parsed = text.as_deref().and_then(parse);
        if parsed.is_none() {
            // An address may contain a password.
            let shown = text.filter(|text| !(text.contains("://") && text.contains('@')));
            let shown = shown.map_or("its value".into(), |text| format!("{text:?}"));
            self.refuse(key, &format!("{shown} is not allowed; allowed: {allowed}"));
        }
        parsed
    }

    /// Reads an array of at least one text. Returns `None` if it is not set or was refused.
    pub(super) fn list<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.asked.push(key.into());
        let values = self.entries.get(key)?.as_array();
        let parsed: Option<Vec<T>> =
            values.and_then(|values| values.iter().map(|value| value.as_str().and_then(&parse)).collect());
        let parsed = parsed.filter(|parsed| !parsed.is_empty());
        if parsed.is_none() {
            self.refuse(key, &format!("allowed: an array of {allowed}, with at least one"));
        }
        parsed
    }

    /// Reads one text, or an array of at least one. Returns `None` if it is not set or was refused.
    pub(super) fn one_or_list<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        if let Some(value @ Value::String(_)) = self.entries.get(key) {
            let list = Value::Array(vec![value.clone()]);
            self.entries.insert(key.into(), list);
        }
        self.list(key, allowed, parse)
    }

    /// Returns true if a key is set.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Opens an inner table, so that `INNER.KEY` may be requested. Returns false if it is missing or not a table.
    pub(super) fn open(&mut self, inner: &str) -> bool {
        self.asked.push(inner.into());
        match self.entries.remove(inner) {
            None => false,
            Some(Value::Table(table)) => {
                for (key, value) in table {
                    let key = format!("{inner}.{}", key.replace('_', "-"));
                    if self.entries.insert(key.clone(), value).is_some() {
                        self.refuse(&key, "it is set twice; remove one of them");
                    }
                }
                true
            }
            Some(_) => {
                self.refuse(inner, "it is not a table; allowed: { KEY = \"VALUE\", … }");
                false
            }
        }
    }

    /// Opens each table in the array of this key, so that `KEY[0].INNER` may be requested, and returns their number. A
    /// text instead of a table is the value of one inner key.
    pub(super) fn open_each(&mut self, key: &str, inner_of_text: &str) -> usize {
        self.asked.push(key.into());
        let Some(value) = self.entries.remove(key) else { return 0 };
        let Value::Array(values) = value else {
            self.refuse(key, "it is not an array; allowed: [{ KEY = \"VALUE\", … }, …] or [\"TEXT\", …]");
            return 0;
        };
        let count = values.len();
        for (place, value) in values.into_iter().enumerate() {
            let inner = format!("{key}[{place}]");
            if let Value::String(_) = value {
                self.entries.insert(format!("{inner}.{inner_of_text}"), value);
            } else {
                self.entries.insert(inner.clone(), value);
                self.open(&inner);
            }
        }
        count
    }

    /// Reads a table of texts with arbitrary names.
    pub(super) fn texts(&mut self, key: &str) -> Vec<(String, String)> {
        self.asked.push(key.into());
        let Some(value) = self.entries.get(key) else { return Vec::new() };
        let texts = value.as_table().and_then(|table| {
            let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
            table.iter().map(text).collect()
        });
        if texts.is_none() {
            self.refuse(key, "allowed: a table of texts, such as { NAME = \"TEXT\" }");
        }
        texts.unwrap_or_default()
    }

    /// Refuses every key that was not requested.
    pub(super) fn refuse_unknown(&mut self) {
        let is_unknown = |key: &&String| !self.asked.contains(key);
        let unknown: Vec<_> = self.entries.keys().filter(is_unknown).cloned().collect();
        for key in unknown {
            let hint = hint(&key, self.asked.iter().map(String::as_str));
            self.refuse(&key, &format!("there is no such key; {hint}"));
        }
    }

    /// Returns true if anything was refused.
    pub(super) const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Records the problem of a key, with the remedy.
    pub(super) fn refuse(&mut self, key: &str, why: &str) {
        self.refuse_from(&self.origin_of(key), key, why);
    }

    /// Records the problem of a value with another origin.
    pub(super) fn refuse_from(&mut self, origin: &Origin, key: &str, why: &str) {
        self.is_refused = true;
        let place = self.full_name(key);
        self.settings.refuse(&place, format!("{why} ({origin})"));
    }

    /// Returns a key together with its table.
    pub(super) fn full_name(&self, key: &str) -> String {
        match &self.name {
            Some(name) => format!("{}[{name}].{key}", self.option),
            None => self.place(key),
        }
    }

    /// Returns the origin of a key.
    pub(super) fn origin_of(&self, key: &str) -> Origin {
        match self.origin {
            Origin::File { path, .. } => Origin::File { path: path.clone(), key: self.place(key) },
            Origin::Default | Origin::Flag(_) | Origin::Variable(_) => self.origin.clone(),
        }
    }

    fn place(&self, key: &str) -> String {
        format!("{}[{}].{key}", self.option, self.index)
    }
}

/// Returns the tables of an option that contains an array of them, with their origin; none if it is not set or was
/// refused.
pub(super) fn tables_of(
    settings: &mut Settings,
    option: &str,
    given: Option<Given>,
    form: &str,
) -> Option<(Vec<Table>, Origin)> {
    let Given { value, origin } = given?;
    if let (Value::Table(_), Origin::File { .. }) = (&value, &origin) {
        settings.refuse(
            option,
            format!("it is one table ({origin}); write [[{option}]] above each table, not [{option}]"),
        );
        return None;
    }
    match tables(value) {
        Ok(tables) => Some((tables, origin)),
        Err(why) => {
            settings.refuse(option, format!("{why} ({origin}); allowed: {form}"));
            None
        }
    }
}

fn tables(value: Value) -> Result<Vec<Table>, String> {
    let value = match value {
        Value::String(text) => file::parse_array(&text)?,
        other @ (Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_)
        | Value::Table(_)) => other,
    };
    value.try_into().map_err(|_| "it is not an array of tables".into())
}
