//! Figures of many payments, read from an index that holds everything that is counted.

use std::collections::BTreeMap;

use async_trait::async_trait;
use bson::{Bson, Document, doc};
use quita_domain::figures::{Figure, FiguresFilter, PAID_WITHIN_MS};
use quita_domain::method::Method;
use quita_domain::status::Status;
use quita_ports::{FiguresStore, StoreError};

use super::MongoStore;
use super::archive::binaries;
use super::indexes::{AMOUNT, ARCHIVE, BY_ID, BY_KIND, MOVING, PAID_AT, PAYMENTS};
use super::listing::{any_method, any_status};
use super::reading::aggregate;
use quita_stored_form::rules::unknown_word;
use quita_stored_form::{signed, signed_limit, unsigned};

/// Key of one figure.
type FigureKey = (Method, Status, Option<u8>);

#[async_trait]
impl FiguresStore for MongoStore {
    async fn figures(&self, filter: &FiguresFilter) -> Result<Vec<Figure>, StoreError> {
        let _turn = self.turn(&filter.merchant).await?;
        let mut figures: BTreeMap<FigureKey, Figure> = BTreeMap::new();
        let add = |into: &mut BTreeMap<FigureKey, Figure>, found: &Document| {
            let Figure { method, status, paid_within, count, amount_cents } = read(found)?;
            let new = Figure { method, status, paid_within, count: 0, amount_cents: 0 };
            let figure = into.entry((method, status, paid_within)).or_insert(new);
            figure.count = figure.count.saturating_add(count);
            figure.amount_cents = figure.amount_cents.saturating_add(amount_cents);
            Ok::<_, StoreError>(())
        };
        let pipeline = || vec![matching(filter), doc! { "$group": grouped() }];
        for found in aggregate(&self.collection(PAYMENTS), pipeline(), BY_KIND).await? {
            add(&mut figures, &found)?;
        }
        // Payments that are being moved are in both collections. They are counted separately and subtracted. They are
        // looked up before the archive is counted: a move that begins later may be counted twice for a moment, but none
        // is missed (decision 45).
        let uncounted = self.uncounted(&filter.merchant, filter.mode).await?;
        for found in aggregate(&self.collection(ARCHIVE), pipeline(), BY_KIND).await? {
            add(&mut figures, &found)?;
        }
        if !uncounted.is_empty() {
            let mut twice = BTreeMap::new();
            // A payment whose move has ended since has left the payments, perhaps before these were counted.
            let of_these = doc! { "$match": { "_id": { "$in": binaries(uncounted.iter()) }, MOVING: true } };
            let pipeline = [vec![of_these], pipeline()].concat();
            for found in aggregate(&self.collection(ARCHIVE), pipeline, BY_ID).await? {
                add(&mut twice, &found)?;
            }
            for (kind, Figure { count, amount_cents, .. }) in twice {
                if let Some(figure) = figures.get_mut(&kind) {
                    figure.count = figure.count.saturating_sub(count);
                    figure.amount_cents = figure.amount_cents.saturating_sub(amount_cents);
                }
            }
            figures.retain(|_, figure| figure.count > 0);
        }
        Ok(figures.into_values().collect())
    }
}

fn matching(filter: &FiguresFilter) -> Document {
    let created = doc! { "$gte": filter.from.millis(), "$lt": filter.to.millis() };
    doc! { "$match": {
        "merchant": filter.merchant.as_str(), "mode": filter.mode.as_str(), "status": any_status(&[]),
        "method": any_method(None), "createdAt": created,
    } }
}

fn grouped() -> Document {
    let kind = doc! { "method": "$method", "status": "$status", "paidWithin": paid_within() };
    doc! { "_id": kind, "count": { "$sum": 1_i64 }, "amount": { "$sum": format!("${AMOUNT}") } }
}

/// Computes the same as [`quita_stored_form::rules::paid_within`]; null for a payment that was never paid.
fn paid_within() -> Document {
    let took = doc! { "$subtract": [format!("${PAID_AT}"), "$createdAt"] };
    let never = doc! { "$eq": ["$$took", Bson::Null] };
    let class = doc! { "$cond": [never, Bson::Null, class_within(&PAID_WITHIN_MS, 0)] };
    doc! { "$let": { "vars": { "took": took }, "in": class } }
}

/// Returns the class among these bounds by binary search. The first bound belongs to the class `first`.
fn class_within(bounds: &[u64], first: i64) -> Bson {
    let (below, rest) = bounds.split_at(bounds.len() / 2);
    let Some((bound, above)) = rest.split_first() else { return first.into() };
    let next = first.saturating_add(signed_limit(below.len())).saturating_add(1);
    let is_within = doc! { "$lte": ["$$took", signed(*bound)] };
    doc! { "$cond": [is_within, class_within(below, first), class_within(above, next)] }.into()
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
