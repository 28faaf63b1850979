//! Form for a new link. It is converted to an API body, so the same rules apply.

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use chrono::Days;
use quita_domain::audit::AuditAction;
use quita_domain::card::holds_card_number;
use quita_domain::method::Method;
use quita_domain::money::Money;
use quita_domain::people::Permission;
use quita_domain::request::link::{ParsedLink, parse};
use quita_domain::request::{RequestLimits, Violation};
use quita_domain::time::Timestamp;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::console::kit::answer::{html, see_other, try_again};
use crate::console::kit::form::Form;
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use crate::console::merchant::MerchantConsole;
use crate::console::merchant::frame::{MerchantFrame, MerchantSection};
use crate::console::merchant::mode::{InMode, base_of};
use crate::console::merchant::texts::MerchantTexts;
use crate::console::merchant::visitor::{PaymentChange, Visitor};
use crate::http::link_methods::available_methods;
use crate::http::links as api;

/// Maximum number of days until a link expires.
const MOST_DAYS: u64 = 365;

#[derive(Template)]
#[template(path = "console/merchant/new_link.html")]
struct NewLinkPage {
    frame: MerchantFrame,
    /// Idempotency key of the form, which creates only one link even if it is sent repeatedly.
    key: Uuid,
    entered: EnteredLink,
    /// Methods that the acquirers of the mode accept.
    offered: Vec<Method>,
    mistakes: Vec<LinkMistake>,
}

impl NewLinkPage {
    fn is_wrong(&self, field: &str) -> bool {
        self.mistakes.iter().any(|mistake| mistake.field == field)
    }

    fn offers_cards(&self) -> bool {
        self.offered.contains(&Method::CreditCard)
    }

    fn is_chosen(&self, method: &Method) -> bool {
        self.entered.methods.iter().any(|chosen| chosen == method.label())
    }
}

/// Mistake in the form.
struct LinkMistake {
    /// Name of the field in the body of the API.
    field: String,
    /// Name of the field on the page.
    label: &'static str,
    sentence: String,
}

impl LinkMistake {
    fn new(field: &str, sentence: &str, all: &MerchantTexts) -> Self {
        let texts = &all.links;
        let label = match field {
            "title" => texts.title,
            "amount" => all.everywhere.amount,
            "description" => texts.description,
            "methods" => texts.methods,
            "uses" => texts.uses,
            "maxInstallments" => texts.max_installments,
            "expiresAt" => texts.days,
            "externalReference" => all.payments.reference,
            _ => texts.link,
        };
        Self { field: field.into(), label, sentence: sentence.into() }
    }

    /// Returns the mistake for an API rule that the body violates.
    fn of(violation: &Violation, language: Language) -> Self {
        let field = field_of(violation);
        Self::new(field, language.of_wording(&violation.message), MerchantTexts::of(language))
    }
}

/// Returns the field of the body, without an index into its list.
fn field_of(violation: &Violation) -> &str {
    violation.field.split('[').next().unwrap_or_default()
}

/// Values of the form as they were entered.
#[derive(Default)]
struct EnteredLink {
    title: String,
    amount: String,
    description: String,
    methods: Vec<String>,
    /// Maximum number of instalments of a card.
    installments: String,
    uses: String,
    /// Number of days on which the link is valid, including today.
    days: String,
    reference: String,
}

impl EnteredLink {
    fn of(form: &Form) -> Self {
        let text = |name| form.text(name).to_owned();
        Self {
            title: text("title"),
            amount: text("amount"),
            description: text("description"),
            methods: form.all("method").map(str::to_owned).collect(),
            installments: text("maxInstallments"),
            uses: text("uses"),
            days: text("days"),
            reference: text("externalReference"),
        }
    }

    /// Parses the values according to the rules of the API.
    fn parse(
        &self,
        now: Timestamp,
        limits: &RequestLimits,
        language: Language,
    ) -> Result<ParsedLink, Vec<LinkMistake>> {
        let all = MerchantTexts::of(language);
        let mut own = Vec::new();
        let texts = &all.links;
        let amount = language.parse_money(&self.amount).filter(|amount| amount.cents() > 0);
        if amount.is_none() {
            own.push(LinkMistake::new("amount", texts.bad_amount, all));
        }
        let expires_at = self.expires_at(now);
        if expires_at.is_none() && !self.days.is_empty() {
            own.push(LinkMistake::new("expiresAt", texts.bad_days, all));
        }
        // The other fields are checked even without an amount.
        let body = self.body(amount.unwrap_or(Money::from_cents(1)), expires_at);
        match parse(body.as_bytes(), now, limits) {
            Ok(parsed) if own.is_empty() => Ok(parsed),
            Ok(_) => Err(own),
            Err(rejection) => {
                own.extend(rejection.violations.iter().map(|violation| LinkMistake::of(violation, language)));
                Err(own)
            }
        }
    }

    /// Returns the end of the last day. It stays the same if the form is sent repeatedly on one day.
    fn expires_at(&self, now: Timestamp) -> Option<Timestamp> {
        let days = self.days.parse::<u64>().ok().filter(|days| (1..=MOST_DAYS).contains(days))?;
        let last = now.sao_paulo_date().checked_add_days(Days::new(days.saturating_sub(1)))?;
        Some(Timestamp::end_of_sao_paulo_day(last))
    }

    /// Returns the body of `POST /pay/links`.
    fn body(&self, amount: Money, expires_at: Option<Timestamp>) -> String {
        let mut body = Map::from_iter([
            (String::from("title"), json!(self.title)),
            (String::from("amount"), json!(amount.cents())),
            (String::from("currency"), json!("BRL")),
            (String::from("methods"), json!(self.methods)),
        ]);
        let whole = |text: &str| text.parse::<u64>().map_or_else(|_| json!(text), Value::from);
        // Without cards there are no instalments, whatever the field contains.
        let has_cards = self.methods.iter().any(|method| method == Method::CreditCard.label());
        let installments = if has_cards { self.installments.trim() } else { "" };
        let optional = [
            ("description", json!(self.description)),
            ("maxInstallments", whole(installments)),
            ("uses", whole(&self.uses)),
            ("externalReference", json!(self.reference)),
            ("expiresAt", json!(expires_at.map(|at| at.to_string()).unwrap_or_default())),
        ];
        let given = optional.into_iter().filter(|(_, value)| value.as_str() != Some(""));
        body.extend(given.map(|(name, value)| (name.to_owned(), value)));
        Value::Object(body).to_string()
    }

    /// Clears the fields that contain a card number: no page repeats one.
    fn without_card_numbers(mut self) -> Self {
        let texts = [
            &mut self.title,
            &mut self.amount,
            &mut self.description,
            &mut self.installments,
            &mut self.uses,
            &mut self.days,
            &mut self.reference,
        ];
        for text in texts.into_iter().filter(|text| holds_card_number(text)) {
            text.clear();
        }
        self.methods.retain(|method| !holds_card_number(method));
        self
    }
}

/// Handles `GET /console/{mode}/links/new`.
pub(crate) async fn ask(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    visitor.must(Permission::ChangePayments)?;
    let methods = available_methods(&console.edge, mode);
    let entered = EnteredLink {
        methods: methods.iter().map(|method| method.label().to_owned()).collect(),
        installments: String::from("1"),
        uses: String::from("1"),
        days: String::from("30"),
        ..EnteredLink::default()
    };
    html(&NewLinkPage {
        frame: visitor.frame(mode, MerchantSection::Links),
        key: Uuid::now_v7(),
        entered,
        offered: methods,
        mistakes: Vec::new(),
    })
}

/// Handles `POST /console/{mode}/links/new`.
pub(crate) async fn create(
    change: PaymentChange,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let PaymentChange { visitor, form } = change;
    let key = Uuid::try_parse(form.text("key")).map_err(|_| PageError::ForeignForm)?;
    let entered = EnteredLink::of(&form);
    let language = Language::current();
    let now = console.clock.now();
    let limits = &console.edge.limits;
    let again = |entered: EnteredLink, mistakes| {
        try_again(&NewLinkPage {
            frame: visitor.frame(mode, MerchantSection::Links),
            key,
            entered: entered.without_card_numbers(),
            offered: available_methods(&console.edge, mode),
            mistakes,
        })
    };
    let parsed = match entered.parse(now, limits, language) {
        Ok(parsed) => parsed,
        Err(mistakes) => return again(entered, mistakes),
    };
    // The `Idempotency-Key` of a merchant never contains a space.
    let made = api::make(&console.edge, visitor.owner(mode), parsed, Some(&format!("console {key}"))).await;
    let (link, is_replay) = match made {
        Ok(made) => made,
        Err(error) if error.details().is_empty() => return Err(error.into()),
        Err(error) => {
            let mistakes = error.details().iter().map(|violation| LinkMistake::of(violation, language));
            return again(entered, mistakes.collect());
        }
    };
    if !is_replay {
        let draft = visitor.draft(AuditAction::LinkCreated, link.id);
        let draft = draft.after(format!("{} × {}", link.offer.uses, link.offer.amount));
        console.audit.note(&visitor.initiator(), draft).await;
    }
    Ok(see_other(format!("{}/links/{}?done=made", base_of(mode), link.id)))
}
