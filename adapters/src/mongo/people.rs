//! Users and sessions.

use async_trait::async_trait;
use bson::{DateTime, RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Session, User};
use quita_ports::{PeopleStore, StoreError};
use serde::Serialize;

use super::failure::within_time;
use super::indexes::{BY_ID, OF_MERCHANT, SESSIONS, USERS, named};
use super::reading::{find_all, value_called};
use super::{MongoStore, batch};

/// A user as it is stored.
#[derive(Serialize)]
struct StoredUser<'a> {
    #[serde(rename = "_id")]
    login: &'a str,
    merchant: &'a str,
    revision: i64,
    user: &'a User,
}

impl<'a> StoredUser<'a> {
    fn of(user: &'a User, revision: i64) -> Self {
        Self { login: user.login.as_str(), merchant: user.merchant.as_str(), revision, user }
    }
}

/// Another one than that of a user of the same login who was removed: the guard of a write that was on its way would
/// take the new one for the old.
const fn first_revision(user: &User) -> i64 {
    user.created_at.millis()
}

/// A session as it is stored. The server deletes it once it has ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredSession<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    expires_at: DateTime,
    session: &'a Session,
}

#[async_trait]
impl PeopleStore for MongoStore {
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError> {
        batch::insert_one(&self.database, USERS, &StoredUser::of(user, first_revision(user))).await
    }

    async fn user(&self, login: &Login) -> Result<Option<User>, StoreError> {
        Ok(self.find_user(login).await?.map(|(user, _)| user))
    }

    async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, StoreError> {
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).hint(named(OF_MERCHANT)).build();
        let filter = doc! { "merchant": merchant.as_str() };
        find_all(&self.collection(USERS), filter, options, read_user).await
    }

    async fn has_users(&self) -> Result<bool, StoreError> {
        let users = self.collection(USERS);
        let any = users.find_one(doc! {}).projection(doc! { "_id": 1 }).hint(named(BY_ID));
        Ok(within_time(any).await?.is_some())
    }

    async fn replace_user(&self, before: &User, after: &User) -> Result<bool, StoreError> {
        let found = self.find_user(&before.login).await?;
        let Some((_, revision)) = found.filter(|(user, _)| user == before) else { return Ok(false) };
        let next = bson::serialize_to_raw_document_buf(&StoredUser::of(after, revision.saturating_add(1)));
        let next = next.map_err(|_| StoreError::Unreadable("a user can't be encoded".into()))?;
        let guard = doc! { "_id": before.login.as_str(), "revision": revision };
        let replaced = within_time(self.collection(USERS).replace_one(guard, next)).await?;
        Ok(replaced.matched_count == 1)
    }

    async fn remove_user(&self, user: &User) -> Result<bool, StoreError> {
        let user = doc! { "_id": user.login.as_str(), "merchant": user.merchant.as_str() };
        Ok(within_time(self.collection(USERS).delete_one(user)).await?.deleted_count == 1)
    }

    async fn insert_session(&self, session: &Session) -> Result<(), StoreError> {
        let expires_at = DateTime::from_millis(session.expires_at.millis());
        let stored = StoredSession { id: &session.id, expires_at, session };
        // Nothing else has an id like this: one that is there came of a lost answer.
        batch::insert_one(&self.database, SESSIONS, &stored).await.map(drop)
    }

    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        let found = within_time(self.collection(SESSIONS).find_one(doc! { "_id": id })).await?;
        found.map(|found| value_called(&found, "session", || String::from("a session"))).transpose()
    }

    async fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        within_time(self.collection(SESSIONS).delete_one(doc! { "_id": id })).await.map(drop)
    }
}

impl MongoStore {
    /// The user and the guard of its next write.
    async fn find_user(&self, login: &Login) -> Result<Option<(User, i64)>, StoreError> {
        let id = doc! { "_id": login.as_str() };
        let Some(found) = within_time(self.collection(USERS).find_one(id)).await? else { return Ok(None) };
        let unguarded = |_| StoreError::Unreadable(format!("{} has no revision", called(&found)));
        let revision = found.get_i64("revision").map_err(unguarded)?;
        Ok(Some((read_user(&found)?, revision)))
    }
}

fn read_user(found: &RawDocument) -> Result<User, StoreError> {
    value_called(found, "user", || called(found))
}

/// Names the merchant: an e-mail address has no business in a log.
fn called(found: &RawDocument) -> String {
    format!("a user of {}", found.get_str("merchant").unwrap_or("nobody"))
}
