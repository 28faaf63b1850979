//! Lists in which a bank shows the Pix that came in. They are not always right: they omit, alter and repeat entries.

use std::collections::BTreeMap;

use quita_banks::api_pix::{Account, PixBank};
use quita_banks::{Counterparty, Reply, Request, Response};
use quita_domain::identity::TransactionId;
use quita_domain::money::Money;
use quita_domain::pix::amount;
use serde_json::{Value, json};

use super::OUR_KEY;
use super::api_pix::{money, read_txid};
use super::view::{Window, instant};
use crate::chance::Fault;
use crate::world::World;

/// Query for more entries than any bank of a world has.
const ALL: &str = "paginacao.itensPorPagina=1000";
const PAGE: &str = "paginacao.paginaAtual=";

/// Error of a list about everything that came in for one charge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slip {
    LeftOut,
    /// Three cents more than came in, because payers err by one.
    OtherAmount,
    Repeated,
    RefundsHidden,
}

/// Pix that came in.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) end_to_end_id: String,
    /// Payment whose charge it pays, if it came in for our key.
    pub(crate) id: Option<TransactionId>,
    /// Money of it that was returned.
    pub(crate) returned: Vec<Returned>,
    /// Error of the list about it.
    pub(crate) slip: Option<Slip>,
}

/// Money of a Pix that was returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Returned {
    pub(crate) amount: Money,
    /// True if the banks charged it back.
    pub(crate) is_disputed: bool,
}

/// Number of entries on a page, whatever the request asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageSize {
    Of(usize),
    /// All entries are on one page, and the answer has no paging data.
    Untold,
}

/// Lists of one bank.
pub(super) struct Listing {
    slips: BTreeMap<TransactionId, Slip>,
    page_size: PageSize,
    /// Number of further pages that come without their last entry.
    cuts: u64,
}

impl Listing {
    pub(super) const fn new(page_size: PageSize) -> Self {
        Self { slips: BTreeMap::new(), page_size, cuts: 0 }
    }

    /// Decides the errors of lists about a new charge, and of the next list that is read.
    pub(super) fn note(&mut self, world: &World, id: TransactionId) {
        let slips = [
            (Fault::ListLeavesOut, Slip::LeftOut),
            (Fault::ListErrs, Slip::OtherAmount),
            (Fault::ListRepeats, Slip::Repeated),
            (Fault::ListHidesRefunds, Slip::RefundsHidden),
        ];
        let slip = slips.into_iter().find(|(fault, _)| world.strikes(*fault));
        if let Some((_, slip)) = slip {
            self.slips.insert(id, slip);
        }
        // Without paging data, a list that is cut cannot be distinguished from a whole one.
        if self.page_size != PageSize::Untold && world.strikes(Fault::ListIsCut) {
            self.cuts += 1;
        }
    }

    pub(super) fn slip(&self, id: TransactionId) -> Option<Slip> {
        self.slips.get(&id).copied()
    }

    /// Answers a request for a page.
    pub(super) fn answer(
        &mut self,
        bank: &mut PixBank,
        window: &Window,
        request: &Request,
        now_ms: i64,
    ) -> Reply {
        let others = request.query.split('&').filter(|part| !part.starts_with("paginacao."));
        let query = others.chain([ALL]).collect::<Vec<_>>().join("&");
        let reply = bank.handle(&Request { query, ..request.clone() }, now_ms);
        let Reply::Answer { response, after_ms } = reply else { return reply };
        if response.status != 200 {
            return Reply::Answer { response, after_ms };
        }
        let mut body = serde_json::from_slice(&response.body).unwrap();
        hide_what_is_new(&mut body, window, now_ms);
        let body = self.page(body, page(&request.query)).to_string().into_bytes();
        Reply::Answer { response: Response { body, ..response }, after_ms }
    }

    /// Returns one page of the whole list.
    fn page(&mut self, mut whole: Value, number: usize) -> Value {
        let entries = whole["pix"].as_array().unwrap().iter();
        let entries: Vec<Value> = entries.flat_map(|entry| self.told(entry)).collect();
        let PageSize::Of(page_size) = self.page_size else {
            whole.as_object_mut().unwrap().remove("parametros");
            whole["pix"] = json!(entries);
            return whole;
        };
        let pages: Vec<_> = entries.chunks(page_size).collect();
        let mut page = pages.get(number).map(|page| page.to_vec()).unwrap_or_default();
        if self.cuts > 0 && page.pop().is_some() {
            self.cuts -= 1;
        }
        whole["parametros"]["paginacao"] = json!({
            "paginaAtual": number, "itensPorPagina": page_size,
            "quantidadeDePaginas": pages.len().max(1), "quantidadeTotalDeItens": entries.len(),
        });
        whole["pix"] = json!(page);
        whole
    }

    /// Returns the entries that the list shows in place of a true one.
    fn told(&self, entry: &Value) -> Vec<Value> {
        let id = entry["txid"].as_str().and_then(read_txid);
        let mut told = entry.clone();
        match id.and_then(|id| self.slip(id)) {
            None => {}
            Some(Slip::LeftOut) => return Vec::new(),
            Some(Slip::Repeated) => return vec![told; 2],
            Some(Slip::OtherAmount) => {
                let cents = entry["valor"].as_str().and_then(amount::from_text).unwrap();
                // Payers err by one cent: the two errors must not cancel out.
                told["valor"] = json!(amount::to_text(cents + 3));
            }
            Some(Slip::RefundsHidden) => {
                told.as_object_mut().unwrap().remove("devolucoes");
            }
        }
        vec![told]
    }

    /// Returns the Pix that came in by the books, each with the list's error about it.
    pub(super) fn received(&self, bank: &mut PixBank, now_ms: i64) -> Vec<Received> {
        let books = bank.books(now_ms);
        books.iter().flat_map(|(txid, account)| self.received_for(txid, account)).collect()
    }

    fn received_for(&self, txid: &str, account: &Account) -> Vec<Received> {
        let slip = read_txid(txid).and_then(|id| self.slip(id));
        let id = read_txid(txid).filter(|_| account.key == OUR_KEY);
        let received = account.received.iter().map(|(end_to_end_id, _)| {
            let returned = account.refunded.iter().filter(|refund| refund.end_to_end_id == *end_to_end_id);
            let returned = returned.map(|refund| Returned {
                amount: money(refund.cents),
                is_disputed: refund.nature.starts_with("MED_"),
            });
            Received { end_to_end_id: end_to_end_id.clone(), id, returned: returned.collect(), slip }
        });
        received.collect()
    }
}

/// Removes money that came in or was returned since the moment that the list shows.
fn hide_what_is_new(whole: &mut Value, window: &Window, now_ms: i64) {
    let is_shown = |at: &Value| instant(at).is_none_or(|at| window.lists(at, now_ms));
    let entries = whole["pix"].as_array_mut().unwrap();
    entries.retain(|entry| is_shown(&entry["horario"]));
    for entry in entries {
        if let Some(refunds) = entry.get_mut("devolucoes").and_then(Value::as_array_mut) {
            refunds.retain(|refund| is_shown(&refund["horario"]["solicitacao"]));
        }
    }
}

/// Returns the number of the requested page.
fn page(query: &str) -> usize {
    let asked = query.split('&').find_map(|part| part.strip_prefix(PAGE));
    asked.and_then(|number| number.parse().ok()).unwrap_or(0)
}
