//! Quita: payments in Brazil by PIX, boleto and credit card.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use quita_allocator::ZeroingAllocator;

#[global_allocator]
static ALLOCATOR: ZeroingAllocator<MiMalloc> = ZeroingAllocator::over(MiMalloc);

fn main() -> ExitCode {
    quita::cli::main()
}
