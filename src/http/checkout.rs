//! The page of a payment link: the form, the payment that it begins, and giving that payment up.
//!
//! A GET stores nothing and calls no acquirer. A POST needs the number of a form that this service issued, and ends
//! with a redirect unless the form has mistakes.

mod card;
mod due;
mod form;
mod response;
mod view;

use std::collections::BTreeSet;
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{LOCATION, RETRY_AFTER};
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::{Denied, is_waiting};
use quita_domain::card::holds_card_number;
use quita_domain::link::{InstallmentPlan, Link, LinkStatus, NoUse, PayerInput, holds_a_use};
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::request::{Rejection, code};
use quita_domain::status::Status;
use quita_machine::{NoRandomness, random_bytes};
use quita_ports::StoreError;
use subtle::ConstantTimeEq;
use tokio::time::timeout;
use zeroize::Zeroizing;

pub(crate) use self::response::PAGE_HEADERS;
pub(super) use self::response::{Refused, refusal};

use self::form::{
    FIELDS, FormFields, has_cep_of_its_state, is_from_elsewhere, is_script, read_card_form, read_form,
    text_of, typed_in,
};
use self::response::{add_headers, rendered};
use super::accepted::asks_for_json;
use super::client_address::address_of;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode};
use super::link_methods::{METHODS_OF_PAGE, never_payable};
use super::link_payments::{NotBegun, Submitted, begin, is_being_cancelled, of_page};
use super::links::status_of;
use super::observed::note_refusal;
use super::pages::checkout_card::decline;
use super::pages::checkout_page::{
    self, CheckoutPage, FilledForm, FormMistake, StateView, UnneededView, field_of,
};
use super::pages::checkout_words::{
    mistake, no_method, not_payable, sold_out, state_of, state_of_cancelling, state_of_link,
};
use super::pages::not_started::NotStarted;
use crate::console::Language;
use quita_services::network::networks_of;

/// Time after which the store counts as silent.
const STORE_ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// Seconds after which a payer tries again while others begin payments.
const CROWDED_RETRY_S: u64 = 5;

/// Seconds after which a payer tries again while waiting payments hold their half of the uses.
const HELD_RETRY_S: u64 = 60;

/// A visit to a page, while its answer is prepared.
struct Visit<'a> {
    edge: &'a Data<Edge>,
    language: Language,
    token: &'a str,
    link: Link,
    /// The payment whose own page this is.
    payment: Option<Payment>,
}

/// `GET /checkout/{token}`
pub(crate) async fn show(edge: Data<Edge>, token: Path<String>, request: HttpRequest) -> HttpResponse {
    let language = language_of(&request);
    let shown = async { visit(&edge, language, &token, None).await?.page().await };
    shown.await.unwrap_or_else(|refused| refusal_of_look(&edge, language, &request, refused))
}

/// `GET /checkout/{token}/{payment token}`
pub(crate) async fn show_payment(
    edge: Data<Edge>,
    tokens: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let language = language_of(&request);
    let shown = async { visit(&edge, language, &tokens.0, Some(&tokens.1)).await?.page().await };
    shown.await.unwrap_or_else(|refused| refusal_of_look(&edge, language, &request, refused))
}

/// `POST /checkout/{token}`
pub(crate) async fn submit(
    edge: Data<Edge>,
    token: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let language = language_of(&request);
    let answered = submitted(&edge, language, &token, None, &request, payload).await;
    answered.unwrap_or_else(|refused| refusal_of_post(&edge, language, &request, &refused))
}

/// `POST /checkout/{token}/{payment token}`
pub(crate) async fn submit_payment(
    edge: Data<Edge>,
    tokens: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let language = language_of(&request);
    let answered = submitted(&edge, language, &tokens.0, Some(&tokens.1), &request, payload).await;
    answered.unwrap_or_else(|refused| refusal_of_post(&edge, language, &request, &refused))
}

fn refusal_of_post(
    edge: &Edge,
    language: Language,
    request: &HttpRequest,
    refused: &Refused,
) -> HttpResponse {
    if is_script(request) {
        card::refusal(language, refused)
    } else {
        refusal(edge, language, request, refused)
    }
}

/// Returns the page that explains why nothing is shown, or the error for a program.
fn refusal_of_look(edge: &Edge, language: Language, request: &HttpRequest, refused: Refused) -> HttpResponse {
    if asks_for_json(request) {
        return HttpResponse::from_error(refused.error());
    }
    refusal(edge, language, request, &refused.of_look())
}

fn language_of(request: &HttpRequest) -> Language {
    Language::asked_for(request).unwrap_or_default()
}

/// Finds the link of a token, and the payment of the second one.
async fn visit<'a>(
    edge: &'a Data<Edge>,
    language: Language,
    token: &'a str,
    payment_token: Option<&str>,
) -> Result<Visit<'a>, Refused> {
    let id = edge.keyring.link_of(token).ok_or_else(Refused::nothing_here)?;
    // Every page begins with this read. If the store is silent, the payer is told instead of being kept waiting.
    let read = timeout(STORE_ANSWERS_WITHIN, edge.links.link(id)).await;
    let read = read.unwrap_or_else(|_| Err(StoreError::Unavailable("the store takes too long".into())));
    let link = read.map_err(Denied::from).map_err(ApiError::from)?.ok_or_else(ApiError::link_not_found)?;
    let payment = match payment_token {
        None => None,
        Some(payment_token) => Some(payment_of(edge, &link, payment_token).await?),
    };
    Ok(Visit { edge, language, token, link, payment })
}

async fn payment_of(edge: &Edge, link: &Link, token: &str) -> Result<Payment, Refused> {
    let id = edge.keyring.page_payment(token).ok_or_else(Refused::nothing_here)?;
    let payment = edge.payments.read(id).await.map_err(ApiError::from)?.ok_or_else(Refused::nothing_here)?;
    // A replaced key can still derive a valid token, but not the one stored with the payment.
    let is_own: bool = payment.page_token.as_bytes().ct_eq(token.as_bytes()).into();
    let is_of_link = payment.link == Some(link.id) && !link.is_for_one();
    if is_own && is_of_link { Ok(payment.as_ref().clone()) } else { Err(Refused::nothing_here()) }
}

/// Carries out a submitted form.
async fn submitted(
    edge: &Data<Edge>,
    language: Language,
    token: &str,
    payment_token: Option<&str>,
    request: &HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, Refused> {
    // Refused before the body is read: another site must not make a payer's browser send a form here.
    if is_from_elsewhere(edge, request) {
        return Err(Refused::foreign());
    }
    let visit = visit(edge, language, token, payment_token).await?;
    let networks = networks_of(address_of(request, edge.is_behind_proxy));
    let network = networks.site.unwrap_or(networks.large).to_string();
    if is_script(request) {
        let (fields, card) = read_card_form(request, payload).await?;
        return visit.pay_by_card(&fields, card, &network).await;
    }
    let fields = read_form(request, payload).await?;
    // The number makes a repeated form the same payment. With invented numbers, forms could be sent without end.
    if !edge.keyring.is_form_number(visit.link.id, text_of(&fields, "form")) {
        return Err(Refused::foreign());
    }
    let gives_up = fields.iter().any(|(name, _)| name == "give-up");
    if (gives_up || visit.payment.is_some()) && !visit.card_numbers_in(&fields).is_empty() {
        return Err(Refused::card_number());
    }
    if gives_up {
        return visit.give_up(text_of(&fields, "payment")).await;
    }
    if visit.payment.is_some() {
        return Ok(visit.redirect(visit.payment.as_ref()));
    }
    visit.begin(&fields, &network).await
}

impl Visit<'_> {
    /// Returns the page as it is now: a waiting or paid payment before the form.
    async fn page(self) -> Result<HttpResponse, Refused> {
        let (status, uses) = status_of(self.edge, &self.link).await?;
        let newest = self.of_page().await?;
        let declined = newest.first().filter(|payment| payment.status() == Status::Declined).cloned();
        let unneeded = unneeded_of(&newest);
        if let Some(payment) = self.payment.clone().or_else(|| shown_of(newest)) {
            return self.payment_page(&payment, unneeded.as_ref(), status).await;
        }
        let is_sold_out = uses.paid.saturating_add(uses.held) >= self.link.offer.uses.into();
        match status {
            LinkStatus::Open if is_sold_out => self.notice(sold_out(self.language), StatusCode::OK).await,
            LinkStatus::Open => {
                // The words are shown above an empty form, at no field.
                let whole = |payment: &Payment| FormMistake { field: "", ..self.decline(payment) };
                let mistakes = declined.as_ref().map(whole).into_iter().collect();
                let typed = PayerInput::default();
                let empty = FilledForm { chosen: None, typed: &typed, mistakes };
                self.form_page(empty, StatusCode::OK).await
            }
            LinkStatus::Paid | LinkStatus::Expired | LinkStatus::Closed => {
                self.notice(state_of_link(self.language, status), StatusCode::OK).await
            }
        }
    }

    /// Returns the payments shown on the page of a link for one payment. Empty for any other link.
    async fn of_page(&self) -> Result<Vec<Payment>, Refused> {
        if !self.link.is_for_one() {
            return Ok(Vec::new());
        }
        Ok(of_page(self.edge, &self.link).await?)
    }

    /// Begins a payment, or shows the form with its mistakes.
    async fn begin(self, fields: &FormFields, network: &str) -> Result<HttpResponse, Refused> {
        let typed = typed_in(fields);
        let mut mistakes = self.card_numbers_in(fields);
        let methods = self.methods();
        let chosen = Method::parse(text_of(fields, "method")).filter(|one| methods.contains(one));
        if chosen.is_none() {
            mistakes.push(mistake(self.language, "method", code::REQUIRED));
        }
        // If no method was chosen, the other fields are checked for the first method, so that all mistakes show at
        // once.
        let Some(method) = chosen.or_else(|| methods.first().copied()) else {
            let filled = FilledForm { chosen: None, typed: &typed, mistakes };
            return self.form_page(filled, StatusCode::UNPROCESSABLE_ENTITY).await;
        };
        if chosen == Some(Method::CreditCard) {
            mistakes.push(mistake(self.language, "method", "needs_script"));
        }
        self.check_cep(method, &typed, &mut mistakes);
        if !mistakes.is_empty() {
            // Without the script a card form lacks the card, which is not the payer's mistake. A boleto needs the same
            // fields.
            let checked = if method == Method::CreditCard { Method::Boleto } else { method };
            let rejection = self.rejection(checked, &typed);
            self.add(&mut mistakes, rejection.as_ref());
            let filled = FilledForm { chosen, typed: &typed, mistakes };
            return self.form_page(filled, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
        let form = Submitted {
            method,
            typed: typed.clone(),
            number: text_of(fields, "form").to_owned(),
            network: network.to_owned(),
        };
        match begin(self.edge, &self.link, form).await {
            Ok(payment) => Ok(self.redirect(Some(&payment))),
            Err(NotBegun::Mistakes(rejection)) => {
                self.add(&mut mistakes, Some(&rejection));
                let filled = FilledForm { chosen: Some(method), typed: &typed, mistakes };
                self.form_page(filled, StatusCode::UNPROCESSABLE_ENTITY).await
            }
            Err(NotBegun::NoUse(NoUse::BoletosHeld)) => {
                let all_last = self.link.offer.due.is_some();
                let code = if all_last { "half_held" } else { "boletos_held" };
                self.form_for_later(method, &typed, code, StatusCode::CONFLICT, HELD_RETRY_S).await
            }
            // The page shows the current state: waiting, sold out or expired.
            Err(NotBegun::NoUse(NoUse::Over(_) | NoUse::AllHeld)) => Ok(self.redirect(None)),
            Err(NotBegun::NoUse(NoUse::Crowded)) => {
                let status = StatusCode::SERVICE_UNAVAILABLE;
                self.form_for_later(method, &typed, "crowded", status, CROWDED_RETRY_S).await
            }
            Err(NotBegun::TooMany(until)) => {
                let seconds = (until.ms_since(self.edge.clock.now()) / 1_000).saturating_add(1);
                let status = StatusCode::TOO_MANY_REQUESTS;
                self.form_for_later(method, &typed, "too_many", status, seconds).await
            }
            Err(NotBegun::Failed(error)) => self.failed(method, &typed, &error).await,
        }
    }

    /// Finds card numbers in every field, including unknown ones.
    fn card_numbers_in(&self, fields: &FormFields) -> Vec<FormMistake> {
        let holds_card = |text: &str| holds_card_number(text);
        let with_card =
            fields.iter().filter(|(name, value)| name != "form" && (holds_card(name) || holds_card(value)));
        let mistake_in = |(name, _): &(String, String)| {
            let has_place = |known: &&str| known == name && !known.starts_with("cc-");
            let field = FIELDS.into_iter().find(has_place).unwrap_or_default();
            mistake(self.language, field, code::CARD_NUMBER)
        };
        // One mistake for each place, because a form may have thousands of fields.
        let mut places = BTreeSet::new();
        with_card.map(mistake_in).filter(|found| places.insert(found.field)).collect()
    }

    /// Returns the page after a payment was refused as a whole, or the service failed.
    async fn failed(
        self,
        method: Method,
        typed: &PayerInput,
        error: &ApiError,
    ) -> Result<HttpResponse, Refused> {
        let code = error.error_code();
        let is_refused =
            [ErrorCode::MethodUnavailable, ErrorCode::AmountNotAccepted, ErrorCode::ExpiryNotAccepted];
        if !is_refused.contains(&code) {
            return Err(Refused::unavailable());
        }
        let mistakes = vec![mistake(self.language, "", "method_unavailable")];
        let filled = FilledForm { chosen: Some(method), typed, mistakes };
        self.form_page(filled, StatusCode::UNPROCESSABLE_ENTITY).await
    }

    /// Adds a mistake if the postal code is another state's.
    fn check_cep(&self, method: Method, typed: &PayerInput, mistakes: &mut Vec<FormMistake>) {
        if self.link.needs_address(method) && !has_cep_of_its_state(typed) {
            mistakes.push(mistake(self.language, "postal-code", "cep_uf"));
        }
    }

    /// Returns what the payer of a declined payment can do.
    fn decline(&self, payment: &Payment) -> FormMistake {
        decline(self.language, payment, self.methods().contains(&Method::Pix))
    }

    /// Returns the numbers of instalments that the page offers.
    fn plans(&self) -> Vec<InstallmentPlan> {
        self.link.installment_plans(self.edge.checkout.min_installment, self.edge.limits.max_installments)
    }

    /// Finds the mistakes of a form that begins nothing.
    fn rejection(&self, method: Method, typed: &PayerInput) -> Option<Rejection> {
        let now = self.edge.clock.now();
        let body = Zeroizing::new(self.link.creation_body(method, typed, now));
        match quita_domain::request::parse_of_link(&body, now, &self.edge.limits) {
            Ok(parsed) => parsed.into_purchase().err(),
            Err(rejection) => Some(rejection),
        }
    }

    /// Adds the mistakes in a rejection, one for each field.
    fn add(&self, mistakes: &mut Vec<FormMistake>, rejection: Option<&Rejection>) {
        for violation in rejection.into_iter().flat_map(|rejection| &rejection.violations) {
            let field = field_of(&violation.field);
            if mistakes.iter().any(|known| known.field == field) {
                continue;
            }
            let lacks_last_name = violation.field == "paymentDetails.lastName";
            let code = if lacks_last_name { "last_name" } else { violation.code };
            mistakes.push(mistake(self.language, field, code));
        }
        mistakes.sort_by_key(|mistake| FIELDS.iter().position(|field| *field == mistake.field));
    }

    /// Gives up the waiting payment, if it is the one that the payer saw.
    async fn give_up(self, seen: &str) -> Result<HttpResponse, Refused> {
        let waiting = match &self.payment {
            Some(payment) => Some(payment.clone()),
            // In addition to a paid one there may be a waiting one.
            None => self.of_page().await?.into_iter().find(|payment| payment.id.to_string() == seen),
        };
        // A card that was sent can't be given up: only its outcome is missing.
        let can_be_given_up = |payment: &Payment| {
            is_waiting(payment.status())
                && payment.method() != Method::CreditCard
                && payment.id.to_string() == seen
        };
        if let Some(payment) = waiting.filter(can_be_given_up) {
            self.edge.link_payments.give_up(&payment).await.map_err(ApiError::from)?;
        }
        Ok(self.redirect(self.payment.as_ref()))
    }

    /// Returns the methods that the page offers: those that an acquirer could take with the offer's amount and terms.
    fn methods(&self) -> Vec<Method> {
        let now = self.edge.clock.now();
        let takes = |method: &Method| {
            let order = self.link.specimen(*method, now, &self.edge.limits);
            order.is_none_or(|order| self.edge.payments.may_take(&order, &self.link.owner))
        };
        let offered = self.link.offer.methods.iter().copied();
        offered.filter(|method| METHODS_OF_PAGE.contains(method)).filter(takes).collect()
    }

    fn path(&self) -> String {
        format!("{}/checkout/{}", self.edge.mount, self.token)
    }

    fn path_of(&self, payment: Option<&Payment>) -> String {
        match payment.filter(|_| !self.link.is_for_one()) {
            // The page of a link for several payments is open to everyone, so each payment has an address that only its
            // payer knows.
            Some(payment) => format!("{}/{}", self.path(), payment.page_token),
            None => self.path(),
        }
    }

    fn redirect(&self, payment: Option<&Payment>) -> HttpResponse {
        let mut response = HttpResponse::SeeOther();
        add_headers(&mut response, self.language);
        response.insert_header((LOCATION, self.path_of(payment)));
        response.finish()
    }

    fn form_number(&self) -> Result<String, Refused> {
        let random = random_bytes().map_err(|_: NoRandomness| Refused::unavailable())?;
        self.edge.keyring.form_number(self.link.id, random).ok_or_else(Refused::unavailable)
    }

    async fn form_page(&self, filled: FilledForm<'_>, status: StatusCode) -> Result<HttpResponse, Refused> {
        let methods = self.methods();
        if methods.is_empty() {
            return self.without_methods().await;
        }
        let number = self.form_number()?;
        let plans = self.plans();
        let form =
            checkout_page::form(self.language, &self.link, self.path(), number, &methods, &plans, filled);
        let state = state_of_link(self.language, LinkStatus::Open);
        let due = self.due_of_form(&methods);
        let page = CheckoutPage { form: Some(form), due, ..self.bare(state).await? };
        Ok(rendered(&page, status))
    }

    /// Returns the page of a link none of whose methods is offered, for now or as long as the acquirers' limits stay.
    async fn without_methods(&self) -> Result<HttpResponse, Refused> {
        let (state, error) = match never_payable(self.edge, &self.link, &[]) {
            Some(error) => (not_payable(self.language), error),
            None => (no_method(self.language), Denied::NoRoute.into()),
        };
        let mut page = self.notice(state, error.error_code().status()).await?;
        note_refusal(&mut page, error);
        Ok(page)
    }

    /// Returns the form as it was filled in, for another attempt after this number of seconds.
    async fn form_for_later(
        &self,
        method: Method,
        typed: &PayerInput,
        code: &'static str,
        status: StatusCode,
        seconds: u64,
    ) -> Result<HttpResponse, Refused> {
        let mistakes = vec![mistake(self.language, "", code)];
        let filled = FilledForm { chosen: Some(method), typed, mistakes };
        let mut response = self.form_page(filled, status).await?;
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
        Ok(response)
    }

    async fn notice(&self, state: StateView, status: StatusCode) -> Result<HttpResponse, Refused> {
        Ok(rendered(&self.bare(state).await?, status))
    }

    /// Returns the words for a payment's status. For a declined card they say what its payer can do.
    fn state_of(&self, payment: &Payment) -> StateView {
        if let Some(why) = NotStarted::of(payment) {
            return why.state(self.language);
        }
        let state = state_of(self.language, payment.method(), payment.status());
        if payment.status() == Status::Declined && payment.method() == Method::CreditCard {
            return StateView { sentence: self.decline(payment).words, ..state };
        }
        state
    }

    async fn payment_page(
        &self,
        payment: &Payment,
        unneeded: Option<&Payment>,
        link_status: LinkStatus,
    ) -> Result<HttpResponse, Refused> {
        let status = payment.status();
        let is_cancelling = is_waiting(status) && is_being_cancelled(payment);
        let state =
            if is_cancelling { state_of_cancelling(self.language, status) } else { self.state_of(payment) };
        let view = self.payment_view(payment, is_cancelling)?;
        let may_begin = link_status == LinkStatus::Open && !holds_a_use(status);
        let again = may_begin.then(|| self.path());
        let unneeded = match unneeded.filter(|one| one.id != payment.id) {
            Some(one) => Some(UnneededView {
                transaction_id: one.id.to_string(),
                give_up: (self.path_of(Some(one)), self.form_number()?),
            }),
            None => None,
        };
        let due = self.due_of_payment(payment, is_cancelling);
        let page = CheckoutPage { payment: Some(view), due, unneeded, again, ..self.bare(state).await? };
        Ok(rendered(&page, StatusCode::OK))
    }
}

/// Returns the payment that the page of a link for one payment shows. A paid one takes precedence over a waiting one.
fn shown_of(newest: Vec<Payment>) -> Option<Payment> {
    let paid = newest.iter().position(|payment| payment.state.paid_at.is_some());
    let place = paid.or_else(|| newest.iter().position(|payment| holds_a_use(payment.status())))?;
    newest.into_iter().nth(place)
}

/// Returns the payment of a link for one payment that waits although another one was paid: the other was given up, but
/// then paid nevertheless. A card is excluded: its outcome is awaited, and it can't be given up.
fn unneeded_of(newest: &[Payment]) -> Option<Payment> {
    newest.iter().find(|payment| payment.state.paid_at.is_some())?;
    let waits = |payment: &&Payment| {
        is_waiting(payment.status()) && payment.method() != Method::CreditCard && !is_being_cancelled(payment)
    };
    newest.iter().find(waits).cloned()
}
