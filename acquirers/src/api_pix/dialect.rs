//! Departures of each bank from the Banco Central's document: data, compiled in, every field of it overridable.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use quita_domain::secret::Secret;
use serde::Deserialize;
use thiserror::Error;

const DIALECTS: &str = include_str!("dialects.toml");

/// Values that a bank's dialect fills in where nothing is configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Dialect {
    /// Sentence about how far it was tried against the bank.
    pub tried: String,
    /// Address of the calls in mode `live`.
    pub base_url: Option<String>,
    /// Address of `PATCH` in mode `live`, if that is elsewhere.
    pub revision_base_url: Option<String>,
    /// Address for tokens of access in mode `live`.
    pub token_url: Option<String>,
    /// Form of the token's request, as the configuration spells it.
    pub token_auth: Option<String>,
    /// Scopes to ask for; the standard's if absent, none if empty.
    pub scope: Option<String>,
    /// Templates of headers, sent with every call.
    pub headers: BTreeMap<String, String>,
    /// Templates of parameters, added to the query of every call.
    pub query: BTreeMap<String, String>,
    /// Names of the code to copy in answers, if not the standard's alone.
    pub code_fields: Option<Vec<String>>,
    /// Set if the bank's own sandbox answers with another txid than it was asked for.
    pub test_answers_other_txid: bool,
    /// Set if an answer always has the code, so that nobody must say whom a code names that is built here.
    pub always_gives_code: bool,
    /// Suffix after the token in the address for callbacks.
    pub webhook_suffix: Option<String>,
    /// Headers that are sent with the registration of that address alone.
    pub webhook_headers: BTreeMap<String, String>,
    /// Availability of `GET /pix` by time; available if absent.
    pub lists: Option<bool>,
    /// True if the bank documents charges with a due date (`/cobv`).
    pub cobv: bool,
}

impl Dialect {
    /// The scopes of the standard that this service uses.
    pub const STANDARD_SCOPE: &'static str =
        "cob.write cob.read pix.write pix.read webhook.write webhook.read";

    /// The standard's name of the code to copy.
    pub const STANDARD_CODE_FIELD: &'static str = "pixCopiaECola";

    /// The dialect of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        all().get(name)
    }

    /// Every name, in order.
    pub fn names() -> impl Iterator<Item = &'static str> {
        all().keys().map(String::as_str)
    }

    /// Returns the scopes of a token's request; empty for none.
    ///
    /// Charges with a due date have scopes of their own.
    pub fn scope(&self, cobv: bool) -> String {
        let scope = self.scope.as_deref().unwrap_or(Self::STANDARD_SCOPE);
        if cobv && !scope.is_empty() { format!("{scope} cobv.write cobv.read") } else { scope.to_owned() }
    }

    /// Names under which an answer may have the code to copy.
    pub fn code_fields(&self) -> Vec<String> {
        self.code_fields.clone().unwrap_or_else(|| vec![Self::STANDARD_CODE_FIELD.into()])
    }
}

/// Every dialect. The text is compiled in, and a test reads it: it is never unreadable.
fn all() -> &'static BTreeMap<String, Dialect> {
    static ALL: OnceLock<BTreeMap<String, Dialect>> = OnceLock::new();
    ALL.get_or_init(|| toml::from_str(DIALECTS).unwrap_or_default())
}

/// Values for the templates of headers and queries.
#[derive(Debug, Clone, Default)]
pub struct Fillings {
    /// For `{client-id}`.
    pub client_id: Option<String>,
    /// For `{app-key}`.
    pub app_key: Option<Secret<String>>,
    /// For `{partner-id}`.
    pub partner_id: Option<Secret<String>>,
}

/// A template needs something that is not configured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("`{0}` is not configured")]
pub struct MissingFilling(pub &'static str);

impl Fillings {
    /// Fills a template in; `{uuid}` stays, because it is fresh for each call.
    ///
    /// # Errors
    /// The key whose value the template needs, and that is not configured.
    pub fn fill(&self, template: &str) -> Result<Secret<String>, MissingFilling> {
        let known = [
            ("{client-id}", "client-id", self.client_id.as_deref()),
            ("{app-key}", "app-key", self.app_key.as_ref().map(|key| key.expose().as_str())),
            ("{partner-id}", "partner-id", self.partner_id.as_ref().map(|id| id.expose().as_str())),
        ];
        let mut filled = String::new();
        let mut rest = template;
        // Places are sought in the template alone. A value that looks like a place must not be filled in again.
        while !rest.is_empty() {
            let found = known.iter().find_map(|(place, key, value)| {
                rest.strip_prefix(place)
                    .map(|behind| value.ok_or(MissingFilling(key)).map(|value| (value, behind)))
            });
            let mut characters = rest.chars();
            match (found.transpose()?, characters.next()) {
                (Some((value, behind)), _) => {
                    filled.push_str(value);
                    rest = behind;
                }
                (None, Some(character)) => {
                    filled.push(character);
                    rest = characters.as_str();
                }
                (None, None) => break,
            }
        }
        Ok(Secret::new(filled))
    }

    /// Fills a dialect's template in; none if it needs a `partner-id`, which not everybody has.
    ///
    /// # Errors
    /// As [`fill`](Self::fill), for anything else that is missing.
    pub fn fill_of_dialect(&self, template: &str) -> Result<Option<Secret<String>>, MissingFilling> {
        match self.fill(template) {
            Err(MissingFilling("partner-id")) => Ok(None),
            filled => filled.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dialect_is_read() {
        let read: BTreeMap<String, Dialect> = toml::from_str(DIALECTS).unwrap();
        let names: Vec<&str> = Dialect::names().collect();
        let expected = ["bacen", "bb", "bradesco", "efi", "inter", "itau", "santander", "sicoob", "sicredi"];
        assert_eq!(names, expected);
        for (name, dialect) in &read {
            assert!(!dialect.tried.is_empty(), "{name} does not say how far it was tried");
            assert_eq!(dialect.base_url.is_some(), name != "bacen", "{name}");
            assert_eq!(dialect.token_url.is_some(), name != "bacen", "{name}");
            assert!(dialect.token_auth.is_some(), "{name}");
        }
    }

    #[test]
    fn templates_are_filled_in_once_and_only_with_what_is_known() {
        let fillings = Fillings {
            client_id: Some("{app-key}".into()),
            app_key: Some(Secret::new("key".into())),
            partner_id: None,
        };
        let filled = |template| fillings.fill(template).map(|filled| filled.expose().clone());
        assert_eq!(filled("a {client-id} b {app-key} {uuid} {x"), Ok("a {app-key} b key {uuid} {x".into()));
        assert_eq!(filled("é{partner-id}"), Err(MissingFilling("partner-id")));
        assert_eq!(fillings.fill_of_dialect("{partner-id}"), Ok(None));
        assert!(Fillings::default().fill_of_dialect("{app-key}").is_err());
    }
}
