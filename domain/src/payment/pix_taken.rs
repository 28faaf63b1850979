//! Pix that belong to one payment only.
//!
//! A bank may state one Pix for two charges, or two tables may share one Pix key. The payment that is stored first
//! keeps the Pix: the store refuses to bind it to a second one. The second one records the Pix as another payment's,
//! reports it, and asks its acquirer again.
//!
//! A Pix that does not pay the payment binds nothing, so the store can't refuse it. It is a stray: the caller looks up
//! its payment before it is reported to an operator.

use super::draft::Draft;
use super::{Change, Discrepancy, DiscrepancyKind, Payment};
use crate::acquiring::{Fact, Reference, Settlement};
use crate::identity::TransactionId;

impl Payment {
    /// Returns the Pix that were bound to the payment after this earlier state of it.
    pub fn pix_bound_since(&self, before: &Self) -> &[String] {
        self.bound_pix.get(before.bound_pix.len()..).unwrap_or_default()
    }

    fn is_foreign_pix(&self, pix: &str) -> bool {
        self.foreign_pix.iter().any(|known| known == pix)
    }

    /// Returns the facts about the payment's own money, without those about other payments' Pix.
    pub(super) fn without_foreign_pix(&self, mut facts: Vec<Fact>) -> Vec<Fact> {
        if self.foreign_pix.is_empty() {
            return facts;
        }
        let is_foreign = |fact: &Fact| self.is_foreign_money(fact);
        let is_own_money = |fact: &Fact| matches!(fact, Fact::Settled(_)) && !is_foreign(fact);
        let has_money = self.state.settlement_id.is_some() || facts.iter().any(is_own_money);
        // Movements of money that never came in for this payment belong to the other one.
        facts.retain(|fact| !is_foreign(fact) && (has_money || !moves_money(fact)));
        facts
    }

    /// Returns the reference without the names of other payments' Pix.
    pub(super) fn without_foreign_names(&self, reference: Reference) -> Reference {
        reference.without(|value| self.is_foreign_pix(value))
    }

    fn is_foreign_money(&self, fact: &Fact) -> bool {
        let Fact::Settled(settlement) = fact else { return false };
        settlement.end_to_end_id.as_deref().is_some_and(|pix| self.is_foreign_pix(pix))
    }
}

impl Draft {
    /// Records and reports that a Pix belongs to another payment. The acquirer is asked again, because its answer was
    /// about that Pix.
    pub(super) fn pix_is_taken(&mut self, pix: String, other: TransactionId) {
        if self.payment.is_foreign_pix(&pix) {
            return;
        }
        let detail = format!(
            "Pix {pix} was reported for this payment, but belongs to payment {other}; this payment is {}",
            self.payment.status()
        );
        let kind = DiscrepancyKind::PixTaken;
        let about = Some(pix.clone());
        self.discrepancies.push(Discrepancy { kind, detail, stated: "", about });
        self.make(Change::PixTaken(pix));
        if !self.payment.last_outcome_is_open() {
            self.bring_check_forward(self.clock());
        }
    }

    /// Records the Pix of a settlement that does not pay the payment, so that the caller can find its owner.
    pub(super) fn note_stray_pix(&mut self, settlement: &Settlement) {
        let stray = settlement.end_to_end_id.as_ref().filter(|pix| !self.payment.bound_pix.contains(pix));
        self.stray_pix.extend(stray.cloned());
    }

    /// Binds the Pix of money that is given back although it did not pay the payment.
    pub(super) fn bind_pix_to_give_back(&mut self, pix: Option<&String>) {
        if let Some(pix) = pix.filter(|pix| !self.payment.bound_pix.contains(pix)) {
            self.make(Change::PixBound(pix.clone()));
        }
    }
}

const fn moves_money(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Refunded { .. }
            | Fact::RefundedInTotal { .. }
            | Fact::ChargedBack { .. }
            | Fact::DisputeWon { .. }
    )
}
