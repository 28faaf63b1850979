//! Headers and parameters that are sent with every call, filled in.

use std::collections::BTreeMap;

use actix_http::header::{HeaderName, HeaderValue};
use quita_acquirers::api_pix::dialect::{Dialect, Fillings, MissingFilling};
use quita_domain::secret::Secret;

use super::super::table::AcquirerTable;
use super::token::{SECRET_FORM, secret};

/// Headers or parameters that are sent with every call, with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Templates(Vec<Template>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Template {
    name: String,
    text: String,
    /// True for a template of the dialect. It is omitted if the partner's id is missing, which not everybody has.
    is_of_dialect: bool,
}

impl Templates {
    /// Fills in the templates. A template that needs a missing value was refused when it was read.
    pub(super) fn filled(&self, fillings: &Fillings) -> Vec<(String, Secret<String>)> {
        let filled = |template: &Template| Some((template.name.clone(), template.filled(fillings).ok()??));
        self.0.iter().filter_map(filled).collect()
    }

    fn read(
        table: &mut AcquirerTable<'_>,
        key: &str,
        dialect: &BTreeMap<String, String>,
        is_same: impl Fn(&str, &str) -> bool,
        fillings: &Fillings,
    ) -> Self {
        let own = table.texts(key);
        let is_own = |name: &str| own.iter().any(|(known, _)| is_same(known, name));
        let of_dialect = dialect.iter().filter(|(name, _)| !is_own(name));
        let template = |(name, text): (&String, &String), is_of_dialect| Template {
            name: name.clone(),
            text: text.clone(),
            is_of_dialect,
        };
        // An empty one removes the dialect's.
        let of_table = own.iter().filter(|(_, text)| !text.is_empty());
        let all: Vec<_> = of_dialect
            .map(|one| template(one, true))
            .chain(of_table.map(|(name, text)| template((name, text), false)))
            .collect();
        for wrong in all.iter().filter(|template| !template.is_of_dialect) {
            if let Err(MissingFilling(needed)) = wrong.filled(fillings) {
                let why = format!("it needs {needed}, which is not configured");
                table.refuse(&format!("{key}.{}", wrong.name), &why);
            }
        }
        Self(all)
    }
}

impl Template {
    fn filled(&self, fillings: &Fillings) -> Result<Option<Secret<String>>, MissingFilling> {
        if self.is_of_dialect {
            fillings.fill_of_dialect(&self.text)
        } else {
            fillings.fill(&self.text).map(Some)
        }
    }
}

/// Headers that only the adapter sets.
const OURS: [&str; 8] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "transfer-encoding",
];

/// Collects the values that templates may need.
pub(super) fn fillings(table: &mut AcquirerTable<'_>, dialect: &Dialect) -> Fillings {
    let client_id = table.optional("client-id", "visible ASCII characters", |text| {
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| text.to_owned())
    });
    let mut templates = dialect.headers.values().chain(dialect.query.values());
    let app_key = if templates.any(|template| template.contains("{app-key}")) {
        table.required_secret("app-key", SECRET_FORM, secret)
    } else {
        table.secret("app-key", SECRET_FORM, secret)
    };
    Fillings { client_id, app_key, partner_id: table.secret("partner-id", SECRET_FORM, secret) }
}

pub(super) fn headers(table: &mut AcquirerTable<'_>, dialect: &Dialect, fillings: &Fillings) -> Templates {
    let is_same = |one: &str, other: &str| one.eq_ignore_ascii_case(other);
    let templates = Templates::read(table, "headers", &dialect.headers, is_same, fillings);
    for Template { name, text, .. } in &templates.0 {
        let is_header = HeaderName::try_from(name.as_str()).is_ok() && HeaderValue::try_from(text).is_ok();
        if !is_header || OURS.contains(&name.to_ascii_lowercase().as_str()) {
            table.refuse(&format!("headers.{name}"), "this header may not be added to calls");
        }
    }
    templates
}

pub(super) fn query(table: &mut AcquirerTable<'_>, dialect: &Dialect, fillings: &Fillings) -> Templates {
    let is_same = |one: &str, other: &str| one == other;
    Templates::read(table, "query", &dialect.query, is_same, fillings)
}
