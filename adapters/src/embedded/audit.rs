//! What people changed.

use async_trait::async_trait;
use quita_domain::audit::{AuditCursor, AuditEntry, AuditScope};
use quita_ports::{AuditStore, StoreError};
use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::EmbeddedStore;
use super::reading::find_all;
use crate::stored_form::{encode, signed_limit};

#[async_trait]
impl AuditStore for EmbeddedStore {
    async fn append_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let merchant = entry.merchant.as_ref().map(|merchant| merchant.as_str().to_owned());
        let (id, at, document) = (entry.id, entry.at.millis(), encode(entry)?);
        self.write(move |transaction| {
            let sql = "INSERT INTO audit (id, at, merchant, entry) VALUES (?1, ?2, ?3, ?4)";
            let mut insert = transaction.prepare_cached(sql)?;
            if insert.execute((id.as_bytes(), at, merchant, &document))? == 1 {
                return Ok(());
            }
            // There is one with this id: the same one, if somebody asks again because the answer was lost.
            let mut same = transaction.prepare_cached("SELECT entry = ?2 FROM audit WHERE id = ?1")?;
            match same.query_row((id.as_bytes(), &document), |row| row.get(0))? {
                true => Ok(()),
                false => Err(crate::store_rules::entry_exists(id).into()),
            }
        })
        .await
    }

    async fn audit(
        &self,
        scope: &AuditScope,
        after: Option<AuditCursor>,
        limit: usize,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let (sql, values) = page(scope, after, limit);
        self.read(move |transaction| find_all(transaction, &sql, params_from_iter(values), "audit entry"))
            .await
    }
}

fn page(scope: &AuditScope, after: Option<AuditCursor>, limit: usize) -> (String, Vec<Value>) {
    let mut sql = String::from("SELECT lower(hex(id)), entry FROM audit WHERE ");
    let mut values: Vec<Value> = Vec::new();
    match scope {
        AuditScope::Merchant(merchant) => {
            sql.push_str("merchant = ?");
            values.push(merchant.as_str().to_owned().into());
        }
        AuditScope::Everything => sql.push_str("true"),
    }
    if let Some(AuditCursor { at, id }) = after {
        sql.push_str(" AND (at, id) < (?, ?)");
        values.extend([at.millis().into(), id.as_bytes().to_vec().into()]);
    }
    sql.push_str(" ORDER BY at DESC, id DESC LIMIT ?");
    values.push(signed_limit(limit).into());
    (sql, values)
}

#[cfg(test)]
mod tests {
    use quita_domain::identity::MerchantId;
    use quita_domain::time::Timestamp;
    use uuid::Uuid;

    use super::super::reading::plan;
    use super::*;

    #[test]
    fn pages_walk_an_index_and_never_sort() {
        let after = Some(AuditCursor { at: Timestamp::from_millis(9), id: Uuid::nil() });
        let of_merchant = AuditScope::Merchant(MerchantId::new("loja"));
        for (scope, after, index) in [
            (&of_merchant, None, "audit_of_merchant "),
            (&of_merchant, after, "audit_of_merchant "),
            (&AuditScope::Everything, after, "audit_newest "),
        ] {
            let (sql, values) = page(scope, after, 10);
            plan::check(&sql, params_from_iter(values), index);
        }
    }
}
