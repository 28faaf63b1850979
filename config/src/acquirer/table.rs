//! One `[[acquirer]]` table while it is read, with the secrets and files that only acquirers have.

use std::fs;
use std::path::{Path, PathBuf};

use quita_domain::secret::Secret;

use crate::problem::Origin;
use crate::settings::ACQUIRER_PREFIX;
use crate::table::OptionTable;

/// Marker at the beginning and end of every private key in PEM.
const PRIVATE_KEY: &[u8] = b"PRIVATE KEY-----";

/// One `[[acquirer]]` table. Its secrets may come from variables, which contain its name.
pub(super) type AcquirerTable<'a> = OptionTable<'a>;

/// A secret and its origin.
struct Found {
    secret: Secret<String>,
    key: String,
    origin: Origin,
}

impl OptionTable<'_> {
    /// Reads the file that a key names. `None` if it is not set or was refused.
    pub(super) fn file(&mut self, key: &str) -> Option<Secret<Vec<u8>>> {
        let origin = self.origin;
        let path = self.optional(key, "the path of a file", |path| Some(origin.resolve(path)))?;
        match fs::read(&path) {
            Ok(bytes) => {
                // Whichever key names the file: a certificate and its key may be in one file.
                if bytes.windows(PRIVATE_KEY.len()).any(|part| part == PRIVATE_KEY) {
                    self.note_secret_file(key, path);
                }
                Some(Secret::new(bytes))
            }
            Err(error) => {
                self.refuse(key, &format!("{} can't be read: {error}", path.display()));
                None
            }
        }
    }

    /// Reads a required secret.
    pub(super) fn required_secret<T>(
        &mut self,
        key: &str,
        allowed: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        // Without a name, the variable to look for is unknown.
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
            self.refuse(&key_of_file(key), &format!("{origin} is set too; remove one of them"));
            return None;
        }
        let Found { secret, key, origin } = from_variable.or(from_file).filter(|_| !is_in_table)?;
        let parsed = parse(secret.expose());
        if parsed.is_none() {
            let why = format!("this secret is not allowed; allowed: {allowed}");
            self.refuse_from(&origin, &key, &why);
        }
        parsed
    }

    fn secret_of_file(&mut self, key: &str) -> Option<Found> {
        let origin = self.origin;
        let path = self.optional(key, "the path of a file", |path| Some(origin.resolve(path)))?;
        match read_secret(&path) {
            Ok(secret) => {
                self.note_secret_file(key, path);
                Some(Found { secret, key: key.into(), origin: self.origin_of(key) })
            }
            Err(why) => {
                self.refuse(key, &format!("{} {why}", path.display()));
                None
            }
        }
    }

    fn note_secret_file(&mut self, key: &str, path: PathBuf) {
        let option = self.full_name(key);
        self.settings.note_secret_file(option, path);
    }

    fn secret_of_variable(&mut self, key: &str) -> Option<Found> {
        let variable = self.variable(key)?;
        let secret = self.settings.acquirer_secret(&variable)?;
        Some(Found { secret, key: key.into(), origin: Origin::Variable(variable) })
    }

    fn variable(&self, key: &str) -> Option<String> {
        Some(format!("{}{}", variable_prefix(self.name()?), in_capitals(key)))
    }

    fn where_it_belongs(&self, key: &str) -> String {
        let variable = self.variable(key).map(|variable| format!("set {variable}, or ")).unwrap_or_default();
        format!("{variable}set {} to a file that holds nothing else", key_of_file(key))
    }
}

/// Returns the prefix of the variables with an acquirer's secrets.
pub(super) fn variable_prefix(name: &str) -> String {
    format!("{ACQUIRER_PREFIX}{}_", in_capitals(name))
}

fn in_capitals(text: &str) -> String {
    text.to_ascii_uppercase().replace('-', "_")
}

fn key_of_file(key: &str) -> String {
    format!("{key}-file")
}

/// Reads a file that contains only a secret and a line end.
fn read_secret(path: &Path) -> Result<Secret<String>, String> {
    let mut text = fs::read_to_string(path).map_err(|error| format!("can't be read: {error}"))?;
    let line = text.strip_suffix('\n').unwrap_or(&text);
    text.truncate(line.strip_suffix('\r').unwrap_or(line).len());
    if text.is_empty() { Err("is empty; put the secret into it".into()) } else { Ok(Secret::new(text)) }
}
