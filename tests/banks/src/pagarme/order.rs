//! A request for an order, read strictly: all its errors are reported at once, by field.
//!
//! Sizes and obligatory fields: docs.pagar.me, "Criar pedido", and the official plugins (ecommerce-module-core).

use chrono::{DateTime, NaiveDate};
use serde_json::{Map, Value, json};

use super::answer::{self, Answer, Faulty};
use super::charge::Share;
use super::config::Config;
use crate::cielo::local_time;

/// Banks of boletos.
const BANKS: [&str; 9] = ["001", "033", "104", "197", "198", "237", "341", "376", "745"];

/// Requested order.
pub(crate) struct Wanted {
    pub(crate) code: String,
    pub(crate) items: Value,
    pub(crate) customer: Value,
    pub(crate) document: String,
    pub(crate) amount_cents: u64,
    pub(crate) means: WantedMeans,
    pub(crate) shares: Vec<Share>,
    /// Reason why the gateway refuses the charge, although the request is well formed.
    pub(crate) gateway_refusal: Option<&'static str>,
}

/// Requested means of payment.
pub(crate) enum WantedMeans {
    Card(WantedCard),
    Pix { expires_in_s: i64 },
    Boleto(WantedBoleto),
}

pub(crate) struct WantedCard {
    pub(crate) number: String,
    pub(crate) holder: String,
    pub(crate) expires: (u64, u64),
    pub(crate) cvv: String,
    pub(crate) instalments: u64,
    pub(crate) captures_at_once: bool,
    pub(crate) statement_descriptor: Option<String>,
    pub(crate) auto_recovery: bool,
}

pub(crate) struct WantedBoleto {
    pub(crate) bank: String,
    pub(crate) due: NaiveDate,
    pub(crate) instructions: Option<String>,
    pub(crate) document_number: Option<String>,
    pub(crate) payable_after_days: u64,
}

/// One object of the request.
#[derive(Clone, Copy)]
struct Object<'a>(Option<&'a Map<String, Value>>);

impl<'a> Object<'a> {
    fn get(self, name: &str) -> Option<&'a Value> {
        self.0?.get(name).filter(|value| !value.is_null())
    }

    fn object(self, name: &str) -> Self {
        Self(self.get(name).and_then(Value::as_object))
    }

    fn text(self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty())
    }

    fn owned(self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    fn number(self, name: &str) -> Option<u64> {
        self.get(name).and_then(Value::as_u64)
    }

    fn truth(self, name: &str) -> Option<bool> {
        self.get(name).and_then(Value::as_bool)
    }

    fn first(self, name: &str) -> Self {
        Self(self.get(name).and_then(Value::as_array).and_then(|all| all.first()).and_then(Value::as_object))
    }

    fn list(self, name: &str) -> Vec<Self> {
        let all = self.get(name).and_then(Value::as_array);
        all.into_iter().flatten().map(|one| Self(one.as_object())).collect()
    }

    /// Checks that a text is present, and no longer than this.
    fn needs(self, name: &str, longest: usize, at: &str, faulty: &mut Faulty) -> String {
        let text = self.text(name).unwrap_or_default();
        faulty.unless(!text.is_empty(), &format!("{at}.{name}"), &format!("The {name} field is required."));
        let fits = text.chars().count() <= longest;
        faulty.unless(fits, &format!("{at}.{name}"), &format!("The field {name} is too long."));
        text.to_owned()
    }
}

impl Wanted {
    /// Reads a request.
    ///
    /// # Errors
    /// The answer that refuses it.
    pub(crate) fn read(body: &[u8], config: &Config, now_ms: i64) -> Result<Self, Answer> {
        let body: Value = serde_json::from_slice(body).map_err(|_| answer::unreadable())?;
        let order = Object(body.as_object());
        if order.0.is_none() {
            return Err(answer::unreadable());
        }
        let mut faulty = Faulty::default();
        let code = order.owned("code").unwrap_or_default();
        faulty.unless(code.len() <= 52, "order.code", "The field code is too long.");
        let (items_cents, lacks_code) = items(order, &mut faulty);
        let customer = order.object("customer");
        read_customer(customer, &mut faulty);
        let payment = order.first("payments");
        faulty.unless(payment.0.is_some(), "order.payments", "The payments field is required.");
        let amount_cents = payment.number("amount").unwrap_or(items_cents);
        faulty.unless(amount_cents > 0, "order.payments[0].amount", "The amount must be greater than zero.");
        let means = means(payment, customer, now_ms, &mut faulty);
        let (shares, split_refusal) = shares(payment, amount_cents, config, &mut faulty);
        let (Some(means), true) = (means, faulty.is_empty()) else { return Err(faulty.answer()) };
        Ok(Self {
            code,
            items: order.get("items").cloned().unwrap_or_default(),
            customer: echoed(customer),
            document: customer.owned("document").unwrap_or_default(),
            amount_cents,
            means,
            shares,
            gateway_refusal: lacks_code.then_some("The item Code is required.").or(split_refusal),
        })
    }
}

/// Returns the sum of the items, and true if one of them has no code.
fn items(order: Object<'_>, faulty: &mut Faulty) -> (u64, bool) {
    let items = order.list("items");
    faulty.unless(!items.is_empty(), "order.items", "The items field is required.");
    let mut sum = 0_u64;
    for (at, item) in items.iter().enumerate() {
        let field = format!("order.items[{at}]");
        let amount = item.number("amount").unwrap_or(0);
        let quantity = item.number("quantity").unwrap_or(0);
        faulty.unless(amount > 0, &format!("{field}.amount"), "The amount must be greater than zero.");
        faulty.unless(quantity > 0, &format!("{field}.quantity"), "The quantity must be greater than zero.");
        item.needs("description", 256, &field, faulty);
        sum = sum.saturating_add(amount.saturating_mul(quantity));
    }
    (sum, items.iter().any(|item| item.text("code").is_none()))
}

fn read_customer(customer: Object<'_>, faulty: &mut Faulty) {
    let at = "order.customer";
    faulty.unless(customer.0.is_some(), at, "The customer field is required.");
    customer.needs("name", 64, at, faulty);
    let email = customer.needs("email", 64, at, faulty);
    faulty.unless(email.contains('@'), "order.customer.email", "The email field is not a valid e-mail.");
    customer.needs("document", 16, at, faulty);
    let kind = customer.text("type");
    let is_known = kind.is_none_or(|kind| ["individual", "company"].contains(&kind));
    faulty.unless(is_known, "order.customer.type", "The type field is invalid.");
    let kind = customer.text("document_type");
    let is_known = kind.is_none_or(|kind| ["CPF", "CNPJ", "PASSPORT"].contains(&kind));
    faulty.unless(is_known, "order.customer.document_type", "The document_type field is invalid.");
    let phones = customer.object("phones");
    let [mobile, home] = ["mobile_phone", "home_phone"].map(|name| phones.object(name));
    let has_phone = mobile.0.is_some() || home.0.is_some();
    faulty.unless(has_phone, "order.customer.phones", "At least one customer phone is required.");
    for phone in [mobile, home].into_iter().filter(|phone| phone.0.is_some()) {
        let all = ["country_code", "area_code", "number"].map(|name| phone.text(name).unwrap_or_default());
        let are_digits =
            all.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        faulty.unless(are_digits, "order.customer.phones", "The phone is invalid.");
    }
    if customer.get("address").is_some() {
        address(customer.object("address"), "order.customer.address", faulty);
    }
}

fn address(address: Object<'_>, at: &str, faulty: &mut Faulty) {
    address.needs("line_1", 256, at, faulty);
    address.needs("zip_code", 16, at, faulty);
    address.needs("city", 64, at, faulty);
    address.needs("state", 2, at, faulty);
    let country = address.needs("country", 2, at, faulty);
    let zip = address.text("zip_code").unwrap_or_default();
    let is_zip = country != "BR" || zip.len() == 8 && zip.bytes().all(|byte| byte.is_ascii_digit());
    faulty.unless(is_zip, &format!("{at}.zip_code"), "The zip_code field is invalid.");
}

fn means(payment: Object<'_>, customer: Object<'_>, now_ms: i64, faulty: &mut Faulty) -> Option<WantedMeans> {
    match payment.text("payment_method") {
        Some("credit_card") => card(payment.object("credit_card"), faulty).map(WantedMeans::Card),
        Some("pix") => pix(payment.object("pix"), now_ms, faulty),
        Some("boleto") => {
            let at = "order.customer.address";
            faulty.unless(customer.get("address").is_some(), at, "The address field is required.");
            boleto(payment.object("boleto"), now_ms, faulty).map(WantedMeans::Boleto)
        }
        Some(_) | None => {
            faulty.unless(false, "order.payments[0].payment_method", "The payment_method field is invalid.");
            None
        }
    }
}

fn card(payment: Object<'_>, faulty: &mut Faulty) -> Option<WantedCard> {
    let at = "order.payments[0].credit_card";
    let card = payment.object("card");
    let number = card.needs("number", 19, &format!("{at}.card"), faulty);
    let is_number = number.len() >= 13 && number.bytes().all(|byte| byte.is_ascii_digit());
    faulty.unless(is_number, &format!("{at}.card.number"), "The card number is not valid.");
    let holder = card.needs("holder_name", 64, &format!("{at}.card"), faulty);
    let is_name = holder.chars().all(|one| one.is_alphabetic() || one == ' ');
    faulty.unless(is_name, &format!("{at}.card.holder_name"), "The holder_name field is invalid.");
    let expires = (card.number("exp_month")?, card.number("exp_year")?);
    let is_month = (1..=12).contains(&expires.0);
    faulty.unless(is_month, &format!("{at}.card.exp_month"), "The exp_month field is invalid.");
    address(card.object("billing_address"), &format!("{at}.card.billing_address"), faulty);
    let instalments = payment.number("installments").unwrap_or(1);
    let fits = (1..=24).contains(&instalments);
    faulty.unless(fits, &format!("{at}.installments"), "The installments field is invalid.");
    let operation = payment.text("operation_type").unwrap_or("auth_and_capture");
    let is_known = ["auth_and_capture", "auth_only", "pre_auth"].contains(&operation);
    faulty.unless(is_known, &format!("{at}.operation_type"), "The operation_type field is invalid.");
    let descriptor = payment.owned("statement_descriptor");
    let is_short = descriptor.as_ref().is_none_or(|text| text.chars().count() <= 22);
    faulty.unless(is_short, &format!("{at}.statement_descriptor"), "The statement_descriptor is too long.");
    Some(WantedCard {
        number,
        holder,
        expires,
        cvv: card.owned("cvv").unwrap_or_default(),
        instalments,
        captures_at_once: operation == "auth_and_capture",
        statement_descriptor: descriptor,
        auto_recovery: payment.truth("auto_recovery").unwrap_or(true),
    })
}

fn pix(payment: Object<'_>, now_ms: i64, faulty: &mut Faulty) -> Option<WantedMeans> {
    let at = payment.text("expires_at").and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let by_date = at.map(|at| (at.timestamp_millis().saturating_sub(now_ms)) / 1_000);
    let seconds = payment.get("expires_in").and_then(Value::as_i64).or(by_date);
    let is_right = seconds.is_some_and(|seconds| seconds > 0);
    faulty.unless(is_right, "order.payments[0].pix.expires_in", "The expires_in field is required.");
    Some(WantedMeans::Pix { expires_in_s: seconds? })
}

fn boleto(payment: Object<'_>, now_ms: i64, faulty: &mut Faulty) -> Option<WantedBoleto> {
    let at = "order.payments[0].boleto";
    let bank = payment.text("bank").unwrap_or("197");
    faulty.unless(BANKS.contains(&bank), &format!("{at}.bank"), "The bank field is invalid.");
    let instructions = payment.owned("instructions");
    let fits = instructions.as_ref().is_none_or(|text| text.chars().count() <= 256);
    faulty.unless(fits, &format!("{at}.instructions"), "The instructions field is too long.");
    let number = payment.owned("document_number");
    let fits = number.as_ref().is_none_or(|text| text.len() <= 16);
    faulty.unless(fits, &format!("{at}.document_number"), "The document_number field is too long.");
    let due = payment.text("due_at").and_then(|text| DateTime::parse_from_rfc3339(text).ok());
    let due = due.map(|due| local_time::day(due.timestamp_millis()));
    let is_ahead = due.is_some_and(|due| due >= local_time::day(now_ms));
    faulty.unless(is_ahead, &format!("{at}.due_at"), "The due_at field is invalid.");
    for name in ["interest", "fine"].into_iter().filter(|name| payment.get(name).is_some()) {
        let surcharge = payment.object(name);
        let is_right = surcharge.number("days").is_some_and(|days| days > 0)
            && surcharge.number("amount").is_some()
            && surcharge.text("type").is_some_and(|kind| ["flat", "percentage"].contains(&kind));
        faulty.unless(is_right, &format!("{at}.{name}"), "The field is invalid.");
    }
    Some(WantedBoleto {
        bank: bank.to_owned(),
        due: due?,
        instructions,
        document_number: number,
        payable_after_days: payment.number("max_days_to_pay_past_due").unwrap_or(0),
    })
}

/// Returns the shares that rules give of this amount, and the gateway's reason for refusing them. Without rules, the
/// account's own recipient gets everything.
fn shares(
    payment: Object<'_>,
    amount_cents: u64,
    config: &Config,
    faulty: &mut Faulty,
) -> (Vec<Share>, Option<&'static str>) {
    let rules = payment.list("split");
    if rules.is_empty() {
        let recipient = config.own_recipient.clone();
        return (vec![Share { recipient, amount_cents, pays_fee: true }], None);
    }
    let mut shares = Vec::new();
    let mut refusal = None;
    for (at, rule) in rules.iter().enumerate() {
        let field = format!("order.payments[0].split[{at}]");
        let recipient = rule.needs("recipient_id", 64, &field, faulty);
        let amount = rule.number("amount").unwrap_or(0);
        let kind = rule.text("type");
        let is_right = amount > 0 && kind.is_some_and(|kind| ["flat", "percentage"].contains(&kind));
        faulty.unless(is_right, &field, "The split rule is invalid.");
        let is_known = recipient == config.own_recipient || config.recipients.contains(&recipient);
        if !is_known {
            refusal = Some("Recipient not found.");
        }
        let cents =
            if kind == Some("percentage") { amount_cents.saturating_mul(amount) / 100 } else { amount };
        let pays_fee = rule.object("options").truth("charge_processing_fee").unwrap_or(false);
        shares.push(Share { recipient, amount_cents: cents, pays_fee });
    }
    let sum: u64 = shares.iter().map(|share| share.amount_cents).sum();
    if sum != amount_cents {
        refusal = refusal.or(Some("The sum of the split rules must be the amount of the charge."));
    }
    if !shares.iter().any(|share| share.pays_fee) {
        refusal = refusal.or(Some("At least one recipient must be charged with the fee."));
    }
    (shares, refusal)
}

/// Reads the shares in a capture.
pub(crate) fn shares_of_capture(body: &Value, amount_cents: u64, config: &Config) -> Option<Vec<Share>> {
    let mut faulty = Faulty::default();
    let (shares, refusal) = shares(Object(body.as_object()), amount_cents, config, &mut faulty);
    (faulty.is_empty() && refusal.is_none()).then_some(shares)
}

/// Returns the customer as Pagar.me repeats it.
fn echoed(customer: Object<'_>) -> Value {
    let mut echo = Map::new();
    for name in ["name", "email", "document", "document_type", "type", "phones", "address"] {
        if let Some(value) = customer.get(name) {
            echo.insert(name.to_owned(), value.clone());
        }
    }
    echo.insert("delinquent".to_owned(), json!(false));
    echo.into()
}
