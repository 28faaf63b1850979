//! Immediate charges: `/cob`.

use serde_json::{Map, Value, json};

use super::PixBank;
use super::books::{Charge, Status};
use super::config::Code;
use super::instants::instant;
use super::pages::{Period, of_period};
use super::problem::{Problem, answer};
use super::rules;
use crate::Response;
use crate::query::Query;

const INVALID: &str = "CobOperacaoInvalida";
/// Lifetime of a charge that states none, in seconds.
const DAY_S: i64 = 86_400;

/// Requested fields of a charge; absent ones stay unchanged.
#[derive(Default)]
struct Asked {
    expires_s: Option<i64>,
    debtor: Option<Value>,
    amount_cents: Option<i64>,
    change_by_payer: Option<i64>,
    key: Option<String>,
    question: Option<String>,
    further: Option<Value>,
    removed: bool,
}

impl PixBank {
    /// Handles `PUT /cob/{txid}`: creates the charge, or changes it while it is active.
    pub(super) fn put_charge(&mut self, txid: &str, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        if self.books.charges.get(txid).is_some_and(|charge| charge.due.is_some()) {
            return Err(invalid("O txid é de uma cobrança com vencimento."));
        }
        if !rules::is_txid(txid) {
            return Err(invalid("O campo cob.txid não respeita o schema."));
        }
        let asked = Asked::read(body, &self.config.keys)?;
        if asked.amount_cents.is_none() || asked.key.is_none() || body.get("calendario").is_none() {
            return Err(invalid("calendario, valor e chave são obrigatórios."));
        }
        if asked.removed {
            return Err(invalid("O campo cob.status não é de criação."));
        }
        let asked = Asked { expires_s: asked.expires_s.or(Some(DAY_S)), ..asked };
        match self.books.charges.get_mut(txid) {
            Some(charge) if charge.status == Status::Active => asked.apply(charge),
            Some(_) => return Err(invalid("A cobrança já existe e não está no status ATIVA.")),
            None => self.create(txid, asked, now_ms),
        }
        self.tell_created(txid)
    }

    /// Handles `POST /cob`: the bank chooses the txid.
    pub(super) fn post_charge(&mut self, body: &Value, now_ms: i64) -> Result<Response, Problem> {
        let txid = format!("{:032x}", self.draw_id());
        self.put_charge(&txid, body, now_ms)
    }

    fn create(&mut self, txid: &str, asked: Asked, now_ms: i64) {
        let token = format!("{:032x}", self.draw_id());
        let mut charge = Charge {
            location: format!("{}/{token}", self.config.location),
            created_ms: now_ms,
            number: self.books.next_number(),
            ..Charge::default()
        };
        asked.apply(&mut charge);
        charge.revision = 0;
        charge.earlier.clear();
        self.books.charges.insert(txid.to_owned(), charge);
        self.forge_by_chance(txid, now_ms);
        self.pay_by_chance(txid, now_ms);
    }

    fn tell_created(&self, txid: &str) -> Result<Response, Problem> {
        let charge = self.books.charges.get(txid).ok_or_else(not_found)?;
        Ok(json_answer(self.config.created_status, &self.tell_charge(txid, charge, false)))
    }

    /// Handles `PATCH /cob/{txid}`: changes an active charge, or removes it.
    pub(super) fn patch_charge(&mut self, txid: &str, body: &Value) -> Result<Response, Problem> {
        let asked = Asked::read(body, &self.config.keys);
        let charge = self.books.charges.get_mut(txid).filter(|charge| charge.due.is_none());
        let charge = charge.ok_or_else(not_found)?;
        let asked = asked?;
        if charge.status != Status::Active {
            return Err(invalid("A cobrança não está ATIVA."));
        }
        if asked.removed {
            if body.as_object().is_some_and(|fields| fields.len() > 1) {
                return Err(invalid("A remoção não pode vir com outras alterações."));
            }
            charge.status = Status::RemovedByReceiver;
            charge.revision = charge.revision.saturating_add(1);
        } else {
            asked.apply(charge);
        }
        let charge = self.books.charges.get(txid).ok_or_else(not_found)?;
        Ok(json_answer(200, &self.tell_charge(txid, charge, false)))
    }

    /// Handles `GET /cob/{txid}`.
    pub(super) fn get_charge(&self, txid: &str, query: &Query) -> Result<Response, Problem> {
        let charge = self.books.charges.get(txid).filter(|charge| charge.due.is_none());
        let charge = charge.ok_or_else(not_found)?;
        match query.get("revisao") {
            None => Ok(json_answer(200, &self.tell_charge(txid, charge, true))),
            Some(asked) if asked.parse() == Ok(charge.revision) => {
                Ok(json_answer(200, &self.tell_charge(txid, charge, true)))
            }
            Some(asked) => {
                let earlier = asked.parse::<usize>().ok().and_then(|revision| charge.earlier.get(revision));
                let earlier = earlier.ok_or_else(not_found)?;
                Ok(json_answer(200, &self.tell_charge(txid, earlier, false)))
            }
        }
    }

    /// Handles `GET /cob`.
    pub(super) fn list_charges(&self, query: &Query) -> Result<Response, Problem> {
        let wrong = |detail: &str| Problem::new(400, "CobConsultaInvalida", detail);
        let period = Period::read(query).map_err(wrong)?;
        let with_location = query.get("locationPresente").map(rules::boolean).transpose().map_err(wrong)?;
        let is_asked_for = |charge: &Charge| {
            let debtor =
                |name| charge.debtor.as_ref().and_then(|debtor| debtor.get(name)).and_then(Value::as_str);
            ["cpf", "cnpj"]
                .into_iter()
                .all(|name| query.get(name).is_none_or(|asked| debtor(name) == Some(asked)))
                && query.get("status").is_none_or(|status| charge.status.name() == status)
                && with_location.is_none_or(|asked| asked)
        };
        let mut found: Vec<_> = self
            .books
            .charges
            .iter()
            .filter(|(_, charge)| {
                charge.due.is_none() && period.holds(charge.created_ms) && is_asked_for(charge)
            })
            .collect();
        found.sort_by_key(|(_, charge)| (charge.created_ms, charge.number));
        let (page, mut parameters) = of_period(query, &period, &found).map_err(wrong)?;
        for name in ["cpf", "cnpj", "status"] {
            if let Some(value) = query.get(name) {
                parameters.insert(name.to_owned(), json!(value));
            }
        }
        let cobs: Vec<Value> = page
            .iter()
            .map(|(txid, charge)| {
                let mut told = self.tell_charge(txid, charge, true);
                // The document requires this field in every item, and mentions it nowhere else.
                told.as_object_mut().map(|fields| fields.insert("idCob".to_owned(), json!(charge.number)));
                told
            })
            .collect();
        Ok(json_answer(200, &json!({"parametros": parameters, "cobs": cobs})))
    }

    pub(super) fn tell_charge(&self, txid: &str, charge: &Charge, with_pix: bool) -> Value {
        let config = &self.config;
        let txid =
            if config.other_txid { format!("{:032x}", u128::from(charge.number)) } else { txid.to_owned() };
        let created = instant(charge.created_ms);
        let mut valor = Map::from_iter([("original".to_owned(), json!(rules::amount(charge.amount_cents)))]);
        if let Some(change) = charge.change_by_payer {
            valor.insert("modalidadeAlteracao".to_owned(), json!(change));
        }
        let mut told = json!({
            "calendario": {"criacao": created, "expiracao": charge.expires_s},
            "txid": txid, "revisao": charge.revision, "status": charge.status.name(),
            "valor": valor, "chave": charge.key,
        });
        let Some(fields) = told.as_object_mut() else { return told };
        if let Some(due) = &charge.due {
            due.tell(fields, &created);
        }
        let kind = if charge.due.is_some() { "cobv" } else { "cob" };
        if config.code != Code::Nothing {
            let location = &charge.location;
            fields.insert(
                "loc".to_owned(),
                json!({"id": charge.number, "location": location, "tipoCob": kind, "criacao": created, "txid": txid}),
            );
            fields.insert("location".to_owned(), json!(location));
        }
        if let Some(code) = self.code(charge) {
            fields.insert(config.code_field.clone(), json!(code));
        }
        let texts = [("devedor", charge.debtor.clone()), ("infoAdicionais", charge.further.clone())];
        for (name, value) in
            texts.into_iter().chain([("solicitacaoPagador", charge.question.clone().map(Value::from))])
        {
            if let Some(value) = value {
                fields.insert(name.to_owned(), value);
            }
        }
        if with_pix && !charge.pix.is_empty() {
            let pix: Vec<Value> = charge.pix.iter().filter_map(|id| self.tell_pix(id)).collect();
            fields.insert("pix".to_owned(), json!(pix));
        }
        told
    }

    fn code(&self, charge: &Charge) -> Option<String> {
        let config = &self.config;
        let code = |location: &str| super::br_code::dynamic(location, &config.name, &config.city);
        match config.code {
            Code::Good => Some(code(&charge.location)),
            Code::Absent | Code::Nothing => None,
            Code::BadCrc => {
                let mut code = code(&charge.location);
                let last = code.pop();
                code.push(if last == Some('0') { '1' } else { '0' });
                Some(code)
            }
            Code::OtherLocation => {
                Some(code(&format!("{}/{:032x}", config.location, u128::from(charge.number))))
            }
        }
    }
}

impl Asked {
    fn read(body: &Value, keys: &[String]) -> Result<Self, Problem> {
        let fields = body.as_object().ok_or_else(|| invalid("O corpo não é um objeto."))?;
        let mut asked = Self::default();
        for (name, value) in fields {
            let taken = match name.as_str() {
                "calendario" => asked.take_calendar(value),
                "devedor" => rules::debtor(value).map(|debtor| asked.debtor = Some(debtor)),
                "valor" => asked.take_amount(value),
                "chave" => value
                    .as_str()
                    .filter(|key| {
                        rules::is_text(key, 77) && (keys.is_empty() || keys.iter().any(|known| known == key))
                    })
                    .map(|key| asked.key = Some(key.to_owned())),
                "solicitacaoPagador" => value
                    .as_str()
                    .filter(|text| rules::is_text(text, 140))
                    .map(|text| asked.question = Some(text.to_owned())),
                "infoAdicionais" => rules::is_further(value).then(|| asked.further = Some(value.clone())),
                "status" => (value == Status::RemovedByReceiver.name()).then(|| asked.removed = true),
                // No location was ever reserved here.
                "loc" => None,
                _ => Some(()),
            };
            taken.ok_or_else(|| invalid(format!("O campo cob.{name} não respeita o schema.")))?;
        }
        Ok(asked)
    }

    fn take_calendar(&mut self, value: &Value) -> Option<()> {
        let fields = value.as_object()?;
        if let Some(expires) = fields.get("expiracao") {
            let expires = expires.as_i64().filter(|seconds| (1..=i64::from(i32::MAX)).contains(seconds))?;
            self.expires_s = Some(expires);
        }
        Some(())
    }

    fn take_amount(&mut self, value: &Value) -> Option<()> {
        let fields = value.as_object()?;
        if fields.contains_key("retirada") {
            return None;
        }
        if let Some(original) = fields.get("original") {
            self.amount_cents = Some(rules::cents(original.as_str()?).filter(|cents| *cents > 0)?);
        }
        if let Some(change) = fields.get("modalidadeAlteracao") {
            self.change_by_payer = Some(change.as_i64().filter(|change| (0..=1).contains(change))?);
        }
        Some(())
    }

    /// Changes the charge, and increments its revision if anything differs.
    fn apply(self, charge: &mut Charge) {
        let before = charge.clone();
        charge.expires_s = self.expires_s.unwrap_or(charge.expires_s);
        charge.amount_cents = self.amount_cents.unwrap_or(charge.amount_cents);
        charge.key = self.key.unwrap_or_else(|| charge.key.clone());
        charge.debtor = self.debtor.or_else(|| charge.debtor.take());
        charge.change_by_payer = self.change_by_payer.or(charge.change_by_payer);
        charge.question = self.question.or_else(|| charge.question.take());
        charge.further = self.further.or_else(|| charge.further.take());
        if *charge != before {
            charge.revision = charge.revision.saturating_add(1);
            charge.earlier.push(Charge { earlier: Vec::new(), ..before });
        }
    }
}

fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(400, INVALID, detail)
}

fn not_found() -> Problem {
    Problem::new(404, "CobNaoEncontrado", "Cobrança não encontrada para o txid informado.")
}

pub(super) fn json_answer(status: u16, body: &Value) -> Response {
    answer(status, "application/json", body)
}
