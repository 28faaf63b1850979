//! Parsing of a list's query, with all violations reported at once.

use chrono::NaiveDate;

use super::{Cursor, DeliveryFilter, EntryCursor, MovementFilter, Movements, PaymentFilter};
use crate::card::holds_card_number;
use crate::delivery::DeliveryState;
use crate::document::{Document, DocumentError, DocumentType};
use crate::identity::{LinkId, Owner, TransactionId};
use crate::link::{LinkFilter, LinkStatus};
use crate::method::Method;
use crate::nearest::nearest;
use crate::payment::DisputeStatus;
use crate::request::{MAX_EXTERNAL_REFERENCE, Rejection, Violation, code, is_email, read_date, wordings};
use crate::state::RefundStatus;
use crate::status::Status;
use crate::time::Timestamp;
use crate::wording::Wording;

/// Number of entries on a page: 1 to 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit(u8);

impl PageLimit {
    /// Default, if the query has no limit.
    pub const DEFAULT: Self = Self(20);
    /// Maximum.
    pub const MAX: Self = Self(100);

    /// Reads a decimal number from 1 to 100.
    pub fn parse(text: &str) -> Option<Self> {
        let is_plain = crate::text::is_digits(text) && !text.starts_with('0');
        let number = if is_plain { text.parse().ok()? } else { return None };
        (1..=Self::MAX.0).contains(&number).then_some(Self(number))
    }

    /// Returns the number itself.
    pub fn get(self) -> usize {
        usize::from(self.0)
    }
}

/// Request for a page of payments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentQuery {
    /// Filter of the payments.
    pub filter: PaymentFilter,
    /// Cursor after which the page begins; from the newest payment when absent.
    pub cursor: Option<Cursor>,
    /// Number of payments.
    pub limit: PageLimit,
}

impl PaymentQuery {
    /// Reads the decoded pairs of a query. Callers see only what they own.
    ///
    /// # Errors
    /// A [`Rejection`] (400) with every parameter that is unreadable, repeated or unknown.
    pub fn parse(caller: &Owner, pairs: &[(String, String)]) -> Result<Self, Rejection> {
        let mut query = Query::new(pairs);
        let statuses = query.set("status", UNKNOWN_STATUS, in_any_case(Status::parse));
        let filter = PaymentFilter {
            merchant: caller.merchant.clone(),
            mode: caller.mode,
            statuses,
            method: query.one("paymentMethod", UNKNOWN_METHOD, Method::parse),
            document: query.one("document", NO_DOCUMENT, document),
            email: query.one("email", NO_EMAIL, email),
            external_reference: query.external_reference(),
            link: query.one("linkId", NO_LINK_ID, LinkId::parse),
            id: None,
            amount: None,
            created_from: query.one("createdFrom", NO_TIME, time),
            created_to: query.one("createdTo", NO_TIME, time),
            due_from: query.one("dueFrom", NO_DATE, date),
            due_to: query.one("dueTo", NO_DATE, date),
        };
        query.refuse_reversed(["createdFrom", "createdTo"], filter.created_from, filter.created_to);
        query.refuse_reversed(["dueFrom", "dueTo"], filter.due_from, filter.due_to);
        let cursor = query.one("cursor", NO_CURSOR, Cursor::parse);
        let limit = query.one("limit", NO_LIMIT, PageLimit::parse).unwrap_or(PageLimit::DEFAULT);
        query.conclude(Self { filter, cursor, limit })
    }
}

/// Request for a page of payment links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkQuery {
    /// Filter of the links.
    pub filter: LinkFilter,
    /// Statuses; every status when empty.
    pub statuses: Vec<LinkStatus>,
    /// Cursor after which the page begins; from the newest link when absent.
    pub cursor: Option<Cursor>,
    /// Number of links.
    pub limit: PageLimit,
}

impl LinkQuery {
    /// Reads the decoded pairs of a query. Callers see only what they own.
    ///
    /// # Errors
    /// As [`PaymentQuery::parse`].
    pub fn parse(caller: &Owner, pairs: &[(String, String)]) -> Result<Self, Rejection> {
        let mut query = Query::new(pairs);
        let statuses = query.set("status", UNKNOWN_LINK_STATUS, in_any_case(LinkStatus::parse));
        let filter = LinkFilter {
            merchant: caller.merchant.clone(),
            mode: caller.mode,
            external_reference: query.external_reference(),
        };
        let cursor = query.one("cursor", NO_CURSOR, Cursor::parse);
        let limit = query.one("limit", NO_LIMIT, PageLimit::parse).unwrap_or(PageLimit::DEFAULT);
        query.conclude(Self { filter, statuses, cursor, limit })
    }
}

/// Request for a page of deliveries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryQuery {
    /// Filter of the deliveries.
    pub filter: DeliveryFilter,
    /// Cursor after which the page begins; from the newest payment's deliveries when absent.
    pub cursor: Option<EntryCursor>,
    /// Number of deliveries.
    pub limit: PageLimit,
}

impl DeliveryQuery {
    /// Reads the decoded pairs of a query. Callers see only what they own.
    ///
    /// # Errors
    /// As [`PaymentQuery::parse`].
    pub fn parse(caller: &Owner, pairs: &[(String, String)]) -> Result<Self, Rejection> {
        let mut query = Query::new(pairs);
        let filter = DeliveryFilter {
            merchant: caller.merchant.clone(),
            mode: caller.mode,
            transaction_id: query.one("transactionId", NO_ID, TransactionId::parse),
            state: query.one("state", UNKNOWN_STATE, in_any_case(DeliveryState::parse)),
        };
        let cursor = query.one("cursor", NO_CURSOR, EntryCursor::parse);
        let limit = query.one("limit", NO_LIMIT, PageLimit::parse).unwrap_or(PageLimit::DEFAULT);
        query.conclude(Self { filter, cursor, limit })
    }
}

/// Request for a page of refunds or disputes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovementQuery {
    /// Filter of the refunds or disputes.
    pub filter: MovementFilter,
    /// Cursor after which the page begins; from the newest payment's refunds or disputes when absent.
    pub cursor: Option<EntryCursor>,
    /// Number of refunds or disputes.
    pub limit: PageLimit,
}

impl MovementQuery {
    /// Reads the decoded pairs of a query for refunds. Callers see only what they own.
    ///
    /// # Errors
    /// As [`PaymentQuery::parse`].
    pub fn refunds(caller: &Owner, pairs: &[(String, String)]) -> Result<Self, Rejection> {
        let mut query = Query::new(pairs);
        let statuses = query.set("status", UNKNOWN_REFUND_STATUS, in_any_case(RefundStatus::parse));
        Self::conclude(query, caller, Movements::Refunds(statuses))
    }

    /// Reads the decoded pairs of a query for disputes. Callers see only what they own.
    ///
    /// # Errors
    /// As [`PaymentQuery::parse`].
    pub fn disputes(caller: &Owner, pairs: &[(String, String)]) -> Result<Self, Rejection> {
        let mut query = Query::new(pairs);
        let statuses = query.set("status", UNKNOWN_DISPUTE_STATUS, in_any_case(DisputeStatus::parse));
        Self::conclude(query, caller, Movements::Disputes(statuses))
    }

    fn conclude(mut query: Query<'_>, caller: &Owner, movements: Movements) -> Result<Self, Rejection> {
        let filter = MovementFilter {
            merchant: caller.merchant.clone(),
            mode: caller.mode,
            movements,
            created_from: query.one("createdFrom", NO_TIME, time),
            created_to: query.one("createdTo", NO_TIME, time),
        };
        query.refuse_reversed(["createdFrom", "createdTo"], filter.created_from, filter.created_to);
        let cursor = query.one("cursor", NO_CURSOR, EntryCursor::parse);
        let limit = query.one("limit", NO_LIMIT, PageLimit::parse).unwrap_or(PageLimit::DEFAULT);
        query.conclude(Self { filter, cursor, limit })
    }
}

/// Refuses every parameter, for endpoints that have none.
///
/// # Errors
/// A [`Rejection`] (400) that names them.
pub fn refuse_all(pairs: &[(String, String)]) -> Result<(), Rejection> {
    Query::new(pairs).conclude(())
}

/// Refusal of an unreadable parameter: code and message.
type ParameterRefusal = (&'static str, fn() -> Wording);

const UNKNOWN_STATUS: ParameterRefusal = (code::UNKNOWN_VALUE, wordings::unknown_status);
const UNKNOWN_REFUND_STATUS: ParameterRefusal = (code::UNKNOWN_VALUE, wordings::unknown_refund_status);
const UNKNOWN_DISPUTE_STATUS: ParameterRefusal = (code::UNKNOWN_VALUE, wordings::unknown_dispute_status);
const UNKNOWN_METHOD: ParameterRefusal = (code::UNKNOWN_VALUE, wordings::unknown_method);
const UNKNOWN_STATE: ParameterRefusal = (code::UNKNOWN_VALUE, wordings::unknown_state);
const NO_TIME: ParameterRefusal = (code::FORMAT, wordings::no_query_time);
const NO_DATE: ParameterRefusal = (code::FORMAT, wordings::no_date);
const NO_ID: ParameterRefusal = (code::FORMAT, wordings::no_transaction_id);
const UNKNOWN_LINK_STATUS: ParameterRefusal = (code::UNKNOWN_VALUE, wordings::unknown_link_status);
const NO_LINK_ID: ParameterRefusal = (code::FORMAT, wordings::no_link_id);
const NO_DOCUMENT: ParameterRefusal = (code::FORMAT, wordings::no_document);
const NO_EMAIL: ParameterRefusal = (code::FORMAT, wordings::no_email);
const NO_CURSOR: ParameterRefusal = (code::CURSOR, wordings::no_cursor);
const NO_LIMIT: ParameterRefusal = (code::RANGE, wordings::no_limit);
const ANY_TEXT: ParameterRefusal = (code::CHARACTER, wordings::control_characters);

/// Maximum number of unknown parameters that an answer names. A query may contain thousands.
const MOST_NAMED: usize = 20;

/// Longest name that an answer repeats, in characters.
const LONGEST_NAME: usize = 40;

/// Reads a time of a query, in which an unescaped `+` of the offset has become a blank.
fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).or_else(|| Timestamp::parse(&text.replace(' ', "+")))
}

/// Reads a document with or without its mask. Any other text is refused: it would match nothing, as if its payer had no
/// payments.
fn document(text: &str) -> Option<String> {
    [DocumentType::Cpf, DocumentType::Cnpj].into_iter().find_map(|kind| {
        match Document::parse_formatted(text, kind) {
            Ok(document) => Some(document.as_str().to_owned()),
            // Nobody has this document, so an empty result is the right answer.
            Err(DocumentError::Repeated | DocumentError::CheckDigit) => {
                Some(text.replace(['.', '-', '/'], ""))
            }
            Err(DocumentError::Character | DocumentError::Length) => None,
        }
    })
}

fn email(text: &str) -> Option<String> {
    is_email(text).then(|| text.to_owned())
}

fn date(text: &str) -> Option<NaiveDate> {
    read_date(text).ok()
}

/// Reads a name of the API in any letter case.
fn in_any_case<T>(read: impl Fn(&str) -> Option<T>) -> impl Fn(&str) -> Option<T> {
    move |text| read(&text.to_ascii_lowercase())
}

fn owned(text: &str) -> Option<String> {
    (!text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Pairs of a query, with the violations found so far.
struct Query<'a> {
    pairs: &'a [(String, String)],
    /// Names read so far: the parameters that the endpoint has.
    known: Vec<&'static str>,
    violations: Vec<Violation>,
}

impl<'a> Query<'a> {
    const fn new(pairs: &'a [(String, String)]) -> Self {
        Self { pairs, known: Vec::new(), violations: Vec::new() }
    }

    /// Reads a parameter that may occur once.
    fn one<T>(
        &mut self,
        name: &'static str,
        refusal: ParameterRefusal,
        read: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let value = match self.values(name).as_slice() {
            [] => return None,
            [value] => *value,
            [_, _, ..] => {
                self.refuse(name, code::DUPLICATE, wordings::repeated_parameter());
                return None;
            }
        };
        let read = read(value);
        if read.is_none() {
            self.refuse_value(name, refusal);
        }
        read
    }

    /// Reads a parameter that may be repeated: each value once, in order.
    fn set<T: Ord>(
        &mut self,
        name: &'static str,
        refusal: ParameterRefusal,
        read: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let values: Option<Vec<T>> = self.values(name).into_iter().map(read).collect();
        if values.is_none() {
            self.refuse_value(name, refusal);
        }
        let mut values = values.unwrap_or_default();
        values.sort_unstable();
        values.dedup();
        values
    }

    fn values(&mut self, name: &'static str) -> Vec<&'a str> {
        self.known.push(name);
        self.pairs.iter().filter(|(given, _)| given == name).map(|(_, value)| value.as_str()).collect()
    }

    /// Reads a merchant's own id. One that is too long for any payment or link is refused: it would match nothing.
    fn external_reference(&mut self) -> Option<String> {
        let text = self.one("externalReference", ANY_TEXT, owned)?;
        if text.chars().count() > MAX_EXTERNAL_REFERENCE {
            self.refuse("externalReference", code::LENGTH, wordings::too_long(MAX_EXTERNAL_REFERENCE));
        }
        Some(text)
    }

    /// Refuses a range that ends before it begins: it would match nothing.
    fn refuse_reversed<T: Ord>(&mut self, names: [&str; 2], from: Option<T>, to: Option<T>) {
        let [name, end] = names;
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            self.refuse(name, code::RANGE, wordings::later_than(end));
        }
    }

    fn refuse_value(&mut self, name: &str, refusal: ParameterRefusal) {
        let (code, message) = refusal;
        self.refuse(name, code, message());
    }

    fn refuse(&mut self, name: &str, code: &'static str, message: Wording) {
        self.violations.push(Violation { field: name.to_owned(), code, message });
    }

    /// Refuses parameters that nothing has read: an ignored filter would look like one that matches everything.
    fn refuse_unknown(&mut self) {
        let mut unknown: Vec<&str> = Vec::new();
        for (name, _) in self.pairs {
            let name = name.as_str();
            if unknown.len() < MOST_NAMED && !self.known.contains(&name) && !unknown.contains(&name) {
                unknown.push(name);
            }
        }
        let known = match self.known.as_slice() {
            [] => wordings::without_parameters(),
            known => wordings::parameters(&known.join(", ")),
        };
        for name in unknown {
            let meant = nearest(name, self.known.iter().copied());
            let hint = meant.map_or_else(|| Wording::fixed("", ""), wordings::did_you_mean);
            let message = wordings::no_parameter().then(&hint).then(&known);
            self.refuse(shown(name), code::UNKNOWN_PARAMETER, message);
        }
    }

    fn conclude<T>(mut self, read: T) -> Result<T, Rejection> {
        self.refuse_unknown();
        if self.violations.is_empty() { Ok(read) } else { Err(Rejection::malformed(self.violations)) }
    }
}

/// Returns the name of an unknown parameter for an answer; `…` if it is long or may contain confidential data.
fn shown(name: &str) -> &str {
    let is_short = name.chars().count() <= LONGEST_NAME;
    let is_plain = is_short && !name.chars().any(char::is_control);
    if is_plain && !holds_card_number(name) { name } else { "…" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{ApplicationName, MerchantId, Mode};
    use crate::request::RejectionKind;

    fn caller() -> Owner {
        let merchant = MerchantId::new("demo");
        let application = ApplicationName::new("default");
        Owner { merchant, application, mode: Mode::Test }
    }

    fn pairs(query: &str) -> Vec<(String, String)> {
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
    }

    fn check_refused<T: std::fmt::Debug>(read: Result<T, Rejection>, expected: &[(&str, &str)]) {
        let rejection = read.unwrap_err();
        assert_eq!(rejection.kind, RejectionKind::Malformed);
        let found: Vec<_> =
            rejection.violations.iter().map(|found| (found.field.as_str(), found.code)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn an_empty_query_asks_for_the_newest_twenty_of_the_caller() {
        let query = PaymentQuery::parse(&caller(), &pairs("")).unwrap();
        assert_eq!((query.cursor, query.limit.get()), (None, 20));
        assert_eq!((query.filter.merchant.as_str(), query.filter.mode), ("demo", Mode::Test));
        assert!(query.filter.statuses.is_empty() && query.filter.method.is_none());
    }

    #[test]
    fn every_filter_is_read() {
        let text = "status=paid&status=pending&status=paid&paymentMethod=CREDIT_CARD&document=11144477735&email=a%40b.co\
                    &externalReference=order+7&createdFrom=2026-11-21T00%3A00%3A00.000Z\
                    &createdTo=2026-11-21T21%3A00%3A00-03%3A00&limit=100";
        let filter = PaymentQuery::parse(&caller(), &pairs(text)).unwrap().filter;
        assert_eq!(filter.statuses, [Status::Pending, Status::Paid]);
        assert_eq!(filter.method, Some(Method::CreditCard));
        assert_eq!(filter.document.as_deref(), Some("11144477735"));
        assert_eq!(filter.email.as_deref(), Some("a@b.co"));
        assert_eq!(filter.external_reference.as_deref(), Some("order 7"));
        assert_eq!(filter.created_from, Timestamp::parse("2026-11-21T00:00:00.000Z"));
        assert_eq!(filter.created_to, Timestamp::parse("2026-11-22T00:00:00.000Z"));
    }

    #[test]
    fn a_range_that_ends_before_it_begins_is_refused_by_both_names() {
        let created = "createdFrom=2026-11-22T00:00:00Z&createdTo=2026-11-21T00:00:00Z";
        let reversed = format!("{created}&dueFrom=2026-11-22&dueTo=2026-11-21");
        let expected = [("createdFrom", code::RANGE), ("dueFrom", code::RANGE)];
        check_refused(PaymentQuery::parse(&caller(), &pairs(&reversed)), &expected);
        check_refused(MovementQuery::refunds(&caller(), &pairs(created)), &expected[..1]);
        check_refused(MovementQuery::disputes(&caller(), &pairs(created)), &expected[..1]);
        let message = MovementQuery::refunds(&caller(), &pairs(created)).unwrap_err().message();
        assert_eq!(message.english(), "createdFrom: must not be later than createdTo");
        assert_eq!(message.portuguese(), "createdFrom: não pode ser depois de createdTo");
        let one_day = "createdFrom=2026-11-21T00:00:00Z&createdTo=2026-11-21T00:00:00Z&dueFrom=2026-11-21&dueTo=2026-11-21";
        assert!(PaymentQuery::parse(&caller(), &pairs(one_day)).is_ok());
    }

    #[test]
    fn an_external_reference_that_none_can_have_is_refused() {
        let query = |length| format!("externalReference={}", "%C3%A7".repeat(length));
        assert!(PaymentQuery::parse(&caller(), &pairs(&query(100))).is_ok());
        let expected = [("externalReference", code::LENGTH)];
        check_refused(PaymentQuery::parse(&caller(), &pairs(&query(101))), &expected);
        check_refused(LinkQuery::parse(&caller(), &pairs(&query(101))), &expected);
    }

    #[test]
    fn all_that_is_unreadable_is_reported_at_once() {
        let text = "status=paid&status=gone&paymentMethod=cash&document=%00&createdFrom=2026-11-21&createdTo=\
                    &cursor=abc&limit=0";
        let expected = [
            ("status", code::UNKNOWN_VALUE),
            ("paymentMethod", code::UNKNOWN_VALUE),
            ("document", code::FORMAT),
            ("createdFrom", code::FORMAT),
            ("createdTo", code::FORMAT),
            ("cursor", code::CURSOR),
            ("limit", code::RANGE),
        ];
        check_refused(PaymentQuery::parse(&caller(), &pairs(text)), &expected);
        let text = "transactionId=7&state=lost&cursor=&limit=101";
        let expected = [
            ("transactionId", code::FORMAT),
            ("state", code::UNKNOWN_VALUE),
            ("cursor", code::CURSOR),
            ("limit", code::RANGE),
        ];
        check_refused(DeliveryQuery::parse(&caller(), &pairs(text)), &expected);
    }

    #[test]
    fn a_parameter_that_the_list_does_not_have_is_refused_by_name() {
        for name in
            ["status[]", "Status", "STATUS", "createdfrom", "payment_method", "external_reference", "x"]
        {
            let text =
                url::form_urlencoded::Serializer::new(String::new()).append_pair(name, "paid").finish();
            let expected = [(name, code::UNKNOWN_PARAMETER)];
            check_refused(PaymentQuery::parse(&caller(), &pairs(&text)), &expected);
            check_refused(DeliveryQuery::parse(&caller(), &pairs(&text)), &expected);
            check_refused(refuse_all(&pairs(&text)), &expected);
        }
        let rejection = DeliveryQuery::parse(&caller(), &pairs("status=paid")).unwrap_err();
        let message = rejection.violations[0].message.english();
        assert!(message.ends_with("transactionId, state, cursor, limit"), "{message}");
        check_refused(refuse_all(&pairs("limit=1")), &[("limit", code::UNKNOWN_PARAMETER)]);
        assert_eq!(refuse_all(&pairs("")), Ok(()));
    }

    #[test]
    fn an_unknown_parameter_is_told_with_the_one_that_was_meant() {
        for (sent, meant) in [
            ("status[]", "status"),
            ("created_from", "createdFrom"),
            ("createdform", "createdFrom"),
            ("payment-method", "paymentMethod"),
        ] {
            let rejection = PaymentQuery::parse(&caller(), &[(sent.to_owned(), "x".to_owned())]).unwrap_err();
            let message = rejection.violations[0].message.english();
            assert!(message.contains(&format!("did you mean {meant}?")), "{message}");
        }
        let message = refuse_all(&pairs("page=2")).unwrap_err().violations[0].message.clone();
        assert_eq!(message.english(), "is not a parameter; this address has no parameters");
        assert_eq!(message.portuguese(), "não é um parâmetro; este endereço não tem parâmetros");
    }

    #[test]
    fn names_of_values_are_read_in_any_letter_case() {
        let filter = PaymentQuery::parse(&caller(), &pairs("status=PAID&status=Pending")).unwrap().filter;
        assert_eq!(filter.statuses, [Status::Pending, Status::Paid]);
        let filter = DeliveryQuery::parse(&caller(), &pairs("state=Exhausted")).unwrap().filter;
        assert_eq!(filter.state, Some(DeliveryState::Exhausted));
    }

    #[test]
    fn refunds_and_disputes_have_statuses_of_their_own() {
        let times = "createdFrom=2026-11-21T00%3A00%3A00Z&createdTo=2026-11-22T00%3A00%3A00Z";
        let text = format!("status=failed&status=PROCESSING&status=failed&{times}&limit=7");
        let query = MovementQuery::refunds(&caller(), &pairs(&text)).unwrap();
        let statuses = vec![RefundStatus::Processing, RefundStatus::Failed];
        assert_eq!(query.filter.movements, Movements::Refunds(statuses));
        assert_eq!((query.filter.merchant.as_str(), query.filter.mode), ("demo", Mode::Test));
        assert_eq!(query.filter.created_from, Timestamp::parse("2026-11-21T00:00:00.000Z"));
        assert_eq!(query.filter.created_to, Timestamp::parse("2026-11-22T00:00:00.000Z"));
        assert_eq!((query.cursor, query.limit.get()), (None, 7));
        let query = MovementQuery::disputes(&caller(), &pairs("status=Won")).unwrap();
        assert_eq!(query.filter.movements, Movements::Disputes(vec![DisputeStatus::Won]));
        let text = "status=won&createdFrom=now&createdTo=&cursor=MA&limit=101&state=open";
        let expected = [
            ("status", code::UNKNOWN_VALUE),
            ("createdFrom", code::FORMAT),
            ("createdTo", code::FORMAT),
            ("cursor", code::CURSOR),
            ("limit", code::RANGE),
            ("state", code::UNKNOWN_PARAMETER),
        ];
        check_refused(MovementQuery::refunds(&caller(), &pairs(text)), &expected);
        let expected = [("status", code::UNKNOWN_VALUE)];
        check_refused(MovementQuery::disputes(&caller(), &pairs("status=open&status=failed")), &expected);
    }

    #[test]
    fn unknown_parameters_are_told_once_each_beside_what_else_is_wrong() {
        let expected =
            [("limit", code::RANGE), ("b", code::UNKNOWN_PARAMETER), ("a", code::UNKNOWN_PARAMETER)];
        check_refused(PaymentQuery::parse(&caller(), &pairs("b=1&limit=0&a=1&b=2")), &expected);
    }

    #[test]
    fn an_answer_repeats_no_card_number_and_neither_long_nor_many_names() {
        let long = "x".repeat(LONGEST_NAME + 1);
        for name in ["4242424242424242", "a%0ab", &long] {
            check_refused(refuse_all(&pairs(&format!("{name}=1"))), &[("…", code::UNKNOWN_PARAMETER)]);
        }
        let many: Vec<_> = (0..10_000).map(|n| (format!("n{n}"), String::new())).collect();
        assert_eq!(refuse_all(&many).unwrap_err().violations.len(), MOST_NAMED);
    }

    #[test]
    fn a_document_is_found_with_or_without_its_mask_and_what_is_none_is_refused() {
        let read = |text: &str| PaymentQuery::parse(&caller(), &pairs(&format!("document={text}")));
        for (text, bare) in [
            ("11144477735", "11144477735"),
            ("111.444.777-35", "11144477735"),
            ("11.222.333/0001-81", "11222333000181"),
            ("00000000000", "00000000000"),
            ("111.444.777-36", "11144477736"),
        ] {
            assert_eq!(read(text).unwrap().filter.document.as_deref(), Some(bare), "{text}");
        }
        for text in ["", "1", "1114447773x", "111-444-777.35"] {
            check_refused(read(text), &[("document", code::FORMAT)]);
        }
        check_refused(PaymentQuery::parse(&caller(), &pairs("email=x")), &[("email", code::FORMAT)]);
    }

    #[test]
    fn a_plus_that_became_a_blank_is_still_an_offset() {
        for text in
            ["2026-11-21T00:00:00%2B00:00", "2026-11-21T00:00:00+00:00", "2026-11-21T00:00:00%2000:00"]
        {
            let read = PaymentQuery::parse(&caller(), &pairs(&format!("createdFrom={text}"))).unwrap();
            assert_eq!(read.filter.created_from, Timestamp::parse("2026-11-21T00:00:00.000Z"), "{text}");
        }
    }

    #[test]
    fn what_may_stand_once_is_refused_twice() {
        let expected = [("email", code::DUPLICATE), ("limit", code::DUPLICATE)];
        check_refused(
            PaymentQuery::parse(&caller(), &pairs("limit=1&email=a%40b.co&limit=1&email=a%40b.co")),
            &expected,
        );
    }

    #[test]
    fn a_page_has_one_to_a_hundred_entries() {
        for (text, limit) in [("1", 1), ("20", 20), ("100", 100)] {
            assert_eq!(PageLimit::parse(text).map(PageLimit::get), Some(limit));
        }
        for text in ["", "0", "101", "256", "-1", "+1", "1.0", "01", " 1", "٣", "99999999999999999999"] {
            assert_eq!(PageLimit::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_page_of_deliveries_goes_on_where_the_last_one_ended() {
        let id = TransactionId::new(uuid::Uuid::from_u128(7));
        let payment = Cursor { created_at: Timestamp::from_millis(5), id };
        let cursor = EntryCursor { payment, index: 2 };
        let text = format!("transactionId={id}&state=exhausted&limit=1&cursor={cursor}");
        let query = DeliveryQuery::parse(&caller(), &pairs(&text)).unwrap();
        assert_eq!((query.cursor, query.limit.get()), (Some(cursor), 1));
        assert_eq!(query.filter.transaction_id, Some(id));
        assert_eq!(query.filter.state, Some(DeliveryState::Exhausted));
    }
}
