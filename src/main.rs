//! Quita: payments in Brazil by PIX, boleto and credit card.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    quita::cli::main()
}
