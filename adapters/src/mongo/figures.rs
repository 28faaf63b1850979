//! Figures of many payments, along an index that holds all that is counted.

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use mongodb::Collection;
use mongodb::error::Error;
use quita_domain::figures::{Figure, FiguresFilter, PAID_WITHIN_MS};
use quita_domain::method::Method;
use quita_domain::status::Status;
use quita_ports::{FiguresStore, StoreError};

use super::MongoStore;
use super::failure::within_time;
use super::indexes::{AMOUNT, NEWEST_WITH_FIGURES, PAID_AT, PAYMENTS, named};
use crate::store_rules::unknown_word;
use crate::stored_form::{signed, unsigned};

#[async_trait]
impl FiguresStore for MongoStore {
    async fn figures(&self, filter: &FiguresFilter) -> Result<Vec<Figure>, StoreError> {
        let payments: Collection<Document> = self.database.collection(PAYMENTS);
        let pipeline = [matching(filter), doc! { "$group": grouped() }];
        let query = async {
            let mut cursor = payments.aggregate(pipeline).hint(named(NEWEST_WITH_FIGURES)).await?;
            let mut found = Vec::new();
            while cursor.advance().await? {
                found.push(cursor.deserialize_current()?);
            }
            Ok::<Vec<Document>, Error>(found)
        };
        within_time(query).await?.iter().map(read).collect()
    }
}

fn matching(filter: &FiguresFilter) -> Document {
    let created = doc! { "$gte": filter.from.millis(), "$lt": filter.to.millis() };
    doc! { "$match": {
        "merchant": filter.merchant.as_str(), "mode": filter.mode.as_str(), "createdAt": created,
    } }
}

fn grouped() -> Document {
    let kind = doc! { "method": "$method", "status": "$status", "paidWithin": paid_within() };
    doc! { "_id": kind, "count": { "$sum": 1_i64 }, "amount": { "$sum": format!("${AMOUNT}") } }
}

/// As [`crate::store_rules::paid_within`] has it; null for one that was never paid.
fn paid_within() -> Document {
    let class =
        |bound: u64, class: Bson| doc! { "case": { "$lte": ["$$took", signed(bound)] }, "then": class };
    let never = doc! { "case": { "$eq": ["$$took", Bson::Null] }, "then": Bson::Null };
    let classes = (0_i64..).zip(PAID_WITHIN_MS).map(|(number, bound)| class(bound, number.into()));
    let branches: Vec<_> = [never].into_iter().chain(classes).collect();
    let slower = i64::try_from(PAID_WITHIN_MS.len()).unwrap_or(i64::MAX);
    let took = doc! { "$subtract": [format!("${PAID_AT}"), "$createdAt"] };
    doc! { "$let": {
        "vars": { "took": took }, "in": { "$switch": { "branches": branches, "default": slower } },
    } }
}

fn read(found: &Document) -> Result<Figure, StoreError> {
    let wrong = |_| StoreError::Unreadable(String::from("figures are not as they were asked for"));
    let kind = found.get_document("_id").map_err(wrong)?;
    let method = kind.get_str("method").ok().and_then(Method::parse);
    let status = kind.get_str("status").ok().and_then(Status::parse);
    let paid_within = kind.get_i64("paidWithin").ok().and_then(|class| u8::try_from(class).ok());
    Ok(Figure {
        method: method.ok_or_else(|| unknown_word("method"))?,
        status: status.ok_or_else(|| unknown_word("status"))?,
        paid_within,
        count: unsigned(found.get_i64("count").map_err(wrong)?),
        amount_cents: unsigned(found.get_i64("amount").map_err(wrong)?),
    })
}
