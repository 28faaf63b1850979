//! Options from all sources: flags override the environment, which overrides the file.

use std::collections::btree_map::Entry as Place;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use quita_domain::secret::Secret;
use toml::Value;

use super::file;
use super::kubernetes;
use super::nearest::hint;
use super::option::{self, CONFIG_FILE, ConfigOption, OPTIONS, VARIABLE_PREFIX};
use super::problem::{ConfigError, Origin, Problem};
use super::secret_file::SecretFile;
use super::written::Written;

/// Prefix of our tests' variables.
const TEST_PREFIX: &str = "QUITA_TEST_";

/// Prefix of every variable with a secret of an acquirer.
pub(super) const ACQUIRER_PREFIX: &str = "QUITA_ACQUIRER_";

/// Options that a running service reads again, or whose tables report their own changes.
const READ_AGAIN: [&str; 5] = ["acquirer", "route", "cost", "routing-prefer", "routing-sticky"];

/// One value and its origin.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Given {
    pub(super) value: Value,
    pub(super) origin: Origin,
}

/// All settings, merged, and the problems found so far.
#[derive(Debug, Default)]
pub struct Settings {
    given: BTreeMap<&'static str, Given>,
    /// Variables with secrets of acquirers.
    acquirer_secrets: BTreeMap<String, Secret<String>>,
    /// Variables that acquirers have requested, set or not.
    acquirer_variables: BTreeSet<String>,
    /// Files from which secrets were read.
    secret_files: Vec<SecretFile>,
    problems: Vec<Problem>,
}

impl Settings {
    /// Merges the settings of the flags, the environment and the file. Flags have the names of their options.
    pub fn gather(
        flags: impl IntoIterator<Item = (&'static str, String)>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        Self::gather_among(flags, variables, &[])
    }

    /// Merges settings, as [`Settings::gather`] does, among variables that belong to commands and are no options.
    pub fn gather_among(
        flags: impl IntoIterator<Item = (&'static str, String)>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        of_commands: &[String],
    ) -> Self {
        let mut settings = Self::default();
        let mut file = None;
        let mut from_flags = BTreeMap::new();
        for (name, text) in flags {
            let given = Given { value: Value::String(text), origin: Origin::Flag(name) };
            from_flags.insert(name, given);
        }
        let mut from_variables = settings.read_variables(variables, of_commands);
        // The flags come last, because they have precedence.
        for layer in [&mut from_variables, &mut from_flags] {
            file = layer.remove(CONFIG_FILE.name).or(file);
        }
        if let Some(Given { value: Value::String(path), origin }) = file {
            settings.read_file(Path::new(&path), &origin);
        }
        settings.given.extend(from_variables);
        settings.given.extend(from_flags);
        settings
    }

    /// Refuses the variables of our prefix that neither an option nor a command knows. For commands that read no
    /// setting: the others refuse these variables together with everything else.
    ///
    /// # Errors
    /// [`ConfigError`] with every such variable.
    pub fn refuse_unknown_variables(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        of_commands: &[String],
    ) -> Result<(), ConfigError> {
        let mut settings = Self::default();
        settings.read_variables(variables, of_commands);
        settings.finish()
    }

    fn read_variables(
        &mut self,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        of_commands: &[String],
    ) -> BTreeMap<&'static str, Given> {
        let mut layer = BTreeMap::new();
        for (variable, value) in variables {
            let Some(variable) = variable.to_str().filter(|name| name.starts_with(VARIABLE_PREFIX)) else {
                continue;
            };
            let is_foreign = of_commands.iter().any(|known| known == variable)
                || variable.starts_with(TEST_PREFIX)
                || kubernetes::is_of_service(variable);
            if is_foreign || value.is_empty() {
                continue;
            }
            let origin = Origin::Variable(variable.into());
            let known = OPTIONS.iter().chain([&CONFIG_FILE]).find(|option| option.variable() == variable);
            match (known, value.into_string()) {
                (None, Ok(secret)) if variable.starts_with(ACQUIRER_PREFIX) => {
                    self.acquirer_secrets.insert(variable.into(), Secret::new(secret));
                }
                (None, Err(_)) if variable.starts_with(ACQUIRER_PREFIX) => {
                    self.refuse(variable, format!("it is not valid UTF-8 ({origin})"));
                }
                (None, _) => {
                    let options = OPTIONS.iter().chain([&CONFIG_FILE]).map(ConfigOption::variable);
                    let known: Vec<_> = options.chain(of_commands.iter().cloned()).collect();
                    let hint = hint(variable, known.iter().map(String::as_str));
                    self.refuse(variable, format!("there is no such variable; {hint}"));
                }
                (Some(option), Err(_)) => {
                    self.refuse(option.name, format!("it is not valid UTF-8 ({origin})"));
                }
                (Some(option), Ok(text)) => {
                    layer.insert(option.name, Given { value: Value::String(text), origin });
                }
            }
        }
        layer
    }

    fn read_file(&mut self, path: &Path, origin: &Origin) {
        let entries = match file::read(path) {
            Ok(entries) => entries,
            Err(why) => return self.refuse("config", format!("{}: {why} ({origin})", path.display())),
        };
        for file::Entry { option, value, origin } in entries {
            let Some(known) = option::find(&option) else {
                let names = OPTIONS.iter().filter(|known| !known.is_secret).map(|known| known.name);
                self.refuse(&option, format!("there is no such option ({origin}); {}", hint(&option, names)));
                continue;
            };
            if known.is_secret {
                let name = known.name;
                let variable = known.variable();
                self.refuse(
                    name,
                    format!(
                        "a secret does not belong in this file ({origin}); set {variable}, or set \
                         {name}-file to a file that holds nothing else"
                    ),
                );
                continue;
            }
            match self.given.entry(known.name) {
                Place::Vacant(place) => {
                    place.insert(Given { value, origin });
                }
                Place::Occupied(_) => self.refuse(known.name, format!("it is set twice ({origin})")),
            }
        }
    }

    /// Returns the options that a running service does not read again, as they were written.
    pub(super) fn written(&self) -> Written {
        let wants_restart = |(name, _): &(&&str, &Given)| !READ_AGAIN.contains(name);
        Written::of(self.given.iter().filter(wants_restart).map(|(name, given)| (*name, &given.value)))
    }

    /// Returns the unread value of an option.
    pub(super) fn given(&self, name: &str) -> Option<&Given> {
        self.given.get(name)
    }

    /// Reads an option that is a text or a whole number. `None` if it is not set or was refused.
    pub(super) fn read<T>(
        &mut self,
        name: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let Given { value, origin } = self.given.get(name)?;
        let text = scalar(value);
        let parsed = text.as_deref().and_then(parse);
        if parsed.is_none() {
            let is_shown = option::find(name).is_some_and(|option| !option.is_confidential);
            let shown = text.filter(|_| is_shown).map_or("its value".into(), |text| format!("{text:?}"));
            self.refuse(name, format!("{shown} is not allowed ({origin}); allowed: {allowed}"));
        }
        parsed
    }

    /// Returns the secret in a variable of an acquirer.
    pub(super) fn acquirer_secret(&mut self, variable: &str) -> Option<Secret<String>> {
        self.acquirer_variables.insert(variable.into());
        self.acquirer_secrets.get(variable).cloned()
    }

    /// Records that this file contains a secret.
    pub(super) fn note_secret_file(&mut self, option: impl Into<String>, path: PathBuf) {
        self.secret_files.push(SecretFile { option: option.into(), path });
    }

    /// Returns the files with secrets that were read.
    pub(super) fn take_secret_files(&mut self) -> Vec<SecretFile> {
        std::mem::take(&mut self.secret_files)
    }

    /// Refuses the variables that no acquirer has requested.
    pub(super) fn refuse_other_acquirer_secrets(&mut self) {
        let known: Vec<_> = self.acquirer_variables.iter().map(String::as_str).collect();
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        let is_other = |variable: &&String| !self.acquirer_variables.contains(*variable);
        let others: Vec<_> = self.acquirer_secrets.keys().filter(is_other).cloned().collect();
        for variable in others {
            let why = format!("no acquirer has such a secret; variables of the configured ones: {known}");
            self.refuse(&variable, why);
        }
    }

    /// Records that an option can't be understood.
    pub(super) fn refuse(&mut self, option: &str, message: String) {
        self.problems.push(Problem { option: option.into(), message });
    }

    /// Returns true if any part of an option that contains an array of tables was refused.
    pub(super) fn has_refused_of(&self, option: &str) -> bool {
        let is_of = |rest: &str| rest.is_empty() || rest.starts_with('[');
        self.problems.iter().any(|problem| problem.option.strip_prefix(option).is_some_and(is_of))
    }

    /// Returns all problems.
    pub(super) fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Fails with all problems, if there are any.
    pub(super) fn finish(self) -> Result<(), ConfigError> {
        if self.problems.is_empty() { Ok(()) } else { Err(ConfigError(self.problems)) }
    }
}

/// Returns the text of a scalar value.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Boolean(is_set) => Some(is_set.to_string()),
        Value::Float(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    }
}
