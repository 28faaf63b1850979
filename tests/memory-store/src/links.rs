//! Payment links, and what is counted at their pages.

use async_trait::async_trait;
use quita_domain::document::Document;
use quita_domain::identity::LinkId;
use quita_domain::link::{Link, LinkFilter, LinkUses};
use quita_domain::listing::Cursor;
use quita_domain::time::Timestamp;
use quita_ports::{EventLimit, LinkStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{Records, first_by, insert_new, last_by};

#[async_trait]
impl<C: Connection> LinkStore for MemoryStore<C> {
    async fn insert_link(&self, link: &Link) -> Result<bool, StoreError> {
        let insert = |records: &mut Records| Ok(insert_new(&mut records.links, link.id, link.clone()));
        self.0.change("insert_link", insert).await
    }

    async fn link(&self, id: LinkId) -> Result<Option<Link>, StoreError> {
        self.0.read("link", |records| Ok(records.links.get(&id).cloned())).await
    }

    async fn replace_link(&self, link: &Link) -> Result<bool, StoreError> {
        self.0
            .change("replace_link", |records| {
                let known = records.links.get_mut(&link.id);
                let same = known.filter(|known| known.revision.saturating_add(1) == link.revision);
                Ok(same.map(|known| known.clone_from(link)).is_some())
            })
            .await
    }

    async fn links(
        &self,
        filter: &LinkFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError> {
        let order = |link: &Link| (link.created_at, link.id.uuid());
        let is_after = |link: &Link| after.is_none_or(|last| order(link) < (last.created_at, last.id.uuid()));
        let matches = |link: &Link| {
            (&link.owner.merchant, link.owner.mode) == (&filter.merchant, filter.mode)
                && (filter.external_reference.is_none()
                    || link.offer.external_reference == filter.external_reference)
        };
        self.0
            .read("links", |records| {
                let found = records.links.values().filter(|link| is_after(link) && matches(link));
                Ok(last_by(found, order, limit))
            })
            .await
    }

    async fn links_with_customer(
        &self,
        document: Option<&Document>,
        until: Timestamp,
        limit: usize,
    ) -> Result<Vec<Link>, StoreError> {
        let is_meant = |link: &Link| document.is_none() || link.customer_document() == document;
        let is_over = |link: &Link| link.customer_until().is_some_and(|over| over <= until);
        self.0
            .read("links_with_customer", |records| {
                let found = records.links.values().filter(|link| is_meant(link) && is_over(link));
                Ok(first_by(found, Link::customer_until, limit))
            })
            .await
    }

    async fn link_uses(&self, link: &Link) -> Result<LinkUses, StoreError> {
        self.0
            .read("link_uses", |records| {
                let mut uses = LinkUses::default();
                for payment in records.payments.values().filter(|payment| payment.link == Some(link.id)) {
                    let was_paid = payment.state.paid_at.is_some();
                    uses.count(payment.method(), payment.status(), was_paid, 1);
                }
                Ok(uses)
            })
            .await
    }

    async fn count_event(&self, limit: &EventLimit, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        self.0
            .change("count_event", |records| {
                let times = records.page_events.entry(limit.name.clone()).or_default();
                times.retain(|at| *at > now.minus_ms(limit.within_ms));
                let most = usize::try_from(limit.most).unwrap_or(usize::MAX);
                if let Some(place) = times.len().checked_sub(most) {
                    let blocking = times.get(place).copied().unwrap_or(now);
                    return Ok(Some(blocking.plus_ms(limit.within_ms)));
                }
                times.push(now);
                Ok(None)
            })
            .await
    }

    async fn counted_events(&self, name: &str, since: Timestamp) -> Result<u64, StoreError> {
        self.0
            .read("counted_events", |records| {
                let times = records.page_events.get(name).into_iter().flatten();
                Ok(u64::try_from(times.filter(|at| **at > since).count()).unwrap_or(u64::MAX))
            })
            .await
    }

    async fn uncount_event(&self, name: &str, at: Timestamp) -> Result<(), StoreError> {
        self.0
            .change("uncount_event", |records| {
                if let Some(times) = records.page_events.get_mut(name)
                    && let Some(place) = times.iter().position(|time| *time == at)
                {
                    times.remove(place);
                }
                Ok(())
            })
            .await
    }
}
