//! Search form of payments: the values entered, and the filter that they form.

use chrono::NaiveDate;
use quita_domain::document::{Document, DocumentType};
use quita_domain::identity::{Owner, TransactionId};
use quita_domain::listing::{Cursor, PaymentFilter};
use quita_domain::method::Method;
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use url::form_urlencoded;

use crate::console::kit::language::Language;
use crate::console::merchant::texts::MerchantTexts;

/// Maximum number of characters of the search text: no address, document or reference is longer.
pub(crate) const MAX_TEXT_CHARACTERS: usize = 254;

/// Values of the form as they were entered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Search {
    pub(crate) text: String,
    pub(crate) statuses: Vec<Status>,
    /// True if an unknown status was requested.
    has_odd_status: bool,
    pub(crate) method: Option<Method>,
    /// True if an unknown method was requested.
    has_odd_method: bool,
    pub(crate) amount: String,
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) cursor: String,
}

/// Parsed search, with the fields that could not be parsed.
pub(crate) struct Understood {
    pub(crate) filter: PaymentFilter,
    /// Alternative meaning: the text may be a reference that looks like an id, a document or an address.
    pub(crate) otherwise: Option<PaymentFilter>,
    pub(crate) cursor: Option<Cursor>,
    pub(crate) unreadable: Vec<Field>,
}

/// Field of the form, or the cursor in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Text,
    Amount,
    From,
    To,
    Cursor,
    Status,
    Method,
}

impl Field {
    const fn name(self, texts: &MerchantTexts) -> &'static str {
        match self {
            Self::Text => texts.payments.field_text,
            Self::Amount => texts.payments.field_amount,
            Self::From => texts.payments.field_from,
            Self::To => texts.payments.field_to,
            Self::Cursor => texts.payments.field_page,
            Self::Status => texts.everywhere.status,
            Self::Method => texts.everywhere.method,
        }
    }
}

/// Returns the names of fields as the page shows them.
pub(crate) fn names_of(fields: &[Field], texts: &MerchantTexts) -> String {
    fields.iter().map(|field| field.name(texts)).collect::<Vec<_>>().join(", ")
}

impl Search {
    /// Parses a query. Unknown parameters are ignored.
    pub(crate) fn parse(query: &str) -> Self {
        let mut search = Self::default();
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            let value = value.trim();
            match name.as_ref() {
                "q" => search.text = value.into(),
                "status" => match Status::parse(value) {
                    Some(status) => search.statuses.push(status),
                    None => search.has_odd_status = true,
                },
                "method" => {
                    search.method = Method::parse(value);
                    search.has_odd_method = search.method.is_none() && !value.is_empty();
                }
                "amount" => search.amount = value.into(),
                "from" => search.from = value.into(),
                "to" => search.to = value.into(),
                "cursor" => search.cursor = value.into(),
                _ => {}
            }
        }
        search.statuses.sort_unstable();
        search.statuses.dedup();
        search
    }

    /// Returns the search as a query that starts at this cursor.
    pub(crate) fn query(&self, cursor: Option<&str>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        let mut add = |name: &str, value: &str| {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        };
        add("q", &self.text);
        for status in &self.statuses {
            add("status", status.as_str());
        }
        add("method", self.method.map_or("", Method::as_str));
        add("amount", &self.amount);
        add("from", &self.from);
        add("to", &self.to);
        add("cursor", cursor.unwrap_or_default());
        query.finish()
    }

    /// Returns true if one of the collapsed fields is filled in.
    pub(crate) fn has_more(&self) -> bool {
        self.method.is_some() || !self.amount.is_empty()
    }

    /// Returns the filter of the search, limited to this owner's payments.
    pub(crate) fn understand(&self, owner: &Owner, language: Language) -> Understood {
        let mut unreadable = Vec::new();
        let text = read(&self.text, Field::Text, &mut unreadable, bounded);
        let mut filter = PaymentFilter {
            statuses: self.statuses.clone(),
            method: self.method,
            amount: read(&self.amount, Field::Amount, &mut unreadable, |text| language.parse_money(text)),
            created_from: read_from(&self.from, &mut unreadable),
            created_to: read_to(&self.to, &mut unreadable),
            ..PaymentFilter::all_of(owner.merchant.clone(), owner.mode)
        };
        let cursor = read_cursor(&self.cursor, &mut unreadable);
        if self.has_odd_status {
            unreadable.push(Field::Status);
        }
        if self.has_odd_method {
            unreadable.push(Field::Method);
        }
        let Some(text) = text else { return Understood { filter, otherwise: None, cursor, unreadable } };
        let by_reference = PaymentFilter { external_reference: Some(text.into()), ..filter.clone() };
        look_for(text, &mut filter);
        let otherwise = (filter != by_reference).then_some(by_reference);
        Understood { filter, otherwise, cursor, unreadable }
    }
}

/// Sets the filter according to the shape of the search text: an id, a document, an e-mail address or a reference.
fn look_for(text: &str, filter: &mut PaymentFilter) {
    if let Some(id) = TransactionId::parse(&text.to_ascii_lowercase()) {
        filter.id = Some(id);
    } else if let Some(document) = document(text) {
        filter.document = Some(document.as_str().to_owned());
    } else if text.contains('@') {
        filter.email = Some(text.to_owned());
    } else {
        filter.external_reference = Some(text.to_owned());
    }
}

/// Parses the first day of a period, and returns its start.
pub(crate) fn read_from(text: &str, unreadable: &mut Vec<Field>) -> Option<Timestamp> {
    read(text, Field::From, unreadable, beginning)
}

/// Parses the last day of a period, and returns the start of the next one.
pub(crate) fn read_to(text: &str, unreadable: &mut Vec<Field>) -> Option<Timestamp> {
    read(text, Field::To, unreadable, end)
}

/// Parses the cursor of a page.
pub(crate) fn read_cursor(text: &str, unreadable: &mut Vec<Field>) -> Option<Cursor> {
    read(text, Field::Cursor, unreadable, Cursor::parse)
}

fn read<'a, T>(
    text: &'a str,
    field: Field,
    unreadable: &mut Vec<Field>,
    read: impl FnOnce(&'a str) -> Option<T>,
) -> Option<T> {
    if text.is_empty() {
        return None;
    }
    let found = read(text);
    if found.is_none() {
        unreadable.push(field);
    }
    found
}

fn bounded(text: &str) -> Option<&str> {
    (text.chars().count() <= MAX_TEXT_CHARACTERS).then_some(text)
}

fn document(text: &str) -> Option<Document> {
    let upper = text.to_ascii_uppercase();
    [DocumentType::Cpf, DocumentType::Cnpj].into_iter().find_map(|kind| {
        Document::parse(&upper, kind).or_else(|_| Document::parse_formatted(&upper, kind)).ok()
    })
}

fn day(text: &str) -> Option<NaiveDate> {
    NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()
}

/// Returns the start of a day in Brasília's time zone.
fn beginning(text: &str) -> Option<Timestamp> {
    Timestamp::from_sao_paulo(day(text)?.into())
}

/// Returns the start of the next day.
fn end(text: &str) -> Option<Timestamp> {
    Timestamp::from_sao_paulo(day(text)?.succ_opt()?.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use quita_domain::identity::{ApplicationName, MerchantId, Mode};
    use quita_domain::money::Money;

    fn understand(query: &str) -> Understood {
        let owner = Owner {
            merchant: MerchantId::new("demo"),
            application: ApplicationName::new("default"),
            mode: Mode::Live,
        };
        Search::parse(query).understand(&owner, Language::Portuguese)
    }

    #[test]
    fn one_field_takes_an_id_a_document_an_address_or_a_reference() {
        let id = "01980000-0000-7000-8000-00000000000a";
        assert_eq!(understand(&format!("q={}", id.to_uppercase())).filter.id, TransactionId::parse(id));
        for text in ["52998224725", "529.982.247-25"] {
            assert_eq!(understand(&format!("q={text}")).filter.document.as_deref(), Some("52998224725"));
        }
        assert_eq!(understand("q=a%40b.co").filter.email.as_deref(), Some("a@b.co"));
        for text in ["pedido-7", "52998224726", "01980000"] {
            let filter = understand(&format!("q={text}")).filter;
            assert_eq!(filter.external_reference.as_deref(), Some(text));
            assert_eq!((filter.document, filter.email, filter.id), (None, None, None));
        }
    }

    #[test]
    fn what_looks_like_something_else_may_be_a_reference_all_the_same() {
        for text in ["01980000-0000-7000-8000-00000000000a", "52998224725", "a%40b.co"] {
            let otherwise = understand(&format!("q={text}&status=paid")).otherwise.unwrap();
            assert_eq!(otherwise.external_reference, Some(text.replace("%40", "@")));
            assert_eq!((otherwise.document, otherwise.email, otherwise.id), (None, None, None));
            assert_eq!(otherwise.statuses, [Status::Paid]);
        }
        assert!(understand("q=pedido-7").otherwise.is_none() && understand("").otherwise.is_none());
    }

    #[test]
    fn days_are_of_brasilia_and_the_last_one_counts_whole() {
        let filter =
            understand("from=2026-11-01&to=2026-11-02&amount=1.234%2C56&status=paid&method=pix").filter;
        assert_eq!(filter.created_from, Timestamp::parse("2026-11-01T03:00:00.000Z"));
        assert_eq!(filter.created_to, Timestamp::parse("2026-11-03T03:00:00.000Z"));
        assert_eq!((filter.amount, filter.method), (Some(Money::from_cents(123_456)), Some(Method::Pix)));
        assert_eq!((filter.merchant.as_str(), filter.mode), ("demo", Mode::Live));
    }

    #[test]
    fn what_is_not_understood_is_named_and_left_out() {
        use Field::{Amount, Cursor, From, Method, Status, Text, To};
        let query = format!(
            "from=yesterday&to=2026-02-30&amount=lots&cursor=x&status=odd&method=cash&q={}",
            long(255)
        );
        let understood = understand(&query);
        assert_eq!(understood.unreadable, [Text, Amount, From, To, Cursor, Status, Method]);
        assert_eq!(understand("from=%2B262142-12-31&to=%2B262142-12-31").unreadable, [To]);
        let named = names_of(&understood.unreadable, MerchantTexts::of(Language::Portuguese));
        assert_eq!(named, "busca, valor, criado de, criado até, página, Status, Método");
        let filter = understood.filter;
        assert_eq!((filter.created_from, filter.created_to, filter.amount), (None, None, None));
        assert!(filter.statuses.is_empty() && filter.external_reference.is_none());
        assert_eq!(understand(&format!("q={}", long(254))).filter.external_reference, Some("é".repeat(254)));
    }

    /// Returns a text of this many multi-byte letters, encoded for a query.
    fn long(characters: usize) -> String {
        "%C3%A9".repeat(characters)
    }

    #[test]
    fn a_search_reads_back_as_a_query() {
        let query = "q=a+b&status=pending&status=paid&method=PIX&amount=5%2C00&from=2026-11-01&to=2026-11-02";
        let search = Search::parse(query);
        assert_eq!(search.query(None), query);
        assert_eq!(Search::parse(&search.query(Some("x"))).cursor, "x");
    }
}
