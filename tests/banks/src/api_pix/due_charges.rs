//! Charges with a due date: `/cobv`. The amount owed on a day is computed here independently.

use chrono::{DateTime, Datelike, Days, NaiveDate, NaiveTime, TimeDelta};
use serde_json::{Map, Value, json};

use super::PixBank;
use super::books::{Charge, Status};
use super::charges::json_answer;
use super::problem::Problem;
use super::rules;
use crate::Response;

const INVALID: &str = "CobVOperacaoInvalida";

/// Calendar days after the due date for which a charge can be paid that states none.
const DAYS: u64 = 30;

/// Hours by which Brasília is behind UTC.
const BEHIND_H: i64 = 3;

/// Requested dates and sums of a charge with a due date.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Due {
    date: NaiveDate,
    days: u64,
    fine: Option<Part>,
    interest: Option<Part>,
    discounts: Vec<(NaiveDate, Part)>,
}

/// `modalidade`, with `valorPerc` in hundredths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    kind: i64,
    hundredths: i64,
}

impl PixBank {
    /// Handles `PUT /cobv/{txid}`: creates the charge, or changes it while it is active.
    pub(super) fn put_due_charge(
        &mut self,
        txid: &str,
        body: &Value,
        now_ms: i64,
    ) -> Result<Response, Problem> {
        if !rules::is_txid(txid) {
            return Err(invalid("O campo cobv.txid não respeita o schema."));
        }
        let asked = self.read_due(body, now_ms)?;
        match self.books.charges.get(txid) {
            Some(charge) if charge.due.is_none() => return Err(invalid("O txid é de uma cob.")),
            Some(charge) if charge.status != Status::Active => {
                return Err(invalid("A cobrança já existe e não está no status ATIVA."));
            }
            Some(known) => {
                let revision = if known.due == asked.due && known.amount_cents == asked.amount_cents {
                    known.revision
                } else {
                    known.revision.saturating_add(1)
                };
                let number = known.number;
                let created_ms = known.created_ms;
                let location = known.location.clone();
                let charge = Charge { number, created_ms, location, revision, ..asked };
                self.books.charges.insert(txid.to_owned(), charge);
            }
            None => {
                let token = format!("{:032x}", self.draw_id());
                let location = format!("{}/cobv/{token}", self.config.location);
                let number = self.books.next_number();
                let charge = Charge { number, created_ms: now_ms, location, ..asked };
                self.books.charges.insert(txid.to_owned(), charge);
            }
        }
        let charge = self.books.charges.get(txid).ok_or_else(not_found)?;
        Ok(json_answer(self.config.created_status, &self.tell_charge(txid, charge, false)))
    }

    /// Handles `PATCH /cobv/{txid}`: removes an active charge. This bank supports no other change.
    pub(super) fn patch_due_charge(
        &mut self,
        txid: &str,
        body: &Value,
        now_ms: i64,
    ) -> Result<Response, Problem> {
        let charge = self.books.charges.get_mut(txid).filter(|charge| charge.due.is_some());
        let charge = charge.ok_or_else(not_found)?;
        if charge.status != Status::Active {
            return Err(invalid("A cobrança não está ATIVA."));
        }
        let is_removal = body.as_object().is_some_and(|fields| fields.len() == 1)
            && body.get("status").is_some_and(|status| status == Status::RemovedByReceiver.name());
        if is_removal {
            charge.status = Status::RemovedByReceiver;
            charge.revision = charge.revision.saturating_add(1);
            let charge = self.books.charges.get(txid).ok_or_else(not_found)?;
            return Ok(json_answer(200, &self.tell_charge(txid, charge, false)));
        }
        self.put_due_charge(txid, body, now_ms)
    }

    /// Handles `GET /cobv/{txid}`.
    pub(super) fn get_due_charge(&self, txid: &str) -> Result<Response, Problem> {
        let charge = self.books.charges.get(txid).filter(|charge| charge.due.is_some());
        let charge = charge.ok_or_else(not_found)?;
        Ok(json_answer(200, &self.tell_charge(txid, charge, true)))
    }

    /// Has a payer pay on a day, at noon in Brasília: the amount owed then, or this amount.
    pub fn pay_on(
        &mut self,
        txid: &str,
        on: &str,
        cents: Option<i64>,
        now_ms: i64,
    ) -> Result<String, String> {
        let on: NaiveDate = on.parse().map_err(|_| "on is no date")?;
        let charge = self.books.charges.get(txid).ok_or("no such charge")?;
        let due = charge.due.as_ref().ok_or("it has no due date")?;
        let owed = cents.unwrap_or_else(|| due.owed(charge.amount_cents, on));
        let id = self.receive_for(txid, owed, millis(on, 12))?;
        // The day may be ahead of the clock, and a test does not wait for it.
        self.call_back(&id, now_ms);
        Ok(id)
    }

    fn read_due(&self, body: &Value, now_ms: i64) -> Result<Charge, Problem> {
        let calendar = body.get("calendario").ok_or_else(|| invalid("calendario é obrigatório."))?;
        let date = day(calendar.get("dataDeVencimento")).ok_or_else(|| wrong("calendario"))?;
        if date < today(now_ms) {
            return Err(invalid("O campo cobv.calendario.dataDeVencimento é anterior à data de criação."));
        }
        let days = match calendar.get("validadeAposVencimento") {
            None => DAYS,
            Some(days) => days.as_u64().ok_or_else(|| wrong("calendario"))?,
        };
        let debtor = body.get("devedor").and_then(debtor).ok_or_else(|| wrong("devedor"))?;
        let value = body.get("valor").ok_or_else(|| invalid("valor é obrigatório."))?;
        let amount = value.get("original").and_then(Value::as_str).and_then(rules::cents);
        let amount_cents = amount.filter(|cents| *cents > 0).ok_or_else(|| wrong("valor.original"))?;
        let part = |name: &str, kinds: std::ops::RangeInclusive<i64>| match value.get(name) {
            None => Ok(None),
            Some(given) => Part::read(given, &kinds).map(Some).ok_or_else(|| wrong(&format!("valor.{name}"))),
        };
        // This bank does not offer interest on business days (5 to 8).
        let fine = part("multa", 1..=2)?;
        let interest = part("juros", 1..=4)?;
        let discounts = match value.get("desconto") {
            None => Vec::new(),
            Some(given) => discounts(given, date, amount_cents).ok_or_else(|| wrong("valor.desconto"))?,
        };
        let key = body.get("chave").and_then(Value::as_str).ok_or_else(|| invalid("chave é obrigatória."))?;
        if !self.config.keys.is_empty() && !self.config.keys.iter().any(|known| known == key) {
            return Err(invalid("O campo cobv.chave corresponde a uma conta que não é deste usuário."));
        }
        let question = body.get("solicitacaoPagador").map(|text| {
            text.as_str().filter(|text| rules::is_text(text, 140)).ok_or_else(|| wrong("solicitacaoPagador"))
        });
        Ok(Charge {
            debtor: Some(debtor),
            amount_cents,
            key: key.to_owned(),
            question: question.transpose()?.map(str::to_owned),
            due: Some(Due { date, days, fine, interest, discounts }),
            ..Charge::default()
        })
    }
}

impl Due {
    /// Returns the first moment at which it can no longer be paid.
    pub(super) fn expires_ms(&self) -> i64 {
        let last = moved(moved(self.date).checked_add_days(Days::new(self.days)).unwrap_or(self.date));
        millis(last, 24)
    }

    fn owed(&self, amount: i64, on: NaiveDate) -> i64 {
        let last = moved(self.date);
        if on <= last {
            let until = |day: NaiveDate| if day == self.date { last } else { day };
            let discount = self.discounts.iter().find(|(day, _)| on <= until(*day));
            return amount - discount.map_or(0, |(_, part)| part.of(amount, 1));
        }
        let late = (on - last).num_days();
        let fine = self.fine.map_or(0, |part| part.of(amount, 1));
        amount + fine + self.interest.map_or(0, |part| part.of_interest(amount, late))
    }

    /// Writes the dates and sums into an answer, replacing those of an immediate charge.
    pub(super) fn tell(&self, fields: &mut Map<String, Value>, created: &str) {
        let calendar = json!({
            "criacao": created, "dataDeVencimento": self.date.to_string(), "validadeAposVencimento": self.days,
        });
        fields.insert("calendario".to_owned(), calendar);
        let receiver = json!({"cnpj": "11222333000181", "nome": "LOJA EXEMPLO LTDA"});
        fields.insert("recebedor".to_owned(), receiver);
        let Some(value) = fields.get_mut("valor").and_then(Value::as_object_mut) else { return };
        value.extend(self.fine.map(|part| ("multa".to_owned(), part.tell())));
        value.extend(self.interest.map(|part| ("juros".to_owned(), part.tell())));
        if let Some((_, first)) = self.discounts.first() {
            let entries = self.discounts.iter();
            let entries =
                entries.map(|(day, part)| json!({"data": day.to_string(), "valorPerc": part.text()}));
            let entries: Vec<Value> = entries.collect();
            let told = json!({"modalidade": first.kind, "descontoDataFixa": entries});
            value.insert("desconto".to_owned(), told);
        }
    }
}

impl Part {
    /// Reads a part. `modalidade` is an integer in the document's schema, and a text in its examples: both are
    /// accepted.
    fn read(value: &Value, kinds: &std::ops::RangeInclusive<i64>) -> Option<Self> {
        let kind = value.get("modalidade")?;
        let kind = kind.as_i64().or_else(|| kind.as_str()?.parse().ok())?;
        let hundredths = rules::cents(value.get("valorPerc")?.as_str()?)?;
        (kinds.contains(&kind) && hundredths > 0).then_some(Self { kind, hundredths })
    }

    /// Returns the amount of a part: 1 is an amount, 2 a percentage.
    fn of(self, amount: i64, times: i64) -> i64 {
        match self.kind {
            1 => self.hundredths * times,
            _ => (amount * self.hundredths * times + 5_000) / 10_000,
        }
    }

    /// Returns the interest: 1 is an amount a day; 2, 3 and 4 are percentages of a day, a month and a year.
    fn of_interest(self, amount: i64, days: i64) -> i64 {
        let span = match self.kind {
            1 => return self.hundredths * days,
            2 => 1,
            3 => 30,
            _ => 365,
        };
        let divisor = 10_000 * span;
        (amount * self.hundredths * days + divisor / 2) / divisor
    }

    fn text(self) -> String {
        rules::amount(self.hundredths)
    }

    fn tell(self) -> Value {
        json!({"modalidade": self.kind, "valorPerc": self.text()})
    }
}

fn discounts(given: &Value, due: NaiveDate, amount: i64) -> Option<Vec<(NaiveDate, Part)>> {
    let kind = given.get("modalidade")?;
    let kind = kind.as_i64().or_else(|| kind.as_str()?.parse().ok()).filter(|kind| (1..=2).contains(kind))?;
    let entries = given.get("descontoDataFixa")?.as_array()?;
    let read = |entry: &Value| {
        let until = day(entry.get("data")).filter(|day| *day <= due)?;
        let hundredths = rules::cents(entry.get("valorPerc")?.as_str()?)?;
        let part = Part { kind, hundredths };
        (part.of(amount, 1) < amount).then_some((until, part))
    };
    let is_allowed = given.get("valorPerc").is_none() && (1..=3).contains(&entries.len());
    is_allowed.then(|| entries.iter().map(read).collect()).flatten()
}

/// Reads a debtor with a complete address, which this bank requires.
fn debtor(value: &Value) -> Option<Value> {
    let mut told = rules::debtor(value)?;
    let text = |name: &str, longest| {
        value.get(name)?.as_str().filter(|text| !text.is_empty() && rules::is_text(text, longest))
    };
    let street = text("logradouro", 200)?;
    let city = text("cidade", 200)?;
    let state = text("uf", 2)?;
    let zip = text("cep", 8)?;
    let is_whole = state.len() == 2 && zip.len() == 8 && zip.bytes().all(|byte| byte.is_ascii_digit());
    let fields = told.as_object_mut()?;
    for (name, text) in [("logradouro", street), ("cidade", city), ("uf", state), ("cep", zip)] {
        fields.insert(name.to_owned(), json!(text));
    }
    is_whole.then_some(told)
}

fn day(value: Option<&Value>) -> Option<NaiveDate> {
    value?.as_str().filter(|text| text.len() == 10)?.parse().ok()
}

/// Returns this bank's next business day. Holidays count as business days.
fn moved(day: NaiveDate) -> NaiveDate {
    let after_friday = u64::from(day.weekday().num_days_from_monday().saturating_sub(4));
    let rest = if after_friday == 0 { 0 } else { 3 - after_friday };
    day.checked_add_days(Days::new(rest)).unwrap_or(day)
}

fn today(now_ms: i64) -> NaiveDate {
    let now = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
    (now - TimeDelta::hours(BEHIND_H)).date_naive()
}

/// Returns the time this many hours after a day began in Brasília.
fn millis(day: NaiveDate, hours: i64) -> i64 {
    let began = day.and_time(NaiveTime::MIN) + TimeDelta::hours(BEHIND_H + hours);
    began.and_utc().timestamp_millis()
}

fn wrong(field: &str) -> Problem {
    invalid(&format!("O campo cobv.{field} não respeita o schema."))
}

fn invalid(detail: &str) -> Problem {
    Problem::new(400, INVALID, detail)
}

fn not_found() -> Problem {
    Problem::new(404, "CobVNaoEncontrada", "Cobrança com vencimento não encontrada para o txid informado.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    #[test]
    fn a_weekend_moves_to_monday() {
        for (day, next) in
            [("2026-11-27", "2026-11-27"), ("2026-11-28", "2026-11-30"), ("2026-11-29", "2026-11-30")]
        {
            assert_eq!(moved(date(day)), date(next));
        }
    }

    #[test]
    fn what_is_owed_follows_the_day() {
        let part = |kind, hundredths| Some(Part { kind, hundredths });
        let due = Due {
            date: date("2026-11-27"),
            days: 30,
            fine: part(2, 200),
            interest: part(3, 100),
            discounts: vec![(date("2026-11-20"), Part { kind: 1, hundredths: 500 })],
        };
        for (day, owed) in
            [("2026-11-20", 9_500), ("2026-11-27", 10_000), ("2026-11-28", 10_203), ("2026-12-27", 10_300)]
        {
            assert_eq!(due.owed(10_000, date(day)), owed, "{day}");
        }
        assert_eq!(due.expires_ms(), millis(date("2026-12-28"), 24));
    }
}
