//! Movements of charges: the payment of each charge, and the sums over its instalments and recipients.

use std::collections::{BTreeMap, BTreeSet};

use chrono::NaiveDate;
use futures_util::future::try_join_all;
use quita_domain::acquiring::{CallFailure, Identified, Reference};
use quita_domain::identity::{AcquirerName, TransactionId};
use quita_domain::money::SignedMoney;
use quita_domain::payment::Payment;
use quita_domain::reconciliation::{DifferingField, LineSubject, MARGIN_MS, StatementLine, StoredLine};
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{ChargeReader, Period, StoreError};

use super::pages::{List, told};
use super::{NotReconciled, RECONCILED_AT_ONCE, Reconciler};

/// Lines of one charge with one movement that are added up: 24 instalments of 21 recipients have room.
const OF_ONE_CHARGE: usize = 1_000;

/// Payments by their acquirer's names of charges, limited to those paid around one day.
pub(super) struct ChargedPayments {
    day: NaiveDate,
    /// Absent until a line needs them.
    paid: Option<BTreeMap<String, TransactionId>>,
}

impl ChargedPayments {
    /// Creates an empty index of this day.
    pub(super) const fn of(day: NaiveDate) -> Self {
        Self { day, paid: None }
    }
}

/// Sums of lines that are compared together, by the prefix of their ids.
pub(super) type Sums = BTreeMap<String, SignedMoney>;

impl Reconciler {
    /// Records in lines of charges which payments they belong to. Payments that were paid on that day are found in the
    /// store; the acquirer is asked about other charges, one by one.
    ///
    /// # Errors
    /// If the acquirer did not answer about one of them, or the store failed.
    pub(super) async fn with_payments(
        &self,
        list: &List,
        mut lines: Vec<StatementLine>,
        payments: &mut ChargedPayments,
    ) -> Result<Vec<StatementLine>, NotReconciled> {
        let Some(charges) = list.reader.charges() else { return Ok(lines) };
        let mut found = self.found_before(&lines).await?;
        let mut unknown: BTreeMap<String, Reference> = BTreeMap::new();
        for line in &lines {
            if let Some((name, charge)) =
                line.charge().and_then(|charge| Some((charge.name()?, &charge.charge)))
                && !found.contains_key(name)
            {
                unknown.insert(name.to_owned(), charge.clone());
            }
        }
        for (name, charge) in unknown {
            if payments.paid.is_none() {
                payments.paid = Some(self.paid_about(list, charges, payments.day).await?);
            }
            let payment = match payments.paid.as_ref().and_then(|paid| paid.get(&name)) {
                Some(payment) => Some(*payment),
                None => identified(charges, &charge).await?,
            };
            found.insert(name, payment);
        }
        for line in &mut lines {
            if let LineSubject::Charge(charge) = &mut line.subject {
                charge.transaction_id = charge.name().and_then(|name| found.get(name).copied().flatten());
            }
        }
        Ok(lines)
    }

    /// Returns the payments of charges by the lines that were imported before; none for a charge that had none.
    async fn found_before(
        &self,
        lines: &[StatementLine],
    ) -> Result<BTreeMap<String, Option<TransactionId>>, StoreError> {
        let ids: Vec<_> = lines.iter().map(|line| line.id.clone()).collect();
        let known = self.store.lines_with_ids(&ids).await?;
        let charges = known.iter().filter_map(|stored| stored.line.charge());
        Ok(charges.filter_map(|charge| Some((charge.name()?.to_owned(), charge.transaction_id))).collect())
    }

    /// Returns the payments that this acquirer's charges paid about a day, by its names of these.
    async fn paid_about(
        &self,
        list: &List,
        charges: &dyn ChargeReader,
        day: NaiveDate,
    ) -> Result<BTreeMap<String, TransactionId>, StoreError> {
        let end = Timestamp::end_of_sao_paulo_day(day);
        let from = end.minus_ms(DAY_MS.saturating_add(MARGIN_MS));
        let period = Period { from, until: end.plus_ms(MARGIN_MS) };
        let mut found = BTreeMap::new();
        let mut after = None;
        loop {
            let places = self.store.paid_between(self.mode, period, after, RECONCILED_AT_ONCE).await?;
            let Some(last) = places.last() else { return Ok(found) };
            after = Some(*last);
            let ids: Vec<_> = places.iter().map(|place| place.id).collect();
            for payment in self.store.load_all(&ids).await? {
                let own = payment.state.attempts.iter().filter(|attempt| attempt.acquirer == list.acquirer);
                let names = own.filter_map(|attempt| attempt.reference.get(charges.name()));
                found.extend(names.map(|name| (name.to_owned(), payment.id)));
            }
        }
    }

    /// Adds up the imported lines of the charges and movements that these lines are about.
    pub(super) async fn sums_of(&self, stored: &[StoredLine]) -> Result<Sums, StoreError> {
        let beginnings = stored.iter().filter_map(|stored| stored.line.added_up_with());
        let beginnings: BTreeSet<_> = beginnings.collect();
        let found = beginnings.iter().map(|beginning| self.store.lines_beginning(beginning, OF_ONE_CHARGE));
        let present: BTreeSet<_> = stored.iter().map(|stored| stored.line.id.as_str()).collect();
        let imported = try_join_all(found).await?.concat();
        // A line that is judged now would count twice with its stored version.
        let others = imported.iter().filter(|other| !present.contains(other.line.id.as_str()));
        Ok(added_up(others.chain(stored).map(|stored| &stored.line)))
    }

    /// Reads all lines of the charges whose sums differ. The lists of other days may never have been compared.
    pub(super) async fn complete_sums(
        &self,
        stored: &[StoredLine],
        charges: &dyn ChargeReader,
        sums: &mut Sums,
    ) {
        let is_other_amount = |stored: &&StoredLine| {
            let difference = stored.judged.as_ref().and_then(|judged| judged.finding.difference());
            difference.is_some_and(|difference| difference.field == DifferingField::Gross)
        };
        let differing = stored.iter().filter(is_other_amount).filter_map(|stored| stored.line.charge());
        let differing: BTreeMap<_, _> =
            differing.filter_map(|charge| Some((charge.name()?, &charge.charge))).collect();
        for charge in differing.into_values() {
            match charges.lines_of(charge).await {
                Ok(lines) => sums.extend(added_up(&lines)),
                // The imported lines are judged, and the next run reads the charge again.
                Err(failure) => {
                    tracing::debug!(why = told(&failure), "the lines of a charge could not be read")
                }
            }
        }
    }
}

impl Reconciler {
    /// Makes a serving node ask the acquirer for the cost of payments whose fees in these lines differ from the known
    /// ones. The answers are not awaited.
    pub(super) async fn ask_for_costs(
        &self,
        stored: &[StoredLine],
        payments: &BTreeMap<String, Payment>,
    ) -> Result<(), StoreError> {
        let mut charged = BTreeMap::new();
        for line in stored.iter().map(|stored| &stored.line) {
            let own = payments.get(&line.id).filter(|payment| payment.state.paid_at.is_some());
            let Some((payment, charge)) = own.zip(line.charge()) else { continue };
            let counted = payment.state.attempts.last().map(|attempt| &attempt.reference);
            let is_counted = counted.is_some_and(|counted| counted.contains(&charge.charge));
            let acquirer = AcquirerName::new(line.source.as_str());
            if let Some(name) = charge.name().filter(|_| is_counted && self.askable.contains(&acquirer)) {
                let beginning = StatementLine::beginning_of_charge(&line.source, name);
                charged.insert(beginning, (payment, acquirer));
            }
        }
        let found = charged.keys().map(|beginning| self.store.lines_beginning(beginning, OF_ONE_CHARGE));
        let found = try_join_all(found).await?;
        let differing = charged.into_values().zip(found).filter_map(|((payment, acquirer), lines)| {
            let own = lines.iter().filter(|stored| stored.line.charge().is_some_and(|charge| charge.is_own));
            let mut fees = own.filter_map(|stored| stored.line.fee).peekable();
            // Lines without any fee say nothing about the cost.
            fees.peek()?;
            let fees: SignedMoney = fees.sum();
            let known = payment.state.cost.map(SignedMoney::from);
            // A cost is never negative: returned fees count as zero.
            (known != Some(fees.max(SignedMoney::default()))).then(|| (payment.clone(), acquirer))
        });
        self.hint(&differing.collect::<Vec<_>>()).await.map(drop)
    }
}

/// Adds up lines by the prefix of their ids, without expected lines.
fn added_up<'a>(lines: impl IntoIterator<Item = &'a StatementLine>) -> Sums {
    let mut sums = Sums::new();
    for line in lines.into_iter().filter(|line| !line.is_expected()) {
        if let Some(beginning) = line.added_up_with() {
            let sum = sums.entry(beginning).or_default();
            *sum = sum.plus(line.signed_gross());
        }
    }
    sums
}

/// Asks the acquirer about a charge. One that it does not know, or that is not ours, has no payment.
async fn identified(
    charges: &dyn ChargeReader,
    charge: &Reference,
) -> Result<Option<TransactionId>, NotReconciled> {
    match charges.identify(charge).await {
        Identified::Payment(payment) => Ok(Some(payment)),
        Identified::NotFound | Identified::Unknown => Ok(None),
        Identified::Failed(failure) => Err(unanswered(&failure)),
    }
}

fn unanswered(failure: &CallFailure) -> NotReconciled {
    NotReconciled::NoList(format!("it did not say whose charge a line is: {}", told(failure)))
}
