//! Overview: volume, approval and time to paid, for today and for thirty days.

pub(crate) mod days;
mod summary;

use actix_web::HttpResponse;
use actix_web::web::Data;
use askama::Template;
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use serde_json::{Value, json};

use super::deliveries::Trouble;
use super::frame::{MerchantFrame, MerchantSection};
use super::mode::{InMode, base_of};
use super::visitor::Visitor;
use super::{MerchantConsole, deliveries};
use crate::console::kit::answer::{html, see_other};
use crate::console::kit::language::Language;
use crate::console::kit::page_error::PageError;
use days::Day;
use summary::Summary;

#[derive(Template)]
#[template(path = "console/merchant/overview.html")]
struct MerchantOverviewPage {
    frame: MerchantFrame,
    /// Number of keys of this mode that expire soon.
    ending_keys: u64,
    /// Number of secret keys of this mode that are still valid although a browser has shown them.
    exposed_keys: u64,
    /// Counts of deliveries that are failing or were given up.
    trouble: Trouble,
    today: Summary,
    month: Summary,
    by_method: Vec<(Method, Summary)>,
    volume: String,
    approval: String,
    time_to_paid: String,
}

impl MerchantOverviewPage {
    fn percent(&self, summary: &Summary) -> String {
        let rate = summary.approval_per_mille();
        rate.map_or_else(|| "–".into(), |rate| self.frame.language().per_mille(rate))
    }

    fn median(&self, summary: &Summary) -> String {
        let median = summary.median_ms();
        median.map_or_else(|| "–".into(), |ms| self.frame.language().duration(ms))
    }
}

/// Handles `GET /console/`: redirects to the overview of the mode in use. A live key alone does not make live mode
/// usable.
pub(crate) async fn start(
    visitor: Visitor,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let keys = console.access.keys_of(&visitor.user.merchant).await?;
    let now = console.clock.now();
    let has_key = keys.iter().any(|key| key.owner.mode == Mode::Live && key.is_live(now));
    let is_live = has_key && console.edge.payments.acquirers().iter().any(|route| route.mode == Mode::Live);
    let mode = if is_live { Mode::Live } else { Mode::Test };
    Ok(see_other(base_of(mode)))
}

/// Handles `GET /console/{mode}`.
pub(crate) async fn show(
    visitor: Visitor,
    InMode(mode): InMode,
    console: Data<MerchantConsole>,
) -> Result<HttpResponse, PageError> {
    let merchant = &visitor.user.merchant;
    let now = console.clock.now();
    let days = console.days.last_thirty(console.store.as_ref(), merchant, mode, now).await?;
    let keys = console.access.keys_of(merchant).await?;
    let ending = keys.iter().filter(|key| key.owner.mode == mode && key.ends_soon(now).is_some());
    let exposed = keys.iter().filter(|key| key.owner.mode == mode && key.is_exposed(now));
    let mut frame = visitor.frame(mode, MerchantSection::Overview);
    frame.has_plots = true;
    let language = frame.language();
    let all = || days.iter().flat_map(|day| day.figures.iter());
    let of = |method: Method| Summary::of(all().filter(move |figure| figure.method == method));
    let page = MerchantOverviewPage {
        trouble: deliveries::trouble(merchant, mode, &console).await?,
        ending_keys: u64::try_from(ending.count()).unwrap_or(u64::MAX),
        exposed_keys: u64::try_from(exposed.count()).unwrap_or(u64::MAX),
        today: days.last().map(|today| Summary::of(today.figures.iter())).unwrap_or_default(),
        month: Summary::of(all()),
        by_method: Method::ALL.into_iter().map(|method| (method, of(method))).collect(),
        volume: plot(&days, language, "bars", "money", |summary| json!(summary.paid_cents)),
        approval: plot(&days, language, "line", "percent", |summary| {
            summary.approval_per_mille().map_or(Value::Null, |rate| json!(decimal(rate, 10)))
        }),
        time_to_paid: plot(&days, language, "line", "seconds", |summary| {
            summary.median_ms().map_or(Value::Null, |ms| json!(decimal(ms, 1_000)))
        }),
        frame,
    };
    html(&page)
}

/// Returns a plot with a series for each method, as JSON for `figures.js`.
fn plot(
    days: &[Day],
    language: Language,
    kind: &str,
    format: &str,
    value: impl Fn(&Summary) -> Value,
) -> String {
    let series = Method::ALL.map(|method| {
        let of_day =
            |day: &Day| value(&Summary::of(day.figures.iter().filter(|figure| figure.method == method)));
        let values: Vec<Value> = days.iter().map(of_day).collect();
        json!({ "label": language.method(method), "values": values, "format": format })
    });
    let dates: Vec<_> = days.iter().map(|day| day.date.to_string()).collect();
    json!({ "x": dates, "series": series, "kind": kind }).to_string()
}

/// Formats `number / unit` as a decimal number for scripts.
fn decimal(number: u64, unit: u64) -> String {
    let digits = unit.checked_ilog10().and_then(|digits| usize::try_from(digits).ok()).unwrap_or_default();
    format!("{}.{:0digits$}", number / unit, number % unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_is_exact() {
        assert_eq!((decimal(973, 10).as_str(), decimal(2_045, 1_000).as_str()), ("97.3", "2.045"));
        assert_eq!(decimal(5, 1_000), "0.005");
    }
}
