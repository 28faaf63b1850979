//! The program's allocator: what is given back is zeroed.
//!
//! Card numbers pass through buffers of libraries, which free them without zeroing. This crate zeroes them all, as our
//! own types do for their secrets. It is the only place with unsafe code, and contains nothing else.

use std::alloc::{GlobalAlloc, Layout};
use std::hint::black_box;
use std::ptr;

/// Allocator that zeroes each block before returning it to the underlying allocator.
///
/// A block that grows or shrinks always moves: the underlying allocator might move it by itself, leaving the old
/// contents behind.
///
/// No size is left out: zeroing takes a few nanoseconds for a small block and some 300 for 8 KiB.
#[derive(Debug)]
pub struct ZeroingAllocator<A> {
    below: A,
}

impl<A> ZeroingAllocator<A> {
    /// Takes memory from this allocator.
    pub const fn over(below: A) -> Self {
        Self { below }
    }
}

// SAFETY: every block comes from the allocator below and goes back to it under the layout that it was asked for. `realloc`
// is the trait's own: it allocates, copies and deallocates by the methods here.
unsafe impl<A: GlobalAlloc> GlobalAlloc for ZeroingAllocator<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller promises what the allocator below asks for.
        unsafe { self.below.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        unsafe { self.below.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the block has this size, and nobody uses it any more. Volatile writes would be byte by byte; that the
        // address is shown to `black_box` keeps these from being left out as writes that nobody reads.
        unsafe {
            ptr::write_bytes(block, 0, layout.size());
            self.below.dealloc(black_box(block), layout);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::alloc::System;
    use std::cell::RefCell;

    use super::*;

    /// Keeps what each block held when it was given back.
    struct Keeping(RefCell<Vec<Vec<u8>>>);

    // SAFETY: it passes everything on to the system's.
    unsafe impl GlobalAlloc for Keeping {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: as the caller promises.
            unsafe { System.alloc(layout) }
        }

        unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
            // SAFETY: the block is there until it is given back.
            let held = unsafe { std::slice::from_raw_parts(block, layout.size()) }.to_vec();
            self.0.borrow_mut().push(held);
            // SAFETY: as the caller promises.
            unsafe { System.dealloc(block, layout) }
        }
    }

    #[test]
    fn whatever_is_given_back_or_moved_is_zeroed_and_moved_blocks_keep_their_content() {
        let allocator = ZeroingAllocator::over(Keeping(RefCell::default()));
        for (size, new_size) in [(1, 2), (16, 7), (64, 4_096), (8_192, 100), (100_000, 200_000)] {
            let layout = Layout::from_size_align(size, 1).unwrap();
            let new_layout = Layout::from_size_align(new_size, 1).unwrap();
            // SAFETY: the blocks are used within their sizes, and each is given back once, under its layout.
            unsafe {
                let block = allocator.alloc(layout);
                ptr::write_bytes(block, 7, size);
                let moved = allocator.realloc(block, layout, new_size);
                let kept = std::slice::from_raw_parts(moved, size.min(new_size));
                assert!(kept.iter().all(|byte| *byte == 7));
                ptr::write_bytes(moved, 9, new_size);
                allocator.dealloc(moved, new_layout);
            }
            let given_back = allocator.below.0.take();
            assert_eq!(given_back, [vec![0; size], vec![0; new_size]]);
        }
    }
}
