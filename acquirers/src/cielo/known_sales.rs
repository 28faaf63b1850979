//! Cache of the owners of sales, as Cielo stated them when they were created or found. A notification names only a
//! sale, and so needs no query.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use quita_domain::identity::TransactionId;

use super::order_id;
use super::sale::{PaymentId, Sale};

/// Maximum number of cached sales, about 2 MiB. Cielo is asked about any other sale.
const MAX_SALES: usize = 16_384;

/// The payments of recent sales.
#[derive(Default)]
pub(super) struct KnownSales(Mutex<Sales>);

#[derive(Default)]
struct Sales {
    payments: HashMap<String, TransactionId>,
    /// In the order in which they became known.
    known: VecDeque<String>,
}

impl KnownSales {
    /// Learns the owner of a sale from Cielo's answer. A sale whose order is none of ours has no owner.
    pub(super) fn learn(&self, sale: &Sale) {
        if let Some(payment) = sale.order_id.as_deref().and_then(order_id::read) {
            self.remember(&sale.payment_id, payment);
        }
    }

    fn remember(&self, sale: &PaymentId, payment: TransactionId) {
        let mut sales = self.sales();
        // A known sale keeps its place in the queue. Otherwise one name could fill it.
        if sales.payments.insert(sale.as_str().to_owned(), payment).is_some() {
            return;
        }
        sales.known.push_back(sale.as_str().to_owned());
        if sales.known.len() > MAX_SALES
            && let Some(oldest) = sales.known.pop_front()
        {
            sales.payments.remove(&oldest);
        }
    }

    /// Returns the payment of a sale, if it is cached.
    pub(super) fn payment(&self, sale: &PaymentId) -> Option<TransactionId> {
        self.sales().payments.get(sale.as_str()).copied()
    }

    fn sales(&self) -> MutexGuard<'_, Sales> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn sale(number: u128) -> PaymentId {
        PaymentId::parse(&Uuid::from_u128(number).to_string()).unwrap()
    }

    #[test]
    fn the_oldest_is_forgotten_when_there_are_too_many() {
        let sales = KnownSales::default();
        for number in 0..=u128::try_from(MAX_SALES).unwrap() {
            sales.remember(&sale(number), TransactionId::new(Uuid::from_u128(number)));
            sales.remember(&sale(number), TransactionId::new(Uuid::from_u128(number)));
        }
        assert_eq!(sales.payment(&sale(0)), None);
        assert_eq!(sales.payment(&sale(1)), Some(TransactionId::new(Uuid::from_u128(1))));
        let kept = sales.sales();
        assert_eq!((kept.payments.len(), kept.known.len()), (MAX_SALES, MAX_SALES));
    }
}
