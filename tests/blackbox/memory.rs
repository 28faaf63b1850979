//! Remains in the memory of the process, and whether they can come into a file.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufRead, Cursor};
use std::os::unix::fs::FileExt;

use serde_json::json;

use crate::support::{Edit, PATIENCE, Program, TestApp, card, eventually};

const NUMBER: &str = "5555555555554444";
/// Payments by card, each over a connection of its own.
const PAYMENTS: usize = 10;

/// Number of bytes that are searched together. `AGAIN` bytes before them are searched again: more than a text is long.
const PIECE: usize = 1 << 20;
const AGAIN: usize = 64;

/// Text before a number as it was sent.
const AS_SENT: &[u8] = b"\"number\":\"";

/// Counts the number in the memory that a process may write to. Returns all occurrences, and those of them that are as
/// it was sent; `None` where nobody may look.
fn occurrences(process: u32) -> Option<(usize, usize)> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let memory = File::open(format!("/proc/{process}/mem")).ok()?;
    let is_written = |line: &&str| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"));
    let mut all = BTreeSet::new();
    let mut as_sent = BTreeSet::new();
    for line in maps.lines().filter(is_written) {
        let (begin, end) = line.split(' ').next()?.split_once('-')?;
        let [begin, end] = [begin, end].map(|address| u64::from_str_radix(address, 16).unwrap());
        for start in (begin..end).step_by(PIECE) {
            let from = start.saturating_sub(u64::try_from(AGAIN).unwrap()).max(begin);
            let mut bytes = vec![0; (PIECE + AGAIN).min(usize::try_from(end - from).unwrap())];
            // What belongs to the kernel can't be read.
            if memory.read_exact_at(&mut bytes, from).is_err() {
                break;
            }
            for place in places(&bytes) {
                let address = from + u64::try_from(place).unwrap();
                all.insert(address);
                if bytes[..place].ends_with(AS_SENT) {
                    as_sent.insert(address);
                }
            }
        }
    }
    Some((all.len(), as_sent.len()))
}

/// Returns the positions at which the number begins. Most of the memory is empty, and skipped by what is fast in tests
/// too.
fn places(bytes: &[u8]) -> Vec<usize> {
    let mut rest = Cursor::new(bytes);
    let mut found = Vec::new();
    while rest.skip_until(NUMBER.as_bytes()[0]).unwrap() > 0 {
        let place = usize::try_from(rest.position()).unwrap() - 1;
        if bytes[place..].starts_with(NUMBER.as_bytes()) {
            found.push(place);
        }
    }
    found
}

/// Buffers of libraries are theirs; the memory that they give back is the allocator's.
#[test]
fn no_card_number_stays_in_memory_that_was_given_back() {
    let mut app = TestApp::new();
    let request = card("4242424242424242", 10_000).with("creditCard.number", json!(NUMBER));
    let client = app.client();
    for number in 0..PAYMENTS {
        let answer = client.post_once("/pay/payments", &format!("order-{number}"), &request);
        assert_eq!(answer.json()["status"], "paid", "{answer}");
    }
    let process = app.process().id();
    if occurrences(process).is_none() {
        println!("skipped: the memory of a process can't be read here");
        return;
    }
    drop(client);
    eventually(PATIENCE, "no connection holds a number, and no memory", || {
        occurrences(process).filter(|found| *found == (0, 0)).map(drop)
    });
}

/// Checks that a card's number stays only in the buffers of the HTTP library. There is one for each connection. What it
/// received stays there until the memory is used again (docs/SECURITY-MODEL.md).
#[test]
fn of_a_card_nothing_stays_in_memory_but_what_the_http_library_received() {
    let mut app = TestApp::new();
    let request = card("4242424242424242", 10_000).with("creditCard.number", json!(NUMBER));
    for number in 0..PAYMENTS {
        let answer = app.client().post_once("/pay/payments", &format!("order-{number}"), &request);
        assert_eq!(answer.json()["status"], "paid", "{answer}");
    }
    let Some((number, as_sent)) = occurrences(app.process().id()) else {
        println!("skipped: the memory of a process can't be read here");
        return;
    };
    assert_eq!(number, as_sent, "the number stands somewhere by itself");
    assert!(as_sent <= PAYMENTS, "{as_sent} times, so somebody copied what was received");
}

#[test]
fn no_core_of_the_service_is_dumped_whatever_its_surroundings_allow() {
    let Ok(_) = fs::metadata("/proc/self/limits") else { return };
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--ops-listen", "127.0.0.1:0"];
    let serve = Program::new(folder.path(), arguments).with_cores().start("serve");
    eventually(PATIENCE, "the service is ready", || serve.stderr().contains("is ready").then_some(()));
    let limits = fs::read_to_string(format!("/proc/{}/limits", serve.id())).unwrap();
    let cores = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(cores.split_whitespace().skip(4).take(2).collect::<Vec<_>>(), ["0", "0"], "{cores}");
}
