//! Creation of a charge by `PUT /cob/{txid}`, and inquiry by `GET`. Never by `POST`: the bank would choose the txid,
//! and a repetition would be a second charge.

use quita_domain::acquiring::{CallFailure, Charge, ChargeAnswer, ChargeQuery};
use quita_domain::document::DocumentType;
use quita_domain::order::{Payer, Terms};
use quita_domain::time::Timestamp;
use serde_json::{Map, Value, json};

use super::cob::{self, Cob, payment_of};
use super::lenient::{expected_money, instant, list, text};
use super::link::{Answer, Link};
use super::received::pays;
use super::{due, lists};

/// Maximum number of characters of the payer's name (`devedor.nome`), and of the text for the payer
/// (`solicitacaoPagador`).
const MAX_NAME: usize = 200;
const MAX_MESSAGE: usize = 140;

/// Creates a charge. A refusal concerns only this sending; whether an earlier one had an effect, only an inquiry can
/// show.
pub(super) async fn charge(link: &Link, charge: &Charge, now: Timestamp) -> ChargeAnswer {
    let query = &charge.query;
    let body = match &query.terms {
        Terms::Pix { expires_in_s } => request(charge, json!({ "expiracao": expires_in_s }), link),
        Terms::DuePix(due) => due::complete(request(charge, due::calendar(due), link), charge, due),
        Terms::Boleto(_) | Terms::CreditCard { .. } => {
            return ChargeAnswer::Failed(CallFailure::NotDelivered("this acquirer takes PIX alone".into()));
        }
    };
    // `PUT` under a txid of this service: repeated after a lost answer it is the same charge, and an inquiry finds it.
    match link.put(&cob::path(query), &Value::Object(body)).await {
        Ok(Answer::Success(answer)) => stated(&answer, query, link, now),
        Ok(Answer::NotFound(why) | Answer::Refused(why)) => ChargeAnswer::Refused(why),
        Err(failure) => ChargeAnswer::Failed(failure),
    }
}

/// Asks what became of a charge.
pub(super) async fn inquire(link: &Link, query: &ChargeQuery) -> ChargeAnswer {
    match link.get(&cob::path(query)).await {
        Ok(Answer::Success(answer)) => {
            let answer = with_its_money(answer, query, link).await;
            stated(&answer, query, link, query.sent_at)
        }
        Ok(Answer::NotFound(_)) => ChargeAnswer::NotFound,
        // A refused inquiry says nothing about the charge, unlike a refused charge.
        Ok(Answer::Refused(why)) => ChargeAnswer::Failed(CallFailure::Unknown(why)),
        Err(failure) => ChargeAnswer::Failed(failure),
    }
}

/// Adds the Pix that concluded a charge, if the charge does not show it yet: the list of received Pix may already have
/// it.
async fn with_its_money(mut answer: Value, query: &ChargeQuery, link: &Link) -> Value {
    let is_without = Cob::read(&answer, query, &link.credential).is_ok_and(|cob| cob.lacks_its_money());
    if !is_without || !link.settings().lists {
        return answer;
    }
    // If the list is unavailable, the charge's own answer still stands.
    let listed = link.get(&lists::address_of_charge(query, link.credential.now())).await;
    let Ok(Answer::Success(listed)) = listed else { return answer };
    // Lists may be wrong: only a Pix that names the charge and pays it is taken from one. The charge itself must show
    // everything else.
    let pays = |pix: &&Value| {
        let is_named = text(pix, "txid").is_some_and(|txid| payment_of(txid) == Some(query.id));
        let amount = expected_money(pix, "valor", query.amount);
        is_named && amount.is_some_and(|amount| pays(query, amount, instant(pix, "horario")))
    };
    let paying: Vec<Value> = list(&listed, "pix").iter().filter(pays).cloned().collect();
    if let Some(cob) = answer.as_object_mut().filter(|_| !paying.is_empty()) {
        cob.insert("pix".into(), paying.into());
    }
    answer
}

fn stated(answer: &Value, query: &ChargeQuery, link: &Link, begun: Timestamp) -> ChargeAnswer {
    match Cob::read(answer, query, &link.credential) {
        Ok(cob) => cob.states(begun),
        Err(instead) => instead,
    }
}

fn request(charge: &Charge, calendar: Value, link: &Link) -> Map<String, Value> {
    let order = &charge.order;
    let mut body = Map::new();
    body.insert("calendario".into(), calendar);
    body.insert("devedor".into(), payer(&order.payer));
    body.insert("valor".into(), json!({ "original": charge.query.amount.to_string() }));
    body.insert("chave".into(), link.settings().pix_key.as_str().into());
    let message = order.external_reference.as_deref().map(|reference| one_line(reference, MAX_MESSAGE));
    if let Some(message) = message.filter(|message| !message.is_empty()) {
        body.insert("solicitacaoPagador".into(), message.into());
    }
    body
}

/// Returns only document and name: some banks refuse an address if the charge has no due date.
fn payer(payer: &Payer) -> Value {
    let document = match payer.document.kind() {
        DocumentType::Cpf => "cpf",
        DocumentType::Cnpj => "cnpj",
    };
    json!({ document: payer.document.as_str(), "nome": one_line(&payer.full_name(), MAX_NAME) })
}

pub(super) fn one_line(text: &str, max: usize) -> String {
    let line = text.chars().map(|each| if each.is_control() { ' ' } else { each }).take(max);
    line.collect::<String>().trim().to_owned()
}
