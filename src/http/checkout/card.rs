//! A card sent by the page's script, and the answer to the script. No answer contains card data.

use actix_web::http::StatusCode;
use actix_web::http::header::RETRY_AFTER;
use actix_web::{HttpResponse, HttpResponseBuilder};
use quita_domain::link::{CardInput, NoUse, PayerInput};
use quita_domain::method::Method;
use quita_domain::payment::Payment;
use quita_domain::request::code;
use quita_domain::status::Status;
use serde::Serialize;

use super::form::{FormFields, text_of, typed_in};
use super::response::{Refused, add_headers};
use super::{CROWDED_RETRY_S, Visit};
use crate::console::Language;
use crate::http::checkout_metrics::TryOutcome;
use crate::http::errors::{ApiError, ErrorCode};
use crate::http::link_payments::{NotBegun, Submitted, begin};
use crate::http::pages::checkout_page::FormMistake;
use crate::http::pages::checkout_words::{mistake, pick};

/// Answer to the page's script.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct CardAnswer {
    /// Status of the payment; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    /// Words for that status: a label and a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<[&'static str; 2]>,
    /// The payment that was declined.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<String>,
    /// Code of a refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    /// Mistakes, each with the field that it concerns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mistakes: Vec<MistakeRecord>,
    /// Number of the form for another card. If absent, the same form may be sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    form: Option<String>,
    /// Path of the page that shows the current state.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
}

#[derive(Debug, Serialize)]
struct MistakeRecord {
    field: &'static str,
    code: &'static str,
    words: &'static str,
}

impl From<FormMistake> for MistakeRecord {
    fn from(FormMistake { field, code, words }: FormMistake) -> Self {
        Self { field, code, words }
    }
}

/// Returns the answer to a script whose form can't be read, or for which there is no page.
pub(super) fn refusal(language: Language, refused: &Refused) -> HttpResponse {
    let words = pick(language, refused.sentence.0, refused.sentence.1);
    let whole = MistakeRecord { field: "", code: "refused", words };
    let answer = CardAnswer { code: Some("refused"), mistakes: vec![whole], ..CardAnswer::default() };
    let mut response = start(language, refused.status);
    if let Some(seconds) = refused.retry_after_s {
        response.insert_header((RETRY_AFTER, seconds));
    }
    response.json(answer)
}

fn start(language: Language, status: StatusCode) -> HttpResponseBuilder {
    let mut response = HttpResponse::build(status);
    add_headers(&mut response, language);
    response
}

impl Visit<'_> {
    /// Begins a card payment, or reports its mistakes.
    pub(super) async fn pay_by_card(
        self,
        fields: &FormFields,
        card: CardInput,
        network: &str,
    ) -> Result<HttpResponse, Refused> {
        let number = text_of(fields, "form");
        if self.payment.is_some() || !self.edge.keyring.is_form_number(self.link.id, number) {
            return Err(Refused::foreign());
        }
        let typed = PayerInput { card: Some(card), ..typed_in(fields) };
        let mut mistakes = self.card_numbers_in(fields);
        if !self.methods().contains(&Method::CreditCard) {
            mistakes.push(mistake(self.language, "method", code::METHOD_UNAVAILABLE));
        }
        let is_offered = |card: &CardInput| self.plans().iter().any(|plan| plan.count == card.installments);
        if !typed.card.as_ref().is_some_and(is_offered) {
            mistakes.push(mistake(self.language, "installments", code::RANGE));
        }
        self.check_cep(Method::CreditCard, &typed, &mut mistakes);
        if !mistakes.is_empty() {
            let rejection = self.rejection(Method::CreditCard, &typed);
            self.add(&mut mistakes, rejection.as_ref());
            return Ok(self.mistaken(mistakes));
        }
        let form = Submitted {
            method: Method::CreditCard,
            typed,
            number: number.to_owned(),
            network: network.to_owned(),
        };
        match begin(self.edge, &self.link, form).await {
            Ok(payment) => self.outcome(&payment),
            Err(not_begun) => self.not_begun(not_begun),
        }
    }

    /// Reports the outcome of a card. After a declined card another one may be sent in a new form.
    fn outcome(&self, payment: &Payment) -> Result<HttpResponse, Refused> {
        let status = Some(payment.status().as_str());
        let answer = match payment.status() {
            Status::Declined => {
                let state = self.state_of(payment);
                CardAnswer {
                    status,
                    words: Some([state.label, state.sentence]),
                    transaction_id: Some(payment.id.to_string()),
                    mistakes: vec![self.decline(payment).into()],
                    // A new number for another card: under the old one the declined payment would be returned again.
                    form: Some(self.form_number()?),
                    ..CardAnswer::default()
                }
            }
            Status::Initial
            | Status::Pending
            | Status::Approved
            | Status::Paid
            | Status::Refund
            | Status::Chargeback
            | Status::Expired
            | Status::Cancelled => {
                CardAnswer { status, location: Some(self.path_of(Some(payment))), ..CardAnswer::default() }
            }
        };
        Ok(start(self.language, StatusCode::OK).json(answer))
    }

    /// Reports why no card was sent.
    fn not_begun(&self, why: NotBegun) -> Result<HttpResponse, Refused> {
        match why {
            NotBegun::Mistakes(rejection) => {
                let mut mistakes = Vec::new();
                self.add(&mut mistakes, Some(&rejection));
                Ok(self.mistaken(mistakes))
            }
            // The page shows the current state: waiting, sold out or expired.
            NotBegun::NoUse(NoUse::Over(_) | NoUse::AllHeld | NoUse::BoletosHeld) => {
                let answer = CardAnswer { location: Some(self.path()), ..CardAnswer::default() };
                Ok(start(self.language, StatusCode::CONFLICT).json(answer))
            }
            NotBegun::NoUse(NoUse::Crowded) => {
                Ok(self.later("crowded", StatusCode::SERVICE_UNAVAILABLE, CROWDED_RETRY_S))
            }
            NotBegun::TooMany(until) => {
                self.edge.checkout_metrics.count_try(TryOutcome::Limited);
                let seconds = (until.ms_since(self.edge.clock.now()) / 1_000).saturating_add(1);
                let code = ErrorCode::TooManyCardTries.as_str();
                Ok(self.later(code, StatusCode::TOO_MANY_REQUESTS, seconds))
            }
            NotBegun::Failed(error) => self.not_created(&error),
        }
    }

    fn not_created(&self, error: &ApiError) -> Result<HttpResponse, Refused> {
        let is_refused =
            [ErrorCode::MethodUnavailable, ErrorCode::AmountNotAccepted].contains(&error.error_code());
        if is_refused {
            return Ok(self.mistaken(vec![mistake(self.language, "method", code::METHOD_UNAVAILABLE)]));
        }
        if error.changed_nothing() {
            return Err(Refused::unavailable());
        }
        // The card may have been charged. The same form is sent again and finds that payment, if there is one.
        Ok(self.later("unclear", StatusCode::SERVICE_UNAVAILABLE, CROWDED_RETRY_S))
    }

    fn mistaken(&self, mistakes: Vec<FormMistake>) -> HttpResponse {
        let mistakes = mistakes.into_iter().map(MistakeRecord::from).collect();
        let answer = CardAnswer { code: Some("validation_failed"), mistakes, ..CardAnswer::default() };
        start(self.language, StatusCode::UNPROCESSABLE_ENTITY).json(answer)
    }

    /// Reports that the same form may be sent again after this number of seconds.
    fn later(&self, code: &'static str, status: StatusCode, seconds: u64) -> HttpResponse {
        let whole = mistake(self.language, "", code).into();
        let answer = CardAnswer { code: Some(code), mistakes: vec![whole], ..CardAnswer::default() };
        start(self.language, status).insert_header((RETRY_AFTER, seconds)).json(answer)
    }
}
