//! A request for a sale, read strictly: all its errors are reported at once, with the codes of the manual.

use chrono::NaiveDate;
use serde_json::Value;

use super::answer::{self, Refusal};
use super::config::Config;
use super::fields::Fields;

const BRANDS: [&str; 10] =
    ["Visa", "Master", "Amex", "Elo", "Aura", "JCB", "Diners", "Discover", "Hipercard", "Hiper"];
const LONGEST_ORDER_ID: usize = 50;
const LONGEST_PIX_EXPIRY_S: u64 = 86_400;
const FIRST_PIX_EXPIRY_S: u64 = 7_200;

/// Requested sale.
pub(crate) struct Order {
    pub(crate) order_id: String,
    pub(crate) customer: Value,
    pub(crate) amount_cents: u64,
    pub(crate) wanted: Wanted,
}

/// Requested means of payment.
pub(crate) enum Wanted {
    Card(CardOrder),
    Pix { provider: Option<String>, expires_in_s: u64 },
    Boleto(BoletoOrder),
}

/// A card sale.
pub(crate) struct CardOrder {
    pub(crate) number: CardNumber,
    pub(crate) holder: String,
    pub(crate) expires: String,
    pub(crate) brand: &'static str,
    pub(crate) keeps_card: bool,
    pub(crate) instalments: u64,
    pub(crate) interest: String,
    pub(crate) captures_at_once: bool,
    pub(crate) soft_descriptor: Option<String>,
}

/// A card's number, or its replacement.
pub(crate) enum CardNumber {
    Plain(String),
    Token(String),
}

/// A boleto to be issued.
pub(crate) struct BoletoOrder {
    pub(crate) provider: String,
    pub(crate) number: Option<String>,
    pub(crate) due: NaiveDate,
    pub(crate) assignor: Option<String>,
    pub(crate) instructions: Option<String>,
    pub(crate) identification: Option<String>,
}

/// Errors of a request so far.
#[derive(Default)]
struct Faulty(Vec<Refusal>);

impl Faulty {
    fn unless(&mut self, is_right: bool, refusal: Refusal) {
        if !is_right {
            self.0.push(refusal);
        }
    }
}

impl Order {
    /// Reads a request, or returns its errors.
    pub(crate) fn read(body: &[u8], config: &Config, today: NaiveDate) -> Result<Self, Vec<Refusal>> {
        let body: Value = serde_json::from_slice(body).map_err(|_| vec![answer::UNREADABLE])?;
        let fields = Fields::of(&body);
        let payment = fields.object("Payment");
        if payment.is_absent() {
            return Err(vec![answer::PAYMENT_MISSING]);
        }
        let mut faulty = Faulty::default();
        let customer = fields.object("Customer");
        let order_id = fields.text("MerchantOrderId").unwrap_or_default();
        faulty.unless(!order_id.is_empty(), answer::ORDER_ID_MISSING);
        faulty.unless(is_order_id(order_id, LONGEST_ORDER_ID), answer::ORDER_ID_INVALID);
        let amount_cents = payment.number("Amount").unwrap_or(0);
        faulty.unless((1..=999_999_999_999_999).contains(&amount_cents), answer::AMOUNT_INVALID);
        let wanted = match payment.text("Type").map(str::to_ascii_lowercase).as_deref() {
            Some("creditcard") => card(payment, &mut faulty).map(Wanted::Card),
            Some("pix") => {
                faulty.unless(is_order_id(order_id, config.longest_pix_order), answer::ORDER_ID_INVALID);
                pix(customer, payment, &mut faulty)
            }
            Some("boleto") => {
                faulty.unless(amount_cents <= 9_999_999_999, answer::AMOUNT_INVALID);
                let boleto = boleto(customer, payment, &mut faulty).filter(|boleto| boleto.due >= today);
                faulty.unless(boleto.is_some(), answer::EXPIRY_INVALID);
                let longest = if is_bradesco(payment) { 27 } else { LONGEST_ORDER_ID };
                faulty.unless(is_order_id(order_id, longest), answer::ORDER_ID_INVALID);
                boleto.map(Wanted::Boleto)
            }
            Some(_) | None => {
                faulty.unless(false, answer::TYPE_MISSING);
                None
            }
        };
        faulty.0.dedup();
        match wanted {
            Some(wanted) if faulty.0.is_empty() => {
                Ok(Self { order_id: order_id.to_owned(), customer: echoed(customer), amount_cents, wanted })
            }
            Some(_) | None => Err(faulty.0),
        }
    }
}

fn card(payment: Fields<'_>, faulty: &mut Faulty) -> Option<CardOrder> {
    let card = payment.object("CreditCard");
    let token = card.owned("CardToken").map(CardNumber::Token);
    let is_plain = token.is_none();
    let number = card.text("CardNumber").unwrap_or_default();
    let is_number = number.len() >= 13 && number.bytes().all(|digit| digit.is_ascii_digit());
    let brand = card.text("Brand");
    let known = brand.and_then(|brand| BRANDS.into_iter().find(|known| known.eq_ignore_ascii_case(brand)));
    let expires = card.text("ExpirationDate").unwrap_or_default();
    let holder = card.text("Holder").unwrap_or_default();
    let instalments = payment.number("Installments").unwrap_or(0);
    let code_length = card.text("SecurityCode").map_or(0, str::len);
    faulty.unless(!is_plain || is_number, answer::CARD_NUMBER_MISSING);
    faulty.unless(number.len() <= 19, answer::CARD_NUMBER_LONG);
    faulty.unless(!is_plain || (1..=25).contains(&holder.chars().count()), answer::HOLDER_MISSING);
    faulty.unless(!is_plain || is_month(expires), answer::EXPIRY_INVALID);
    faulty.unless(code_length <= 4, answer::SECURITY_CODE_LONG);
    faulty.unless(brand.is_some(), answer::BRAND_MISSING);
    faulty.unless(brand.is_none() || known.is_some(), answer::BRAND_UNSUPPORTED);
    faulty.unless((1..=99).contains(&instalments), answer::INSTALMENTS_INVALID);
    Some(CardOrder {
        number: token.unwrap_or_else(|| CardNumber::Plain(number.to_owned())),
        holder: holder.to_owned(),
        expires: expires.to_owned(),
        brand: known?,
        keeps_card: card.truth("SaveCard"),
        instalments,
        interest: payment.text("Interest").unwrap_or("ByMerchant").to_owned(),
        captures_at_once: payment.truth("Capture"),
        soft_descriptor: payment.owned("SoftDescriptor"),
    })
}

fn pix(customer: Fields<'_>, payment: Fields<'_>, faulty: &mut Faulty) -> Option<Wanted> {
    faulty.unless(customer.text("Name").is_some(), answer::NAME_INVALID);
    faulty.unless(customer.text("Identity").is_some(), answer::IDENTITY_MISSING);
    faulty.unless(customer.text("IdentityType").is_some(), answer::IDENTITY_MISSING);
    let provider = payment.owned("Provider");
    let is_known = provider.as_deref().is_none_or(|name| ["Cielo2", "Cielo30", "Cielo"].contains(&name));
    faulty.unless(is_known, answer::PROVIDER_UNSUPPORTED);
    let expires_in_s = match payment.object("QrCode").get("Expiration") {
        Some(seconds) => seconds.as_u64().unwrap_or(0),
        None => FIRST_PIX_EXPIRY_S,
    };
    faulty.unless((1..=LONGEST_PIX_EXPIRY_S).contains(&expires_in_s), answer::PIX_REFUSED);
    Some(Wanted::Pix { provider, expires_in_s })
}

fn boleto(customer: Fields<'_>, payment: Fields<'_>, faulty: &mut Faulty) -> Option<BoletoOrder> {
    let provider = payment.owned("Provider");
    let (longest_name, longest_number) = if is_bradesco(payment) { (34, 11) } else { (60, 9) };
    let is_known =
        provider.as_deref().is_some_and(|name| ["Bradesco2", "BancoDoBrasil3", "Simulado"].contains(&name));
    faulty.unless(is_known, answer::PROVIDER_UNSUPPORTED);
    let name = customer.text("Name").map_or(0, |name| name.chars().count());
    faulty.unless((1..=longest_name).contains(&name), answer::NAME_INVALID);
    faulty.unless(customer.text("Identity").is_some(), answer::IDENTITY_MISSING);
    let address = customer.object("Address");
    let has_address = ["ZipCode", "State", "City", "District", "Street", "Number"]
        .iter()
        .all(|part| address.text(part).is_some());
    faulty.unless(has_address, answer::ADDRESS_INVALID);
    let number = payment.owned("BoletoNumber");
    let is_number = number.as_deref().is_none_or(|digits| {
        digits.len() <= longest_number && digits.bytes().all(|digit| digit.is_ascii_digit())
    });
    faulty.unless(is_number, answer::ADDRESS_INVALID);
    Some(BoletoOrder {
        provider: provider?,
        number: number.filter(|_| is_number),
        due: payment.text("ExpirationDate")?.parse().ok()?,
        assignor: payment.owned("Assignor"),
        instructions: payment.owned("Instructions"),
        identification: payment.owned("Identification"),
    })
}

fn is_bradesco(payment: Fields<'_>) -> bool {
    payment.text("Provider").is_some_and(|provider| provider.eq_ignore_ascii_case("Bradesco2"))
}

/// Returns true for letters and digits only.
fn is_order_id(text: &str, longest: usize) -> bool {
    text.len() <= longest && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Returns true for `MM/YYYY`.
fn is_month(text: &str) -> bool {
    let parsed = text.split_once('/').filter(|(month, year)| month.len() == 2 && year.len() == 4);
    parsed.is_some_and(|(month, year)| {
        month.parse().is_ok_and(|month: u8| (1..=12).contains(&month))
            && year.bytes().all(|digit| digit.is_ascii_digit())
    })
}

/// Returns the customer as Cielo repeats it.
fn echoed(customer: Fields<'_>) -> Value {
    let mut echo = customer.canonical(&["Name", "Identity", "IdentityType", "Email"]);
    let address = customer.object("Address").canonical(&[
        "Street",
        "Number",
        "Complement",
        "ZipCode",
        "District",
        "City",
        "State",
        "Country",
    ]);
    if !address.is_empty() {
        echo.insert("Address".to_owned(), address.into());
    }
    echo.into()
}
