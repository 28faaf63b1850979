//! Operators' directives for acquirers, which every node follows.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::{RouteControl, RouteDirective};
use quita_ports::{OperatorStore, StoreError};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::acquirers::routing::{Route, Routes};

/// Applies the stored directives to the routes. While the store is away the last directives remain in force. Until they
/// have been read once, no payment is routed.
#[derive(Default)]
pub(crate) struct RouteDirectives {
    are_known: AtomicBool,
    /// Wakes the waiters for the directives in order; a `watch` would wake them in any order.
    became_known: Notify,
    /// Number of directives given on this node. A read that began before one of them is stale.
    given: Mutex<u64>,
}

impl RouteDirectives {
    fn given(&self) -> MutexGuard<'_, u64> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the stored directives and applies them.
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

    /// Stores a directive, and applies it here at once.
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

    /// Returns true once they have been read.
    pub(crate) fn are_known(&self) -> bool {
        self.are_known.load(Ordering::Acquire)
    }

    /// Returns true if they are known, or become known within this time.
    pub(crate) async fn are_known_within(&self, patience: Duration) -> bool {
        // Registered before the check, so that no wake-up in between is missed.
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
            "an operator's directive for an acquirer is now in effect"
        );
    }
}
