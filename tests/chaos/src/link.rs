//! A TCP proxy between two parties, and the faults of the link.

use std::cell::RefCell;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, spawn_local};
use tokio::time::sleep;

/// State of the link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Line {
    /// True if requests are held back.
    pub(crate) holds_requests: bool,
    /// True if answers are held back.
    pub(crate) holds_answers: bool,
    /// True if a connection is closed at the first byte of an answer.
    pub(crate) cuts_answers: bool,
    /// Delay of each piece, in milliseconds.
    pub(crate) latency_ms: u64,
    /// Connections of an earlier epoch are closed.
    pub(crate) epoch: u64,
}

/// Transformation of the bytes of one direction, which may rewrite whole messages.
pub(crate) type Rewrite = Rc<dyn Fn(&[u8]) -> Vec<u8>>;

/// A proxy. It listens unless it refuses connections.
pub(crate) struct Link {
    pub(crate) address: SocketAddr,
    target: SocketAddr,
    line: watch::Sender<Line>,
    rewrite: Option<Rewrite>,
    accepting: RefCell<Option<AbortHandle>>,
    listens: bool,
}

impl Link {
    /// Opens a link to `target` on a free port.
    pub(crate) async fn open(target: SocketAddr) -> std::io::Result<Rc<Self>> {
        Self::on(crate::ports::listen().await?, target, None)
    }

    /// Opens a link on this listener, whose answers are rewritten message by message.
    pub(crate) fn on(
        listener: TcpListener,
        target: SocketAddr,
        rewrite: Option<Rewrite>,
    ) -> std::io::Result<Rc<Self>> {
        let address = listener.local_addr()?;
        let line = watch::Sender::new(Line::default());
        let accepting = RefCell::default();
        let link = Rc::new(Self { address, target, line, rewrite, accepting, listens: true });
        link.accept(listener);
        Ok(link)
    }

    /// Opens a link whose connections another task accepts.
    pub(crate) fn fed(target: SocketAddr) -> Rc<Self> {
        let line = watch::Sender::new(Line::default());
        let accepting = RefCell::default();
        Rc::new(Self { address: target, target, line, rewrite: None, accepting, listens: false })
    }

    fn accept(self: &Rc<Self>, listener: TcpListener) {
        let link = Rc::clone(self);
        let task = spawn_local(async move {
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let link = Rc::clone(&link);
                spawn_local(async move { link.carry(stream, Vec::new()).await });
            }
        });
        *self.accepting.borrow_mut() = Some(task.abort_handle());
    }

    pub(crate) const fn is_fed(&self) -> bool {
        !self.listens
    }

    /// Sets the state of the link.
    pub(crate) fn set(&self, line: Line) {
        self.line.send_modify(|now| *now = Line { epoch: now.epoch, ..line });
    }

    /// Closes all connections, and refuses new ones.
    pub(crate) fn refuse(&self) {
        if let Some(task) = self.accepting.borrow_mut().take() {
            task.abort();
        }
        if !self.listens {
            self.set(Line { holds_requests: true, holds_answers: true, ..Line::default() });
        }
        self.close_all();
    }

    /// Ends all faults. Data that was held back continues, or is lost with its connection.
    pub(crate) async fn heal(self: &Rc<Self>, loses_what_was_held: bool) {
        if loses_what_was_held {
            self.close_all();
        }
        self.set(Line::default());
        while self.listens && self.accepting.borrow().is_none() {
            match TcpListener::bind(self.address).await {
                Ok(listener) => self.accept(listener),
                Err(_) => sleep(Duration::from_millis(20)).await,
            }
        }
    }

    pub(crate) fn close_all(&self) {
        self.line.send_modify(|line| line.epoch += 1);
    }

    /// Forwards a connection, of which some bytes may have been read already.
    pub(crate) async fn carry(self: Rc<Self>, client: TcpStream, first: Vec<u8>) {
        let Ok(mut server) = TcpStream::connect(self.target).await else { return };
        let mut line = self.line.subscribe();
        let epoch = line.borrow().epoch;
        let arrives = passes(&mut line, epoch, |line| line.holds_requests).await;
        if !arrives || server.write_all(&first).await.is_err() {
            return;
        }
        if client.set_nodelay(true).is_err() || server.set_nodelay(true).is_err() {
            return;
        }
        let (client_read, client_write) = client.into_split();
        let (server_read, server_write) = server.into_split();
        let up = line.clone();
        let down = line;
        let requests = pump(client_read, server_write, up, |line| line.holds_requests, false);
        // The end of either direction ends both.
        match &self.rewrite {
            None => {
                let answers = pump(server_read, client_write, down, |line| line.holds_answers, true);
                tokio::select! { () = requests => {}, () = answers => {} }
            }
            Some(rewrite) => {
                let answers = pump_messages(server_read, client_write, down, rewrite);
                tokio::select! { () = requests => {}, () = answers => {} }
            }
        }
    }
}

/// Forwards bytes until a side or the epoch ends.
async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut line: watch::Receiver<Line>,
    holds: fn(&Line) -> bool,
    is_answer: bool,
) {
    let epoch = line.borrow().epoch;
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = tokio::select! {
            count = from.read(&mut buffer) => count.unwrap_or(0),
            () = ended(line.clone(), epoch) => return,
        };
        if count == 0 || (is_answer && line.borrow().cuts_answers) {
            return;
        }
        if !passes(&mut line, epoch, holds).await || to.write_all(&buffer[..count]).await.is_err() {
            return;
        }
    }
}

/// Forwards messages that begin with their length, as MongoDB's do, until a side or the epoch ends.
async fn pump_messages(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut line: watch::Receiver<Line>,
    rewrite: &Rewrite,
) {
    let epoch = line.borrow().epoch;
    let mut buffer = Vec::new();
    loop {
        let count = tokio::select! {
            count = from.read_buf(&mut buffer) => count.unwrap_or(0),
            () = ended(line.clone(), epoch) => return,
        };
        if count == 0 || line.borrow().cuts_answers {
            return;
        }
        while let Some(length) = buffer.first_chunk().map(|bytes| u32::from_le_bytes(*bytes) as usize) {
            if length < 16 || buffer.len() < length {
                break;
            }
            let message = rewrite(&buffer[..length]);
            buffer.drain(..length);
            if !passes(&mut line, epoch, |line| line.holds_answers).await
                || to.write_all(&message).await.is_err()
            {
                return;
            }
        }
    }
}

async fn ended(mut line: watch::Receiver<Line>, epoch: u64) {
    // This fails if the link is gone, which is also an end.
    drop(line.wait_for(|line| line.epoch != epoch).await);
}

/// Waits for as long as the link holds data back. Returns false if the connection is lost.
async fn passes(line: &mut watch::Receiver<Line>, epoch: u64, holds: fn(&Line) -> bool) -> bool {
    let latency_ms = line.borrow().latency_ms;
    if latency_ms > 0 {
        sleep(Duration::from_millis(latency_ms)).await;
    }
    match line.wait_for(|line| line.epoch != epoch || !holds(line)).await {
        Ok(line) => line.epoch == epoch,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use tokio::task::LocalSet;
    use tokio::time::timeout;

    use super::*;
    use crate::server::{Reply, serve};
    use crate::wire::{Answer, Call, CallError};

    async fn call_within(link: &Link, seconds: u64) -> Option<Result<Answer, CallError>> {
        let call = Call { method: "POST", path: "/", headers: &[], body: b"{}" };
        timeout(Duration::from_secs(seconds), call.to(link.address)).await.ok()
    }

    async fn call(link: &Link) -> Option<Result<Answer, CallError>> {
        call_within(link, 20).await
    }

    async fn line_to_a_server() -> (Rc<Link>, Rc<RefCell<u32>>) {
        let listener = crate::ports::listen().await.unwrap();
        let target = listener.local_addr().unwrap();
        let served = Rc::new(RefCell::new(0));
        let count = Rc::clone(&served);
        spawn_local(serve(listener, move |_| {
            *count.borrow_mut() += 1;
            async { Reply::Json(200, "{}".into()) }
        }));
        (Link::open(target).await.unwrap(), served)
    }

    #[tokio::test]
    async fn a_line_that_is_well_carries_both_ways() {
        let work = async {
            let (link, served) = line_to_a_server().await;
            assert_eq!(call(&link).await.unwrap().unwrap().status, 200);
            assert_eq!(*served.borrow(), 1);
        };
        LocalSet::new().run_until(work).await;
    }

    #[tokio::test]
    async fn a_refusing_line_takes_not_one_byte_until_it_is_healed() {
        let work = async {
            let (link, served) = line_to_a_server().await;
            link.refuse();
            assert!(matches!(call(&link).await, Some(Err(CallError::NotConnected(_)))));
            assert_eq!(*served.borrow(), 0);
            link.heal(true).await;
            assert_eq!(call(&link).await.unwrap().unwrap().status, 200);
        };
        LocalSet::new().run_until(work).await;
    }

    #[tokio::test]
    async fn a_cut_answer_was_asked_for_all_the_same() {
        let work = async {
            let (link, served) = line_to_a_server().await;
            link.set(Line { cuts_answers: true, ..Line::default() });
            assert!(matches!(call(&link).await, Some(Err(CallError::Lost(_)))));
            assert_eq!(*served.borrow(), 1);
        };
        LocalSet::new().run_until(work).await;
    }

    #[tokio::test]
    async fn a_line_that_holds_one_way_holds_only_that_way() {
        let work = async {
            let (link, served) = line_to_a_server().await;
            link.set(Line { holds_requests: true, ..Line::default() });
            assert!(call_within(&link, 1).await.is_none());
            assert_eq!(*served.borrow(), 0);
            link.heal(true).await;
            link.set(Line { holds_answers: true, ..Line::default() });
            assert!(call_within(&link, 1).await.is_none());
            assert_eq!(*served.borrow(), 1);
        };
        LocalSet::new().run_until(work).await;
    }
}
