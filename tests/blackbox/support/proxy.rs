//! A wire between the service and its store that a test can cut.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Forwards a loopback port to another one. Dropping it cuts it.
pub(crate) struct Proxy {
    address: SocketAddr,
    wire: Arc<Mutex<Wire>>,
}

struct Wire {
    is_cut: bool,
    streams: Vec<TcpStream>,
}

impl Proxy {
    /// A wire to `target`, a host and a port.
    pub(crate) fn to(target: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let wire = Arc::new(Mutex::new(Wire { is_cut: false, streams: Vec::new() }));
        let served = Arc::clone(&wire);
        let target = target.to_owned();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                connect(&served, stream, &target);
            }
        });
        Self { address, wire }
    }

    /// Host and port of this end.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// Ends every connection, and lets none be made.
    pub(crate) fn cut(&self) {
        let mut wire = lock(&self.wire);
        wire.is_cut = true;
        for stream in wire.streams.drain(..) {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Lets connections be made again.
    pub(crate) fn mend(&self) {
        lock(&self.wire).is_cut = false;
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
    }
}

fn lock(wire: &Mutex<Wire>) -> std::sync::MutexGuard<'_, Wire> {
    wire.lock().unwrap_or_else(PoisonError::into_inner)
}

fn connect(wire: &Mutex<Wire>, here: TcpStream, target: &str) {
    let mut wire = lock(wire);
    if wire.is_cut {
        return;
    }
    let Ok(there) = TcpStream::connect(target) else { return };
    for (from, to) in [(&here, &there), (&there, &here)] {
        let from = from.try_clone().unwrap();
        let to = to.try_clone().unwrap();
        thread::spawn(move || forward(from, to));
    }
    wire.streams.extend([here, there]);
}

fn forward(mut from: TcpStream, mut to: TcpStream) {
    let mut buffer = [0; 16 * 1024];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    drop(to.shutdown(Shutdown::Both));
}
