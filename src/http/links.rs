//! Creating, reading, listing and closing payment links.

use actix_web::http::header::LOCATION;
use actix_web::web::{Data, Path, Payload};
use actix_web::{HttpRequest, HttpResponse};
use quita_actors::Denied;
use quita_domain::identity::{LinkId, Owner};
use quita_domain::link::{KeyedClosing, Link, LinkStatus, LinkUses};
use quita_domain::listing::Cursor;
use quita_domain::listing::query::LinkQuery;
use quita_domain::record::link::{LinkFacts, LinkRecord};
use quita_domain::request::link::{self as request, ParsedLink};
use uuid::Uuid;

use super::answer::ListPage;
use super::auth::{Reader, Writer};
use super::body::{read_json, read_optional_json};
use super::edge::Edge;
use super::errors::{ApiError, ErrorCode, wordings};
use super::idempotency::{REPLAYED, key_of};
use super::link_methods::{available_methods, with_possible_methods};
use super::{ignored_names, link_payments, query};

/// Number of payments that the record of a link names.
pub(crate) const NEWEST_PAYMENTS: usize = 20;

/// Maximum number of links examined for one page by status.
const LOOKED_AT: usize = 1_000;

/// `POST /pay/links`
pub(crate) async fn create(
    caller: Writer,
    edge: Data<Edge>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let key = key_of(&request)?;
    let body = read_json(&request, payload).await?;
    let parsed = request::parse(&body, edge.clock.now(), &edge.limits);
    let unknown = parsed.as_ref().map_or_else(|rejection| &rejection.unknown, |parsed| &parsed.unknown);
    ignored_names::note(&request, &caller.0, unknown);
    let (link, is_replay) = make(&edge, caller.0.owner, parsed?, key.as_deref()).await?;
    let mut response = if is_replay { HttpResponse::Ok() } else { HttpResponse::Created() };
    if is_replay {
        response.insert_header(REPLAYED);
    }
    response.insert_header((LOCATION, format!("{}/pay/links/{}", edge.public_url, link.id)));
    Ok(response.json(LinkRecord::of(&link, facts(&edge, &link).await?)))
}

/// Creates a link, or finds the one that was created under the same key. Returns true for an existing one.
pub(crate) async fn make(
    edge: &Edge,
    owner: Owner,
    parsed: ParsedLink,
    key: Option<&str>,
) -> Result<(Link, bool), ApiError> {
    let fingerprint = key.map(|_| parsed.fingerprint(edge.keyring.fingerprint()));
    let id = key.map_or_else(|| LinkId::new(Uuid::now_v7()), |key| edge.keyring.link_id(&owner, key));
    if let (Some(_), Some(known)) = (key, edge.links.link(id).await.map_err(Denied::from)?) {
        return replayed(known, fingerprint.as_ref());
    }
    let methods = available_methods(edge, owner.mode);
    let unavailable = parsed.sent_methods.iter().enumerate().filter(|(_, method)| !methods.contains(method));
    let unavailable: Vec<_> = unavailable.map(|(place, method)| (place, *method)).collect();
    if !unavailable.is_empty() || methods.is_empty() {
        return Err(ApiError::methods_unavailable(&unavailable, owner.mode));
    }
    if !edge.keyring.has_key_of_now() {
        return Err(ApiError::secret_key_missing());
    }
    let sent = parsed.sent_methods.clone();
    let link = parsed.into_link(id, owner, fingerprint.clone(), &methods, edge.clock.now())?;
    let link = with_possible_methods(edge, link, &sent)?;
    if edge.links.insert_link(&link).await.map_err(Denied::from)? {
        return Ok((link, false));
    }
    let known = edge.links.link(id).await.map_err(Denied::from)?;
    replayed(known.ok_or_else(|| ApiError::defect("a link that is there can be read"))?, fingerprint.as_ref())
}

fn replayed(known: Link, fingerprint: Option<&String>) -> Result<(Link, bool), ApiError> {
    if known.fingerprint.as_ref() == fingerprint { Ok((known, true)) } else { Err(Denied::KeyReused.into()) }
}

/// `GET /pay/links/{linkId}`
pub(crate) async fn read(
    caller: Reader,
    edge: Data<Edge>,
    id: Path<String>,
) -> Result<HttpResponse, ApiError> {
    let link = own(&edge, &id, &caller.0.owner).await?;
    Ok(HttpResponse::Ok().json(LinkRecord::of(&link, facts(&edge, &link).await?)))
}

/// `GET /pay/links`
pub(crate) async fn list(
    caller: Reader,
    edge: Data<Edge>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    let query = LinkQuery::parse(&caller.0.owner, &query::read(&request)?)?;
    let ListedLinks { links, next } = page(&edge, &query).await?;
    let mut facts = Vec::with_capacity(links.len());
    for (link, uses) in &links {
        facts.push(facts_of(&edge, link, uses).await?);
    }
    let data = links.iter().zip(facts).map(|((link, _), facts)| LinkRecord::of(link, facts)).collect();
    let has_more = next.is_some();
    let next_cursor = next.map(|place| place.to_string());
    Ok(HttpResponse::Ok().json(ListPage { data, has_more, next_cursor, unreadable: Vec::new() }))
}

/// Page of a list of links.
#[derive(Debug)]
pub(crate) struct ListedLinks {
    /// The links with their uses, newest first.
    pub(crate) links: Vec<(Link, LinkUses)>,
    /// Cursor after which there are more, or may be.
    pub(crate) next: Option<Cursor>,
}

/// Returns a page of links. A page by status may end before it is full, so that it is answered in time.
pub(crate) async fn page(edge: &Edge, query: &LinkQuery) -> Result<ListedLinks, ApiError> {
    let limit = query.limit.get();
    let (mut links, looked_to) = matching(edge, query, limit.saturating_add(1)).await?;
    let has_more = links.len() > limit || looked_to.is_some();
    links.truncate(limit);
    let last = if links.len() == limit { links.last().map(|(link, _)| link.place()) } else { looked_to };
    Ok(ListedLinks { links, next: last.filter(|_| has_more) })
}

/// Returns links that match, with their uses, at most `wanted`. Also returns the position where the search stopped, if
/// that was before the end and before it had found enough.
async fn matching(
    edge: &Edge,
    query: &LinkQuery,
    wanted: usize,
) -> Result<(Vec<(Link, LinkUses)>, Option<Cursor>), ApiError> {
    let mut found = Vec::new();
    let mut after = query.cursor;
    let mut looked_at = 0_usize;
    loop {
        let page = edge.links.links(&query.filter, after, wanted).await.map_err(Denied::from)?;
        let is_last = page.len() < wanted;
        for link in page {
            let uses = edge.links.link_uses(&link).await.map_err(Denied::from)?;
            let status = link.status(&uses, edge.clock.now());
            after = Some(link.place());
            looked_at = looked_at.saturating_add(1);
            if query.statuses.is_empty() || query.statuses.contains(&status) {
                found.push((link, uses));
            }
            if found.len() == wanted {
                return Ok((found, None));
            }
        }
        if is_last {
            return Ok((found, None));
        }
        // The status is derived from the uses and is in no index, so a rare one would make a request scan every link.
        if looked_at >= LOOKED_AT {
            return Ok((found, after));
        }
    }
}

/// `POST /pay/links/{linkId}/close`
pub(crate) async fn close(
    caller: Writer,
    edge: Data<Edge>,
    id: Path<String>,
    request: HttpRequest,
    payload: Payload,
) -> Result<HttpResponse, ApiError> {
    let key = key_of(&request)?;
    let closing = request::parse_closing(&read_optional_json(&request, payload).await?);
    let unknown = closing.as_ref().map_or_else(|rejection| &rejection.unknown, |closing| &closing.unknown);
    ignored_names::note(&request, &caller.0, unknown);
    let closing = closing?;
    let mut link = own(&edge, &id, &caller.0.owner).await?;
    let mut response = HttpResponse::Ok();
    if let Some(key) = key {
        let keyed = KeyedClosing { key, cancel_pending: closing.cancel_pending };
        let (noted, is_replay) = edge.link_payments.note_closing(link, &keyed).await?;
        link = noted;
        if is_replay {
            response.insert_header(REPLAYED);
        }
    }
    // A repetition continues an interrupted closing.
    let link = closed(&edge, link).await?;
    if closing.cancel_pending {
        link_payments::cancel_all(&edge, &link).await?;
    }
    Ok(response.json(LinkRecord::of(&link, facts(&edge, &link).await?)))
}

/// Closes a link, and waits for the payments that began before. One that is paid, expired or closed stays as it is.
///
/// # Errors
/// [`ErrorCode::OutcomeUnknown`] if one of those payments is not stored yet; the link is closed nevertheless.
pub(crate) async fn closed(edge: &Edge, link: Link) -> Result<Link, ApiError> {
    Ok(edge.link_payments.close(link).await?)
}

/// Returns the caller's link with this id.
pub(crate) async fn own(edge: &Edge, id: &str, owner: &Owner) -> Result<Link, ApiError> {
    let malformed = || ApiError::new(ErrorCode::UnreadableId, wordings::no_link_id());
    let id = LinkId::parse(id).ok_or_else(malformed)?;
    let link = edge.links.link(id).await.map_err(Denied::from)?;
    link.filter(|link| owner.may_see(&link.owner)).ok_or_else(ApiError::link_not_found)
}

/// Returns the facts that a record shows in addition to the link itself.
async fn facts(edge: &Edge, link: &Link) -> Result<LinkFacts, ApiError> {
    let uses = edge.links.link_uses(link).await.map_err(Denied::from)?;
    facts_of(edge, link, &uses).await
}

async fn facts_of(edge: &Edge, link: &Link, uses: &LinkUses) -> Result<LinkFacts, ApiError> {
    let has_payments = uses != &LinkUses::default() || link.revision > 1;
    let payments =
        if has_payments { link_payments::newest(edge, link, NEWEST_PAYMENTS).await? } else { Vec::new() };
    Ok(LinkFacts {
        status: link.status(uses, edge.clock.now()),
        url: url_of(edge, link.id),
        paid_count: uses.paid,
        payments: payments.iter().map(|payment| payment.id).collect(),
    })
}

/// Returns the address of a link's page; `None` while this node lacks the current secret key.
pub(crate) fn url_of(edge: &Edge, id: LinkId) -> Option<String> {
    let token = edge.keyring.link_token(id)?;
    Some(format!("{}/checkout/{token}", edge.public_url.trim_end_matches('/')))
}

/// Returns the status of a link as it is now.
pub(crate) async fn status_of(edge: &Edge, link: &Link) -> Result<(LinkStatus, LinkUses), ApiError> {
    let uses = edge.links.link_uses(link).await.map_err(Denied::from)?;
    Ok((link.status(&uses, edge.clock.now()), uses))
}
