//! Query of one page of a list.

use rusqlite::types::Value;

/// Query of one page: its SQL, and the values of its parameters in their order.
pub(super) struct PageQuery {
    pub(super) sql: String,
    pub(super) values: Vec<Value>,
}
