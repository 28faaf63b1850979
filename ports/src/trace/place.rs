//! Where in a trace something is done, and how that is handed on.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::{Position, Tracer};

thread_local! {
    static HERE: RefCell<Option<Place>> = const { RefCell::new(None) };
}

/// A place in a trace that is recorded: what begins there is its consequence.
#[derive(Clone)]
pub struct Place(Arc<Inner>);

struct Inner {
    position: Position,
    tracer: Arc<dyn Tracer>,
}

impl Place {
    pub(super) fn new(position: Position, tracer: Arc<dyn Tracer>) -> Self {
        Self(Arc::new(Inner { position, tracer }))
    }

    pub(super) fn position(&self) -> Position {
        self.0.position
    }

    pub(super) fn tracer(&self) -> &Arc<dyn Tracer> {
        &self.0.tracer
    }

    /// Makes it the place of everything that this thread does until the guard is dropped.
    pub fn enter(&self) -> Entered {
        let place = Some(self.clone());
        Entered(HERE.try_with(|here| here.replace(place)).ok().flatten())
    }
}

/// Leaves a place when it is dropped.
#[must_use = "the place is left when this is dropped"]
pub struct Entered(Option<Place>);

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.0.take();
        // A thread that ends is nowhere.
        drop(HERE.try_with(|here| here.replace(before)));
    }
}

/// The place of what this thread is doing, if it belongs to a trace.
pub fn here() -> Option<Place> {
    HERE.try_with(|here| here.borrow().clone()).ok().flatten()
}

/// Has a future worked at this place, whichever thread works it.
pub const fn within<F: Future>(place: Option<Place>, future: F) -> Within<F> {
    Within { place, future }
}

/// Has a future worked at the place where this is called: for what goes on in a task of its own.
pub fn carry<F: Future>(future: F) -> Within<F> {
    within(here(), future)
}

pin_project! {
    /// A future with its place.
    pub struct Within<F> {
        place: Option<Place>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Within<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _here = this.place.as_ref().map(Place::enter);
        this.future.poll(context)
    }
}
