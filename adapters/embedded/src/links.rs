//! Payment links, and what is counted at their pages.

use async_trait::async_trait;
use quita_domain::document::Document;
use quita_domain::identity::LinkId;
use quita_domain::link::{Link, LinkFilter, LinkUses};
use quita_domain::listing::Cursor;
use quita_domain::method::Method;
use quita_domain::status::Status;
use quita_domain::time::{DAY_MS, Timestamp};
use quita_ports::{EventLimit, LinkStore, StoreError};
use rusqlite::types::Value;
use rusqlite::{OptionalExtension, Transaction, params_from_iter};

use super::archive::read_both;
use super::failure::Failure;
use super::page_query::PageQuery;
use super::reading::{find_all, find_one};
use super::{EmbeddedStore, MAX_FORGOTTEN_AT_ONCE};
use quita_stored_form::rules::unknown_word;
use quita_stored_form::turns::Lister;
use quita_stored_form::{encode, signed, signed_limit, unsigned};

/// Time after which counted events are deleted; no limit looks back that far.
const KEEP_EVENTS_MS: u64 = DAY_MS;

/// Payments of a link, grouped by the values that decide about its uses.
const USES: &str = "SELECT method, status, paid_at IS NOT NULL, count(*) FROM payments INDEXED BY payments_by_link \
    WHERE merchant = ?1 AND mode = ?2 AND link = ?3 GROUP BY 1, 2, 3";

/// Ended links with a payer that their merchant entered.
const OVER: &str = "SELECT hex(id), link FROM links INDEXED BY links_with_customer WHERE customer_until <= ?1 \
    ORDER BY customer_until LIMIT ?2";

/// Ended links with this payer's document.
const OVER_OF: &str = "SELECT hex(id), link FROM links INDEXED BY links_by_document WHERE document = ?1 \
    AND customer_until <= ?2 ORDER BY customer_until LIMIT ?3";

#[async_trait]
impl LinkStore for EmbeddedStore {
    async fn insert_link(&self, link: &Link) -> Result<bool, StoreError> {
        let (link, document) = (link.clone(), encode(link)?);
        self.write(move |transaction| {
            let sql = "INSERT INTO links (id, revision, merchant, mode, external_reference, created_at, document, \
                customer_until, link) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO NOTHING";
            let inserted = transaction.prepare_cached(sql)?.execute((
                link.id.uuid().as_bytes(),
                signed(link.revision),
                link.owner.merchant.as_str(),
                link.owner.mode.as_str(),
                link.offer.external_reference.as_deref(),
                link.created_at.millis(),
                link.customer_document().map(Document::as_str),
                link.customer_until().map(Timestamp::millis),
                document,
            ))?;
            Ok(inserted == 1)
        })
        .await
    }

    async fn link(&self, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.read(move |transaction| {
            let sql = "SELECT hex(id), link FROM links WHERE id = ?1";
            find_one(transaction, sql, [id.uuid().as_bytes()], "the link")
        })
        .await
    }

    async fn replace_link(&self, link: &Link) -> Result<bool, StoreError> {
        let (link, document) = (link.clone(), encode(link)?);
        self.write(move |transaction| {
            let sql = "UPDATE links SET revision = ?2, document = ?3, customer_until = ?4, link = ?5 \
                WHERE id = ?1 AND revision = ?2 - 1";
            let replaced = transaction.prepare_cached(sql)?.execute((
                link.id.uuid().as_bytes(),
                signed(link.revision),
                link.customer_document().map(Document::as_str),
                link.customer_until().map(Timestamp::millis),
                document,
            ))?;
            Ok(replaced == 1)
        })
        .await
    }

    async fn links(
        &self,
        filter: &LinkFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError> {
        let PageQuery { sql, values } = of_links(filter, after, limit);
        self.read(move |transaction| find_all(transaction, &sql, params_from_iter(values), "the link")).await
    }

    async fn links_with_customer(
        &self,
        document: Option<&Document>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError> {
        let until = until.millis();
        let limit = signed_limit(limit);
        let Some(document) = document.map(|document| document.as_str().to_owned()) else {
            return self
                .read(move |transaction| find_all(transaction, OVER, (until, limit), "the link"))
                .await;
        };
        self.read(move |transaction| find_all(transaction, OVER_OF, (document, until, limit), "the link"))
            .await
    }

    async fn link_uses(&self, link: &Link) -> Result<LinkUses, StoreError> {
        let owner = link.owner.clone();
        let id = link.id;
        let payers = Lister::Payers(owner.merchant.as_str().into());
        // The query counts all payments of the link and anyone may cause it, so lookups of other merchants must not
        // wait for it.
        self.list(payers, move |transaction| {
            let id = id.uuid();
            let bounds = (owner.merchant.as_str(), owner.mode.as_str(), id.as_bytes());
            let mut uses = LinkUses::default();
            read_both(transaction, USES, bounds, |row| {
                let (method, status): (String, String) = (row.get(0)?, row.get(1)?);
                let method = Method::parse(&method).ok_or_else(|| unknown_word("method"))?;
                let status = Status::parse(&status).ok_or_else(|| unknown_word("status"))?;
                uses.count(method, status, row.get(2)?, unsigned(row.get(3)?));
                Ok(())
            })?;
            Ok(uses)
        })
        .await
    }

    async fn count_event(&self, limit: &EventLimit, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let limit = limit.clone();
        // A client over its limit may ask again and again, and must not occupy the writer.
        let asked = limit.clone();
        let blocked = self.read(move |transaction| blocked_until(transaction, &asked, now)).await?;
        if blocked.is_some() {
            return Ok(blocked);
        }
        self.write(move |transaction| {
            forget_events(transaction, now)?;
            // Checked again under the write lock: between the read above and this write, others may have used the last
            // event.
            if let Some(until) = blocked_until(transaction, &limit, now)? {
                return Ok(Some(until));
            }
            let sql = "INSERT INTO page_events (name, at) VALUES (?1, ?2)";
            transaction.prepare_cached(sql)?.execute((&limit.name, now.millis()))?;
            Ok(None)
        })
        .await
    }

    async fn counted_events(&self, name: &str, since: Timestamp) -> Result<u64, StoreError> {
        let name = name.to_owned();
        self.read(move |transaction| {
            let sql =
                "SELECT count(*) FROM page_events INDEXED BY page_events_of WHERE name = ?1 AND at > ?2";
            let found = transaction
                .prepare_cached(sql)?
                .query_row((&name, since.millis()), |row| row.get::<_, i64>(0))?;
            Ok(unsigned(found))
        })
        .await
    }

    async fn uncount_event(&self, name: &str, at: Timestamp) -> Result<(), StoreError> {
        let name = name.to_owned();
        self.write(move |transaction| {
            let sql = "DELETE FROM page_events WHERE rowid IN \
                (SELECT rowid FROM page_events WHERE name = ?1 AND at = ?2 LIMIT 1)";
            transaction.prepare_cached(sql)?.execute((&name, at.millis()))?;
            Ok(())
        })
        .await
    }
}

/// Returns the time at which the event that blocks another one no longer counts, if such an event exists.
fn blocked_until(
    transaction: &Transaction<'_>,
    limit: &EventLimit,
    now: Timestamp,
) -> Result<Option<Timestamp>, Failure> {
    let sql = "SELECT at FROM page_events WHERE name = ?1 AND at > ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3";
    let since = now.minus_ms(limit.within_ms).millis();
    let offset = i64::from(limit.most).saturating_sub(1);
    let blocking = transaction
        .prepare_cached(sql)?
        .query_row((&limit.name, since, offset), |row| row.get::<_, i64>(0))
        .optional()?;
    Ok(blocking.map(|at| Timestamp::from_millis(at).plus_ms(limit.within_ms)))
}

fn forget_events(transaction: &Transaction<'_>, now: Timestamp) -> Result<(), Failure> {
    let sql = "DELETE FROM page_events WHERE rowid IN \
        (SELECT rowid FROM page_events INDEXED BY page_events_old WHERE at <= ?1 LIMIT ?2)";
    let old = (now.minus_ms(KEEP_EVENTS_MS).millis(), MAX_FORGOTTEN_AT_ONCE);
    transaction.prepare_cached(sql)?.execute(old)?;
    Ok(())
}

/// Returns the query for matching links, newest first.
fn of_links(filter: &LinkFilter, after: Option<Cursor>, limit: usize) -> PageQuery {
    let index =
        if filter.external_reference.is_some() { "links_by_external_reference" } else { "links_newest" };
    let mut sql =
        format!("SELECT hex(id), link FROM links INDEXED BY {index} WHERE merchant = ? AND mode = ?");
    let mut values: Vec<Value> =
        vec![filter.merchant.as_str().to_owned().into(), filter.mode.as_str().to_owned().into()];
    if let Some(reference) = &filter.external_reference {
        sql.push_str(" AND external_reference = ?");
        values.push(reference.clone().into());
    }
    if let Some(Cursor { created_at, id }) = after {
        sql.push_str(" AND (created_at, id) < (?, ?)");
        values.extend([created_at.millis().into(), id.uuid().as_bytes().to_vec().into()]);
    }
    sql.push_str(" ORDER BY created_at DESC, id DESC LIMIT ?");
    values.push(signed_limit(limit).into());
    PageQuery { sql, values }
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::{MerchantId, Mode, TransactionId};

    use super::super::reading::plan;
    use super::*;

    #[test]
    fn links_that_are_over_are_found_along_an_index() {
        plan::check(OVER, (9, 10), "links_with_customer ");
        plan::check(OVER_OF, ("52998224725", 9, 10), "links_by_document ");
    }

    #[test]
    fn lists_of_links_walk_an_index_and_never_sort() {
        let id = TransactionId::new(uuid::Uuid::nil());
        let after = Some(Cursor { created_at: Timestamp::from_millis(9), id });
        for (external_reference, index) in
            [(None, "links_newest "), (Some(String::from("x")), "links_by_external_reference ")]
        {
            let filter =
                LinkFilter { merchant: MerchantId::new("loja"), mode: Mode::Test, external_reference };
            let PageQuery { sql, values } = of_links(&filter, after, 10);
            plan::check(&sql, params_from_iter(values), index);
        }
    }
}
