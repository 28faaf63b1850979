//! Actions of payers, and of the bank itself.

use chrono::NaiveDate;
use serde_json::{Map, Value, json};

use super::SicoobBank;
use super::books::{Line, Payment, PaymentState, Status, Title};
use super::form::Form;
use super::money::reais;
use super::titles::{FEE, OTHER, SETTLEMENT};
use crate::cielo::local_time;

/// Delay of the answer to a registration whose title is paid before it.
const PAID_BEFORE_ANSWER_MS: u64 = 300;

/// A payment that a payer makes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Paying {
    /// Day of the payment; today if absent.
    pub on: Option<NaiveDate>,
    /// Paid amount; the amount owed on that day if absent.
    pub cents: Option<u64>,
    /// True if it is paid with the code of the hybrid boleto.
    pub by_pix: bool,
}

impl SicoobBank {
    /// Has a payer pay: the payer's bank reports it at once, the money comes later. Returns the payment's id.
    ///
    /// A title that was paid or withdrawn is refused: use [`SicoobBank::pay_anyway`].
    pub fn pay(&mut self, number: u64, paying: Paying, now_ms: i64) -> Result<u64, String> {
        self.advance(now_ms);
        let title = self.books.titles.get(&number).ok_or("no such title")?;
        if title.status != Status::Open || title.payments.iter().any(is_valid) {
            return Err(format!("the title is {}", title.status.name()));
        }
        let on = paying.on.unwrap_or_else(|| local_time::day(now_ms));
        if title.payable_until.is_some_and(|until| on > until) {
            return Err("the title can be paid no more".to_owned());
        }
        self.pay_anyway(number, paying, now_ms)
    }

    /// Receives a payment that was under way while the title was paid otherwise or withdrawn, or that is late.
    pub fn pay_anyway(&mut self, number: u64, paying: Paying, now_ms: i64) -> Result<u64, String> {
        self.advance(now_ms);
        let id = self.books.next_number();
        let title = self.books.titles.get_mut(&number).ok_or("no such title")?;
        if paying.by_pix && title.pix_code.is_none() {
            return Err("the title has no code".to_owned());
        }
        let on = paying.on.unwrap_or_else(|| local_time::day(now_ms));
        let cents = paying.cents.unwrap_or_else(|| title.owed_cents(on));
        title.payments.push(Payment {
            id,
            on,
            cents,
            by_pix: paying.by_pix,
            accepted_ms: now_ms,
            state: PaymentState::Accepted,
        });
        self.call_back(number, id, None, now_ms);
        self.advance(now_ms);
        Ok(id)
    }

    /// Has the payer's bank take back the newest unsettled payment, for this motive.
    pub fn cancel_payment(&mut self, number: u64, motive: u64, now_ms: i64) -> Result<(), String> {
        self.advance(now_ms);
        let title = self.books.titles.get_mut(&number).ok_or("no such title")?;
        let payments = title.payments.iter_mut().rev();
        let mut accepted = payments.filter(|payment| payment.state == PaymentState::Accepted);
        let payment = accepted.next().ok_or("nothing can be taken back")?;
        payment.state = PaymentState::Cancelled;
        let id = payment.id;
        self.call_back(number, id, Some(motive), now_ms);
        Ok(())
    }

    /// Withdraws the title at the bank's desk, or by the bank itself after its last day.
    pub fn write_off_at_desk(&mut self, number: u64, now_ms: i64) -> Result<(), String> {
        self.advance(now_ms);
        let title = self.books.titles.get_mut(&number).ok_or("no such title")?;
        if title.status != Status::Open {
            return Err(format!("the title is {}", title.status.name()));
        }
        title.status = Status::WrittenOff;
        let text = "BAIXA - COMANDADA PELA COOPERATIVA".to_owned();
        title.history.push(Line { at_ms: now_ms, kind: OTHER, text });
        Ok(())
    }

    /// Charges a fee for a title.
    pub fn charge_fee(&mut self, number: u64, cents: u64, now_ms: i64) -> Result<(), String> {
        let title = self.books.titles.get_mut(&number).ok_or("no such title")?;
        let text = format!("TARIFA - PERMANÊNCIA DE TÍTULO - R$ {}", reais(cents));
        title.history.push(Line { at_ms: now_ms, kind: FEE, text });
        Ok(())
    }

    /// Registers a title with this number for another program of the customer.
    pub fn take_number(&mut self, number: u64, now_ms: i64) -> Result<(), String> {
        let body = foreign(&self.config, number, local_time::day(now_ms));
        let form = Form::read(&body, &self.config).map_err(|problem| format!("{problem:?}"))?;
        self.register_form(form, number, now_ms);
        Ok(())
    }

    pub(super) fn pay_by_chance(&mut self, number: u64, now_ms: i64) {
        let is_struck = self.chance(self.config.paid_before_answer_permille);
        if is_struck && self.pay(number, Paying::default(), now_ms).is_ok() {
            self.answer_later_ms = PAID_BEFORE_ANSWER_MS;
        }
    }

    pub(super) fn forge_by_chance(&mut self, number: u64, now_ms: i64) {
        if self.chance(self.config.callbacks.forged_permille) {
            // The title exists: it was registered just now.
            self.forge(number, now_ms).unwrap_or_default();
        }
    }

    /// Processes everything that is due: accepted payments settle.
    pub(super) fn advance(&mut self, now_ms: i64) {
        let wait_ms = self.config.settles_after_ms;
        let fee = self.config.fee_cents;
        let without_amount = self.config.history_without_amount;
        for title in self.books.titles.values_mut() {
            settle(title, now_ms, wait_ms, fee, without_amount);
        }
    }

    /// Executes a command; see [`SicoobBank`].
    pub(super) fn command(&mut self, command: &Value, now_ms: i64) -> Result<Value, String> {
        let text = |name: &str| command.get(name).and_then(Value::as_str);
        let integer = |name: &str| command.get(name).and_then(Value::as_u64);
        let number = || -> Result<u64, String> {
            // A server's control path names the value after the command `txid`.
            let named = text("txid").and_then(|text| self.number_of(text));
            named.or_else(|| integer("number")).ok_or_else(|| "no such title".to_owned())
        };
        let ok = json!({"ok": true});
        match text("do").unwrap_or_default() {
            "pay" => self.pay(number()?, paying(command)?, now_ms).map(|id| json!({"payment": id})),
            "pay_anyway" => {
                self.pay_anyway(number()?, paying(command)?, now_ms).map(|id| json!({"payment": id}))
            }
            "cancel_payment" => {
                let motive = integer("motive").unwrap_or(13);
                self.cancel_payment(number()?, motive, now_ms).map(|()| ok)
            }
            "write_off" => self.write_off_at_desk(number()?, now_ms).map(|()| ok),
            "fee" => self.charge_fee(number()?, integer("cents").unwrap_or(75), now_ms).map(|()| ok),
            "take_number" => {
                self.take_number(integer("number").ok_or("number is missing")?, now_ms).map(|()| ok)
            }
            "forge" => self.forge(number()?, now_ms).map(|()| ok),
            "unlist" => {
                let number = number()?;
                self.unlisted.insert(number);
                Ok(ok)
            }
            "relist" => {
                let number = number()?;
                self.unlisted.remove(&number);
                Ok(ok)
            }
            "revoke_tokens" => {
                self.tokens.revoke();
                Ok(ok)
            }
            "set" => {
                let changes = command.get("config").ok_or("config is missing")?;
                self.config = self.config.changed(changes).map_err(|error| error.to_string())?;
                Ok(ok)
            }
            "faults" => Ok(self.planned.control(command)),
            "calls" => Ok(json!(self.calls)),
            "books" => {
                self.advance(now_ms);
                let accounts = self.books.accounts();
                let told = accounts.iter().map(|(number, account)| (number.to_string(), account.tell()));
                Ok(told.collect::<Map<_, _>>().into())
            }
            other => Err(format!("{other} is not known here")),
        }
    }

    /// Returns the number of the title with this number or this `seuNumero`.
    fn number_of(&self, name: &str) -> Option<u64> {
        let by_your_number = self.books.titles.values().find(|title| title.your_number == name);
        by_your_number.map(|title| title.number).or_else(|| name.parse().ok())
    }
}

fn is_valid(payment: &Payment) -> bool {
    payment.state != PaymentState::Cancelled
}

fn settle(title: &mut Title, now_ms: i64, wait_ms: i64, fee: u64, without_amount: bool) {
    for payment in &mut title.payments {
        let at_ms = payment.accepted_ms.saturating_add(wait_ms);
        if payment.state != PaymentState::Accepted || at_ms > now_ms {
            continue;
        }
        payment.state = PaymentState::Settled { at_ms };
        title.status = Status::Settled;
        let way = if payment.by_pix { "PIX" } else { "COMPENSAÇÃO" };
        let amount = if without_amount { String::new() } else { format!(" - R$ {}", reais(payment.cents)) };
        title.history.push(Line { at_ms, kind: SETTLEMENT, text: format!("LIQUIDAÇÃO - {way}{amount}") });
        let text = format!("TARIFA - LIQUIDAÇÃO - R$ {}", reais(fee));
        title.history.push(Line { at_ms, kind: FEE, text });
    }
}

/// Reads `{"on": "2026-12-01", "cents": 10000, "by": "pix"}`, each field optional.
fn paying(command: &Value) -> Result<Paying, String> {
    let text = |name: &str| command.get(name).and_then(Value::as_str);
    let on = text("on").map(|text| text.parse().map_err(|_| "on is no day".to_owned())).transpose()?;
    let cents = command.get("cents").and_then(Value::as_u64);
    Ok(Paying { on, cents, by_pix: text("by") == Some("pix") })
}

/// Returns the registration of a title that this service does not know.
fn foreign(config: &super::Config, number: u64, today: NaiveDate) -> Value {
    json!({
        "numeroCliente": config.customer, "codigoModalidade": config.portfolio,
        "numeroContaCorrente": config.account, "codigoEspecieDocumento": "DM",
        "dataEmissao": today.to_string(), "dataVencimento": today.to_string(),
        "seuNumero": format!("OUTRO{number}"), "nossoNumero": number,
        "identificacaoEmissaoBoleto": 2, "identificacaoDistribuicaoBoleto": 2,
        "valor": 1, "numeroParcela": 1, "tipoDesconto": 0, "tipoMulta": 0, "tipoJurosMora": 3,
        "codigoCadastrarPIX": 2,
        "pagador": {
            "numeroCpfCnpj": "11144477735", "nome": "Fulano de Tal", "endereco": "Rua Um 10",
            "bairro": "Centro", "cidade": "Sao Paulo", "cep": "01310100", "uf": "SP",
        },
    })
}
