//! Judging of lines: match with a payment, judge, ask the acquirer about a difference, judge again, store.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use quita_domain::acquiring::{Issued, Reference};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::payment::Payment;
use quita_domain::reconciliation::{
    ASKED_FOR_MS, Judged, LineFinding, LineSubject, ReconciliationKind, SlipNumber, Source, StatementLine,
    StoredLine, judge, settled_before,
};
use quita_domain::routing::Attempt;
use quita_ports::{ChargeReader, StoreError};

use super::Reconciler;
use super::charges::Sums;
use super::pages::List;

/// Payments that may share one boleto number: every bank and every agreement numbers separately.
const NAMESAKES: usize = 20;

/// Lines of one boleto that are searched for a second settlement; banks list a handful.
const OF_ONE_SLIP: usize = 100;

/// Kind of comparison by which a line is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
    /// With its payment.
    Against,
    /// With the list, which lacks it: the line is the one that the list should contain.
    Missing,
}

impl Reconciler {
    /// Judges at most [`RECONCILED_AT_ONCE`](super::RECONCILED_AT_ONCE) lines, stores them with their verdicts, and
    /// reports differences. Lines imported before with the same content change nothing, except for what has changed in
    /// the payment.
    ///
    /// # Errors
    /// Fails if the store does not answer. Judging the lines again continues from there.
    pub async fn judge(&self, lines: Vec<StatementLine>) -> Result<Vec<StoredLine>, StoreError> {
        self.judge_held(lines, Held::Against, None).await
    }

    /// Judges lines of a list.
    pub(super) async fn judge_listed(
        &self,
        lines: Vec<StatementLine>,
        list: &List,
    ) -> Result<Vec<StoredLine>, StoreError> {
        self.judge_held(lines, Held::Against, list.reader.charges()).await
    }

    /// Judges lines that a list should contain.
    pub(super) async fn judge_missing(
        &self,
        lines: Vec<StatementLine>,
    ) -> Result<Vec<StoredLine>, StoreError> {
        self.judge_held(lines, Held::Missing, None).await
    }

    async fn judge_held(
        &self,
        lines: Vec<StatementLine>,
        held: Held,
        charges: Option<&dyn ChargeReader>,
    ) -> Result<Vec<StoredLine>, StoreError> {
        let mut stored = self.as_stored(lines).await?;
        let known: BTreeMap<_, _> =
            stored.iter().map(|stored| (stored.line.id.clone(), stored.judged.clone())).collect();
        let mut payments = self.payments_of(&stored).await?;
        let mut sums = self.sums_of(&stored).await?;
        for stored in &mut stored {
            let payment = payments.get(&stored.line.id);
            self.look(stored, payment, held, &sums);
        }
        if let Some(charges) = charges {
            self.complete_sums(&stored, charges, &mut sums).await;
            for stored in &mut stored {
                let payment = payments.get(&stored.line.id);
                self.look(stored, payment, held, &sums);
            }
        }
        let wanted = self.worth_asking(&stored, &payments);
        let asked = self.ask(&wanted).await?;
        for stored in &mut stored {
            let Some(payment) = payments.get_mut(&stored.line.id) else { continue };
            let current = asked.answered.get(&payment.id).or_else(|| asked.unanswered.get(&payment.id));
            if let Some(current) = current {
                payment.clone_from(current);
                self.look(stored, Some(&*payment), held, &sums);
            }
            // A payment whose acquirer can't be asked is judged for good by what is known (decision 27).
            let was_asked = asked.answered.contains_key(&payment.id);
            self.settle(stored, was_asked || !is_wanted(&wanted, payment.id));
        }
        self.find_second_settlements(&mut stored).await?;
        self.keep(&stored, &known).await?;
        if charges.is_some() {
            self.ask_for_costs(&stored, &payments).await?;
        }
        Ok(stored)
    }

    /// Finds boletos that files settle twice: each line agrees with its payment, but only one of them paid it.
    async fn find_second_settlements(&self, stored: &mut [StoredLine]) -> Result<(), StoreError> {
        let agrees = |stored: &StoredLine| {
            stored.judged.as_ref().is_some_and(|judged| judged.finding == LineFinding::Matched)
        };
        let settled = stored.iter().filter(|stored| agrees(stored));
        let beginnings: BTreeSet<_> =
            settled.filter_map(|stored| stored.line.settlements_begin_with()).collect();
        let found = beginnings.iter().map(|beginning| self.store.lines_beginning(beginning, OF_ONE_SLIP));
        let mut others = try_join_all(found).await?.concat();
        let present: BTreeSet<_> = stored.iter().map(|stored| stored.line.id.clone()).collect();
        others.retain(|other| !present.contains(&other.line.id));
        others.extend(stored.iter().filter(|stored| stored.line.kind.settles_boleto()).cloned());
        for stored in stored.iter_mut().filter(|stored| agrees(stored)) {
            let second = settled_before(stored, &others);
            if let Some((judged, finding)) = stored.judged.as_mut().zip(second) {
                judged.finding = finding;
                judged.is_final = true;
            }
        }
        Ok(())
    }

    /// Returns lines as they are stored. Lines imported before with the same content keep their verdict.
    pub(super) async fn as_stored(&self, lines: Vec<StatementLine>) -> Result<Vec<StoredLine>, StoreError> {
        let ids: Vec<_> = lines.iter().map(|line| line.id.clone()).collect();
        let known = self.store.lines_with_ids(&ids).await?;
        let mut known: BTreeMap<_, _> =
            known.into_iter().map(|stored| (stored.line.id.clone(), stored)).collect();
        let imported_at = self.clock.now();
        let mut seen = BTreeSet::new();
        let first = lines.into_iter().filter(|line| seen.insert(line.id.clone()));
        let stored = first.map(|line| match known.remove(&line.id) {
            Some(known) if known.line.says_the_same(&line) => known,
            // Its content has changed, so it is judged again. The time for asking still counts from its first import.
            Some(known) => StoredLine { line, imported_at: known.imported_at, judged: None },
            None => StoredLine { line, imported_at, judged: None },
        });
        Ok(stored.collect())
    }

    /// Judges a line by the current state of its payment.
    fn look(&self, stored: &mut StoredLine, payment: Option<&Payment>, held: Held, sums: &Sums) {
        let sum = || stored.line.added_up_with().and_then(|beginning| sums.get(&beginning).copied());
        let finding = match held {
            Held::Against => judge(&stored.line, payment, sum().unwrap_or(stored.line.signed_gross())),
            Held::Missing => LineFinding::MissingThere,
        };
        stored.judged = Some(Judged {
            // Without a payment there is nobody to ask, so the verdict is final.
            is_final: finding == LineFinding::Matched || payment.is_none(),
            finding,
            transaction_id: payment.map(|payment| payment.id),
            acquirer: self.acquirer_of(&stored.line, payment),
        });
    }

    /// Makes a differing line final once its acquirer has answered, can't be asked, or the time for asking is over.
    fn settle(&self, stored: &mut StoredLine, was_asked: bool) {
        let is_over = stored.imported_at.plus_ms(ASKED_FOR_MS) <= self.clock.now();
        if let Some(judged) = &mut stored.judged {
            judged.is_final |= was_asked || is_over;
        }
    }

    /// Returns the payments that differ from their lines and whose acquirers can be asked.
    fn worth_asking(
        &self,
        stored: &[StoredLine],
        payments: &BTreeMap<String, Payment>,
    ) -> Vec<(Payment, AcquirerName)> {
        let mut wanted: Vec<(Payment, AcquirerName)> = Vec::new();
        for stored in stored {
            let Some(judged) = stored.judged.as_ref().filter(|judged| !judged.is_final) else { continue };
            let Some(payment) = payments.get(&stored.line.id) else { continue };
            let acquirer = judged.acquirer.as_ref().filter(|acquirer| self.askable.contains(*acquirer));
            if let Some(acquirer) = acquirer.filter(|_| !is_wanted(&wanted, payment.id)) {
                wanted.push((payment.clone(), acquirer.clone()));
            }
        }
        wanted
    }

    /// Returns the acquirer to ask about a line: its source, or the acquirer of its payment.
    fn acquirer_of(&self, line: &StatementLine, payment: Option<&Payment>) -> Option<AcquirerName> {
        match &line.subject {
            LineSubject::Pix { .. } | LineSubject::Refund { .. } | LineSubject::Charge(_) => {
                Some(AcquirerName::new(line.source.as_str()))
            }
            LineSubject::Boleto { .. } => payment.and_then(Payment::acquirer).cloned(),
        }
    }

    /// Stores lines that are new or have another verdict, and reports differences.
    async fn keep(
        &self,
        stored: &[StoredLine],
        known: &BTreeMap<String, Option<Judged>>,
    ) -> Result<(), StoreError> {
        let has_changed =
            |stored: &&StoredLine| known.get(&stored.line.id).is_none_or(|judged| *judged != stored.judged);
        let changed: Vec<_> = stored.iter().filter(has_changed).cloned().collect();
        // Exceptions first: a line that is stored as final is not looked at again.
        let now = self.clock.now();
        for stored in &changed {
            let Some(exception) = stored.exception(now) else { continue };
            if !self.store.put_exception(&exception).await? {
                continue;
            }
            let finding = stored.judged.as_ref().map(|judged| &judged.finding);
            if let Some((count, kind)) = self.count.as_ref().zip(finding.and_then(ReconciliationKind::of)) {
                count(kind);
            }
            tracing::warn!(
                transaction.id = exception.transaction_id.map(display),
                kind = exception.kind,
                detail = exception.detail,
                "a reconciliation finding needs an operator"
            );
        }
        if changed.is_empty() { Ok(()) } else { self.store.put_lines(&changed).await }
    }

    /// Returns the payments of those lines that have one, by the line's id.
    pub(super) async fn payments_of(
        &self,
        stored: &[StoredLine],
    ) -> Result<BTreeMap<String, Payment>, StoreError> {
        let named = stored.iter().filter_map(|stored| stored.line.named_payment());
        let named: Vec<_> = named.collect::<BTreeSet<_>>().into_iter().collect();
        let loaded = self.store.load_all(&named).await?;
        let loaded = loaded.into_iter().filter(|payment| payment.owner.mode == self.mode);
        let loaded: BTreeMap<_, _> = loaded.map(|payment| (payment.id, payment)).collect();
        let numbered = stored.iter().map(|stored| self.payment_of_slip(&stored.line));
        let numbered = try_join_all(numbered).await?;
        let found = stored.iter().zip(numbered).filter_map(|(stored, numbered)| {
            let line = &stored.line;
            let named = line.named_payment().and_then(|id| loaded.get(&id));
            let payment = named.filter(|payment| was_charged_by(payment, line)).cloned().or(numbered)?;
            Some((line.id.clone(), payment))
        });
        Ok(found.collect())
    }

    async fn payment_of_slip(&self, line: &StatementLine) -> Result<Option<Payment>, StoreError> {
        let LineSubject::Boleto { bank, our_number, document_number, .. } = &line.subject else {
            return Ok(None);
        };
        let ours = our_number.as_deref().and_then(SlipNumber::ours);
        let document = document_number.as_deref().and_then(SlipNumber::document);
        for number in [ours, document].into_iter().flatten() {
            let ids = self.store.payments_numbered(self.mode, &number, NAMESAKES).await?;
            let payments = if ids.is_empty() { Vec::new() } else { self.store.load_all(&ids).await? };
            if let Some(payment) = meant(payments, bank, line) {
                return Ok(Some(payment));
            }
        }
        Ok(None)
    }
}

/// Returns true if a payment was ever charged by the source of the line, under the line's key. Under that key, our name
/// of a charge is unique there.
fn was_charged_by(payment: &Payment, line: &StatementLine) -> bool {
    let source = line.source.as_str();
    let has_key = |attempt: &Attempt| {
        let known = attempt.reference.get(Reference::KEY);
        let is_it = |key: &String| known.is_some_and(|known| known.eq_ignore_ascii_case(key));
        line.other_key.as_ref().is_none_or(is_it)
    };
    payment.state.attempts.iter().any(|attempt| attempt.acquirer.as_str() == source && has_key(attempt))
}

/// Chooses the boleto of this bank among those with one number; among several of the bank, the only one with the line's
/// amount. A line of an acquirer's list means a boleto of that acquirer: others may have the same numbers at the bank.
fn meant(payments: Vec<Payment>, bank: &str, line: &StatementLine) -> Option<Payment> {
    let of_bank = |payment: &Payment| match payment.state.issued.as_deref() {
        Some(Issued::Boleto(slip)) => slip.barcode.starts_with(bank),
        Some(Issued::Pix { .. }) | None => false,
    };
    let is_of_file = line.source == Source::files_of(bank);
    let of_source = |payment: &Payment| is_of_file || was_charged_by(payment, line);
    let mut candidates: Vec<_> = payments.into_iter().filter(of_bank).filter(of_source).collect();
    if candidates.len() > 1 {
        candidates.retain(|payment| payment.order.amount == line.gross);
    }
    let only = candidates.pop()?;
    candidates.is_empty().then_some(only)
}

fn is_wanted(wanted: &[(Payment, AcquirerName)], id: TransactionId) -> bool {
    wanted.iter().any(|(payment, _)| payment.id == id)
}

#[cfg(test)]
mod tests {
    use quita_domain::money::Money;
    use quita_domain::reconciliation::LineKind;
    use serde_json::{from_value, json, to_value};

    use quita_memory_store::sample_payment as payment;

    use super::*;

    /// A boleto of 100.00 that this acquirer charged.
    fn boleto(number: u128, acquirer: &str) -> Payment {
        let mut stored = to_value(payment(number)).unwrap();
        let attempt = json!({
            "acquirer": acquirer, "at": 0, "call": { "progress": "known" }, "reference": {},
        });
        stored["state"]["attempts"] = json!([attempt]);
        let slip = quita_domain::slip::IssuedBoleto {
            barcode: format!("756{}", "0".repeat(41)),
            digitable_line: "0".repeat(47),
            due_date: "2026-11-21".parse().unwrap(),
            our_number: "7".into(),
            portfolio: "1".into(),
            agency_and_account: "1".into(),
            bank_code: "756-0".into(),
            bank_name: "Sicoob".into(),
            beneficiary_name: "Loja".into(),
            beneficiary_document: "1".into(),
            beneficiary_address: "Rua".into(),
            pix_code: None,
        };
        stored["state"]["issued"] = to_value(Issued::Boleto(Box::new(slip))).unwrap();
        from_value(stored).unwrap()
    }

    fn line(source: Source) -> StatementLine {
        let day = "2026-11-21".parse().unwrap();
        let subject = LineSubject::Boleto {
            bank: "756".into(),
            our_number: Some("7".into()),
            document_number: None,
            interest: Money::ZERO,
            credited_on: None,
        };
        StatementLine {
            id: "1".into(),
            source,
            day,
            kind: LineKind::Boleto,
            reference: Some("7".into()),
            subject,
            gross: Money::from_cents(10_000),
            fee: None,
            net: None,
            on: day,
            place: "page".into(),
            other_key: None,
        }
    }

    #[test]
    fn a_line_of_a_list_means_a_boleto_of_its_acquirer_among_those_with_one_number() {
        let both = || vec![boleto(1, "one"), boleto(2, "two")];
        let meant_by = |payments, source| meant(payments, "756", &line(source)).map(|payment| payment.id);
        let list_of = |acquirer| Source::list_of(&AcquirerName::new(acquirer));
        assert_eq!(meant_by(both(), list_of("one")), Some(boleto(1, "one").id));
        assert_eq!(meant_by(both(), list_of("two")), Some(boleto(2, "two").id));
        assert_eq!(meant_by(vec![boleto(1, "one")], list_of("two")), None);
        assert_eq!(meant_by(vec![boleto(1, "one")], Source::files_of("756")), Some(boleto(1, "one").id));
        assert_eq!(meant_by(both(), Source::files_of("756")), None, "a file names no acquirer");
    }
}
