//! Callbacks: registered, validated, sent.

use chrono::{DateTime, SecondsFormat};
use serde_json::{Value, json};

use super::SicoobBank;
use super::books::{Payment, Title};
use super::problem::Problem;
use crate::query::Query;
use crate::{Notice, Response};

/// `codigoTipoMovimento` of payments.
const PAYMENT: u64 = 7;
const AWAITS_VALIDATION: u64 = 1;
const VALIDATED: u64 = 2;
const INACTIVE: u64 = 3;

/// An address for callbacks.
pub(super) struct Webhook {
    id: u64,
    url: String,
    email: Option<String>,
    state: u64,
    created_ms: i64,
    changed_ms: i64,
}

impl Webhook {
    fn tell(&self) -> Value {
        let name = match self.state {
            AWAITS_VALIDATION => "Aguardando validação",
            VALIDATED => "Validado com sucesso",
            _ => "Inativo",
        };
        json!({
            "idWebhook": self.id, "url": self.url, "email": self.email,
            "codigoTipoMovimento": PAYMENT, "descricaoTipoMovimento": "Pagamento (Baixa operacional)",
            "codigoPeriodoMovimento": 1, "descricaoPeriodoMovimento": "Movimento atual (D0)",
            "codigoSituacao": self.state, "descricaoSituacao": name,
            "dataHoraCadastro": instant(self.created_ms), "dataHoraUltimaAlteracao": instant(self.changed_ms),
        })
    }
}

impl SicoobBank {
    /// Handles `POST /webhooks`.
    pub(super) fn add_webhook(&mut self, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        let url = address(body)?;
        for (name, expected) in [("codigoTipoMovimento", PAYMENT), ("codigoPeriodoMovimento", 1)] {
            if body.get(name).and_then(Value::as_u64) != Some(expected) {
                return Err(Problem::data(format!("O campo {name} é inválido.")));
            }
        }
        if self.webhooks.iter().any(|known| known.state != INACTIVE) {
            return Err(Problem::business("Já existe webhook cadastrado para o tipo de movimento."));
        }
        let id = self.books.next_number().saturating_add(989);
        let email = body.get("email").and_then(Value::as_str).map(str::to_owned);
        let is_given_up = self.config.callbacks.first_validation_fails && self.webhooks.is_empty();
        let state = if is_given_up { INACTIVE } else { AWAITS_VALIDATION };
        let webhook = Webhook { id, url, email, state, created_ms: now_ms, changed_ms: now_ms };
        if !is_given_up {
            self.validate(&webhook, now_ms);
        }
        self.webhooks.push(webhook);
        Ok(Response::json(201, &json!({"resultado": {"idWebhook": id}})))
    }

    /// Handles `GET /webhooks`.
    pub(super) fn list_webhooks(&self, query: &Query) -> Response {
        let asked = query.get("idWebhook");
        let told: Vec<Value> = self
            .webhooks
            .iter()
            .filter(|webhook| asked.is_none_or(|id| id == webhook.id.to_string()))
            .map(Webhook::tell)
            .collect();
        if told.is_empty() { Response::empty(204) } else { Response::json(200, &json!({"resultado": told})) }
    }

    /// Handles `PATCH /webhooks/{id}`: a changed address is validated again.
    pub(super) fn change_webhook(
        &mut self,
        id: &str,
        body: &Value,
        now_ms: i64,
    ) -> Result<Response, Problem> {
        let url = address(body)?;
        let at = self.webhook(id)?;
        if let Some(webhook) = self.webhooks.get_mut(at) {
            (webhook.url, webhook.state, webhook.changed_ms) = (url, AWAITS_VALIDATION, now_ms);
        }
        self.revalidate(at, now_ms);
        Ok(Response::empty(204))
    }

    /// Handles `PATCH /webhooks/{id}/reativar`.
    pub(super) fn revive_webhook(&mut self, id: &str, now_ms: i64) -> Result<Response, Problem> {
        let at = self.webhook(id)?;
        if let Some(webhook) = self.webhooks.get_mut(at) {
            (webhook.state, webhook.changed_ms) = (AWAITS_VALIDATION, now_ms);
        }
        self.revalidate(at, now_ms);
        Ok(Response::empty(204))
    }

    /// Handles `DELETE /webhooks/{id}`.
    pub(super) fn remove_webhook(&mut self, id: &str) -> Result<Response, Problem> {
        let at = self.webhook(id)?;
        self.webhooks.remove(at);
        Ok(Response::empty(204))
    }

    /// Handles `GET /webhooks/{id}/solicitacoes`: the callbacks sent on a day.
    pub(super) fn sent_by_webhook(&self, id: &str, query: &Query) -> Result<Response, Problem> {
        self.webhook(id)?;
        if query.get("dataSolicitacao").is_none_or(str::is_empty) {
            return Err(Problem::data("O campo dataSolicitacao é inválido."));
        }
        let state = query.get("codigoSolicitacaoSituacao");
        let told: Vec<Value> = self
            .sent
            .iter()
            .map(|(at_ms, is_taken)| (instant(*at_ms), if *is_taken { 3 } else { 6 }))
            .filter(|(_, code)| state.is_none_or(|state| state == code.to_string()))
            .map(|(at, code)| json!({"dataHoraSolicitacao": at, "codigoSituacaoSolicitacao": code}))
            .collect();
        Ok(Response::json(
            200,
            &json!({"resultado": [{
                "quantidadeTotalRegistros": told.len(), "webhookSolicitacoes": told,
            }]}),
        ))
    }

    /// Records an answer. An address is valid if it answers its validation with 200, 201 or 204.
    pub(super) fn notice_answered(&mut self, notice: &Notice, status: Option<u16>, now_ms: i64) {
        let body: Value = serde_json::from_slice(&notice.body).unwrap_or_default();
        let is_taken = status.is_some_and(|status| matches!(status, 200 | 201 | 204));
        self.sent.push((now_ms, is_taken));
        if body.get("validacaoWebhook").is_none() {
            return;
        }
        let id = body.get("idWebhook").and_then(Value::as_u64);
        for webhook in self.webhooks.iter_mut().filter(|webhook| Some(webhook.id) == id) {
            webhook.state = if is_taken { VALIDATED } else { INACTIVE };
        }
    }

    /// Reports a payment that a payer's bank accepted, or took back.
    pub(super) fn call_back(&mut self, number: u64, payment_id: u64, motive: Option<u64>, now_ms: i64) {
        if self.chance(self.config.callbacks.lost_permille) {
            return;
        }
        let times = if self.chance(self.config.callbacks.repeated_permille) { 2 } else { 1 };
        let Some(title) = self.books.titles.get(&number) else { return };
        let Some(payment) = title.payments.iter().find(|payment| payment.id == payment_id) else { return };
        let told = self.told(title, payment, motive, now_ms);
        for _ in 0..times {
            self.plan_callback(&told, now_ms);
        }
    }

    /// Sends a callback about a payment that was never made.
    pub(super) fn forge(&mut self, number: u64, now_ms: i64) -> Result<(), String> {
        let title = self.books.titles.get(&number).ok_or("no such title")?;
        let payment = Payment {
            id: 0,
            on: title.due,
            cents: title.amount_cents,
            by_pix: false,
            accepted_ms: now_ms,
            state: super::books::PaymentState::Accepted,
        };
        let told = self.told(title, &payment, None, now_ms);
        self.plan_callback(&told, now_ms);
        Ok(())
    }

    fn told(&self, title: &Title, payment: &Payment, motive: Option<u64>, now_ms: i64) -> Value {
        let contingency = if self.config.callbacks.misspelt {
            "baixaRealizadaEmContigencia"
        } else {
            "baixaRealizadaEmContingencia"
        };
        let mut told = json!({
            "numeroIdentificadorBaixa": payment.id, "codigoBarrasBoleto": title.bar_code,
            "codigoBarrasBaixa": title.bar_code, "nossoNumero": title.number, "seuNumero": title.your_number,
            "codigoBancoRecebedor": 1, "codigoAgenciaRecebedora": 1, "numeroCliente": self.config.customer,
            "cpfCnpjPagador": title.payer_document,
            "valorBoleto": super::money::number(title.amount_cents),
            "valorPagamento": super::money::number(payment.cents),
            "codigoCanalPagamento": if payment.by_pix { 8 } else { 3 },
            "dataVencimento": title.due.to_string(), "dataHoraSituacaoBaixa": instant(now_ms),
            "cancelamentoBaixa": motive.is_some(), "codigoMotivoCancelamento": motive,
        });
        told.as_object_mut().map(|fields| fields.insert(contingency.to_owned(), json!(false)));
        told
    }

    fn plan_callback(&mut self, told: &Value, now_ms: i64) {
        let Some(webhook) = self.webhooks.iter().find(|webhook| webhook.state == VALIDATED) else {
            // A server may know an address that is not registered at the bank.
            let body = json!({"idWebhook": 990, "tipoMovimento": PAYMENT, "dados": told});
            return self.plan_notice(None, &body, now_ms);
        };
        let body = json!({"idWebhook": webhook.id, "tipoMovimento": PAYMENT, "dados": told});
        let url = Some(webhook.url.clone());
        self.plan_notice(url, &body, now_ms);
    }

    fn revalidate(&mut self, at: usize, now_ms: i64) {
        let Some(webhook) = self.webhooks.get(at) else { return };
        let id = webhook.id;
        let url = webhook.url.clone();
        self.plan_notice(Some(url), &json!({"idWebhook": id, "validacaoWebhook": true}), now_ms);
    }

    fn validate(&mut self, webhook: &Webhook, now_ms: i64) {
        let body = json!({"idWebhook": webhook.id, "validacaoWebhook": true});
        self.plan_notice(Some(webhook.url.clone()), &body, now_ms);
    }

    fn plan_notice(&mut self, url: Option<String>, body: &Value, now_ms: i64) {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let notice = Notice { url, headers, body: body.to_string().into_bytes() };
        let due_ms = now_ms.saturating_add(self.config.callbacks.after_ms);
        let number = self.books.next_number();
        self.notices.insert((due_ms, number), notice);
    }

    fn webhook(&self, id: &str) -> Result<usize, Problem> {
        let found = self.webhooks.iter().position(|webhook| webhook.id.to_string() == id);
        found.ok_or_else(|| Problem::business("O webhook não foi encontrado."))
    }
}

/// Reads an https address with port 443.
fn address(body: &Value) -> Result<String, Problem> {
    let url = body.get("url").and_then(Value::as_str).unwrap_or_default();
    let host = url.strip_prefix("https://").and_then(|rest| rest.split('/').next()).unwrap_or_default();
    let port = host.split_once(':').map_or("443", |(_, port)| port);
    if host.is_empty() || port != "443" {
        return Err(Problem::data("O campo url é inválido: use https e a porta 443."));
    }
    Ok(url.to_owned())
}

fn instant(ms: i64) -> String {
    DateTime::from_timestamp_millis(ms).unwrap_or_default().to_rfc3339_opts(SecondsFormat::Millis, true)
}
