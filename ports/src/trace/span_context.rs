//! Span contexts: positions in a recorded trace, and their propagation.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use pin_project_lite::pin_project;

use super::{Position, Tracer};

thread_local! {
    static HERE: RefCell<Option<SpanContext>> = const { RefCell::new(None) };
}

/// Span that causes later work, in a trace that is recorded.
#[derive(Clone)]
pub struct SpanContext(Arc<Inner>);

struct Inner {
    position: Position,
    tracer: Arc<dyn Tracer>,
}

impl SpanContext {
    pub(super) fn new(position: Position, tracer: Arc<dyn Tracer>) -> Self {
        Self(Arc::new(Inner { position, tracer }))
    }

    pub(super) fn position(&self) -> Position {
        self.0.position
    }

    pub(super) fn tracer(&self) -> &Arc<dyn Tracer> {
        &self.0.tracer
    }

    /// Makes this span the cause of everything that this thread does until the guard is dropped.
    pub fn enter(&self) -> Entered {
        let span_context = Some(self.clone());
        Entered(HERE.try_with(|here| here.replace(span_context)).ok().flatten())
    }
}

/// Leaves a context when it is dropped.
#[must_use = "the context is left when this is dropped"]
pub struct Entered(Option<SpanContext>);

impl Drop for Entered {
    fn drop(&mut self) {
        let before = self.0.take();
        // The thread may be ending and its local storage gone: then there is nothing to restore.
        drop(HERE.try_with(|here| here.replace(before)));
    }
}

/// Returns the context of this thread's current work, if it belongs to a trace.
pub fn here() -> Option<SpanContext> {
    HERE.try_with(|here| here.borrow().clone()).ok().flatten()
}

/// Polls a future in this context, whichever thread polls it.
pub const fn within<F: Future>(span_context: Option<SpanContext>, future: F) -> TracedFuture<F> {
    TracedFuture { span_context, future }
}

/// Polls a future in the context of the caller, for work that continues in its own task.
pub fn carry<F: Future>(future: F) -> TracedFuture<F> {
    within(here(), future)
}

pin_project! {
    /// A future with its context.
    pub struct TracedFuture<F> {
        span_context: Option<SpanContext>,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for TracedFuture<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let _here = this.span_context.as_ref().map(SpanContext::enter);
        this.future.poll(context)
    }
}

#[cfg(test)]
mod tests {
    use std::num::{NonZeroU64, NonZeroU128};
    use std::pin::pin;
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::task::Waker;
    use std::time::SystemTime;

    use super::super::{EndedSpan, Parent, Span, SpanId, TraceId};
    use super::*;

    #[derive(Default)]
    struct Counting {
        next: AtomicU64,
        ended: std::sync::Mutex<Vec<EndedSpan>>,
    }

    impl Tracer for Counting {
        fn fresh_trace(&self) -> TraceId {
            TraceId(NonZeroU128::MIN)
        }

        fn takes(&self, _: TraceId) -> bool {
            true
        }

        fn fresh_span(&self) -> SpanId {
            SpanId(NonZeroU64::new(self.next.fetch_add(1, Ordering::SeqCst) + 1).unwrap())
        }

        fn now(&self) -> SystemTime {
            SystemTime::UNIX_EPOCH
        }

        fn ended(&self, span: EndedSpan) {
            self.ended.lock().unwrap().push(span);
        }
    }

    fn begun(tracer: &Arc<Counting>, name: &'static str) -> Span {
        let tracer: Arc<dyn Tracer> = tracer.clone();
        Span::begin(Some(&tracer), || name.into())
    }

    fn position() -> Option<Position> {
        here().map(|span_context| span_context.position())
    }

    #[test]
    fn contexts_are_entered_and_left_like_nested_rooms() {
        let tracer = Arc::default();
        let outer = begun(&tracer, "outer");
        let inner = begun(&tracer, "inner");
        let [outer, inner] = [&outer, &inner].map(|span| span.context().unwrap());
        assert_eq!(position(), None);
        let in_outer = outer.enter();
        let in_inner = inner.enter();
        assert_eq!(position(), Some(inner.position()));
        drop(in_inner);
        assert_eq!(position(), Some(outer.position()));
        drop(in_outer);
        assert_eq!(position(), None);
    }

    #[test]
    fn a_future_is_in_its_context_wherever_it_is_polled_and_nothing_else_is() {
        let tracer = Arc::default();
        let span = begun(&tracer, "first");
        let mut polls = 0;
        let seen = std::future::poll_fn(|_| {
            polls += 1;
            if polls < 3 { Poll::Pending } else { Poll::Ready(position()) }
        });
        let mut future = pin!(within(span.context().cloned(), seen));
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..2 {
            assert!(future.as_mut().poll(&mut context).is_pending());
            assert_eq!(position(), None);
        }
        let expected = span.context().map(SpanContext::position);
        assert_eq!(future.as_mut().poll(&mut context), Poll::Ready(expected));
    }

    #[test]
    fn what_is_carried_knows_where_it_was_begun() {
        let tracer = Arc::default();
        let span = begun(&tracer, "first");
        let entered = span.context().map(SpanContext::enter);
        let mut carried = pin!(carry(async { position() }));
        drop(entered);
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(
            carried.as_mut().poll(&mut context),
            Poll::Ready(span.context().map(SpanContext::position))
        );
    }

    #[test]
    fn a_child_is_of_the_same_trace_and_a_shared_span_has_links() {
        let tracer = Arc::<Counting>::default();
        let span = begun(&tracer, "first");
        let child = Span::child(span.context(), || "child".into());
        let shared = Span::shared([&span, &child].into_iter().filter_map(Span::context), || "shared".into());
        drop((shared, child, span));
        let ended = tracer.ended.lock().unwrap();
        let [shared, child, first] = ended.as_slice() else { panic!("{ended:?}") };
        assert_eq!(child.parent, Parent::Here(first.position.span));
        assert_eq!(
            (shared.parent, shared.links.as_slice()),
            (Parent::None, &[first.position, child.position][..])
        );
    }

    #[test]
    fn without_a_trace_there_are_no_spans_below() {
        for span in [
            Span::none(),
            Span::begin(None, || "begun".into()),
            Span::child(None, || "child".into()),
            Span::shared(std::iter::empty(), || "shared".into()),
        ] {
            assert!(span.context().is_none());
        }
    }
}
