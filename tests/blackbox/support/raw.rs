//! Bytes over a socket, for requests that no client would send.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use super::answer::Answer;
use super::wire::read_message;

const TIME_OUT: Duration = Duration::from_secs(40);

/// Sends bytes and reads one answer. `None` if the connection was closed without one.
pub(crate) fn exchange(address: &str, bytes: &[u8]) -> Option<Answer> {
    exchange_slowly(address, bytes, b"", Duration::ZERO)
}

/// Sends bytes, then the rest one byte at a time with a pause before each, and reads one answer. Stops sending
/// when the other side hangs up or has answered.
pub(crate) fn exchange_slowly(address: &str, bytes: &[u8], rest: &[u8], each: Duration) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIME_OUT)).unwrap();
    stream.set_write_timeout(Some(TIME_OUT)).unwrap();
    // The service may answer and hang up before it has read everything.
    let mut is_open = stream.write_all(bytes).is_ok();
    for byte in rest {
        super::pause(each);
        is_open = is_open && !has_input(&stream) && stream.write_all(&[*byte]).is_ok();
        if !is_open {
            break;
        }
    }
    let message = read_message(&mut stream)?;
    let status = message.first_line.split(' ').nth(1)?.parse().ok()?;
    let request = String::from_utf8_lossy(&bytes[..bytes.len().min(80)]).into_owned();
    Some(Answer { request, status, headers: message.headers, body: message.body })
}

fn has_input(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let has_input = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).unwrap();
    has_input
}
