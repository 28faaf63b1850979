//! A charge as the bank describes it (`cob`), read leniently, and the facts that it states about ours.

use std::ops::RangeInclusive;
use std::sync::Arc;

use quita_domain::acquiring::{
    CallFailure, ChargeAnswer, ChargeQuery, Fact, Issued, Reference, RemovedBy, Statement,
};
use quita_domain::identity::TransactionId;
use quita_domain::order::Terms;
use quita_domain::time::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use super::code;
use super::lenient::{expected_money, instant, present, text, whole};
use super::link::Credential;
use super::received::{END_TO_END_ID, Income};

/// Largest difference of a bank's clock from ours to be believed, in milliseconds.
const CLOCK_TOLERANCE_MS: u64 = 10 * 60_000;

/// Seconds for which a charge can be paid: `expiracao` has 32 bits (bacen/pix-api, `openapi.yaml`). Others are unreadable.
const EXPIRY_S: RangeInclusive<u64> = 1..=2_147_483_647;

/// Returns the path of a charge: its txid is its id without hyphens. Charges with a due date are of another kind, and a
/// hint does not say which kind is meant.
pub(super) fn path(query: &ChargeQuery) -> String {
    let kind = if query.terms.due().is_some() { "cobv" } else { "cob" };
    format!("/{kind}/{}", txid(query.id))
}

/// Returns the name of a charge at the bank: 32 hexadecimal digits.
pub(super) fn txid(id: TransactionId) -> String {
    id.uuid().simple().to_string()
}

/// Returns the payment whose charge has this name, if one of ours could have it.
pub(super) fn payment_of(txid: &str) -> Option<TransactionId> {
    (txid.len() == 32).then(|| Uuid::try_parse(txid).ok().map(TransactionId::new)).flatten()
}

/// State of a charge at the bank. Its time may be over while it is still active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CobStatus {
    /// Waits for its payer.
    Active,
    /// Was paid, and takes no more.
    Concluded,
    /// Was withdrawn.
    Removed(RemovedBy),
    /// A value that the document does not define: nothing is concluded from it.
    Unknown,
}

impl CobStatus {
    /// Reads it; the document spells the removals in two ways.
    fn read(answer: &Value) -> Self {
        match text(answer, "status").map(str::to_ascii_uppercase).as_deref() {
            Some("ATIVA") => Self::Active,
            Some("CONCLUIDA") => Self::Concluded,
            Some("REMOVIDA_PELO_USUARIO_RECEBEDOR" | "REMOVIDO_PELO_USUARIO_RECEBEDOR") => {
                Self::Removed(RemovedBy::Receiver)
            }
            Some("REMOVIDA_PELO_PSP" | "REMOVIDO_PELO_PSP") => Self::Removed(RemovedBy::Acquirer),
            Some(_) | None => Self::Unknown,
        }
    }
}

/// A charge of ours, as an answer describes it.
pub(super) struct Cob<'a> {
    pub(super) status: CobStatus,
    pub(super) income: Income,
    answer: &'a Value,
    query: &'a ChargeQuery,
    credential: &'a Credential,
}

impl<'a> Cob<'a> {
    /// Reads an answer about the charge that was asked for.
    ///
    /// # Errors
    /// The answer if it is about another one, or no charge at all.
    pub(super) fn read(
        answer: &'a Value,
        query: &'a ChargeQuery,
        credential: &'a Credential,
    ) -> Result<Self, ChargeAnswer> {
        let names_it = ["txid", "status", "chave"].iter().any(|field| text(answer, field).is_some());
        if !names_it {
            return Err(ChargeAnswer::Failed(CallFailure::Unknown("the answer is about no charge".into())));
        }
        let is_checked = !credential.settings.ignores_txid_of_answer;
        if is_checked && text(answer, "txid").is_some_and(|txid| payment_of(txid) != Some(query.id)) {
            return Err(ChargeAnswer::Mismatched("the answer is about another txid".into()));
        }
        // Money of this charge would go to an account that is not ours, so nothing of the answer counts.
        if text(answer, "chave").is_some_and(|key| !credential.receives(key, query)) {
            return Err(ChargeAnswer::Foreign("another key receives its money".into()));
        }
        if let Some(value) = present(answer, "valor") {
            match expected_money(value, "original", query.amount) {
                Some(amount) if amount == query.amount => {}
                Some(amount) => {
                    let why = format!("the answer is about {amount} in place of {}", query.amount);
                    return Err(ChargeAnswer::Mismatched(why));
                }
                // An absent amount contradicts nothing. An unreadable one might, so it leaves the charge unknown.
                None if present(value, "original").is_none() => {}
                None => {
                    let why = "the amount in the answer can't be read".to_owned();
                    return Err(ChargeAnswer::Failed(CallFailure::Unknown(why)));
                }
            }
        }
        let income = Income::read(answer, query, credential);
        Ok(Self { status: CobStatus::read(answer), income, answer, query, credential })
    }

    /// Returns the facts in the answer. A charge whose answer does not say when it was created began at `begun`.
    pub(super) fn states(&self, begun: Timestamp) -> ChargeAnswer {
        let reference = self.reference();
        let has_payment = self.income.end_to_end_id().is_some();
        let pending = || self.issued(begun).map(|issued| Fact::Pending { issued, news_at: None });
        let (first, last) = match self.status {
            // An unknown member of the enumeration ends nothing: the
            // API Pix document asks clients to ignore such members.
            CobStatus::Active | CobStatus::Unknown => (pending(), None),
            CobStatus::Concluded => (pending(), (!has_payment).then_some(Fact::Concluded)),
            CobStatus::Removed(by) => (None, (!has_payment).then_some(Fact::Removed { by })),
        };
        let facts: Vec<Fact> = first.into_iter().chain(self.income.facts()).chain(last).collect();
        if facts.is_empty() {
            return ChargeAnswer::WithoutCode(reference);
        }
        ChargeAnswer::Known(Statement { facts, reference })
    }

    /// Returns true if the bank takes no more money for it, but shows none that came in.
    pub(super) fn lacks_its_money(&self) -> bool {
        self.status == CobStatus::Concluded && self.income.is_empty()
    }

    /// Returns the code to pay with: the one in this answer, or the known one.
    fn issued(&self, begun: Timestamp) -> Option<Issued> {
        let code = code::of_charge(self.answer, self.query.amount, &self.credential.settings);
        let new = code.map(|code| Issued::Pix {
            txid: txid(self.query.id),
            code,
            expires_at: self.expires_at(begun),
        });
        new.or_else(|| self.query.issued.as_ref().map(Arc::as_ref).cloned())
    }

    /// Based on our own clock. The bank's time of creation is slightly more exact, but is ignored if it differs by
    /// more. Some banks write the time of Brasília as if it were UTC (bacen/pix-api, issues 163 and 573).
    fn expires_at(&self, begun: Timestamp) -> Timestamp {
        if let Some(due) = self.query.terms.due() {
            return due.payable_before();
        }
        let calendar = self.answer.get("calendario");
        let stated = calendar.and_then(|calendar| instant(calendar, "criacao"));
        // A resent charge may have been created by an earlier sending.
        let earliest = begun.min(self.query.created_at).minus_ms(CLOCK_TOLERANCE_MS);
        let believable = earliest..=begun.plus_ms(CLOCK_TOLERANCE_MS);
        let created_at = match stated {
            Some(stated) if believable.contains(&stated) => stated,
            Some(stated) => {
                self.warn_of_clock(stated, begun);
                begun
            }
            None => begun,
        };
        let stated = calendar.and_then(|calendar| whole(calendar, "expiracao"));
        let seconds =
            stated.filter(|seconds| EXPIRY_S.contains(seconds)).unwrap_or(match &self.query.terms {
                Terms::Pix { expires_in_s } => *expires_in_s,
                Terms::DuePix(_) | Terms::Boleto(_) | Terms::CreditCard { .. } => 0,
            });
        created_at.plus_ms(seconds.saturating_mul(1_000))
    }

    /// Once for each charge: a code that is known is not issued again.
    fn warn_of_clock(&self, stated: Timestamp, begun: Timestamp) {
        if self.query.issued.is_none() {
            tracing::warn!(
                transaction.id = %self.query.id,
                %stated,
                ours = %begun,
                "the bank's clock and ours differ, so one of them is wrong: stated is the bank's creation time of the \
                 charge. Our own time is used; quita doctor compares our clock with others"
            );
        }
    }

    fn reference(&self) -> Reference {
        let reference = Reference::none().with("txid", &txid(self.query.id));
        // The key that receives it is recorded, so that it still counts as ours when another one is configured.
        let key = text(self.answer, "chave").unwrap_or(&self.credential.settings.pix_key);
        // The first key stays: a Pix that comes in later is compared with the key that the payer's code named.
        let is_known = self.query.reference.get(Reference::KEY).is_some();
        let reference = if is_known { reference } else { reference.with(Reference::KEY, key) };
        let reference = match self.income.end_to_end_id() {
            Some(id) => reference.with(END_TO_END_ID, id),
            None => reference,
        };
        match code::location(self.answer) {
            Some(location) => reference.with("location", location),
            None => reference,
        }
    }
}
