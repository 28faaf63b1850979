//! Reading rows that contain a document.

use rusqlite::{Params, Transaction};

use super::failure::Failure;
use quita_stored_form::{FromDocument, decode};

/// Returns the documents of a query, in order. Each row has a document, and a text that identifies the `what` in a
/// message.
pub(super) fn find_all<T: FromDocument>(
    transaction: &Transaction<'_>,
    sql: &str,
    bounds: impl Params,
    what: &str,
) -> Result<Vec<T>, Failure> {
    let mut statement = transaction.prepare_cached(sql)?;
    let mut rows = statement.query(bounds)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let (which, document): (String, Vec<u8>) = (row.get(0)?, row.get(1)?);
        found.push(decode(&document, &format!("{what} {which}"))?);
    }
    Ok(found)
}

/// Returns the document of a query that finds at most one row.
pub(super) fn find_one<T: FromDocument>(
    transaction: &Transaction<'_>,
    sql: &str,
    bounds: impl Params,
    what: &str,
) -> Result<Option<T>, Failure> {
    Ok(find_all(transaction, sql, bounds, what)?.pop())
}

#[cfg(test)]
pub(super) mod plan {
    use rusqlite::{Params, Statement};

    use super::super::archive::of_archive;

    /// Checks that the query walks this index, and neither sorts nor reads a whole table. Checks the same query of the
    /// archive, too.
    #[track_caller]
    pub(in super::super) fn check(sql: &str, bounds: impl Params + Clone, index: &str) {
        let folder = tempfile::tempdir().unwrap();
        let connection = super::super::open::writer(&folder.path().join("quita.db")).unwrap().connection;
        for (sql, index) in [(sql.into(), index.into()), (of_archive(sql), of_archive(index))] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let plan = steps(&mut statement, bounds.clone());
            assert_eq!(plan.len(), 1, "{sql}: {plan:?}");
            assert!(plan[0].starts_with("SEARCH") && plan[0].contains(&index), "{sql}: {plan:?}");
        }
    }

    /// Checks that the query merges this many parts of an index, each by a search, and sorts nothing. Checks the same
    /// query of the archive, too.
    #[track_caller]
    pub(in super::super) fn check_merged(sql: &str, bounds: impl Params + Clone, index: &str, parts: usize) {
        let folder = tempfile::tempdir().unwrap();
        let connection = super::super::open::writer(&folder.path().join("quita.db")).unwrap().connection;
        for (sql, index) in [(sql.into(), index.into()), (of_archive(sql), of_archive(index))] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let plan = steps(&mut statement, bounds.clone());
            let (searches, others): (Vec<_>, Vec<_>) =
                plan.iter().partition(|step| step.starts_with("SEARCH"));
            let are_of_index = searches.iter().all(|step| step.contains(&index));
            assert!(searches.len() == parts && are_of_index, "{sql}: {plan:?}");
            let merges = ["MERGE (UNION ALL)", "MERGE (UNION)", "LEFT", "RIGHT"];
            assert!(others.iter().all(|step| merges.contains(&step.as_str())), "{sql}: {plan:?}");
        }
    }

    fn steps(statement: &mut Statement<'_>, bounds: impl Params) -> Vec<String> {
        statement.query_map(bounds, |row| row.get(3)).unwrap().map(Result::unwrap).collect()
    }
}
