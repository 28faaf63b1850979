//! The `traceparent` header: a request's position in its caller's trace (W3C Trace Context, level 1, section 3.2).
//!
//! `tracestate` and `baggage` are neither read nor passed on: nothing here uses them.

use std::num::{NonZeroU64, NonZeroU128};

use actix_web::http::header::{HeaderMap, HeaderName};
use quita_ports::trace::{Position, SpanId, TraceId};

const HEADER: HeaderName = HeaderName::from_static("traceparent");

/// Flag bit: the caller records the trace.
const RECORDED: u8 = 1;

/// A caller's span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caller {
    pub(super) position: Position,
    /// True if the caller records it.
    pub(super) is_recorded: bool,
}

/// Returns the caller's span, if there is exactly one valid header. Any other case counts as none.
pub(super) fn of(headers: &HeaderMap) -> Option<Caller> {
    let mut all = headers.get_all(HEADER);
    let only = all.next().filter(|_| all.next().is_none())?;
    read(only.to_str().ok()?)
}

fn read(text: &str) -> Option<Caller> {
    let mut parts = text.split('-');
    let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    let version = hex(version, 2)?;
    // Later versions may have more parts; version 0 may not, and 0xff is no valid version.
    if version == 0xff || (version == 0 && parts.next().is_some()) {
        return None;
    }
    let trace = NonZeroU128::new(hex(trace, 32)?)?;
    let span = NonZeroU64::new(u64::try_from(hex(span, 16)?).ok()?)?;
    let flags = u8::try_from(hex(flags, 2)?).ok()?;
    let position = Position { trace: TraceId(trace), span: SpanId(span) };
    Some(Caller { position, is_recorded: flags & RECORDED != 0 })
}

/// Parses exactly this many digits, in lower case as the standard requires.
fn hex(text: &str, digits: usize) -> Option<u128> {
    let is_hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (text.len() == digits && is_hex).then(|| u128::from_str_radix(text, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SANE: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_sane_header_tells_trace_span_and_whether_it_is_recorded() {
        let caller = read(SANE).unwrap();
        assert_eq!(caller.position.trace.0.get(), 0x4bf9_2f35_77b3_4da6_a3ce_929d_0e0e_4736);
        assert_eq!(caller.position.span.0.get(), 0x00f0_67aa_0ba9_02b7);
        assert!(caller.is_recorded);
        assert!(!read(&SANE.replace("-01", "-00")).unwrap().is_recorded);
        assert!(read(&SANE.replace("-01", "-03")).unwrap().is_recorded, "other bits say nothing of it");
    }

    #[test]
    fn a_later_version_may_say_more() {
        let later = SANE.replacen("00", "01", 1);
        assert_eq!(read(&later), read(SANE));
        assert_eq!(read(&format!("{later}-what-is-new")), read(SANE));
    }

    #[test]
    fn nonsense_is_none() {
        for text in [
            "",
            "00",
            "nonsense",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-1",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01 ",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "0-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473-000f067aa0ba902b7-01",
            "00-+bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e473é-00f067aa0ba902b7-01",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn two_headers_are_as_none() {
        let mut headers = HeaderMap::new();
        headers.append(HEADER, SANE.parse().unwrap());
        assert!(of(&headers).is_some());
        headers.append(HEADER, SANE.parse().unwrap());
        assert_eq!(of(&headers), None);
    }
}
