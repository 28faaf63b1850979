//! The span of a call to the store that serves many payments at once.

use quita_ports::trace::{Span, SpanKind};

/// Payments of a batch to which its span has links.
const LINKS: usize = 32;

/// The span of a batch, recorded if that of any of its members is.
///
/// It is no child of any of them, as it serves all: it begins a trace of its own, with links to them, and each of them
/// gets a link to it. A member's own span lasts until the batch is over, and so tells how long it had to wait.
pub(crate) fn batch_span<'a>(name: &'static str, members: impl Iterator<Item = &'a mut Span>) -> Span {
    let (mut size, mut recorded) = (0_usize, Vec::new());
    for member in members {
        size = size.saturating_add(1);
        if member.context().is_some() {
            recorded.push(member);
        }
    }
    let contexts = recorded.iter().filter_map(|member| member.context());
    let mut batch = Span::shared(contexts.take(LINKS), || name.into()).of_kind(SpanKind::Client);
    batch.record("batch.size", size);
    for member in recorded {
        member.link(batch.context());
    }
    batch
}
