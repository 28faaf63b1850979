//! Users, operators and sessions.

use async_trait::async_trait;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, MerchantPolicy, MerchantProfile, Operator, Session, User};
use quita_ports::{PeopleStore, StoreError};

use crate::MemoryStore;
use crate::connection::Connection;
use crate::records::{insert_new, replace_same};

#[async_trait]
impl<C: Connection> PeopleStore for MemoryStore<C> {
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError> {
        self.0
            .change("insert_user", |records| {
                Ok(insert_new(&mut records.users, user.login.clone(), user.clone()))
            })
            .await
    }

    async fn user(&self, login: &Login) -> Result<Option<User>, StoreError> {
        self.0.read("user", |records| Ok(records.users.get(login).cloned())).await
    }

    async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, StoreError> {
        self.0
            .read("users", |records| {
                Ok(records.users.values().filter(|user| user.merchant == *merchant).cloned().collect())
            })
            .await
    }

    async fn has_users(&self) -> Result<bool, StoreError> {
        self.0.read("has_users", |records| Ok(!records.users.is_empty())).await
    }

    async fn replace_user(&self, before: &User, after: &User) -> Result<bool, StoreError> {
        self.0
            .change("replace_user", |records| {
                Ok(replace_same(&mut records.users, &before.login, before, after))
            })
            .await
    }

    async fn remove_user(&self, user: &User) -> Result<bool, StoreError> {
        self.0
            .change("remove_user", |records| {
                let is_meant = |known: &User| known.merchant == user.merchant;
                let is_there = records.users.get(&user.login).is_some_and(is_meant);
                Ok(is_there && records.users.remove(&user.login).is_some())
            })
            .await
    }

    async fn users_after(&self, after: Option<&Login>, limit: usize) -> Result<Vec<User>, StoreError> {
        self.0
            .read("users_after", |records| {
                let users =
                    records.users.values().filter(|user| after.is_none_or(|after| user.login > *after));
                Ok(users.take(limit).cloned().collect())
            })
            .await
    }

    async fn policy(&self, merchant: &MerchantId) -> Result<MerchantPolicy, StoreError> {
        self.0.read("policy", |records| Ok(records.policies.get(merchant).copied().unwrap_or_default())).await
    }

    async fn profile(&self, merchant: &MerchantId) -> Result<MerchantProfile, StoreError> {
        self.0
            .read("profile", |records| Ok(records.profiles.get(merchant).cloned().unwrap_or_default()))
            .await
    }

    async fn put_profile(&self, merchant: &MerchantId, profile: &MerchantProfile) -> Result<(), StoreError> {
        self.0
            .change("put_profile", |records| {
                records.profiles.insert(merchant.clone(), profile.clone());
                Ok(())
            })
            .await
    }

    async fn put_policy(&self, merchant: &MerchantId, policy: &MerchantPolicy) -> Result<(), StoreError> {
        self.0
            .change("put_policy", |records| {
                records.policies.insert(merchant.clone(), *policy);
                Ok(())
            })
            .await
    }

    async fn insert_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        self.0
            .change("insert_operator", |records| {
                Ok(insert_new(&mut records.operators, operator.login.clone(), operator.clone()))
            })
            .await
    }

    async fn operator(&self, login: &Login) -> Result<Option<Operator>, StoreError> {
        self.0.read("operator", |records| Ok(records.operators.get(login).cloned())).await
    }

    async fn operators(&self) -> Result<Vec<Operator>, StoreError> {
        self.0.read("operators", |records| Ok(records.operators.values().cloned().collect())).await
    }

    async fn replace_operator(&self, before: &Operator, after: &Operator) -> Result<bool, StoreError> {
        self.0
            .change("replace_operator", |records| {
                Ok(replace_same(&mut records.operators, &before.login, before, after))
            })
            .await
    }

    async fn remove_operator(&self, operator: &Operator) -> Result<bool, StoreError> {
        self.0
            .change("remove_operator", |records| {
                let is_so = records.operators.get(&operator.login) == Some(operator);
                Ok(is_so && records.operators.remove(&operator.login).is_some())
            })
            .await
    }

    async fn insert_session(&self, session: &Session) -> Result<(), StoreError> {
        self.0
            .change("insert_session", |records| {
                // No other session has this id: an existing one comes from a lost answer.
                insert_new(&mut records.sessions, session.id.clone(), session.clone());
                Ok(())
            })
            .await
    }

    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        self.0.read("session", |records| Ok(records.sessions.get(id).cloned())).await
    }

    async fn sessions_of(&self, person: &str) -> Result<Vec<Session>, StoreError> {
        self.0
            .read("sessions_of", |records| {
                let is_its = |session: &&Session| session.of.person() == person;
                Ok(records.sessions.values().filter(is_its).cloned().collect())
            })
            .await
    }

    async fn replace_session(&self, before: &Session, after: &Session) -> Result<bool, StoreError> {
        self.0
            .change("replace_session", |records| {
                Ok(replace_same(&mut records.sessions, &before.id, before, after))
            })
            .await
    }

    async fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        self.0
            .change("remove_session", |records| {
                records.sessions.remove(id);
                Ok(())
            })
            .await
    }
}
