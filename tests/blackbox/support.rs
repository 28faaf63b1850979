//! Building blocks of the suites.

mod account;
mod acquirers;
mod answer;
mod app;
mod authenticator;
mod browser;
mod builder;
mod client;
mod collector;
mod declared;
mod event_stream;
mod eventually;
mod failing_calls;
mod held_store;
mod mail_server;
mod meddler;
mod own_mongod;
mod planted;
mod program;
mod protection;
mod proxy;
mod raw;
mod receiver;
mod requests;
mod running;
mod signature;
mod small_disk;
mod spreadsheet;
mod store;
mod visitor;
mod wire;

pub(crate) use account::Account;
pub(crate) use acquirers::{
    Acquirers, CLIENT_SECRET, MERCHANT_KEY, NOTIFICATION_SECRET, wait_until_registered,
};
pub(crate) use answer::{Answer, without_ids};
pub(crate) use app::TestApp;
pub(crate) use authenticator::Authenticator;
pub(crate) use browser::Browser;
pub(crate) use builder::TestAppBuilder;
pub(crate) use client::Client;
pub(crate) use collector::{ArrivedSpan, Collector};
pub(crate) use declared::declared;
pub(crate) use event_stream::EventStream;
pub(crate) use eventually::{PATIENCE, eventually, pause};
pub(crate) use failing_calls::FailingCalls;
pub(crate) use held_store::HeldStore;
pub(crate) use mail_server::{MAIL_PASSWORD, MAIL_USER, MailServer};
pub(crate) use meddler::{
    add_node_ahead, copy_payment, give_up_runs, grown_older, paid_earlier, proven_earlier, release_use,
    take_use, upgrade_to,
};
pub(crate) use own_mongod::OwnMongod;
pub(crate) use planted::{Fault, PlantedService};
pub(crate) use program::{Finished, Program};
pub(crate) use protection::{check_is_protected, check_stream_is_protected};
pub(crate) use proxy::Proxy;
pub(crate) use quita_store_contract::fail_point;
pub(crate) use raw::{exchange, exchange_slowly};
pub(crate) use receiver::{Received, Reply, TestReceiver};
pub(crate) use requests::{Edit, boleto, card, pix, today};
pub(crate) use running::Running;
pub(crate) use signature::{check_with_standard_webhooks, sign, signature_of};
pub(crate) use small_disk::SmallDisk;
pub(crate) use spreadsheet::{SpreadsheetCell, SpreadsheetSettings, open_spreadsheets};
pub(crate) use store::{TestStore, block_on, is_mongodb, mongodb_host, take_fail_point};
pub(crate) use visitor::{OPERATOR, OPERATOR_PASSWORD, SETUP_PASSWORD, Visitor, form, form_token_in};
