//! What kind of bank it is, and what it does by chance.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::oauth::{Client, TokenForm};

const SCOPES: &str = "cob.read cob.write cobv.read cobv.write pix.read pix.write webhook.read webhook.write";

/// A bank's ways; every field can be changed while it runs ([`Config::changed`]).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Config {
    /// Who may ask for tokens.
    pub client_id: String,
    /// With which secret.
    pub client_secret: String,
    /// How the secret may be shown; empty for any way.
    pub token_forms: Vec<TokenForm>,
    /// How long a token is good for.
    pub token_ttl_s: i64,
    /// Tokens that are good for ever, as a portal gives them for a sandbox.
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
    /// What the code is.
    pub code: Code,
    /// The status of a created charge: 201, or 200 with some.
    pub created_status: u16,
    /// Whether answers tell a txid of the bank's own, as one sandbox does.
    pub other_txid: bool,
    /// Whether `GET /cob` and `GET /pix` are there.
    pub lists: bool,
    /// The shape of errors.
    pub errors: ErrorShape,
    /// How long a refund is `EM_PROCESSAMENTO`.
    pub refund_after_ms: i64,
    /// What becomes of it.
    pub refund_outcome: RefundOutcome,
    /// Of a thousand refunds so many are not done, whatever `refund_outcome` says.
    pub refunds_not_done_permille: u64,
    /// Of a thousand charges so many are paid before the call that creates them is answered.
    pub paid_before_answer_permille: u64,
    /// How much longer the answer to such a call takes.
    pub paid_before_answer_ms: u64,
    /// How callbacks look and what becomes of them.
    pub callbacks: Callbacks,
    /// The same seed throws the same dice.
    pub seed: u64,
}

/// How callbacks look and what becomes of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct Callbacks {
    /// The shape of the body.
    pub shape: Shape,
    /// Whether `/pix` is put behind an address that does not end in `ignorar=`.
    pub suffix: bool,
    /// How long after the event they go out.
    pub after_ms: i64,
    /// Of a thousand so many never go out.
    pub lost_permille: u64,
    /// Of a thousand so many go out twice.
    pub repeated_permille: u64,
    /// Of a thousand created charges so many are called paid, although nobody paid them.
    pub forged_permille: u64,
}

/// The shape of a callback's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shape {
    /// `{"pix": […]}`, the standard.
    Object,
    /// `[…]`, as Inter does it.
    Array,
}

/// What the code of a charge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Code {
    /// The charge's BR Code.
    Good,
    /// There is only a location.
    Absent,
    /// One whose check digits are wrong.
    BadCrc,
    /// That of another charge.
    OtherLocation,
    /// Neither code nor location.
    Nothing,
}

/// What becomes of a refund.
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
    /// Client that gets tokens.
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

    /// This configuration with the fields that `changes` has; `callbacks` too is changed field by field.
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
