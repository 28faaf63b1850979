//! Every payment, reduced to the fields that a replay needs, in the order of writing. So the file is read forwards,
//! which suits the system's read-ahead.

use async_trait::async_trait;
use quita_domain::identity::{MerchantId, Mode, TransactionId};
use quita_domain::listing::Cursor;
use quita_domain::time::Timestamp;
use quita_ports::{HistoryStore, PastFilter, PastPage, StoreError};
use rusqlite::{Row, Transaction};
use uuid::Uuid;

use super::EmbeddedStore;
use super::archive::read_both;
use super::failure::Failure;
use quita_stored_form::rules::unknown_word;
use quita_stored_form::turns::Lister;
use quita_stored_form::{PastRead, decode, merged, past_page, signed_limit};

/// The index is searched again for each merchant and mode, so the cost does not depend on their number of payments.
const NEXT_PAYEE: &str = "SELECT merchant, mode FROM payments INDEXED BY payments_newest \
    WHERE (merchant, mode) > (?1, ?2) ORDER BY merchant, mode LIMIT 1";

/// There is only one lower bound, so that no page starts again at the first payment.
const PAST: &str = "SELECT id, created_at, payment FROM payments INDEXED BY payments_newest \
    WHERE merchant = ?1 AND mode = ?2 AND (created_at, id) > (?3, ?4) ORDER BY created_at, id LIMIT ?5";

#[async_trait]
impl HistoryStore for EmbeddedStore {
    async fn next_payee(
        &self,
        after: Option<&(MerchantId, Mode)>,
    ) -> Result<Option<(MerchantId, Mode)>, StoreError> {
        let after = after.cloned();
        self.list(Lister::Operators, move |transaction| {
            // No merchant has an empty name, so this is before all of them.
            let place =
                after.as_ref().map_or(("", ""), |(merchant, mode)| (merchant.as_str(), mode.as_str()));
            let found = read_both(transaction, NEXT_PAYEE, place, |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })?;
            let Some((merchant, mode)) = found.into_iter().min() else { return Ok(None) };
            let mode = Mode::parse(&mode).ok_or_else(|| unknown_word("mode"))?;
            Ok(Some((MerchantId::new(merchant), mode)))
        })
        .await
    }

    async fn past_payments(
        &self,
        filter: &PastFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<PastPage, StoreError> {
        let filter = filter.clone();
        let work = move |transaction: &Transaction<'_>| {
            Ok(past_page(past(transaction, &filter, after, limit)?, limit))
        };
        self.list(Lister::Operators, work).await
    }
}

fn past(
    transaction: &Transaction<'_>,
    filter: &PastFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Result<Vec<PastRead>, Failure> {
    // An empty id sorts before every other one.
    let begin = (filter.since, Vec::new());
    let after = after.filter(|place| place.created_at >= filter.since);
    let (at, id) = after.map_or(begin, |place| (place.created_at, place.id.uuid().as_bytes().to_vec()));
    let bounds = (filter.merchant.as_str(), filter.mode.as_str(), at.millis(), id, signed_limit(limit));
    let found = read_both(transaction, PAST, bounds, read)?;
    Ok(merged(found, |(place, _)| (place.created_at, place.id), limit))
}

fn read(row: &Row<'_>) -> Result<PastRead, Failure> {
    let id = Uuid::from_bytes(row.get(0)?);
    let place = Cursor { created_at: Timestamp::from_millis(row.get(1)?), id: TransactionId::new(id) };
    let document = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
    Ok((place, decode(document, &format!("payment {id}"))))
}

#[cfg(test)]
mod tests {
    use super::super::reading::plan;
    use super::*;

    #[test]
    fn payments_and_those_who_have_them_are_found_along_an_index_and_nothing_is_sorted() {
        plan::check(NEXT_PAYEE, ("loja", "test"), "COVERING INDEX payments_newest ((merchant,mode)>(?,?))");
        let bounds = ("loja", "test", 1, vec![0_u8; 16], 10);
        plan::check(PAST, bounds, "payments_newest (merchant=? AND mode=? AND (created_at,id)>(?,?))");
    }
}
