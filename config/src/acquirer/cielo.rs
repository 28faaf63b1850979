//! Options of Cielo.

use quita_acquirers::cielo::settings::{BoletoSettings, CieloSettings};
use quita_domain::identity::Mode;
use quita_domain::method::Method;
use quita_domain::secret::Secret;
use uuid::Uuid;

use super::Surroundings;
use super::address;
use super::table::AcquirerTable;
use super::tls::TlsConfig;

/// Options of Cielo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CieloConfig {
    /// Settings of the adapter.
    pub settings: CieloSettings,
    /// TLS settings.
    pub tls: TlsConfig,
}

impl CieloConfig {
    /// Returns this configuration with the secrets and certificates of another one, which may change while the service
    /// runs.
    #[must_use]
    pub fn with_secrets_of(&self, other: &Self) -> Self {
        let settings = CieloSettings {
            merchant_key: other.settings.merchant_key.clone(),
            notification_secret: other.settings.notification_secret.clone(),
            ..self.settings.clone()
        };
        Self { settings, tls: other.tls.clone() }
    }
}

/// Returns Cielo's addresses for sales and for queries (E-commerce API 3.0, "Ambientes").
const fn hosts(mode: Mode) -> [&'static str; 2] {
    match mode {
        Mode::Live => {
            ["https://api.cieloecommerce.cielo.com.br", "https://apiquery.cieloecommerce.cielo.com.br"]
        }
        Mode::Test => [
            "https://apisandbox.cieloecommerce.cielo.com.br",
            "https://apiquerysandbox.cieloecommerce.cielo.com.br",
        ],
    }
}

const DEFAULT_NOTIFICATION_HEADER: &str = "x-quita-secret";

impl CieloConfig {
    pub(super) fn read(
        table: &mut AcquirerTable<'_>,
        surroundings: &Surroundings<'_>,
        mode: Mode,
        methods: &[Method],
    ) -> Option<Self> {
        let [base_url, query_base_url] = addresses(table, surroundings, mode);
        let merchant_id = table
            .required("merchant-id", "a GUID", |text| Uuid::try_parse(text).ok().map(|_| text.to_owned()));
        let merchant_key = table.required_secret("merchant-key", VISIBLE, visible);
        let notification_header = table.optional("notification-header", "the name of a header", header_name);
        let notification_secret = table.required_secret("notification-secret", VISIBLE, visible);
        let soft_descriptor = table.optional("soft-descriptor", "1 to 13 letters and digits", |text| {
            let fits =
                (1..=13).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
            fits.then(|| text.to_owned())
        });
        let pix_provider = table.optional("pix-provider", PROVIDER, provider);
        let boleto = boleto(table, methods.contains(&Method::Boleto));
        let tls = TlsConfig::read_authorities(table);
        let settings = CieloSettings {
            base_url,
            query_base_url,
            merchant_id: merchant_id?,
            merchant_key: merchant_key?,
            notification_header: notification_header.unwrap_or_else(|| DEFAULT_NOTIFICATION_HEADER.into()),
            notification_secret: notification_secret?,
            soft_descriptor,
            pix_provider,
            boleto,
        };
        Some(Self { settings, tls })
    }
}

/// Returns both addresses. A configured address for sales also serves queries, unless another one is configured for
/// these.
fn addresses(table: &mut AcquirerTable<'_>, surroundings: &Surroundings<'_>, mode: Mode) -> [String; 2] {
    let [base, query_base] = ["base-url", "query-base-url"].map(|key| {
        let url = address::base(table, key, surroundings.environment)?;
        if url.ends_with("/1") {
            table.refuse(key, "each call adds /1; remove it here");
        }
        Some(url)
    });
    let [own_base, own_query] = hosts(mode).map(str::to_owned);
    let query_base = query_base.or_else(|| base.clone()).unwrap_or(own_query);
    [base.unwrap_or(own_base), query_base]
}

fn boleto(table: &mut AcquirerTable<'_>, is_needed: bool) -> Option<BoletoSettings> {
    if !table.open("boleto") {
        if is_needed {
            let why = "it is missing, and this acquirer takes boletos; set { provider, assignor, identification, \
                       instructions }, or leave boleto out of methods";
            table.refuse("boleto", why);
        }
        return None;
    }
    let provider = table.required("boleto.provider", PROVIDER, provider);
    let text = |most| move |text: &str| fits(text, most).then(|| text.to_owned());
    let assignor = table.required("boleto.assignor", "1 to 200 characters", text(200));
    let identification = table.required("boleto.identification", "a CNPJ of 14 characters", |text| {
        let fits = text.len() == 14 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        fits.then(|| text.to_owned())
    });
    let address = table.optional("boleto.address", "1 to 255 characters", text(255));
    let instructions = table.required("boleto.instructions", "1 to 450 characters", text(450));
    Some(BoletoSettings {
        provider: provider?,
        assignor: assignor?,
        identification: identification?,
        address,
        instructions: instructions?,
    })
}

const PROVIDER: &str = "1 to 40 letters and digits, as Cielo names it";

fn provider(text: &str) -> Option<String> {
    let fits = (1..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| text.to_owned())
}

fn fits(text: &str, most: usize) -> bool {
    (1..=most).contains(&text.chars().count()) && !text.trim().is_empty()
}

const VISIBLE: &str = "visible ASCII characters";

fn visible(text: &str) -> Option<Secret<String>> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| Secret::new(text.to_owned()))
}

fn header_name(text: &str) -> Option<String> {
    actix_http::header::HeaderName::try_from(text).ok().map(|name| name.as_str().to_owned())
}
