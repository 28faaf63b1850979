//! Ways to frame an answer, and the expected reading of each.

use std::time::Duration;

use super::Step;

/// Reading that is expected of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// Status and body are the answer.
    Whole,
    /// The status is known, but the body is incomplete.
    Broken,
    /// There is no answer.
    None,
}

/// A way to frame an answer.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Returns the bytes of an answer with this status and this body.
    pub steps: fn(u16, &str) -> Vec<Step>,
    /// Reading that is expected of a client.
    pub expected: Expected,
    /// True if the connection may be used for the next request.
    pub is_kept: bool,
}

/// Frames an answer in the usual way: one head with a length, and the body.
pub fn frame(status: u16, body: &str) -> Vec<Step> {
    vec![Step::send(whole(status, "", body))]
}

fn whole(status: u16, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status} Some Words\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())
}

fn with(status: u16, headers: &str, body: &str) -> Vec<Step> {
    vec![Step::send(format!("HTTP/1.1 {status} Some Words\r\n{headers}\r\n{body}"))]
}

fn chunks(body: &str, extension: &str) -> String {
    let (first, rest) = body.split_at(body.len() / 2);
    let chunk = |piece: &str| format!("{:x}{extension}\r\n{piece}\r\n", piece.len());
    let pieces = [first, rest].into_iter().filter(|piece| !piece.is_empty());
    pieces.map(chunk).collect::<String>() + "0"
}

fn after(interim: &str, status: u16, body: &str) -> Vec<Step> {
    let interim = Step::send(format!("HTTP/1.1 {interim}\r\n\r\n"));
    [vec![interim, Step::Pause(Duration::from_millis(60))], frame(status, body)].concat()
}

fn closing(mut steps: Vec<Step>) -> Vec<Step> {
    steps.push(Step::Close);
    steps
}

const PAUSE: Step = Step::Pause(Duration::from_millis(30));

/// Returns all cases. A body must be ASCII and have at least two bytes.
#[allow(clippy::too_many_lines, reason = "a table")]
pub fn cases() -> Vec<Case> {
    use Expected::{Broken, None, Whole};
    let case = |name, expected, is_kept, steps| Case { name, steps, expected, is_kept };
    vec![
        case("a length", Whole, true, frame),
        case("no words in the first line", Whole, true, |status, body| {
            let text = whole(status, "", body).replace(" Some Words", "");
            vec![Step::send(text)]
        }),
        case("chunks", Whole, true, |status, body| {
            with(status, "Transfer-Encoding: chunked\r\n", &format!("{}\r\n\r\n", chunks(body, "")))
        }),
        case("chunks with extensions and trailers", Whole, true, |status, body| {
            let body = format!("{};end=\"yes\"\r\nX-Checksum: 1\r\nX-Two: 2\r\n\r\n", chunks(body, ";a=b;c"));
            with(status, "transfer-encoding:CHUNKED\r\nTrailer: X-Checksum\r\n", &body)
        }),
        case("one byte after the other", Whole, true, |status, body| {
            let bytes = whole(status, "", body).into_bytes();
            let pieces = bytes.into_iter().map(|byte| Step::Send(vec![byte])).enumerate();
            let pause =
                |place: usize| place.is_multiple_of(16).then_some(Step::Pause(Duration::from_millis(1)));
            pieces.flat_map(|(place, byte)| [Some(byte), pause(place)].into_iter().flatten()).collect()
        }),
        case("100 before it", Whole, true, |status, body| after("100 Continue", status, body)),
        case("102 before it", Whole, true, |status, body| after("102 Processing", status, body)),
        case("103 before it", Whole, true, |status, body| {
            after("103 Early Hints\r\nLink: </style.css>; rel=preload", status, body)
        }),
        case("199 before it", Whole, true, |status, body| after("199 Whatever", status, body)),
        case("a length in the interim answer", Whole, true, |status, body| {
            after("103 Early Hints\r\nContent-Length: 5", status, body)
        }),
        case("several interim answers in one piece with it", Whole, true, |status, body| {
            let interim = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n";
            vec![Step::send(interim.to_owned() + &whole(status, "", body))]
        }),
        case("forty interim answers", Whole, true, |status, body| {
            let mut steps = vec![Step::send("HTTP/1.1 102 Processing\r\n\r\n"); 40];
            steps.extend(frame(status, body));
            steps
        }),
        case("a header over two lines", Whole, true, |status, body| {
            vec![Step::send(whole(status, "X-Long: one\r\n two\r\n", body))]
        }),
        case("one length said twice in a line", Whole, true, |status, body| {
            let length = body.len();
            with(status, &format!("Content-Length: {length}, {length}\r\n"), body)
        }),
        case("one length said twice in two lines", Whole, true, |status, body| {
            let length = body.len();
            with(status, &format!("Content-Length: {length}\r\ncontent-length: {length}\r\n"), body)
        }),
        case("a connection that stays open for a minute", Whole, true, |status, body| {
            vec![Step::send(whole(
                status,
                "Connection: keep-alive\r\nKeep-Alive: timeout=60, max=9\r\n",
                body,
            ))]
        }),
        case("a connection that stays open for a second", Whole, false, |status, body| {
            vec![Step::send(whole(status, "Keep-Alive: timeout=1\r\n", body))]
        }),
        case("the last answer of its connection", Whole, false, |status, body| {
            vec![Step::send(whole(status, "Connection: close\r\n", body))]
        }),
        case("no length, to the end of the connection", Whole, false, |status, body| {
            closing(with(status, "", body))
        }),
        case("no length, in pieces to the end of the connection", Whole, false, |status, body| {
            let (first, rest) = body.split_at(1);
            let mut steps = with(status, "Connection: close\r\n", first);
            steps.extend([PAUSE, Step::send(rest), PAUSE, Step::Close]);
            steps
        }),
        case("HTTP/1.0 with a length", Whole, false, |status, body| {
            vec![Step::send(whole(status, "", body).replace("HTTP/1.1", "HTTP/1.0"))]
        }),
        case("HTTP/1.0 with a length, kept open", Whole, false, |status, body| {
            let text = whole(status, "Connection: keep-alive\r\n", body);
            vec![Step::send(text.replace("HTTP/1.1", "HTTP/1.0"))]
        }),
        case("HTTP/1.0 without a length", Whole, false, |status, body| {
            closing(vec![Step::send(format!("HTTP/1.0 {status} Some Words\r\n\r\n{body}"))])
        }),
        case("chunks and a length", Whole, false, |status, body| {
            let headers = "Transfer-Encoding: chunked\r\nContent-Length: 1\r\n";
            with(status, headers, &format!("{}\r\n\r\n", chunks(body, "")))
        }),
        case("bytes after it", Whole, false, |status, body| {
            vec![Step::send(whole(status, "", body) + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")]
        }),
        case("bytes a moment after it", Whole, false, |status, body| {
            let mut steps = frame(status, body);
            steps.extend([PAUSE, Step::send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno")]);
            steps
        }),
        case("a line end after it", Whole, false, |status, body| {
            vec![Step::send(whole(status, "", body) + "\r\n")]
        }),
        case("a body shorter than its length", Broken, false, |status, body| {
            closing(with(status, &format!("Content-Length: {}\r\n", body.len() + 1), body))
        }),
        case("chunks that break off in a chunk", Broken, false, |status, body| {
            closing(with(status, "Transfer-Encoding: chunked\r\n", &format!("ff\r\n{body}")))
        }),
        case("chunks without the last one", Broken, false, |status, body| {
            let body = chunks(body, "");
            closing(with(
                status,
                "Transfer-Encoding: chunked\r\n",
                body.strip_suffix('0').unwrap_or_default(),
            ))
        }),
        case("chunks without the last line end", Broken, false, |status, body| {
            closing(with(status, "Transfer-Encoding: chunked\r\n", &format!("{}\r\n", chunks(body, ""))))
        }),
        case("a chunk whose size is no number", Broken, false, |status, body| {
            with(status, "Transfer-Encoding: chunked\r\n", &format!("zz\r\n{body}\r\n0\r\n\r\n"))
        }),
        case("a chunk longer than its size", Broken, false, |status, body| {
            with(status, "Transfer-Encoding: chunked\r\n", &format!("1\r\n{body}\r\n0\r\n\r\n"))
        }),
        case("two lengths in a line", None, false, |status, body| {
            let length = body.len();
            with(status, &format!("Content-Length: {length}, {}\r\n", length + 1), body)
        }),
        case("two lengths in two lines", None, false, |status, body| {
            let length = body.len();
            with(status, &format!("Content-Length: {length}\r\nContent-Length: {}\r\n", length - 1), body)
        }),
        case("a length that is no number", None, false, |status, body| {
            with(status, "Content-Length: two\r\n", body)
        }),
        case("a length below nothing", None, false, |status, body| {
            with(status, "Content-Length: -2\r\n", body)
        }),
        case("a length with a sign", None, false, |status, body| {
            with(status, "Content-Length: +2\r\n", body)
        }),
        case("a coding that nobody asked for", None, false, |status, body| {
            let body = format!("{}\r\n\r\n", chunks(body, ""));
            with(status, "Transfer-Encoding: gzip, chunked\r\n", &body)
        }),
        case("a coding without chunks", None, false, |status, body| {
            closing(with(status, "Transfer-Encoding: gzip\r\n", body))
        }),
        case("another protocol", None, false, |status, body| {
            let upgrade = "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: h2c\r\n\r\n";
            vec![Step::send(upgrade.to_owned() + &whole(status, "", body))]
        }),
        case("interim answers without end", None, false, |_, _| {
            vec![Step::send("HTTP/1.1 102 Processing\r\n\r\n".repeat(1_000))]
        }),
        case("an interim answer without end", None, false, |_, _| {
            vec![Step::send(format!("HTTP/1.1 103 Early Hints\r\nX: {}", "x".repeat(300_000)))]
        }),
        case("an interim answer, and then the end", None, false, |_, _| {
            closing(vec![Step::send("HTTP/1.1 103 Early Hints\r\n\r\n"), PAUSE])
        }),
        case("no byte", None, false, |_, _| vec![Step::Close]),
        case("half of a head", None, false, |status, _| {
            closing(vec![Step::send(format!("HTTP/1.1 {status} OK\r\nContent-Le"))])
        }),
        case("another language", None, false, |_, _| vec![Step::send("220 mail.example ESMTP\r\n\r\n")]),
        case("another version", None, false, |status, body| {
            vec![Step::send(whole(status, "", body).replace("HTTP/1.1", "HTTP/3.0"))]
        }),
        case("a header without a name", None, false, |status, body| {
            vec![Step::send(whole(status, ": nothing\r\n", body))]
        }),
    ]
}
