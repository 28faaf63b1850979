//! Users, operators and sessions.

use async_trait::async_trait;
use bson::{DateTime, Document, RawDocument, doc};
use mongodb::options::FindOptions;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_ports::{PeopleStore, StoreError};
use serde::Serialize;

use super::MongoStore;
use super::failure::within_time;
use super::indexes::{
    BY_ID, MERCHANT_POLICIES, MERCHANT_PROFILES, OF_MERCHANT, OF_PERSON, OPERATORS, SESSIONS, USERS, named,
};
use super::reading::{find_all, value_called, value_in};
use quita_stored_form::{AsDocument, signed_limit};

/// A user as it is stored.
#[derive(Serialize)]
struct StoredUser<'a> {
    #[serde(rename = "_id")]
    login: &'a str,
    merchant: &'a str,
    revision: i64,
    user: AsDocument<'a, User>,
}

impl<'a> StoredUser<'a> {
    fn of(user: &'a User, revision: i64) -> Self {
        Self {
            login: user.login.as_str(),
            merchant: user.merchant.as_str(),
            revision,
            user: AsDocument(user),
        }
    }
}

/// Returns a first revision that differs from that of a removed user with the same login. Otherwise the guard of a
/// write that was under way would match the new user.
const fn first_revision(user: &User) -> i64 {
    user.created_at.millis()
}

/// A session as it is stored. The server deletes it once it has ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct StoredSession<'a> {
    #[serde(rename = "_id")]
    id: &'a str,
    person: String,
    expires_at: DateTime,
    session: AsDocument<'a, Session>,
}

impl<'a> StoredSession<'a> {
    fn of(session: &'a Session) -> Self {
        let expires_at = DateTime::from_millis(session.expires_at.millis());
        Self { id: &session.id, person: session.of.person(), expires_at, session: AsDocument(session) }
    }
}

/// An operator as it is stored.
#[derive(Serialize)]
struct StoredOperator<'a> {
    #[serde(rename = "_id")]
    login: &'a str,
    operator: AsDocument<'a, Operator>,
}

impl<'a> StoredOperator<'a> {
    fn of(operator: &'a Operator) -> Self {
        Self { login: operator.login.as_str(), operator: AsDocument(operator) }
    }
}

/// A policy as it is stored.
#[derive(Serialize)]
struct StoredPolicy<'a> {
    #[serde(rename = "_id")]
    merchant: &'a str,
    policy: AsDocument<'a, MerchantPolicy>,
}

/// A profile as it is stored.
#[derive(Serialize)]
struct StoredProfile<'a> {
    #[serde(rename = "_id")]
    merchant: &'a str,
    profile: AsDocument<'a, MerchantProfile>,
}

#[async_trait]
impl PeopleStore for MongoStore {
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError> {
        self.insert_one(USERS, &StoredUser::of(user, first_revision(user))).await
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
        let next = StoredUser::of(after, revision.saturating_add(1));
        let guard = doc! { "_id": before.login.as_str(), "revision": revision };
        self.replace_guarded(USERS, guard, &next).await
    }

    async fn remove_user(&self, user: &User) -> Result<bool, StoreError> {
        let user = doc! { "_id": user.login.as_str(), "merchant": user.merchant.as_str() };
        Ok(within_time(self.collection(USERS).delete_one(user)).await?.deleted_count == 1)
    }

    async fn users_after(&self, after: Option<&Login>, limit: usize) -> Result<Vec<User>, StoreError> {
        // To MongoDB a limit of zero means none.
        if limit == 0 {
            return Ok(Vec::new());
        }
        let after = after.map(|login| doc! { "_id": { "$gt": login.as_str() } }).unwrap_or_default();
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).limit(signed_limit(limit));
        find_all(&self.collection(USERS), after, options.hint(named(BY_ID)).build(), read_user).await
    }

    async fn policy(&self, merchant: &MerchantId) -> Result<MerchantPolicy, StoreError> {
        let id = doc! { "_id": merchant.as_str() };
        let found = within_time(self.collection(MERCHANT_POLICIES).find_one(id)).await?;
        found.map_or_else(|| Ok(MerchantPolicy::default()), |found| value_in(&found, "policy"))
    }

    async fn put_policy(&self, merchant: &MerchantId, policy: &MerchantPolicy) -> Result<(), StoreError> {
        let stored = StoredPolicy { merchant: merchant.as_str(), policy: AsDocument(policy) };
        let stored = bson::serialize_to_raw_document_buf(&stored);
        let stored = stored.map_err(|_| StoreError::Unreadable("a policy can't be encoded".into()))?;
        let policies = self.collection(MERCHANT_POLICIES);
        let id = doc! { "_id": merchant.as_str() };
        within_time(policies.replace_one(id, self.form.stamped(stored)).upsert(true)).await.map(drop)
    }

    async fn profile(&self, merchant: &MerchantId) -> Result<MerchantProfile, StoreError> {
        let id = doc! { "_id": merchant.as_str() };
        let found = within_time(self.collection(MERCHANT_PROFILES).find_one(id)).await?;
        found.map_or_else(|| Ok(MerchantProfile::default()), |found| value_in(&found, "profile"))
    }

    async fn put_profile(&self, merchant: &MerchantId, profile: &MerchantProfile) -> Result<(), StoreError> {
        let stored = StoredProfile { merchant: merchant.as_str(), profile: AsDocument(profile) };
        let stored = bson::serialize_to_raw_document_buf(&stored);
        let stored = stored.map_err(|_| StoreError::Unreadable("a profile can't be encoded".into()))?;
        let profiles = self.collection(MERCHANT_PROFILES);
        let id = doc! { "_id": merchant.as_str() };
        within_time(profiles.replace_one(id, self.form.stamped(stored)).upsert(true)).await.map(drop)
    }

    async fn insert_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        self.insert_one(OPERATORS, &StoredOperator::of(operator)).await
    }

    async fn operator(&self, login: &Login) -> Result<Option<Operator>, StoreError> {
        let id = doc! { "_id": login.as_str() };
        let found = within_time(self.collection(OPERATORS).find_one(id)).await?;
        found.map(|found| read_operator(&found)).transpose()
    }

    async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        let options = FindOptions::builder().sort(doc! { "_id": 1 }).hint(named(BY_ID)).build();
        find_all(&self.collection(OPERATORS), doc! {}, options, read_operator).await
    }

    async fn replace_operator(&self, before: &Operator, after: &Operator) -> Result<bool, StoreError> {
        let guard = guard(&StoredOperator::of(before))?;
        let next = StoredOperator::of(after);
        self.replace_guarded(OPERATORS, guard, &next).await
    }

    async fn remove_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        let guard = guard(&StoredOperator::of(operator))?;
        Ok(within_time(self.collection(OPERATORS).delete_one(guard)).await?.deleted_count == 1)
    }

    async fn insert_session(&self, session: &Session) -> Result<(), StoreError> {
        let stored = StoredSession::of(session);
        // No other session has this id: an existing one comes from a lost answer.
        self.insert_one(SESSIONS, &stored).await.map(drop)
    }

    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        let found = within_time(self.collection(SESSIONS).find_one(doc! { "_id": id })).await?;
        found.map(|found| read_session(&found)).transpose()
    }

    async fn sessions_of(&self, person: &str) -> Result<Vec<Session>, StoreError> {
        let options = FindOptions::builder().hint(named(OF_PERSON)).build();
        find_all(&self.collection(SESSIONS), doc! { "person": person }, options, read_session).await
    }

    async fn replace_session(&self, before: &Session, after: &Session) -> Result<bool, StoreError> {
        let guard = guard(&StoredSession::of(before))?;
        let next = StoredSession::of(after);
        self.replace_guarded(SESSIONS, guard, &next).await
    }

    async fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        within_time(self.collection(SESSIONS).delete_one(doc! { "_id": id })).await.map(drop)
    }
}

impl MongoStore {
    /// Returns the user and the guard of its next write.
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

/// Names a user in a message by the merchant: an e-mail address does not belong in a log.
fn called(found: &RawDocument) -> String {
    format!("a user of {}", found.get_str("merchant").unwrap_or("nobody"))
}

fn read_operator(found: &RawDocument) -> Result<Operator, StoreError> {
    value_called(found, "operator", || String::from("an operator"))
}

fn read_session(found: &RawDocument) -> Result<Session, StoreError> {
    value_called(found, "session", || String::from("a session"))
}

/// Returns a guard that finds a document with exactly these values. Times and versions keep a recreated document from
/// being mistaken for the earlier one.
fn guard(before: &impl Serialize) -> Result<Document, StoreError> {
    let guard = bson::serialize_to_raw_document_buf(before).and_then(Document::try_from);
    guard.map_err(|_| StoreError::Unreadable("a guard can't be encoded".into()))
}
