//! What operators directed for the acquirers, as every node follows it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::{RouteControl, RouteDirective};
use quita_ports::{OperatorStore, StoreError};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::acquirers::routing::{Route, Routes};

/// Brings what is stored to the routes. While the store is out of reach the last directives hold; until they were read
/// once, no payment is routed.
#[derive(Default)]
pub(crate) struct RouteDirectives {
    are_known: AtomicBool,
    /// Wakes who waits for them, in the order of waiting; a `watch` would wake in any.
    became_known: Notify,
    /// Directives that were given here: what was read before one of them is stale.
    given: Mutex<u64>,
}

impl RouteDirectives {
    fn given(&self) -> MutexGuard<'_, u64> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads what is stored, and follows it.
    pub(crate) async fn refresh(&self, store: &dyn OperatorStore, routes: &Routes) -> Result<(), StoreError> {
        let before = *self.given();
        let controls = store.route_controls().await?;
        let given = self.given();
        if *given == before {
            for route in routes.all() {
                follow(route, controls.iter().find(|control| is_for(control, route)));
            }
            self.are_known.store(true, Ordering::Release);
            self.became_known.notify_waiters();
        }
        drop(given);
        Ok(())
    }

    /// Stores a directive, and follows it here at once.
    pub(crate) async fn give(
        &self,
        store: &dyn OperatorStore,
        route: &Route,
        control: &RouteControl,
    ) -> Result<(), StoreError> {
        store.put_route_control(control).await?;
        let mut given = self.given();
        *given = given.wrapping_add(1);
        follow(route, Some(control));
        drop(given);
        Ok(())
    }

    /// Whether they were read.
    pub(crate) fn are_known(&self) -> bool {
        self.are_known.load(Ordering::Acquire)
    }

    /// Whether they are known, if need be after a while.
    pub(crate) async fn are_known_within(&self, patience: Duration) -> bool {
        // Before the look: what becomes known after it is not missed.
        let became_known = self.became_known.notified();
        self.are_known() || timeout(patience, became_known).await.is_ok()
    }
}

fn is_for(control: &RouteControl, route: &Route) -> bool {
    control.acquirer == route.spec().name && control.method == route.method
}

fn follow(route: &Route, control: Option<&RouteControl>) {
    let directive = control.map_or(RouteDirective::Open, |control| control.directive);
    if route.health.follow(directive, control.map(|control| control.at)) {
        tracing::warn!(
            acquirer = %route.spec().name, method = route.method.label(), directive = directive.as_str(),
            "an operator's directive for an acquirer holds from now on"
        );
    }
}
