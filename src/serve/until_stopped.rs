//! Time for which the servers run: until a signal arrives, a listener ends, or the store becomes too new.

use std::io;
use std::time::Duration;

use actix_web::dev::Server;
use quita_actors::ActorSystem;
use quita_ports::{StoreForm, WholeStore};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::acquirers::Reload;

/// Explains why a service ends when its store was upgraded by another program.
fn outdated(StoreForm { number, known, .. }: StoreForm) -> io::Error {
    io::Error::other(format!(
        "the store was upgraded to stored form {number} while this service was silent, and this version of Quita knows \
         forms up to {known}: nothing more is written; start the version that upgraded it"
    ))
}

/// Waits for the next SIGHUP, or forever if none is expected.
async fn hung_up(signal: &mut Option<Signal>) -> Option<()> {
    match signal {
        Some(signal) => signal.recv().await,
        None => std::future::pending().await,
    }
}

/// Serves until a signal arrives. Then stops accepting, and finishes accepted requests.
pub(super) async fn serve(
    api: Server,
    ops: Server,
    system: &ActorSystem,
    reload: Option<Reload>,
    store: &dyn WholeStore,
    within: Duration,
    end_streams: impl Fn(),
) -> io::Result<()> {
    let api_handle = api.handle();
    let ops_handle = ops.handle();
    let mut api = actix_web::rt::spawn(api);
    let mut ops = actix_web::rt::spawn(ops);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = reload.is_some().then(|| signal(SignalKind::hangup())).transpose()?;
    let mut watch = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = watch.tick() => {
                system.watch();
                // A heartbeat or a write found a newer form. The store refuses further writes by this program (decision
                // 44).
                if store.form().is_too_new() {
                    end_streams();
                    api_handle.stop(false).await;
                    ops_handle.stop(false).await;
                    return Err(outdated(store.form()));
                }
            }
            Some(()) = hung_up(&mut hang_up) => {
                if let Some(reload) = &reload {
                    reload.run().await;
                }
            }
            _ = terminate.recv() => break,
            _ = interrupt.recv() => break,
            // A listener that ends by itself ends the service, because the rest of it would serve nobody.
            ended = &mut api => return ended?,
            ended = &mut ops => return ended?,
        }
    }
    tracing::info!(within_s = within.as_secs(), "stopping: accepted requests are being finished");
    // Live pages never end by themselves, so a graceful stop would wait for them until its time limit.
    end_streams();
    if tokio::time::timeout(within, api_handle.stop(true)).await.is_err() {
        tracing::warn!("some connections did not close in time");
        api_handle.stop(false).await;
    }
    // The operators' listener ends last: health and metrics are still answered during the stop.
    ops_handle.stop(false).await;
    Ok(())
}
