//! The page of a payment link: the form, the payment that it begins, and giving that up.
//!
//! A GET stores nothing and calls nobody. A POST needs the number of a form of ours, and ends with a redirect unless
//! the form has mistakes.

use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_LANGUAGE, CACHE_CONTROL, CONTENT_LANGUAGE, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    LOCATION, ORIGIN, REFERRER_POLICY, RETRY_AFTER, VARY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use askama::Template;
use quita_actors::Denied;
use quita_domain::acquiring::Issued;
use quita_domain::boleto::line::Line;
use quita_domain::card::holds_card_number;
use quita_domain::identity::Mode;
use quita_domain::link::{Link, LinkStatus, NoUse, PayerInput, holds_a_use};
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::postal::{Cep, Uf};
use quita_domain::request::{Rejection, code};
use quita_domain::status::Status;
use quita_domain::time::Timestamp;
use quita_machine::{NoRandomness, random_bytes};
use subtle::ConstantTimeEq;
use url::{Url, form_urlencoded};
use zeroize::Zeroizing;

use super::body;
use super::client_address::address_of;
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode};
use super::link_payments::{
    NotBegun, Submitted, again, begin, give_up, is_being_cancelled, is_waiting, newest,
};
use super::links::{METHODS_OF_PAGE, status_of};
use super::pages::checkout_page::{
    CheckoutPage, Mistake, OfferView, PaymentView, StateView, day, field_of, form, mistake, money, pick,
    state_of, state_of_cancelling, state_of_link, time,
};
use crate::console::Language;
use crate::service::network::networks_of;

/// Content security policy of the page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Headers of every page, in addition to those that differ.
const HEADERS: [(HeaderName, &str); 8] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (CACHE_CONTROL, "no-store"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (HeaderName::from_static("x-robots-tag"), "noindex"),
    (HeaderName::from_static("permissions-policy"), "payment=(), camera=(), microphone=(), geolocation=()"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Header in which browsers state the site that sent a request (Fetch Metadata).
const SENT_FROM: &str = "sec-fetch-site";

/// Code of a mistake that is none: the payment before was declined.
const DECLINED: &str = "declined";

/// Payments of a link among which the one that is shown is looked for.
const LOOKED_AT: usize = 20;

/// A page that can't be shown, with its status.
struct Refused {
    status: StatusCode,
    retry_after_s: Option<u64>,
    label: (&'static str, &'static str),
    sentence: (&'static str, &'static str),
}

impl Refused {
    const fn new(
        status: StatusCode,
        label: (&'static str, &'static str),
        sentence: (&'static str, &'static str),
    ) -> Self {
        Self { status, retry_after_s: None, label, sentence }
    }

    const fn nothing_here() -> Self {
        Self::new(
            StatusCode::NOT_FOUND,
            ("Nada encontrado", "Nothing found"),
            (
                "Este endereço não leva a nenhum link de pagamento. Confira o endereço com a loja.",
                "This address leads to no payment link. Check the address with the shop.",
            ),
        )
    }

    const fn foreign() -> Self {
        Self::new(
            StatusCode::FORBIDDEN,
            ("Formulário recusado", "Form refused"),
            (
                "Este formulário não veio desta página. Abra o link de novo e preencha o formulário nela.",
                "This form did not come from this page. Open the link again and fill in its form.",
            ),
        )
    }

    const fn unavailable() -> Self {
        Self {
            retry_after_s: Some(5),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                ("Tente de novo em instantes", "Try again in a moment"),
                (
                    "O serviço não responde agora. Recarregue esta página em alguns segundos; nada foi cobrado.",
                    "The service does not answer now. Reload this page in some seconds; nothing was charged.",
                ),
            )
        }
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        let code = error.error_code();
        let is_unreadable =
            [ErrorCode::PayloadTooLarge, ErrorCode::UnreadableBody, ErrorCode::RequestTimeout]
                .contains(&code);
        if code == ErrorCode::NotFound {
            Self::nothing_here()
        } else if is_unreadable {
            Self::foreign()
        } else {
            Self::unavailable()
        }
    }
}

/// A page under the way to its visitor.
struct Visit<'a> {
    edge: &'a Edge,
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
    shown.await.unwrap_or_else(|refused: Refused| refusal(&edge, language, &refused))
}

/// `GET /checkout/{token}/{payment token}`
pub(crate) async fn show_payment(
    edge: Data<Edge>,
    tokens: Path<(String, String)>,
    request: HttpRequest,
) -> HttpResponse {
    let language = language_of(&request);
    let shown = async { visit(&edge, language, &tokens.0, Some(&tokens.1)).await?.page().await };
    shown.await.unwrap_or_else(|refused: Refused| refusal(&edge, language, &refused))
}

/// `POST /checkout/{token}`
pub(crate) async fn submit(
    edge: Data<Edge>,
    token: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let language = language_of(&request);
    let answered = submitted(&edge, language, (&token, None), (&request, payload)).await;
    answered.unwrap_or_else(|refused| refusal(&edge, language, &refused))
}

/// `POST /checkout/{token}/{payment token}`
pub(crate) async fn submit_payment(
    edge: Data<Edge>,
    tokens: Path<(String, String)>,
    request: HttpRequest,
    payload: Payload,
) -> HttpResponse {
    let language = language_of(&request);
    let answered = submitted(&edge, language, (&tokens.0, Some(&tokens.1)), (&request, payload)).await;
    answered.unwrap_or_else(|refused| refusal(&edge, language, &refused))
}

fn language_of(request: &HttpRequest) -> Language {
    Language::asked_for(request).unwrap_or_default()
}

/// Finds the link of a token, and the payment of the second one.
async fn visit<'a>(
    edge: &'a Edge,
    language: Language,
    token: &'a str,
    payment_token: Option<&str>,
) -> Result<Visit<'a>, Refused> {
    let id = edge.keyring.link_of(token).ok_or_else(Refused::nothing_here)?;
    let link = again(edge, id).await?;
    let payment = match payment_token {
        None => None,
        Some(payment_token) => Some(payment_of(edge, &link, payment_token).await?),
    };
    Ok(Visit { edge, language, token, link, payment })
}

async fn payment_of(edge: &Edge, link: &Link, token: &str) -> Result<Payment, Refused> {
    let id = edge.keyring.page_payment(token).ok_or_else(Refused::nothing_here)?;
    let payment = edge.payments.read(id).await.map_err(ApiError::from)?.ok_or_else(Refused::nothing_here)?;
    let is_own: bool = payment.page_token.as_bytes().ct_eq(token.as_bytes()).into();
    let is_of_link = payment.link == Some(link.id) && !link.is_for_one();
    if is_own && is_of_link { Ok(payment.as_ref().clone()) } else { Err(Refused::nothing_here()) }
}

/// Carries out a submitted form.
async fn submitted(
    edge: &Edge,
    language: Language,
    (token, payment_token): (&str, Option<&str>),
    (request, payload): (&HttpRequest, Payload),
) -> Result<HttpResponse, Refused> {
    if is_from_elsewhere(edge, request) {
        return Err(Refused::foreign());
    }
    let visit = visit(edge, language, token, payment_token).await?;
    let fields = read_form(request, payload).await?;
    if !edge.keyring.is_form_number(visit.link.id, text_of(&fields, "form")) {
        return Err(Refused::foreign());
    }
    if fields.iter().any(|(name, _)| name == "give-up") {
        return visit.give_up().await;
    }
    if visit.payment.is_some() {
        return Ok(visit.redirect(visit.payment.as_ref()));
    }
    let networks = networks_of(address_of(request, edge.is_behind_proxy));
    let network = networks.site.unwrap_or(networks.large).to_string();
    visit.begin(&fields, &network).await
}

/// Returns true if another site made the payer's browser send this. A browser that sends no referrer says `null`, and
/// says the site in another header.
fn is_from_elsewhere(edge: &Edge, request: &HttpRequest) -> bool {
    let header = |name: &str| request.headers().get(name).map(|value| value.to_str().unwrap_or("?"));
    let sent_from = header(SENT_FROM);
    let ours = Url::parse(&edge.public_url).map(|url| url.origin().ascii_serialization());
    let is_ours = |origin: &str| ours.as_deref() == Ok(origin);
    let origin_is_foreign = match header(ORIGIN.as_str()) {
        None => false,
        Some("null") => sent_from.is_none(),
        Some(origin) => !is_ours(origin),
    };
    origin_is_foreign || sent_from.is_some_and(|site| !matches!(site, "same-origin" | "none"))
}

type FormFields = Zeroizing<Vec<(String, String)>>;

fn text_of<'f>(fields: &'f FormFields, name: &str) -> &'f str {
    fields.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value.as_str())
}

async fn read_form(request: &HttpRequest, payload: Payload) -> Result<FormFields, Refused> {
    let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if !kind.starts_with("application/x-www-form-urlencoded") {
        return Err(Refused::foreign());
    }
    let body = body::read(request, payload).await?;
    Ok(Zeroizing::new(form_urlencoded::parse(&body).into_owned().collect()))
}

impl Visit<'_> {
    /// Returns the page as it is now: a waiting or paid payment before the form.
    async fn page(self) -> Result<HttpResponse, Refused> {
        let (status, uses) = status_of(self.edge, &self.link).await?;
        let newest = self.newest().await?;
        let was_declined = newest.first().is_some_and(|payment| payment.status() == Status::Declined);
        if let Some(payment) = self.payment.clone().or_else(|| shown_of(newest)) {
            return self.payment_page(&payment, status).await;
        }
        let is_sold_out = uses.paid.saturating_add(uses.held) >= self.link.offer.uses.into();
        match status {
            LinkStatus::Open if is_sold_out => self.notice(sold_out(self.language), StatusCode::OK).await,
            LinkStatus::Open => {
                let mistakes =
                    if was_declined { vec![mistake(self.language, "", DECLINED)] } else { Vec::new() };
                self.form_page((None, &PayerInput::default(), mistakes), StatusCode::OK).await
            }
            LinkStatus::Paid | LinkStatus::Expired | LinkStatus::Closed => {
                self.notice(state_of_link(self.language, status), StatusCode::OK).await
            }
        }
    }

    /// Returns the payments of a link for one payment, which is one page for all; none of any other.
    async fn newest(&self) -> Result<Vec<Payment>, Refused> {
        if !self.link.is_for_one() {
            return Ok(Vec::new());
        }
        Ok(newest(self.edge, &self.link, LOOKED_AT).await?)
    }

    /// Begins a payment, or shows the form with its mistakes.
    async fn begin(self, fields: &FormFields, network: &str) -> Result<HttpResponse, Refused> {
        let typed = typed_in(fields);
        let mut mistakes = self.card_numbers_in(fields);
        let method = Method::parse(text_of(fields, "method")).filter(|one| self.methods().contains(one));
        let Some(method) = method else {
            mistakes.push(mistake(self.language, "method", code::REQUIRED));
            return self.form_page((None, &typed, mistakes), StatusCode::UNPROCESSABLE_ENTITY).await;
        };
        if self.link.needs_address(method) && !has_cep_of_its_state(&typed) {
            mistakes.push(mistake(self.language, "postal-code", "cep_uf"));
        }
        if !mistakes.is_empty() {
            let rejection = self.rejection(method, &typed);
            self.add(&mut mistakes, rejection.as_ref());
            let form = (Some(method), &typed, mistakes);
            return self.form_page(form, StatusCode::UNPROCESSABLE_ENTITY).await;
        }
        let form = Submitted { method, typed: &typed, number: text_of(fields, "form"), network };
        match begin(self.edge, &self.link, &form).await {
            Ok(payment) => Ok(self.redirect(Some(&payment))),
            Err(NotBegun::Mistakes(rejection)) => {
                self.add(&mut mistakes, Some(&rejection));
                let form = (Some(method), &typed, mistakes);
                self.form_page(form, StatusCode::UNPROCESSABLE_ENTITY).await
            }
            Err(NotBegun::NoUse(NoUse::BoletosHeld)) => {
                self.notice(boletos_held(self.language), StatusCode::CONFLICT).await
            }
            // The page shows what is so: what waits, sold out, expired.
            Err(NotBegun::NoUse(NoUse::Over(_) | NoUse::AllHeld)) => Ok(self.redirect(None)),
            Err(NotBegun::NoUse(NoUse::Crowded)) => Err(Refused::unavailable()),
            Err(NotBegun::TooMany(until)) => Err(too_many(until, self.edge.clock.now())),
            Err(NotBegun::Failed(error)) => self.failed((method, &typed), &error).await,
        }
    }

    /// Finds card numbers in every field, also in those that the form does not have.
    fn card_numbers_in(&self, fields: &FormFields) -> Vec<Mistake> {
        let holds_card = |text: &str| holds_card_number(text);
        let with_card =
            fields.iter().filter(|(name, value)| name != "form" && (holds_card(name) || holds_card(value)));
        let mistake_in = |(name, _): &(String, String)| {
            let field = FIELDS.into_iter().find(|known| known == name).unwrap_or_default();
            mistake(self.language, field, code::CARD_NUMBER)
        };
        with_card.map(mistake_in).collect()
    }

    /// Returns the page after a payment was refused as a whole, or the service failed.
    async fn failed(
        self,
        (method, typed): (Method, &PayerInput),
        error: &ApiError,
    ) -> Result<HttpResponse, Refused> {
        let code = error.error_code();
        // The form was sent before with other contents: its payment is what counts.
        if code == ErrorCode::IdempotencyKeyReused {
            return Ok(self.redirect(None));
        }
        let is_refused =
            [ErrorCode::MethodUnavailable, ErrorCode::AmountNotAccepted, ErrorCode::ExpiryNotAccepted];
        if !is_refused.contains(&code) {
            return Err(Refused::unavailable());
        }
        let mistakes = vec![mistake(self.language, "", "method_unavailable")];
        self.form_page((Some(method), typed, mistakes), StatusCode::UNPROCESSABLE_ENTITY).await
    }

    /// Finds the mistakes of a form that begins nothing.
    fn rejection(&self, method: Method, typed: &PayerInput) -> Option<Rejection> {
        let now = self.edge.clock.now();
        let body = Zeroizing::new(self.link.creation_body(method, typed, now));
        quita_domain::request::parse_of_link(&body, now, &self.edge.limits).err()
    }

    /// Adds the mistakes that a rejection tells, one for each field.
    fn add(&self, mistakes: &mut Vec<Mistake>, rejection: Option<&Rejection>) {
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

    /// Gives up the payment that waits.
    async fn give_up(self) -> Result<HttpResponse, Refused> {
        let waiting = match &self.payment {
            Some(payment) => Some(payment.clone()),
            None => shown_of(self.newest().await?),
        };
        if let Some(payment) = waiting.filter(|payment| is_waiting(payment.status())) {
            give_up(self.edge, &payment).await?;
        }
        Ok(self.redirect(self.payment.as_ref()))
    }

    /// Returns the methods that the page offers.
    fn methods(&self) -> Vec<Method> {
        let routes = self.edge.payments.acquirers();
        let mode = self.link.owner.mode;
        let takes = |method: &Method| {
            routes.iter().any(|route| {
                (route.mode, route.method) == (mode, *method) && route.state.takes_new_payments()
            })
        };
        let offered = self.link.offer.methods.iter().copied();
        offered.filter(|method| METHODS_OF_PAGE.contains(method)).filter(takes).collect()
    }

    fn path(&self) -> String {
        format!("{}/checkout/{}", self.edge.mount, self.token)
    }

    fn path_of(&self, payment: Option<&Payment>) -> String {
        match payment.filter(|_| !self.link.is_for_one()) {
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

    async fn form_page(
        &self,
        (chosen, typed, mistakes): (Option<Method>, &PayerInput, Vec<Mistake>),
        status: StatusCode,
    ) -> Result<HttpResponse, Refused> {
        let methods = self.methods();
        if methods.is_empty() {
            return self.notice(no_method(self.language), StatusCode::SERVICE_UNAVAILABLE).await;
        }
        let place = (self.path(), self.form_number()?);
        let form = form((self.language, &self.link), place, &methods, (chosen, typed, mistakes));
        let state = state_of_link(self.language, LinkStatus::Open);
        let page = CheckoutPage { form: Some(form), ..self.bare(state).await? };
        Ok(rendered(&page, status))
    }

    async fn notice(&self, state: StateView, status: StatusCode) -> Result<HttpResponse, Refused> {
        Ok(rendered(&self.bare(state).await?, status))
    }

    async fn payment_page(
        &self,
        payment: &Payment,
        link_status: LinkStatus,
    ) -> Result<HttpResponse, Refused> {
        let status = payment.status();
        let is_cancelling = is_waiting(status) && is_being_cancelled(payment);
        let state = if is_cancelling {
            state_of_cancelling(self.language, status)
        } else {
            state_of(self.language, payment.method(), status)
        };
        let view = self.payment_view(payment, is_cancelling)?;
        let may_begin = link_status == LinkStatus::Open && !holds_a_use(status);
        let again = may_begin.then(|| self.path());
        let page = CheckoutPage { payment: Some(view), again, ..self.bare(state).await? };
        Ok(rendered(&page, StatusCode::OK))
    }

    fn payment_view(&self, payment: &Payment, is_cancelling: bool) -> Result<PaymentView, Refused> {
        let is_waiting = is_waiting(payment.status());
        let issued = payment.state.issued.as_deref().filter(|_| is_waiting && !is_cancelling);
        let pages = |kind: &str| format!("{}/{kind}/{}", self.edge.mount, payment.page_token);
        let picture = || format!("{}.svg", pages("pix"));
        let (pix, boleto) = match issued {
            Some(Issued::Pix { code, .. }) => (Some((code.clone(), picture())), None),
            Some(Issued::Boleto(slip)) => {
                let line = Line::parse(&slip.digitable_line).map(|line| line.formatted());
                let line = line.unwrap_or_else(|_| slip.digitable_line.clone());
                let pix = slip.pix_code.as_ref().map(|code| (code.clone(), picture()));
                (pix, Some((line, pages("boletos"))))
            }
            None => (None, None),
        };
        let until = match (payment.order.terms.due(), issued) {
            (Some(due), Some(_)) => Some(day(self.language, due.payable_until())),
            (None, Some(Issued::Pix { expires_at, .. })) => Some(time(self.language, *expires_at)),
            (Some(_) | None, Some(Issued::Boleto(_)) | None) => None,
        };
        let can_be_given_up = is_waiting && !is_cancelling;
        let give_up =
            if can_be_given_up { Some((self.path_of(Some(payment)), self.form_number()?)) } else { None };
        let is_paid = matches!(payment.status(), Status::Paid | Status::Approved);
        Ok(PaymentView {
            transaction_id: payment.id.to_string(),
            is_waiting,
            status_path: format!("{}/pix/{}/status", self.edge.mount, payment.page_token),
            pix,
            boleto,
            payable_until: until,
            give_up,
            success: self.success(payment).filter(|_| is_paid),
        })
    }

    /// Returns the address that is offered after a payment, with its host. It says nothing that proves a payment.
    fn success(&self, payment: &Payment) -> Option<(String, String)> {
        let mut url = Url::parse(self.link.offer.success_url.as_deref()?).ok()?;
        let others: Vec<(String, String)> = url
            .query_pairs()
            .filter(|(name, _)| !matches!(name.as_ref(), "linkId" | "transactionId"))
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect();
        url.query_pairs_mut()
            .clear()
            .extend_pairs(others)
            .append_pair("linkId", &self.link.id.to_string())
            .append_pair("transactionId", &payment.id.to_string());
        let host = url.host_str()?.to_owned();
        Some((url.into(), host))
    }

    async fn bare(&self, state: StateView) -> Result<CheckoutPage, Refused> {
        let offer = &self.link.offer;
        let owner = &self.link.owner;
        let profile = self.edge.people.profile(&owner.merchant).await;
        let profile = profile.map_err(Denied::from).map_err(ApiError::from)?;
        let items = offer.items.iter().map(|item| {
            format!("{} × {} – {}", item.quantity, item.name, money(self.language, item.total()))
        });
        let offer = OfferView {
            merchant_name: profile.name_of(&owner.merchant).to_owned(),
            contact: profile.contact().map(str::to_owned),
            title: offer.title.clone(),
            description: offer.description.clone(),
            amount: money(self.language, offer.amount),
            items: items.collect(),
            is_test: owner.mode == Mode::Test,
        };
        Ok(CheckoutPage {
            language: self.language,
            mount: self.edge.mount,
            offer: Some(offer),
            state,
            form: None,
            payment: None,
            again: None,
        })
    }
}

/// Returns what was typed. A text that holds a card number is left out, so that it is not shown again.
fn typed_in(fields: &FormFields) -> PayerInput {
    let clean = |name: &str| {
        let text = text_of(fields, name);
        if holds_card_number(text) { String::new() } else { text.to_owned() }
    };
    PayerInput {
        name: clean("name"),
        document: clean("document"),
        email: clean("email"),
        phone: clean("tel"),
        street: clean("street"),
        number: clean("number"),
        complement: clean("complement"),
        neighborhood: clean("neighborhood"),
        city: clean("city"),
        state: clean("state"),
        zip_code: clean("postal-code"),
    }
}

/// Fields of the form, in its order.
const FIELDS: [&str; 12] = [
    "name",
    "document",
    "email",
    "tel",
    "method",
    "postal-code",
    "street",
    "number",
    "complement",
    "neighborhood",
    "city",
    "state",
];

/// Returns the payment that the page of a link for one payment shows: a paid one before one that waits.
fn shown_of(newest: Vec<Payment>) -> Option<Payment> {
    let paid = newest.iter().position(|payment| payment.state.paid_at.is_some());
    let place = paid.or_else(|| newest.iter().position(|payment| holds_a_use(payment.status())))?;
    newest.into_iter().nth(place)
}

/// Returns true unless both are readable and the postal code is another state's.
fn has_cep_of_its_state(typed: &PayerInput) -> bool {
    let digits: String = typed.zip_code.chars().filter(char::is_ascii_digit).collect();
    let state = Uf::parse(&typed.state.trim().to_ascii_uppercase());
    match (Cep::parse(&digits), state) {
        (Ok(cep), Ok(state)) => cep.may_be_in(state),
        (Ok(_) | Err(_), Ok(_) | Err(_)) => true,
    }
}

const fn sold_out(language: Language) -> StateView {
    StateView {
        word: "sold_out",
        label: pick(language, "Esgotado", "Sold out"),
        sentence: pick(
            language,
            "Todos os pagamentos deste link já começaram. Tente de novo mais tarde: um que não for pago libera o lugar.",
            "All payments of this link have begun. Try again later: one that is not paid frees its place.",
        ),
    }
}

const fn boletos_held(language: Language) -> StateView {
    StateView {
        word: "open",
        label: pick(language, "Boletos esgotados", "No more slips"),
        sentence: pick(
            language,
            "No momento este link não aceita mais boletos. Volte e escolha PIX.",
            "This link takes no more slips at the moment. Go back and choose PIX.",
        ),
    }
}

const fn no_method(language: Language) -> StateView {
    StateView {
        word: "open",
        label: pick(language, "Indisponível no momento", "Not available at the moment"),
        sentence: pick(
            language,
            "Nenhum meio de pagamento está disponível agora. Volte em alguns minutos.",
            "No payment method is available now. Come back in some minutes.",
        ),
    }
}

fn too_many(until: Timestamp, now: Timestamp) -> Refused {
    Refused {
        retry_after_s: Some((until.ms_since(now) / 1_000).saturating_add(1)),
        ..Refused::new(
            StatusCode::TOO_MANY_REQUESTS,
            ("Muitos pagamentos iniciados", "Too many payments begun"),
            (
                "Muitos pagamentos foram iniciados a partir da sua rede. Espere uma hora e tente de novo.",
                "Too many payments were begun from your network. Wait for an hour and try again.",
            ),
        )
    }
}

fn refusal(edge: &Edge, language: Language, refused: &Refused) -> HttpResponse {
    let ((label_pt, label_en), (sentence_pt, sentence_en)) = (refused.label, refused.sentence);
    let state = StateView {
        word: "error",
        label: pick(language, label_pt, label_en),
        sentence: pick(language, sentence_pt, sentence_en),
    };
    let page = CheckoutPage {
        language,
        mount: edge.mount,
        offer: None,
        state,
        form: None,
        payment: None,
        again: None,
    };
    let mut response = rendered(&page, refused.status);
    if let Some(seconds) = refused.retry_after_s {
        response.headers_mut().insert(RETRY_AFTER, seconds.into());
    }
    response
}

fn rendered(page: &CheckoutPage, status: StatusCode) -> HttpResponse {
    let mut response = HttpResponse::build(status);
    add_headers(&mut response, page.language);
    response.content_type("text/html; charset=utf-8");
    match page.render() {
        Ok(html) => response.body(html),
        Err(error) => {
            let defect = ApiError::defect(&error.to_string());
            actix_web::ResponseError::error_response(&defect)
        }
    }
}

fn add_headers(response: &mut HttpResponseBuilder, language: Language) {
    for header in HEADERS {
        response.insert_header(header);
    }
    response.insert_header((CONTENT_LANGUAGE, language.tag()));
    response.insert_header((VARY, ACCEPT_LANGUAGE.as_str()));
}
