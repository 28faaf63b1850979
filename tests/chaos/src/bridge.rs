//! The links between the members of the replica set, one for each direction of each pair.
//!
//! A member that was started with `enableTestCommands` identifies itself (`hostInfo`) in the first message of each
//! connection to another member, for MongoDB's own `mongobridge`. So the owner of each connection is known here.

use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::spawn_local;
use tokio::time::timeout;

use crate::link::Link;

/// The field's type and name.
const HOST_INFO: &[u8] = b"\x02hostInfo\0";

/// An address for each member, and the links between all pairs.
pub(crate) struct Bridge {
    pub(crate) addresses: Vec<SocketAddr>,
    /// Indexed by target, then by source; the last source is for everybody else.
    lines: Rc<Vec<Vec<Rc<Link>>>>,
    /// Number of connections whose member was recognised.
    pub(crate) recognised: Rc<Cell<u64>>,
}

impl Bridge {
    pub(crate) async fn between(members: &[SocketAddr]) -> anyhow::Result<Self> {
        let to = |target: &SocketAddr| (0..=members.len()).map(|_| Link::fed(*target)).collect();
        let lines: Rc<Vec<Vec<Rc<Link>>>> = Rc::new(members.iter().map(to).collect());
        let ports: Rc<[u16]> = members.iter().map(SocketAddr::port).collect();
        let mut addresses = Vec::new();
        let recognised = Rc::new(Cell::new(0));
        for place in 0..members.len() {
            let listener = crate::ports::listen().await?;
            addresses.push(listener.local_addr()?);
            let recognise = member_of(Rc::clone(&ports), Rc::clone(&recognised));
            spawn_local(accept(listener, Rc::clone(&lines), place, recognise));
        }
        Ok(Self { addresses, lines, recognised })
    }

    /// Returns the links around one member: those to it, and those from it if `is_outward`.
    pub(crate) fn around(&self, place: usize, is_outward: bool) -> Vec<Rc<Link>> {
        let others = (0..self.addresses.len()).filter(|other| *other != place);
        let lines = others.flat_map(|other| {
            let outward = is_outward.then(|| Rc::clone(&self.lines[other][place]));
            let inward = Rc::clone(&self.lines[place][other]);
            outward.into_iter().chain([inward])
        });
        lines.collect()
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &Rc<Link>> {
        self.lines.iter().flatten()
    }
}

/// Determines from the first message to which link a connection belongs.
fn member_of(ports: Rc<[u16]>, recognised: Rc<Cell<u64>>) -> impl Fn(&[u8]) -> usize + Clone {
    move |first| {
        let member = sender(first).and_then(|port| ports.iter().position(|known| *known == port));
        recognised.set(recognised.get() + u64::from(member.is_some()));
        member.unwrap_or(ports.len())
    }
}

async fn accept<R>(listener: TcpListener, lines: Rc<Vec<Vec<Rc<Link>>>>, to: usize, recognise: R)
where
    R: Fn(&[u8]) -> usize + Clone + 'static,
{
    loop {
        let Ok((mut stream, _)) = listener.accept().await else { continue };
        let lines = Rc::clone(&lines);
        let recognise = recognise.clone();
        spawn_local(async move {
            let first = timeout(Duration::from_secs(5), first_message(&mut stream)).await;
            let Ok(Some(first)) = first else { return };
            let line = Rc::clone(&lines[to][recognise(&first)]);
            line.carry(stream, first).await;
        });
    }
}

async fn first_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut buffer = Vec::new();
    loop {
        let length = buffer.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize);
        if length.is_some_and(|length| buffer.len() >= length) {
            return Some(buffer);
        }
        if stream.read_buf(&mut buffer).await.ok()? == 0 {
            return None;
        }
    }
}

/// Returns the port of the member that opened the connection.
fn sender(message: &[u8]) -> Option<u16> {
    let at = message.windows(HOST_INFO.len()).position(|window| window == HOST_INFO)?;
    // A four-byte length precedes the text.
    let text = message.get(at + HOST_INFO.len() + 4..)?;
    let text = std::str::from_utf8(text.split(|byte| *byte == 0).next()?).ok()?;
    text.rsplit_once(':')?.1.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_member_is_known_by_what_it_calls_itself() {
        let message = [b"\x30\0\0\0".as_slice(), HOST_INFO, b"\x0b\0\0\0host:27117\0\0"].concat();
        assert_eq!(sender(&message), Some(27_117));
        assert_eq!(sender(b"a driver says nothing of the kind"), None);
    }
}
