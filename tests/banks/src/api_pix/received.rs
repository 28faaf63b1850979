//! Pix received and their refunds: `/pix`.

use serde_json::{Value, json};

use super::PixBank;
use super::books::{Pix, Refund, RefundStatus};
use super::charges::json_answer;
use super::config::RefundOutcome;
use super::instants::{instant, minute};
use super::pages::{Period, of_period};
use super::problem::Problem;
use super::rules;
use crate::Response;
use crate::query::Query;

const DAY_MS: i64 = 86_400_000;

/// A requested refund.
pub(super) struct Wanted<'a> {
    pub(super) id: &'a str,
    pub(super) cents: i64,
    pub(super) nature: &'static str,
    pub(super) description: Option<String>,
}

impl PixBank {
    /// Handles `GET /pix/{e2eid}`.
    pub(super) fn get_pix(&self, id: &str) -> Result<Response, Problem> {
        self.tell_pix(id).map(|pix| json_answer(200, &pix)).ok_or_else(no_such_pix)
    }

    /// Handles `GET /pix`.
    pub(super) fn list_pix(&self, query: &Query) -> Result<Response, Problem> {
        let wrong = |detail: &str| Problem::new(400, "PixConsultaInvalida", detail);
        let period = Period::read(query).map_err(wrong)?;
        let flag = |name| query.get(name).map(rules::boolean).transpose().map_err(wrong);
        let with_txid = flag("txIdPresente")?;
        let with_refund = flag("devolucaoPresente")?;
        if !query.get("txid").is_none_or(rules::is_refund_id) {
            return Err(wrong("O parâmetro txid não respeita o schema."));
        }
        let is_asked_for = |pix: &Pix| {
            // The receiver does not know the payers here.
            query.get("cpf").is_none()
                && query.get("cnpj").is_none()
                && query.get("txid").is_none_or(|txid| pix.txid.as_deref() == Some(txid))
                && with_txid.is_none_or(|asked| asked == pix.txid.is_some())
                && with_refund.is_none_or(|asked| asked != pix.refunds.is_empty())
        };
        let mut found: Vec<_> = self
            .books
            .pix
            .iter()
            .filter(|(id, _)| !self.books.unlisted.contains(*id))
            .filter(|(_, pix)| period.holds(pix.received_ms) && is_asked_for(pix))
            .collect();
        found.sort_by_key(|(_, pix)| (pix.received_ms, pix.number));
        let (page, mut parameters) = of_period(query, &period, &found).map_err(wrong)?;
        // A short txid, of a static code, may be requested, but the document's pattern does not allow it in answers.
        let told = |name: &&str| *name != "txid" || query.get("txid").is_some_and(rules::is_txid);
        for name in ["txid", "cpf", "cnpj"].into_iter().filter(told) {
            if let Some(value) = query.get(name) {
                parameters.insert(name.to_owned(), json!(value));
            }
        }
        let pix: Vec<Value> = page.iter().filter_map(|(id, _)| self.tell_pix(id)).collect();
        // The document requires `cobs` here, where it means `pix`; both are sent.
        Ok(json_answer(200, &json!({"parametros": parameters, "pix": pix, "cobs": []})))
    }

    /// Handles `PUT /pix/{e2eid}/devolucao/{id}`.
    pub(super) fn put_refund(
        &mut self,
        end_to_end_id: &str,
        id: &str,
        body: &Value,
        now_ms: i64,
    ) -> Result<Response, Problem> {
        let cents =
            body.get("valor").and_then(Value::as_str).and_then(rules::cents).filter(|cents| *cents > 0);
        let cents = cents.ok_or_else(|| refused("O campo devolucao.valor não respeita o schema."))?;
        let nature = match body.get("natureza").map(Value::as_str) {
            None | Some(Some("ORIGINAL")) => "ORIGINAL",
            Some(Some("RETIRADA")) => "RETIRADA",
            Some(_) => return Err(refused("O campo devolucao.natureza não respeita o schema.")),
        };
        let description = match body.get("descricao") {
            None => None,
            Some(Value::String(text)) if rules::is_text(text, 140) => Some(text.clone()),
            Some(_) => return Err(refused("O campo devolucao.descricao não respeita o schema.")),
        };
        if !rules::is_refund_id(id) {
            return Err(refused("O id da devolução não respeita o schema."));
        }
        let wanted = Wanted { id, cents, nature, description };
        self.refund(end_to_end_id, wanted, now_ms)?;
        self.get_refund(end_to_end_id, id).map(|told| Response { status: 201, ..told })
    }

    /// Accepts a refund, or returns the one that was accepted before.
    pub(super) fn refund(
        &mut self,
        end_to_end_id: &str,
        wanted: Wanted<'_>,
        now_ms: i64,
    ) -> Result<(), Problem> {
        let not_done = self.chance(self.config.refunds_not_done_permille);
        let due_ms = now_ms.saturating_add(self.config.refund_after_ms);
        let number = self.books.next_number();
        let rtr_id = format!("D{}{}{number:011}", self.config.ispb, minute(now_ms));
        let pix = self.books.pix.get_mut(end_to_end_id).ok_or_else(no_such_pix)?;
        if let Some(known) = pix.refunds.iter().find(|refund| refund.id == wanted.id) {
            let is_the_same = known.amount_cents == wanted.cents
                && known.nature == wanted.nature
                && known.description == wanted.description;
            return if is_the_same {
                Ok(())
            } else {
                Err(refused("O id já foi utilizado por outra devolução."))
            };
        }
        if now_ms > pix.received_ms.saturating_add(DAY_MS.saturating_mul(90)) {
            return Err(refused("A janela de 90 dias para devoluções passou."));
        }
        if pix.given_back_cents().saturating_add(wanted.cents) > pix.amount_cents {
            return Err(refused("A soma das devoluções excederia o valor do Pix."));
        }
        let outcome = match self.config.refund_outcome {
            RefundOutcome::NotDone => RefundStatus::NotDone,
            RefundOutcome::Done if not_done => RefundStatus::NotDone,
            RefundOutcome::Done => RefundStatus::Done,
            RefundOutcome::Never => RefundStatus::Processing,
        };
        pix.refunds.push(Refund {
            id: wanted.id.to_owned(),
            rtr_id,
            amount_cents: wanted.cents,
            nature: wanted.nature,
            description: wanted.description,
            asked_ms: now_ms,
            settled_ms: None,
            status: RefundStatus::Processing,
            outcome,
        });
        self.due.insert((due_ms, number), (end_to_end_id.to_owned(), wanted.id.to_owned()));
        Ok(())
    }

    /// Ends the refunds that are due.
    pub(super) fn settle_refunds(&mut self, now_ms: i64) {
        while let Some(entry) = self.due.first_entry() {
            let due_ms = entry.key().0;
            if due_ms > now_ms {
                return;
            }
            let (end_to_end_id, id) = entry.remove();
            let Some(pix) = self.books.pix.get_mut(&end_to_end_id) else { continue };
            let Some(refund) = pix.refunds.iter_mut().find(|refund| refund.id == id) else { continue };
            refund.status = refund.outcome;
            if refund.status != RefundStatus::Processing {
                refund.settled_ms = Some(due_ms);
                self.call_back(&end_to_end_id, due_ms);
            }
        }
    }

    /// Handles `GET /pix/{e2eid}/devolucao/{id}`.
    pub(super) fn get_refund(&self, end_to_end_id: &str, id: &str) -> Result<Response, Problem> {
        let pix = self.books.pix.get(end_to_end_id).ok_or_else(no_such_pix)?;
        let refund = pix.refunds.iter().find(|refund| refund.id == id);
        let missing = || Problem::new(404, "PixDevolucaoNaoEncontrada", "Devolução não encontrada.");
        refund.map(|refund| json_answer(200, &tell_refund(refund))).ok_or_else(missing)
    }

    pub(super) fn tell_pix(&self, id: &str) -> Option<Value> {
        let pix = self.books.pix.get(id)?;
        let mut told = json!({
            "endToEndId": id, "valor": rules::amount(pix.amount_cents), "chave": pix.key,
            "horario": instant(pix.received_ms), "infoPagador": "",
        });
        let fields = told.as_object_mut()?;
        if let Some(txid) = &pix.txid {
            fields.insert("txid".to_owned(), json!(txid));
        }
        if !pix.refunds.is_empty() {
            fields.insert("devolucoes".to_owned(), pix.refunds.iter().map(tell_refund).collect());
        }
        Some(told)
    }

    /// Receives a Pix.
    pub(super) fn receive(&mut self, id: Option<&str>, pix: Pix) -> String {
        let at = minute(pix.received_ms);
        let id = id.map_or_else(|| format!("E{}{at}{:011}", self.config.ispb, pix.number), str::to_owned);
        if let Some(charge) = pix.txid.as_ref().and_then(|txid| self.books.charges.get_mut(txid)) {
            charge.pix.push(id.clone());
        }
        let received_ms = pix.received_ms;
        self.books.pix.insert(id.clone(), pix);
        self.call_back(&id, received_ms);
        id
    }
}

fn tell_refund(refund: &Refund) -> Value {
    let mut told = json!({
        "id": refund.id, "rtrId": refund.rtr_id, "valor": rules::amount(refund.amount_cents),
        "natureza": refund.nature, "horario": {"solicitacao": instant(refund.asked_ms)},
        "status": refund.status.name(),
    });
    let Some(fields) = told.as_object_mut() else { return told };
    if let Some(settled_ms) = refund.settled_ms.filter(|_| refund.status == RefundStatus::Done) {
        let times = json!({"solicitacao": instant(refund.asked_ms), "liquidacao": instant(settled_ms)});
        fields.insert("horario".to_owned(), times);
    }
    if let Some(description) = &refund.description {
        fields.insert("descricao".to_owned(), json!(description));
    }
    if refund.status == RefundStatus::NotDone {
        fields.insert("motivo".to_owned(), json!("Saldo insuficiente para a devolução."));
    }
    told
}

fn no_such_pix() -> Problem {
    Problem::new(404, "PixNaoEncontrado", "Pix não encontrado para o e2eid informado.")
}

fn refused(detail: &str) -> Problem {
    Problem::new(400, "PixDevolucaoInvalida", detail)
}
