//! Configuration of the bank: its customer, delays, faults and spellings.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::oauth::{Client, TokenForm};

const SCOPES: &str = "boletos_inclusao boletos_consulta boletos_alteracao boletos_webhook";
const FORMS: [TokenForm; 1] = [TokenForm::FormNoSecret];

/// A bank with one customer; every field can be changed while it runs ([`Config::changed`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Client that may request tokens; also the value of the header `client_id`.
    pub client_id: String,
    /// Lifetime of a token.
    pub token_ttl_s: i64,
    /// Tokens that never expire, such as those from the portal for the sandbox.
    pub fixed_tokens: Vec<String>,
    /// `numeroCliente`.
    pub customer: u64,
    /// `numeroContaCorrente`.
    pub account: u64,
    /// `codigoModalidade`.
    pub portfolio: u64,
    /// First and last number that the customer may choose.
    pub numbers: (u64, u64),
    /// True if each number of the range is followed by a check digit, as `faixas-nosso-numero` says.
    pub numbers_have_digit: bool,
    /// Cooperative (`numeroAgencia`), which is part of the check digit's sum.
    pub cooperative: u64,
    /// Host and path of the locations of codes, without scheme and the token at the end.
    pub location: String,
    /// Code of a hybrid boleto.
    pub pix_code: PixCode,
    /// Bar code.
    pub bar_code: BarCode,
    /// Place of the boleto in an answer.
    pub shape: Shape,
    /// Status of a successful registration: 200; an SDK saw 404.
    pub registered_status: u16,
    /// The status of a refused second registration.
    pub duplicate_status: u16,
    /// Text of a refused second registration.
    pub duplicate_text: String,
    /// True if a second title with the same `seuNumero` is refused too.
    pub refuses_same_your_number: bool,
    /// True if `tipoHistorico` is a number, as in the portal's example; otherwise it is text, as in its model.
    pub history_as_number: bool,
    /// True if the settlement line in the history has no amount.
    pub history_without_amount: bool,
    /// Time for which a new title is not found, in milliseconds.
    pub read_lag_ms: i64,
    /// The bank's fee for a settlement.
    pub fee_cents: u64,
    /// Time from an accepted payment to the settlement of its title.
    pub settles_after_ms: i64,
    /// Number of registered titles in a thousand that are paid before the registration is answered.
    pub paid_before_answer_permille: u64,
    /// Time for which an ordered list of movements is not ready.
    pub movements_after_ms: i64,
    /// The records of one file of such a list.
    pub records_in_file: usize,
    /// Form of callbacks, and their faults.
    pub callbacks: Callbacks,
    /// Seed of all random behaviour.
    pub seed: u64,
}

/// Form of callbacks, and their faults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Callbacks {
    /// Time from the event to the callback.
    pub after_ms: i64,
    /// Number in a thousand that are never sent.
    pub lost_permille: u64,
    /// Number in a thousand that are sent twice.
    pub repeated_permille: u64,
    /// Number of registered titles in a thousand that are reported as paid, although nobody paid them.
    pub forged_permille: u64,
    /// `baixaRealizadaEmContigencia`, as some documents spell it.
    pub misspelt: bool,
    /// The first address fails its validation, which is not sent.
    pub first_validation_fails: bool,
}

/// Code of a hybrid boleto.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PixCode {
    /// The BR Code of a charge with a due date.
    Good,
    /// There is none, and the answer states the reason.
    Rejected,
    /// A code with wrong check digits.
    BadCrc,
}

/// Bar code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarCode {
    /// The title's.
    Good,
    /// A code with a wrong check digit.
    WrongDigit,
    /// A code with another amount.
    OtherAmount,
    /// A code with another due date.
    OtherDay,
}

/// Place of the boleto in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `{"resultado": {…}}`.
    Object,
    /// `{"resultado": [{…}]}`.
    Array,
    /// `{"resultado": {"boleto": {…}}}`.
    Boleto,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            client_id: "id".to_owned(),
            token_ttl_s: 300,
            fixed_tokens: Vec::new(),
            customer: 25_546_454,
            account: 123_456,
            portfolio: 1,
            numbers: (1, 9_999_999),
            numbers_have_digit: false,
            cooperative: 4_027,
            location: "pix.sicoob.example/qr/payload/v2/cobv".to_owned(),
            pix_code: PixCode::Good,
            bar_code: BarCode::Good,
            shape: Shape::Object,
            registered_status: 200,
            duplicate_status: 400,
            duplicate_text: "Já existe título cadastrado com o nosso número informado.".to_owned(),
            refuses_same_your_number: false,
            history_as_number: true,
            history_without_amount: false,
            read_lag_ms: 0,
            fee_cents: 75,
            settles_after_ms: 0,
            paid_before_answer_permille: 0,
            movements_after_ms: 0,
            records_in_file: 500_000,
            callbacks: Callbacks::default(),
            seed: 1,
        }
    }
}

impl Config {
    /// Returns a number of the range in the bank's form: followed by its check digit, if numbers have one.
    pub(super) fn written(&self, number: u64) -> u64 {
        if !self.numbers_have_digit {
            return number;
        }
        let summed = format!("{:04}{:010}{number:07}", self.cooperative, self.customer);
        let weights = [3, 1, 9, 7].into_iter().cycle();
        let digits = summed.bytes().map(|digit| u64::from(digit.saturating_sub(b'0')));
        let sum: u64 = digits.zip(weights).map(|(digit, weight): (u64, u64)| digit * weight).sum();
        let digit = (11 - sum % 11) % 11 % 10;
        number * 10 + digit
    }

    /// Returns the client that gets tokens: its certificate is the secret.
    pub(super) fn client(&self) -> Client<'_> {
        Client {
            id: &self.client_id,
            secret: "",
            forms: &FORMS,
            token_ttl_s: self.token_ttl_s,
            fixed_tokens: &self.fixed_tokens,
            scopes: SCOPES,
            seed: self.seed,
        }
    }

    /// Returns this configuration with the fields of `changes`; `callbacks` is also changed field by field.
    pub fn changed(&self, changes: &Value) -> Result<Self, serde_json::Error> {
        let mut all = serde_json::to_value(self)?;
        merge(&mut all, changes);
        serde_json::from_value(all)
    }
}

fn merge(into: &mut Value, changes: &Value) {
    match (into, changes) {
        (Value::Object(into), Value::Object(changes)) => {
            for (name, change) in changes {
                merge(into.entry(name).or_insert(Value::Null), change);
            }
        }
        (into, change) => *into = change.clone(),
    }
}
