//! Callbacks: their registration and delivery.

use serde_json::{Value, json};

use super::PixBank;
use super::charges::json_answer;
use super::config::Shape;
use super::instants::{self, instant, minute};
use super::pages::page;
use super::problem::Problem;
use super::rules;
use crate::query::Query;
use crate::{Notice, Response};

/// The callback of one key.
pub(super) struct Webhook {
    pub(super) url: String,
    pub(super) created_ms: i64,
}

impl PixBank {
    /// Handles `PUT /webhook/{chave}`.
    pub(super) fn put_webhook(&mut self, key: &str, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        let invalid = |detail| Problem::new(400, "WebhookOperacaoInvalida", detail);
        let keys = &self.config.keys;
        if !rules::is_text(key, 77) || !(keys.is_empty() || keys.iter().any(|known| known == key)) {
            return Err(invalid("A chave não pertence a este usuário recebedor."));
        }
        let url = body.get("webhookUrl").and_then(Value::as_str).filter(|url| rules::is_url(url));
        let url = url.ok_or_else(|| invalid("O campo webhook.webhookUrl não respeita o schema."))?;
        self.webhooks.insert(key.to_owned(), Webhook { url: url.to_owned(), created_ms: now_ms });
        Ok(json_answer(200, &json!({"webhookUrl": url})))
    }

    /// Handles `GET /webhook/{chave}`.
    pub(super) fn get_webhook(&self, key: &str) -> Result<Response, Problem> {
        let webhook = self.webhooks.get(key).ok_or_else(not_found)?;
        Ok(json_answer(200, &self.tell_webhook(key, webhook)))
    }

    /// Handles `DELETE /webhook/{chave}`.
    pub(super) fn delete_webhook(&mut self, key: &str) -> Result<Response, Problem> {
        self.webhooks.remove(key).ok_or_else(not_found)?;
        Ok(Response { status: 204, headers: Vec::new(), body: Vec::new() })
    }

    /// Handles `GET /webhook`.
    pub(super) fn list_webhooks(&self, query: &Query) -> Result<Response, Problem> {
        let wrong = |detail: &str| Problem::new(400, "WebhookConsultaInvalida", detail);
        let bound = |name| match query.get(name) {
            None => Ok(None),
            Some(text) => instants::read(text).map(Some).ok_or(name),
        };
        let from_ms = bound("inicio").map_err(wrong)?;
        let until_ms = bound("fim").map_err(wrong)?;
        let found: Vec<_> = self
            .webhooks
            .iter()
            .filter(|(_, webhook)| from_ms.is_none_or(|from_ms| webhook.created_ms >= from_ms))
            .filter(|(_, webhook)| until_ms.is_none_or(|until_ms| webhook.created_ms <= until_ms))
            .collect();
        let (page, pages) = page(query, &found).map_err(wrong)?;
        let mut parameters = json!({"paginacao": pages});
        if let Some(fields) = parameters.as_object_mut() {
            let bounds = [("inicio", from_ms), ("fim", until_ms)];
            fields.extend(
                bounds.into_iter().filter_map(|(name, ms)| Some((name.to_owned(), json!(instant(ms?))))),
            );
        }
        let webhooks: Vec<Value> =
            page.iter().map(|(key, webhook)| self.tell_webhook(key, webhook)).collect();
        Ok(json_answer(200, &json!({"parametros": parameters, "webhooks": webhooks})))
    }

    /// Describes a webhook. The document requires `cnpj`, its example has `chave`; both are sent.
    fn tell_webhook(&self, key: &str, webhook: &Webhook) -> Value {
        json!({
            "webhookUrl": webhook.url, "chave": key, "cnpj": self.config.cnpj, "criacao": instant(webhook.created_ms),
        })
    }

    /// Plans the callback about a Pix, unless it has no txid or is lost.
    pub(super) fn call_back(&mut self, end_to_end_id: &str, now_ms: i64) {
        let Some(told) = self.tell_pix(end_to_end_id) else { return };
        if told.get("txid").is_none() || self.chance(self.config.callbacks.lost_permille) {
            return;
        }
        let times = if self.chance(self.config.callbacks.repeated_permille) { 2 } else { 1 };
        for _ in 0..times {
            self.plan_notice(&told, now_ms);
        }
    }

    /// Plans a callback that falsely reports a charge as paid.
    pub(super) fn forge(&mut self, txid: &str, now_ms: i64) -> Result<(), String> {
        let charge = self.books.charges.get(txid).ok_or("no such charge")?;
        let cents = charge.amount_cents;
        let key = charge.key.clone();
        let number = self.books.next_number();
        let told = json!({
            "endToEndId": format!("E99999999{}{number:011}", minute(now_ms)), "txid": txid,
            "valor": rules::amount(cents), "chave": key, "horario": instant(now_ms), "infoPagador": "",
        });
        self.plan_notice(&told, now_ms);
        Ok(())
    }

    pub(super) fn forge_by_chance(&mut self, txid: &str, now_ms: i64) {
        if self.chance(self.config.callbacks.forged_permille) {
            // The charge exists: it was created just now.
            self.forge(txid, now_ms).unwrap_or_default();
        }
    }

    fn plan_notice(&mut self, pix: &Value, now_ms: i64) {
        let callbacks = &self.config.callbacks;
        let key = pix.get("chave").and_then(Value::as_str).unwrap_or_default();
        let url = self.webhooks.get(key).map(|webhook| {
            let suffix = if callbacks.suffix && !webhook.url.ends_with("ignorar=") { "/pix" } else { "" };
            format!("{}{suffix}", webhook.url)
        });
        let body = match callbacks.shape {
            Shape::Object => json!({"pix": [pix]}),
            Shape::Array => json!([pix]),
        };
        let notice = Notice {
            url,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            body: body.to_string().into_bytes(),
        };
        let due_ms = now_ms.saturating_add(callbacks.after_ms);
        let number = self.books.next_number();
        self.notices.insert((due_ms, number), notice);
    }
}

fn not_found() -> Problem {
    Problem::new(404, "WebhookNaoEncontrado", "O webhook da chave não se encontra estabelecido.")
}
