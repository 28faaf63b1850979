//! What operators directed for the acquirers, as every node follows it.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use quita_domain::control::{RouteControl, RouteDirective};
use quita_ports::{OperatorStore, StoreError};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::acquirers::routing::{Route, Routes};

/// Brings what is stored to the routes. While the store is out of reach the last directives hold; until they were read
/// once, no payment is routed.
#[derive(Default)]
pub(crate) struct RouteDirectives {
    known: watch::Sender<bool>,
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
            self.known.send_replace(true);
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
        *self.known.borrow()
    }

    /// Whether they are known, if need be after a while.
    pub(crate) async fn are_known_within(&self, patience: Duration) -> bool {
        if self.are_known() {
            return true;
        }
        let mut known = self.known.subscribe();
        timeout(patience, known.wait_for(|is_known| *is_known)).await.is_ok_and(|known| known.is_ok())
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
