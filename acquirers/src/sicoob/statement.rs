//! Statements that a title makes about its charge.
//!
//! Only `Liquidado` means paid, and the amount comes from the settlement's line in the history: a fee's line is no
//! payment, and nothing is guessed.

use std::collections::BTreeMap;

use quita_domain::acquiring::{
    CallFailure, ChargeAnswer, ChargeQuery, Fact, Issued, OperationAnswer, Reference, RemovedBy, Settlement,
    Statement,
};
use quita_domain::due_terms::DueTerms;
use quita_domain::order::Terms;
use quita_domain::slip::IssuedBoleto;
use quita_domain::time::Timestamp;

use super::link::Credential;
use super::title::{SettlementLine, Title, TitleStatus};
use super::{BANK, BANK_NAME, BANK_WITH_DIGIT, OUR_NUMBER, YOUR_NUMBER};
use crate::bank_boleto::{codes, names};
use crate::slip;

/// Reason why a paid title can't be withdrawn.
const ALREADY_PAID: &str = "already_paid";

/// Reader of a charge's title.
pub(super) struct Reader<'a> {
    pub(super) credential: &'a Credential,
    pub(super) query: &'a ChargeQuery,
    pub(super) our_number: u32,
}

/// Relation of a title to the charge.
enum Belonging {
    Ours,
    /// The title belongs to somebody else.
    Foreign,
    /// The answer is about another title or another amount.
    Other(String),
}

impl Reader<'_> {
    /// Returns the answer to a charge, or to an inquiry about it.
    pub(super) fn answer(&self, title: &Title) -> ChargeAnswer {
        match self.belonging(title) {
            Belonging::Ours => self.states(title),
            Belonging::Foreign => {
                ChargeAnswer::NumberTaken("the bank has a title of another program under it".to_owned())
            }
            Belonging::Other(what) => ChargeAnswer::Mismatched(what),
        }
    }

    /// Returns the outcome of a withdrawal. A title that still waits for its payer was not withdrawn.
    pub(super) fn withdrawn(&self, title: &Title) -> OperationAnswer {
        let unclear = |why: &str| OperationAnswer::Failed(CallFailure::Unknown(why.to_owned()));
        match (self.belonging(title), &title.status) {
            (Belonging::Foreign | Belonging::Other(_), _) => unclear("the answer is about another title"),
            (Belonging::Ours, TitleStatus::WrittenOff) => OperationAnswer::Done,
            (Belonging::Ours, TitleStatus::Settled) => OperationAnswer::Refused(ALREADY_PAID.to_owned()),
            (Belonging::Ours, TitleStatus::Open) => OperationAnswer::NotFound,
            (Belonging::Ours, TitleStatus::Other(_)) => unclear("the title's status is not known"),
        }
    }

    fn belonging(&self, title: &Title) -> Belonging {
        if title.number != u64::from(self.our_number) {
            return Belonging::Other("the answer is about another number".to_owned());
        }
        let keys = &self.credential.settings.name_keys;
        let mut ours = keys.iter().map(|key| names::your_number(key, self.query.id));
        // The name may come from a removed secret key; our own id in the title needs none.
        let is_by_id = title.company_id.as_deref().and_then(names::payment_of) == Some(self.query.id);
        let is_known = self.query.reference.get(YOUR_NUMBER) == Some(&title.your_number);
        if !is_by_id && !is_known && !ours.any(|name| name == title.your_number) {
            return Belonging::Foreign;
        }
        match title.amount {
            Some(amount) if amount == self.query.amount => Belonging::Ours,
            Some(_) | None => Belonging::Other(format!("the title is not of {}", self.query.amount)),
        }
    }

    fn states(&self, title: &Title) -> ChargeAnswer {
        match &title.status {
            TitleStatus::Open => self.waits(title),
            // A callback's "baixa operacional" can be taken back. Only this status means that the money came in.
            TitleStatus::Settled => self.paid(title),
            TitleStatus::WrittenOff => {
                // After its last day the bank withdraws a title itself.
                let is_over = self.due().is_some_and(|due| due.payable_before() <= self.now());
                let withdrawn = Fact::Removed { by: RemovedBy::Receiver };
                let is_ours = self.query.cancelled_at.is_some() || self.query.operation_under_way;
                let fact = if is_over && !is_ours { Fact::Expired } else { withdrawn };
                self.known(title, vec![fact])
            }
            TitleStatus::Other(status) => {
                ChargeAnswer::Failed(CallFailure::Unknown(format!("the status {status} is not known")))
            }
        }
    }

    /// Returns the statement of a title that waits for its payer, with checked codes.
    fn waits(&self, title: &Title) -> ChargeAnswer {
        // Money paid on the last day may settle for three business days: until then the bank keeps the title open.
        match self.issued(title) {
            Ok(facts) => self.known(title, facts),
            // A wrong code would send the payer's money elsewhere.
            Err(why) => ChargeAnswer::Mismatched(why.to_owned()),
        }
    }

    /// Returns the statement of a paid title. Once the payment has its money, a line without a readable amount is
    /// reported in addition.
    fn paid(&self, title: &Title) -> ChargeAnswer {
        let are_readable = title.settlements.iter().all(|line| line.amount.is_some());
        let is_whole = are_readable && !title.settlements.is_empty();
        if !is_whole && (self.query.paid_amount.is_none() || title.settlements.is_empty()) {
            return self.known(title, vec![Fact::AmountUnknown]);
        }
        let mut facts = self.issued(title).unwrap_or_default();
        let ids = settlement_ids(title);
        facts.extend(title.settlements.iter().zip(ids).map(|(line, id)| match line.amount {
            Some(amount) => Fact::Settled(Settlement {
                id,
                amount,
                paid_on: line.on,
                end_to_end_id: None,
                approval: None,
            }),
            None => Fact::Unclear {
                id: format!("{}-{}", title.number, line.written_at),
                text: format!("the title's settlement of {} has no readable amount", line.written_at),
            },
        }));
        if is_whole {
            facts.push(Fact::Concluded);
        }
        self.known(title, facts)
    }

    /// Returns the codes to pay with. Codes that were already shown stay.
    fn issued(&self, title: &Title) -> Result<Vec<Fact>, &'static str> {
        let pending = |issued| Fact::Pending { issued, news_at: None };
        if let Some(issued) = &self.query.issued {
            return Ok(vec![pending(Issued::clone(issued))]);
        }
        let due = self.due().ok_or("the charge is no boleto")?;
        let expected = codes::Expected { bank: BANK, amount: self.query.amount, due_date: due.due_date };
        let (barcode, line) = codes::checked(title.barcode.as_deref(), title.line.as_deref(), expected)?;
        let settings = &self.credential.settings;
        let is_right = |code: &&String| slip::check_br_code(code, self.query.amount).is_ok();
        let pix_code = title.pix_code.as_ref().filter(|_| settings.has_pix).filter(is_right).cloned();
        let is_missing = settings.has_pix && pix_code.is_none();
        let slip = IssuedBoleto {
            digitable_line: line.as_str().to_owned(),
            due_date: due.due_date,
            our_number: title.number.to_string(),
            portfolio: settings.portfolio.to_string(),
            agency_and_account: settings.customer.to_string(),
            bank_code: BANK_WITH_DIGIT.to_owned(),
            bank_name: BANK_NAME.to_owned(),
            beneficiary_name: settings.beneficiary.name.clone(),
            beneficiary_document: settings.beneficiary.document.clone(),
            beneficiary_address: settings.beneficiary.address.clone(),
            barcode: barcode.into(),
            pix_code,
        };
        let facts = vec![pending(Issued::Boleto(Box::new(slip)))];
        Ok(facts.into_iter().chain(is_missing.then_some(Fact::PixCodeMissing)).collect())
    }

    fn known(&self, title: &Title, facts: Vec<Fact>) -> ChargeAnswer {
        let number = title.number.to_string();
        let reference = Reference::none()
            .with(OUR_NUMBER, &number)
            .with(YOUR_NUMBER, &title.your_number)
            .with(Reference::DOCUMENT_NUMBER, &title.your_number);
        ChargeAnswer::Known(Statement { facts, reference })
    }

    fn due(&self) -> Option<&DueTerms> {
        match &self.query.terms {
            Terms::Boleto(due) => Some(due),
            Terms::Pix { .. } | Terms::DuePix(_) | Terms::CreditCard { .. } => None,
        }
    }

    fn now(&self) -> Timestamp {
        self.credential.now()
    }
}

/// Returns the name of each movement of money, newest first, the same in every answer. Of several movements with the
/// same time and amount, all but the oldest are numbered.
fn settlement_ids(title: &Title) -> Vec<String> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let named = |line: &SettlementLine| {
        let cents = line.amount.unwrap_or_default().cents();
        let id = format!("{}-{}-{cents}", title.number, line.written_at);
        let count = counts.entry(id.clone()).or_default();
        *count = count.saturating_add(1);
        if *count > 1 { format!("{id}-{count}") } else { id }
    };
    let mut ids: Vec<_> = title.settlements.iter().rev().map(named).collect();
    ids.reverse();
    ids
}
