//! Ctrl-C and SIGTERM: the first signal ends the run with its report, the second ends the program.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Signals with which people and supervisors stop the run.
pub(super) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

/// Signal that arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interrupt {
    /// SIGINT, as sent by Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Interrupt {
    /// Returns the message for the person at the terminal.
    pub(super) const fn notice(self) -> &'static str {
        match self {
            Self::Interrupt => "Ctrl-C: the run ends here, with its report. Ctrl-C again ends without it.",
            Self::Terminate => "SIGTERM: the run ends here, with its report.",
        }
    }

    /// Returns the exit code that shells use for a program ended by this signal.
    pub(super) const fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

impl Interrupts {
    /// Installs the handlers: from now on, no signal ends the program by itself.
    pub(super) fn new() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Interrupt {
        tokio::select! {
            _ = self.interrupt.recv() => Interrupt::Interrupt,
            _ = self.terminate.recv() => Interrupt::Terminate,
        }
    }

    /// Lets the next signal end the program immediately, whatever its other threads do.
    pub(super) fn end_at_next(mut self) {
        std::thread::spawn(move || {
            // Each runtime forwards signals to every listener, so this one works while the first runtime is busy.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
            // Without a second runtime, the signal waits until the report is finished.
            if let Ok(runtime) = runtime {
                let signal = runtime.block_on(self.next());
                std::process::exit(signal.exit_code().into());
            }
        });
    }
}
