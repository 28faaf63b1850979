//! Span of a call to the store that serves many payments at once.

use quita_ports::trace::{Span, SpanKind};

/// Members to which the span of a batch has links.
const LINKS: usize = 32;

/// Opens the span of a batch. It is recorded if the span of any member is.
///
/// The span is not a child of any member, because it serves all. It starts its own trace with links to the members, and
/// each of them gets a link back. A member's own span lasts until the batch is over, and so includes its wait.
pub(crate) fn batch_span<'a>(name: &'static str, members: impl Iterator<Item = &'a mut Span>) -> Span {
    let mut size = 0_usize;
    let mut recorded = Vec::new();
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
