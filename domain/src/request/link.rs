//! The request for a payment link, and the one that closes it.

use chrono::NaiveDate;
use url::{Host, Url};

use super::fields::{Fields, Findings};
use super::violation::{Broken, Violation, code};
use super::{
    MAX_EXTERNAL_REFERENCE, PostbackPolicy, Rejection, RequestLimits, UnknownName, basket, due, json, notes,
    payer, postback, splits, unknown_names, wordings,
};
use crate::due_terms::Portion;
use crate::identity::{LinkId, Owner};
use crate::link::{LEAST_TIME_TO_PAY_MS, Link, LinkDue, LinkTerms, Offer};
use crate::method::Method;
use crate::money::Money;
use crate::secret_key::mac;
use crate::text::hex;
use crate::time::{DAY_MS, Timestamp};

/// Default time until a link expires.
const DEFAULT_LIFE_MS: u64 = 30 * DAY_MS;

/// Longest time until a link expires.
const LONGEST_LIFE_MS: u64 = 365 * DAY_MS;

/// Largest number of payments of one link.
const MAX_USES: i64 = 10_000;

/// Largest number of instalments of one link, unless the configured maximum is smaller.
const MAX_INSTALLMENTS: u8 = 12;

/// Longest URL.
const MAX_URL: usize = 2_048;

/// Field names of a due date's terms.
const TERMS: [&str; 5] = ["payableAfterDueDays", "fine", "interest", "discounts", "instructions"];

/// A request for a link that breaks no rule, except perhaps those that depend on the time.
#[derive(Debug)]
pub struct ParsedLink {
    offer: Offer,
    /// Methods in the order in which they were sent; empty if none were.
    pub sent_methods: Vec<Method>,
    expires_at: Option<Timestamp>,
    clock_violations: Vec<Violation>,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
}

impl ParsedLink {
    /// Returns a keyed hash of the request, 64 hexadecimal digits.
    pub fn fingerprint(&self, secret: &[u8]) -> String {
        // Never fails: every name is a text.
        let offer = serde_json::to_vec(&self.offer).unwrap_or_default();
        let expires_at = self.expires_at.map(|at| at.to_string()).unwrap_or_default();
        hex(&mac(secret, &[b"quita link request 1", expires_at.as_bytes(), &offer]))
    }

    /// Returns the link to be stored. `methods` are those that it offers if none were sent.
    ///
    /// # Errors
    /// A [`Rejection`] (422) if a rule that depends on the time is broken.
    pub fn into_link(
        self,
        id: LinkId,
        owner: Owner,
        fingerprint: Option<String>,
        methods: &[Method],
        now: Timestamp,
    ) -> Result<Link, Rejection> {
        if !self.clock_violations.is_empty() {
            return Err(Rejection::unprocessable(self.clock_violations));
        }
        let last = self.offer.due.and_then(end_of_due_date);
        let default = now.plus_ms(DEFAULT_LIFE_MS);
        let expires_at = self.expires_at.or(last).unwrap_or(default);
        // Filled in after the fingerprint was computed: a replay is the same request, whatever methods can be offered
        // by then.
        let methods = if self.offer.methods.is_empty() { methods.to_vec() } else { self.offer.methods };
        Ok(Link {
            id,
            revision: 1,
            owner,
            fingerprint,
            offer: Offer { methods, ..self.offer },
            created_at: now,
            expires_at,
            closed_at: None,
            closings: Vec::new(),
            taken: Vec::new(),
        })
    }
}

/// Reads the body of `POST /pay/links`.
///
/// # Errors
/// A [`Rejection`], as for the creation of a payment.
pub fn parse(body: &[u8], now: Timestamp, limits: &RequestLimits) -> Result<ParsedLink, Rejection> {
    let object = json::read(body)?;
    let findings = Findings::default();
    let root = Fields::of_body(&object, &findings);
    let read = read_body(&root, now, limits);
    root.refuse_card_numbers(&[]);
    let unknown = unknown_names::find(&object, &unknown_names::LINK);
    match findings.conclude(read) {
        Ok((link, clock_violations)) => Ok(ParsedLink { clock_violations, unknown, ..link }),
        Err(rejection) => Err(rejection.with_unknown(unknown)),
    }
}

fn read_body(root: &Fields<'_>, now: Timestamp, limits: &RequestLimits) -> Option<ParsedLink> {
    let amount = root.required("amount").cents_from(1);
    let currency = root.required("currency").parsed(|text| match text {
        "BRL" => Ok(()),
        _ => Err(Broken::new(code::UNKNOWN_VALUE, wordings::no_brl())),
    });
    let title = root.required("title").shown_text_of(1..=100);
    let description = root.optional("description").text_of(0..=500);
    let items = basket::items(root);
    let shipping_fee = basket::shipping_fee(root);
    let sent_methods = methods(root);
    let most = i64::from(limits.max_installments.min(MAX_INSTALLMENTS));
    let max_installments = root.optional("maxInstallments").integer_in(1..=most);
    let due = due(root, now);
    let expires_at = expires_at(root, due, now);
    let uses = root.optional("uses").integer_in(1..=MAX_USES);
    let customer = root.optional("customer").object().map(|fields| payer::read_known(&fields));
    let success_url =
        root.optional("successUrl").parsed(|text| check_url(text, limits.postback).map(|()| text.to_owned()));
    let terms = terms(root, amount, due, now);
    let postback_url = postback::read(root, limits.postback);
    let external_reference = root.optional("externalReference").text_of(0..=MAX_EXTERNAL_REFERENCE);
    let metadata = notes::metadata(root);
    let splits = splits::read(root, amount);
    if let Some(amount) = amount {
        splits::check_against_discount(root, &splits, amount, greatest_discount(amount, &terms));
    }
    let utm = notes::utm(root);

    currency?;
    let mut methods = sent_methods.clone();
    // The same methods in another order are the same request, with the same fingerprint.
    methods.sort_unstable();
    let offer = Offer {
        title: title?,
        description,
        amount: amount?,
        methods,
        max_installments: max_installments.and_then(|most| u8::try_from(most).ok()).unwrap_or(1),
        uses: uses.and_then(|uses| u32::try_from(uses).ok()).unwrap_or(1),
        customer,
        success_url,
        due,
        terms,
        items,
        shipping_fee,
        splits,
        utm,
        postback_url,
        external_reference,
        metadata,
    };
    Some(ParsedLink { offer, sent_methods, expires_at, clock_violations: Vec::new(), unknown: Vec::new() })
}

/// Reads the methods in the order in which they were sent.
fn methods(root: &Fields<'_>) -> Vec<Method> {
    let field = root.optional("methods");
    let unknown = || Broken::new(code::UNKNOWN_VALUE, wordings::unknown_method());
    let methods = field
        .texts_by(Method::ALL.len(), |text| Method::parse(&text.to_ascii_lowercase()).ok_or_else(unknown));
    if field.is_empty_list() {
        field.refuse(Broken::new(code::TOO_FEW, wordings::no_method()));
    }
    for (index, method) in methods.iter().enumerate() {
        if methods.iter().take(index).any(|before| before == method) {
            let repeated = Broken::new(code::DUPLICATE, wordings::repeated_method());
            field.refuse_entry(index, repeated);
        }
    }
    methods
}

fn due(root: &Fields<'_>, now: Timestamp) -> Option<LinkDue> {
    let date = root.optional("dueDate");
    let days = root.optional("dueInDays");
    let most = i64::try_from(due::MAX_DUE_DAYS).unwrap_or(i64::MAX);
    let in_days = days.integer_in(0..=most).and_then(|days| u16::try_from(days).ok());
    if !date.is_present() {
        return in_days.map(LinkDue::InDays);
    }
    if days.is_present() {
        days.refuse(Broken::new(code::NOT_APPLICABLE, wordings::excludes_due_in_days()));
    }
    due::due_date(root, date.text(), now).map(LinkDue::On)
}

/// Returns the end of a due date that is the same for all payments.
fn end_of_due_date(due: LinkDue) -> Option<Timestamp> {
    match due {
        LinkDue::On(date) => Some(Timestamp::end_of_sao_paulo_day(date)),
        LinkDue::InDays(_) => None,
    }
}

fn expires_at(root: &Fields<'_>, due: Option<LinkDue>, now: Timestamp) -> Option<Timestamp> {
    let broken = || Broken::new(code::FORMAT, wordings::no_time());
    let at = root.optional("expiresAt").parsed(|text| Timestamp::parse(text).ok_or_else(broken))?;
    let possible = now.plus_ms(LEAST_TIME_TO_PAY_MS)..=now.plus_ms(LONGEST_LIFE_MS);
    if !possible.contains(&at) {
        root.refuse_today("expiresAt", Broken::new(code::RANGE, wordings::link_expiry_out_of_range()));
    } else if due.and_then(end_of_due_date).is_some_and(|end| at > end) {
        root.refuse("expiresAt", Broken::new(code::RANGE, wordings::link_outlives_due_date()));
    }
    Some(at)
}

fn terms(root: &Fields<'_>, amount: Option<Money>, due: Option<LinkDue>, now: Timestamp) -> LinkTerms {
    let has_due_date = root.optional("dueDate").is_present() || root.optional("dueInDays").is_present();
    if !has_due_date {
        for name in TERMS.into_iter().filter(|name| root.optional(name).is_present()) {
            root.refuse(name, Broken::new(code::NOT_APPLICABLE, wordings::needs_due_date_of_link()));
        }
    }
    let date: Option<NaiveDate> = due.map(|due| due.date(now.sao_paulo_date()));
    let sent = due::read_of(root, amount, date, now);
    LinkTerms {
        payable_after_due_days: sent.payable_days,
        fine: sent.fine,
        interest: sent.interest,
        discounts: sent.discounts,
        instructions: sent.instructions,
    }
}

fn greatest_discount(amount: Money, terms: &LinkTerms) -> Money {
    terms.discounts.iter().map(|discount| Portion::of(discount.portion, amount)).max().unwrap_or_default()
}

/// Checks a URL to which a payer's browser is sent.
fn check_url(text: &str, policy: PostbackPolicy) -> Result<(), Broken> {
    let refuse = |code, message| Err(Broken::new(code, message));
    if text.chars().count() > MAX_URL {
        return refuse(code::LENGTH, wordings::too_long(MAX_URL));
    }
    if text.chars().any(|character| character.is_control() || character.is_whitespace()) {
        return refuse(code::CHARACTER, wordings::blanks_in_url());
    }
    let url = postback::parse_url(text)?;
    // An empty user name leaves no trace in the parsed URL, but still hides the host from a human reader.
    if authority_of(text).contains('@') {
        return refuse(code::FORMAT, wordings::credentials_in_url());
    }
    match (url.scheme(), policy) {
        ("https", _) => Ok(()),
        ("http", PostbackPolicy::AllowAnything) if is_loopback(&url) => Ok(()),
        ("http", _) => refuse(code::NOT_PUBLIC, wordings::http_on_loopback_only()),
        _ => refuse(code::FORMAT, wordings::no_http_url()),
    }
}

/// Returns the part with user and host, as written. Backslashes count as slashes (URL Standard, section 4.4).
fn authority_of(text: &str) -> &str {
    let after_scheme = text.split_once(':').map_or(text, |(_, rest)| rest);
    let rest = after_scheme.trim_start_matches(['/', '\\']);
    rest.split(['/', '\\', '?', '#']).next().unwrap_or_default()
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost",
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Body of a request that closes a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkClosing {
    /// True if waiting payments are cancelled too.
    pub cancel_pending: bool,
    /// Unknown names in the body.
    pub unknown: Vec<UnknownName>,
}

/// Reads the body of `POST /pay/links/{linkId}/close`. An empty one counts as `{}`.
///
/// # Errors
/// A [`Rejection`], as for the creation of a payment.
pub fn parse_closing(body: &[u8]) -> Result<LinkClosing, Rejection> {
    if body.trim_ascii().is_empty() {
        return Ok(LinkClosing { cancel_pending: false, unknown: Vec::new() });
    }
    let object = json::read(body)?;
    let findings = Findings::default();
    let root = Fields::of_body(&object, &findings);
    let cancel_pending = root.optional("cancelPending").flag().unwrap_or(false);
    root.refuse_card_numbers(&[]);
    let unknown = unknown_names::find(&object, &unknown_names::LINK_CLOSING);
    match findings.conclude(Some(cancel_pending)) {
        Ok((cancel_pending, _)) => Ok(LinkClosing { cancel_pending, unknown }),
        Err(rejection) => Err(rejection.with_unknown(unknown)),
    }
}
