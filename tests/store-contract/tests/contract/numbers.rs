//! Numbers of slips that a bank leaves to us.

use std::collections::BTreeSet;
use std::sync::Arc;

use quita_ports::{NumberBlock, NumberRange, WholeStore};

pub fn range(key: &str, first: u32, last: u32) -> NumberRange {
    NumberRange { key: key.into(), first, last, digit: None }
}

fn block(first: u32, last: u32) -> NumberBlock {
    NumberBlock { first, last }
}

pub async fn numbers_are_given_out_in_order_until_the_range_is_used_up(store: Arc<dyn WholeStore>) {
    let range = range("1-1-7", 7, 12);
    assert_eq!(store.take_numbers(&range, 0).await, Ok(None));
    assert_eq!(store.take_numbers(&range, 4).await, Ok(Some(block(7, 10))));
    assert_eq!(store.take_numbers(&range, 4).await, Ok(Some(block(11, 12))));
    for _ in 0..3 {
        assert_eq!(store.take_numbers(&range, 4).await, Ok(None));
    }
}

pub async fn a_range_that_is_widened_goes_on_and_one_that_is_narrowed_ends(store: Arc<dyn WholeStore>) {
    assert_eq!(store.take_numbers(&range("k", 1, 5), 9).await, Ok(Some(block(1, 5))));
    assert_eq!(store.take_numbers(&range("k", 1, 3), 9).await, Ok(None));
    assert_eq!(store.take_numbers(&range("k", 1, 9), 2).await, Ok(Some(block(6, 7))));
    assert_eq!(store.take_numbers(&range("k", 1, 5), 2).await, Ok(None));
    assert_eq!(store.take_numbers(&range("k", 1, 9), 9).await, Ok(Some(block(8, 9))));
    assert_eq!(store.take_numbers(&range("another", 1, 9), 1).await, Ok(Some(block(1, 1))));
}

pub async fn the_largest_numbers_are_given_out_too(store: Arc<dyn WholeStore>) {
    let range = range("large", u32::MAX - 1, u32::MAX);
    assert_eq!(store.take_numbers(&range, u32::MAX).await, Ok(Some(block(u32::MAX - 1, u32::MAX))));
    assert_eq!(store.take_numbers(&range, 1).await, Ok(None));
}

pub async fn of_many_who_take_numbers_no_two_get_the_same(store: Arc<dyn WholeStore>) {
    let range = range("raced", 1, 95);
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let store = Arc::clone(&store);
            let range = range.clone();
            tokio::spawn(async move {
                let mut taken = Vec::new();
                while let Some(block) = store.take_numbers(&range, 3).await.unwrap() {
                    taken.extend(block.first..=block.last);
                }
                taken
            })
        })
        .collect();
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await.unwrap());
    }
    assert_eq!(all.len(), 95, "{all:?}");
    assert_eq!(all.into_iter().collect::<BTreeSet<_>>(), (1..=95).collect());
}
