//! Comparison of the local clock with that of the server.

use std::sync::Arc;

use bson::{Document, doc};
use quita_domain::time::Timestamp;
use quita_ports::{Clock, StoreError};

use super::connect;
use super::failure::within_time;
use super::threads::Threads;

/// Returns the milliseconds by which the clock of the server that the URI names is ahead of the local one; negative if
/// it is behind. The error is at most half of the time that the server takes to answer.
///
/// # Errors
/// [`StoreError::Unavailable`] if no primary answers, the answer has no time, or the URI can't be used.
pub async fn server_ahead_ms(uri: &str, clock: Arc<dyn Clock>) -> Result<i64, StoreError> {
    let threads = Arc::new(Threads::start()?);
    threads.run(compare(uri.to_owned(), clock)).await?
}

async fn compare(uri: String, clock: Arc<dyn Clock>) -> Result<i64, StoreError> {
    let (client, _) = connect::client(&uri).await?;
    let admin = client.database("admin");
    // The connection exists after this ping, so the next answer takes no longer than one round trip.
    within_time(admin.run_command(doc! { "ping": 1 })).await?;
    let asked_at = clock.now();
    let hello = within_time(admin.run_command(doc! { "hello": 1 })).await?;
    let answered_at = clock.now();
    let middle_ms = asked_at.millis().midpoint(answered_at.millis());
    Ok(told_time(&hello)?.millis().saturating_sub(middle_ms))
}

/// Returns the time in a server's answer to `hello`.
pub(super) fn told_time(hello: &Document) -> Result<Timestamp, StoreError> {
    let told = hello.get_datetime("localTime");
    let told = told.map_err(|_| StoreError::Unavailable("the server does not tell its time".into()))?;
    Ok(Timestamp::from_millis(told.timestamp_millis()))
}
