//! One table of an array in the configuration, such as one `[[acquirer]]`, while it is read.
//!
//! The reader asks for each key that it knows, needed or not; what was not asked for is refused as unknown.
//! Everything that is wrong is noted, and reported together with all other mistakes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;

use quita_domain::secret::Secret;
use toml::{Table, Value};

use super::file;
use super::problem::Origin;
use super::settings::{Settings, scalar};

/// The tables of an option that is an array of them, in a file or as TOML in a variable. The error says what it is not.
pub(super) fn tables(value: Value) -> Result<Vec<Table>, String> {
    let value = match value {
        Value::String(text) => file::parse_array(&text)?,
        other @ (Value::Integer(_)
        | Value::Float(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_)
        | Value::Table(_)) => other,
    };
    value.try_into().map_err(|_| "it is no array of tables".into())
}

/// One table while it is read. `_` in its keys is as good as `-`.
pub(super) struct KeyTable<'a> {
    pub(super) settings: &'a mut Settings,
    pub(super) origin: &'a Origin,
    option: &'static str,
    index: usize,
    pub(super) name: Option<String>,
    pub(super) entries: BTreeMap<String, Value>,
    /// Every key that was asked for, in this order.
    asked: Vec<String>,
    is_refused: bool,
}

impl<'a> KeyTable<'a> {
    /// The table at this place of an option.
    pub(super) fn new(
        settings: &'a mut Settings,
        origin: &'a Origin,
        (option, index): (&'static str, usize),
        table: Table,
    ) -> Self {
        let (name, entries, asked) = (None, BTreeMap::new(), Vec::new());
        let mut reader = Self { settings, origin, option, index, name, entries, asked, is_refused: false };
        for (key, value) in table {
            match reader.entries.entry(key.replace('_', "-")) {
                Entry::Vacant(entry) => {
                    entry.insert(value);
                }
                Entry::Occupied(_) => reader.refuse(&key, "it is set twice; leave one of them"),
            }
        }
        reader
    }

    /// From now on messages contain its name; an acquirer's secrets may come from variables.
    pub(super) fn set_name(&mut self, name: &str) {
        self.name = Some(name.into());
    }

    /// Reads a text or a whole number that must be there.
    pub(super) fn required<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        if !self.entries.contains_key(key) {
            self.refuse(key, &format!("it is missing; allowed is {allowed}"));
        }
        self.optional(key, allowed, parse)
    }

    /// Reads a text or a whole number. `None` if it is not set or was refused.
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
            // An address may hold a password.
            let shown = text.filter(|text| !(text.contains("://") && text.contains('@')));
            let shown = shown.map_or("its value".into(), |text| format!("{text:?}"));
            self.refuse(key, &format!("{shown} is not allowed; allowed is {allowed}"));
        }
        parsed
    }

    /// Reads an array of texts, with at least one. `None` if it is not set or was refused.
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
            self.refuse(key, &format!("allowed is an array of {allowed}, with at least one"));
        }
        parsed
    }

    /// Reads one text, or an array of them with at least one. `None` if it is not set or was refused.
    pub(super) fn one_or_more<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<Vec<T>> {
        match self.entries.get(key)? {
            Value::Array(_) => self.list(key, allowed, parse),
            _ => self.optional(key, allowed, |text| parse(text).map(|one| vec![one])),
        }
    }

    /// Takes a value out as it is.
    pub(super) fn take(&mut self, key: &str) -> Option<Value> {
        self.asked.push(key.into());
        self.entries.remove(key)
    }

    /// Whether a key is set.
    pub(super) fn contains(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// Opens a table in this one, so that `INNER.KEY` may be asked for. `false` if it is not there, or is none.
    pub(super) fn open(&mut self, inner: &str) -> bool {
        self.asked.push(inner.into());
        match self.entries.remove(inner) {
            None => false,
            Some(Value::Table(table)) => {
                for (key, value) in table {
                    let key = format!("{inner}.{}", key.replace('_', "-"));
                    if self.entries.insert(key.clone(), value).is_some() {
                        self.refuse(&key, "it is set twice; leave one of them");
                    }
                }
                true
            }
            Some(_) => {
                self.refuse(inner, "it is no table; allowed is { KEY = \"VALUE\", … }");
                false
            }
        }
    }

    /// Reads a table of texts under names of any kind.
    pub(super) fn texts(&mut self, key: &str) -> Vec<(String, String)> {
        self.asked.push(key.into());
        let Some(value) = self.entries.get(key) else { return Vec::new() };
        let texts = value.as_table().and_then(|table| {
            let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
            table.iter().map(text).collect()
        });
        if texts.is_none() {
            self.refuse(key, "allowed is a table of texts, such as { NAME = \"TEXT\" }");
        }
        texts.unwrap_or_default()
    }

    /// Reads the file that a key names. `None` if it is not set or was refused.
    pub(super) fn file(&mut self, key: &str) -> Option<Secret<Vec<u8>>> {
        let origin = self.origin;
        let path = self.optional(key, "the path of a file", |path| Some(origin.resolve(path)))?;
        match fs::read(&path) {
            Ok(bytes) => Some(Secret::new(bytes)),
            Err(error) => {
                self.refuse(key, &format!("{} can't be read: {error}", path.display()));
                None
            }
        }
    }

    /// Refuses every key that nobody has asked for.
    pub(super) fn refuse_unknown(&mut self) {
        let is_unknown = |key: &&String| !self.asked.contains(key);
        let unknown: Vec<_> = self.entries.keys().filter(is_unknown).cloned().collect();
        let known = self.asked.join(", ");
        for key in unknown {
            self.refuse(&key, &format!("there is no such key; known are {known}"));
        }
    }

    /// Whether anything was refused.
    pub(super) const fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Notes what is wrong with a key, and what to do.
    pub(super) fn refuse(&mut self, key: &str, why: &str) {
        self.refuse_from(&self.origin_of(key), key, why);
    }

    /// The same, of a key that came from elsewhere.
    pub(super) fn refuse_from(&mut self, origin: &Origin, key: &str, why: &str) {
        self.is_refused = true;
        let place = match &self.name {
            Some(name) => format!("{}[{name}].{key}", self.option),
            None => self.place(key),
        };
        self.settings.refuse(&place, format!("{why} ({origin})"));
    }

    /// Where a key of it stands.
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
