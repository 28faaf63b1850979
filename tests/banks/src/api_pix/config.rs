//! Configuration of a bank, including its random behaviour.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::oauth::{Client, TokenForm};

const SCOPES: &str = "cob.read cob.write cobv.read cobv.write pix.read pix.write webhook.read webhook.write";

/// Configuration of a bank; every field can be changed while it runs ([`Config::changed`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Id of the client that may request tokens.
    pub client_id: String,
    /// Secret of that client.
    pub client_secret: String,
    /// Forms in which the secret may be sent; empty for any.
    pub token_forms: Vec<TokenForm>,
    /// Lifetime of a token, in seconds.
    pub token_ttl_s: i64,
    /// Tokens that never expire, such as those from a portal for a sandbox.
    pub fixed_tokens: Vec<String>,
    /// The receiver's Pix keys; empty for any.
    pub keys: Vec<String>,
    /// The receiver's CNPJ.
    pub cnpj: String,
    /// The receiver's name in the BR Code.
    pub name: String,
    /// The receiver's city in the BR Code.
    pub city: String,
    /// Host and path of locations, without scheme and the token at the end.
    pub location: String,
    /// The bank's number in the settlement system.
    pub ispb: String,
    /// The name of the field with the code: `pixCopiaECola`, `brcode`, `textoImagemQRcode`.
    pub code_field: String,
    /// Kind of code that a charge gets.
    pub code: Code,
    /// The status of a created charge: 201, or 200 with some.
    pub created_status: u16,
    /// True if answers contain a txid of the bank's own, as in one sandbox.
    pub other_txid: bool,
    /// True if `GET /cob` and `GET /pix` exist.
    pub lists: bool,
    /// The shape of errors.
    pub errors: ErrorShape,
    /// Time for which a refund is `EM_PROCESSAMENTO`, in milliseconds.
    pub refund_after_ms: i64,
    /// Outcome of a refund.
    pub refund_outcome: RefundOutcome,
    /// Number of refunds in a thousand that fail, whatever `refund_outcome` says.
    pub refunds_not_done_permille: u64,
    /// Number of charges in a thousand that are paid before the call that creates them is answered.
    pub paid_before_answer_permille: u64,
    /// Additional delay of the answer to such a call, in milliseconds.
    pub paid_before_answer_ms: u64,
    /// Form of callbacks, and their faults.
    pub callbacks: Callbacks,
    /// Seed of all random behaviour.
    pub seed: u64,
}

/// Form of callbacks, and their faults.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Callbacks {
    /// The shape of the body.
    pub shape: Shape,
    /// True if `/pix` is appended to an address that does not end in `ignorar=`.
    pub suffix: bool,
    /// Delay of a callback after its event, in milliseconds.
    pub after_ms: i64,
    /// Number in a thousand that are never sent.
    pub lost_permille: u64,
    /// Number in a thousand that are sent twice.
    pub repeated_permille: u64,
    /// Number of created charges in a thousand that are reported as paid, although nobody paid them.
    pub forged_permille: u64,
}

/// The shape of a callback's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `{"pix": […]}`, the standard.
    Object,
    /// `[…]`, as at Inter.
    Array,
}

/// Code of a charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The charge's BR Code.
    Good,
    /// There is only a location.
    Absent,
    /// A code with wrong check digits.
    BadCrc,
    /// Code of another charge.
    OtherLocation,
    /// Neither code nor location.
    Nothing,
}

/// Outcome of a refund.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RefundOutcome {
    /// `DEVOLVIDO`.
    Done,
    /// `NAO_REALIZADO`.
    NotDone,
    /// It stays `EM_PROCESSAMENTO`.
    Never,
}

/// The shape of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorShape {
    /// RFC 7807, the standard.
    Problem,
    /// `{"erros": [{codigo, mensagem, …}]}`, Banco do Brasil.
    Erros,
    /// `{nome, mensagem}`, Efí.
    Nome,
    /// `{"error": {title, detail, violacoes}}`, Itaú.
    Wrapped,
    /// `{"fault": {faultstring, detail: {errorcode}}}`, Santander's gateway.
    Fault,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            client_id: "id".to_owned(),
            client_secret: "secret".to_owned(),
            token_forms: Vec::new(),
            token_ttl_s: 3600,
            fixed_tokens: Vec::new(),
            keys: Vec::new(),
            cnpj: "11222333000181".to_owned(),
            name: "LOJA EXEMPLO".to_owned(),
            city: "SAO PAULO".to_owned(),
            location: "pix.bank.example/qr/v2".to_owned(),
            ispb: "12345678".to_owned(),
            code_field: "pixCopiaECola".to_owned(),
            code: Code::Good,
            created_status: 201,
            other_txid: false,
            lists: true,
            errors: ErrorShape::Problem,
            refund_after_ms: 2000,
            refund_outcome: RefundOutcome::Done,
            refunds_not_done_permille: 0,
            paid_before_answer_permille: 0,
            paid_before_answer_ms: 300,
            callbacks: Callbacks::default(),
            seed: 1,
        }
    }
}

impl Default for Callbacks {
    fn default() -> Self {
        Self {
            shape: Shape::Object,
            suffix: true,
            after_ms: 0,
            lost_permille: 0,
            repeated_permille: 0,
            forged_permille: 0,
        }
    }
}

impl Config {
    /// Returns the client that gets tokens.
    pub(super) fn client(&self) -> Client<'_> {
        Client {
            id: &self.client_id,
            secret: &self.client_secret,
            forms: &self.token_forms,
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
