//! One `[[acquirer]]` table while it is read.
//!
//! The reader asks for each key that it knows, needed or not; what was not asked for is refused as unknown.
//! Everything that is wrong is noted, and reported together with all other mistakes.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::Path;

use quita_domain::identity::AcquirerName;
use quita_domain::secret::Secret;
use toml::{Table, Value};

use super::OPTION;
use crate::config::problem::Origin;
use crate::config::settings::{ACQUIRER_PREFIX, Settings, scalar};

/// One `[[acquirer]]` table while it is read. `_` in its keys is as good as `-`.
pub(super) struct AcquirerTable<'a> {
    settings: &'a mut Settings,
    origin: &'a Origin,
    index: usize,
    name: Option<AcquirerName>,
    entries: BTreeMap<String, Value>,
    /// Every key that was asked for, in this order.
    asked: Vec<String>,
    is_refused: bool,
}

/// A secret, and where it came from.
struct Found {
    secret: Secret<String>,
    key: String,
    origin: Origin,
}

impl<'a> AcquirerTable<'a> {
    pub(super) fn new(settings: &'a mut Settings, origin: &'a Origin, index: usize, table: Table) -> Self {
        let (name, entries, asked) = (None, BTreeMap::new(), Vec::new());
        let mut reader = Self { settings, origin, index, name, entries, asked, is_refused: false };
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

    /// From now on messages contain its name, and its secrets may come from variables.
    pub(super) fn set_name(&mut self, name: &AcquirerName) {
        self.name = Some(name.clone());
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

    /// Reads a secret that must be there.
    pub(super) fn required_secret<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        // Without a name it is not known which variable to look at.
        let is_set = self.variable(key).is_none_or(|name| self.settings.acquirer_secret(&name).is_some());
        if !is_set && !self.entries.contains_key(key) && !self.entries.contains_key(&key_of_file(key)) {
            self.refuse(key, &format!("it is missing; {}", self.where_it_belongs(key)));
        }
        self.secret(key, allowed, parse)
    }

    /// Reads a secret, from the file that `KEY-file` names or from the variable of this acquirer and key, never from
    /// the table. `None` if it is not set or was refused.
    pub(super) fn secret<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let is_in_table = self.entries.remove(key).is_some();
        if is_in_table {
            self.refuse(key, &format!("a secret does not belong here; {}", self.where_it_belongs(key)));
        }
        let from_file = self.secret_of_file(&key_of_file(key));
        let from_variable = self.secret_of_variable(key);
        if let Some(Found { origin, .. }) = &from_variable
            && self.entries.contains_key(&key_of_file(key))
        {
            self.refuse(&key_of_file(key), &format!("{origin} is set too; leave one of them"));
            return None;
        }
        let Found { secret, key, origin } = from_variable.or(from_file).filter(|_| !is_in_table)?;
        let parsed = parse(secret.expose());
        if parsed.is_none() {
            let why = format!("this secret is not allowed; allowed is {allowed}");
            self.refuse_from(&origin, &key, &why);
        }
        parsed
    }

    fn secret_of_file(&mut self, key: &str) -> Option<Found> {
        let origin = self.origin;
        let path = self.optional(key, "the path of a file", |path| Some(origin.resolve(path)))?;
        match read_secret(&path) {
            Ok(secret) => Some(Found { secret, key: key.into(), origin: self.origin_of(key) }),
            Err(why) => {
                self.refuse(key, &format!("{} {why}", path.display()));
                None
            }
        }
    }

    fn secret_of_variable(&mut self, key: &str) -> Option<Found> {
        let variable = self.variable(key)?;
        let secret = self.settings.acquirer_secret(&variable)?;
        Some(Found { secret, key: key.into(), origin: Origin::Variable(variable) })
    }

    fn variable(&self, key: &str) -> Option<String> {
        Some(format!("{}{}", variable_prefix(self.name.as_ref()?), in_capitals(key)))
    }

    fn where_it_belongs(&self, key: &str) -> String {
        let variable = self.variable(key).map(|variable| format!("set {variable}, or ")).unwrap_or_default();
        format!("{variable}name a file that holds nothing else with {}", key_of_file(key))
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

    fn refuse_from(&mut self, origin: &Origin, key: &str, why: &str) {
        self.is_refused = true;
        let place = match &self.name {
            Some(name) => format!("{OPTION}[{}].{key}", name.as_str()),
            None => self.place(key),
        };
        self.settings.refuse(&place, format!("{why} ({origin})"));
    }

    fn origin_of(&self, key: &str) -> Origin {
        match self.origin {
            Origin::File { path, .. } => Origin::File { path: path.clone(), key: self.place(key) },
            Origin::Default | Origin::Flag(_) | Origin::Variable(_) => self.origin.clone(),
        }
    }

    fn place(&self, key: &str) -> String {
        format!("{OPTION}[{}].{key}", self.index)
    }
}

/// How the variables with the secrets of an acquirer begin.
pub(super) fn variable_prefix(name: &AcquirerName) -> String {
    format!("{ACQUIRER_PREFIX}{}_", in_capitals(name.as_str()))
}

fn in_capitals(text: &str) -> String {
    text.to_ascii_uppercase().replace('-', "_")
}

fn key_of_file(key: &str) -> String {
    format!("{key}-file")
}

/// Reads a file that holds a secret and nothing else but the end of its line.
fn read_secret(path: &Path) -> Result<Secret<String>, String> {
    let mut text = fs::read_to_string(path).map_err(|error| format!("can't be read: {error}"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    text.truncate(line.strip_suffix('\r').unwrap_or(line).len());
    if text.is_empty() { Err("is empty; put the secret into it".into()) } else { Ok(Secret::new(text)) }
}
