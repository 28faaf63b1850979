//! Users and sessions.

use async_trait::async_trait;
use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Session, User};
use quita_ports::{PeopleStore, StoreError};
use rusqlite::Transaction;

use super::failure::Failure;
use super::reading::{find_all, find_one};
use super::{EmbeddedStore, MAX_FORGOTTEN_AT_ONCE};
use crate::stored_form::encode;

#[async_trait]
impl PeopleStore for EmbeddedStore {
    async fn insert_user(&self, user: &User) -> Result<bool, StoreError> {
        let (login, merchant, document) = (user.login.clone(), user.merchant.clone(), encode(user)?);
        self.write(move |transaction| {
            let sql = "INSERT INTO users (login, merchant, user) VALUES (?1, ?2, ?3) \
                ON CONFLICT (login) DO NOTHING";
            let mut insert = transaction.prepare_cached(sql)?;
            Ok(insert.execute((login.as_str(), merchant.as_str(), document))? == 1)
        })
        .await
    }

    async fn user(&self, login: &Login) -> Result<Option<User>, StoreError> {
        let login = login.clone();
        self.read(move |transaction| find_user(transaction, &login)).await
    }

    async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, StoreError> {
        let merchant = merchant.clone();
        self.read(move |transaction| {
            let sql = "SELECT merchant, user FROM users WHERE merchant = ?1 ORDER BY login";
            find_all(transaction, sql, [merchant.as_str()], "a user of")
        })
        .await
    }

    async fn has_users(&self) -> Result<bool, StoreError> {
        self.read(|transaction| {
            let sql = "SELECT EXISTS (SELECT 1 FROM users)";
            Ok(transaction.query_row(sql, [], |row| row.get(0))?)
        })
        .await
    }

    async fn replace_user(&self, before: &User, after: &User) -> Result<bool, StoreError> {
        let (before, document) = (before.clone(), encode(after)?);
        self.write(move |transaction| {
            if find_user(transaction, &before.login)?.as_ref() != Some(&before) {
                return Ok(false);
            }
            let mut update = transaction.prepare_cached("UPDATE users SET user = ?2 WHERE login = ?1")?;
            Ok(update.execute((before.login.as_str(), document))? == 1)
        })
        .await
    }

    async fn remove_user(&self, user: &User) -> Result<bool, StoreError> {
        let user = user.clone();
        self.write(move |transaction| {
            let sql = "DELETE FROM users WHERE login = ?1 AND merchant = ?2";
            let of = [user.login.as_str(), user.merchant.as_str()];
            Ok(transaction.prepare_cached(sql)?.execute(of)? == 1)
        })
        .await
    }

    async fn insert_session(&self, session: &Session) -> Result<(), StoreError> {
        let row = (session.id.clone(), session.expires_at.millis(), encode(session)?);
        let began_at = session.created_at.millis();
        self.write(move |transaction| {
            // Nothing else has an id like this: one that is there came of a lost answer.
            let sql = "INSERT INTO sessions (id, expires_at, session) VALUES (?1, ?2, ?3) \
                ON CONFLICT (id) DO NOTHING";
            transaction.prepare_cached(sql)?.execute(row)?;
            let sql = "DELETE FROM sessions WHERE id IN \
                (SELECT id FROM sessions WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
            transaction.prepare_cached(sql)?.execute((began_at, MAX_FORGOTTEN_AT_ONCE))?;
            Ok(())
        })
        .await
    }

    async fn session(&self, id: &str) -> Result<Option<Session>, StoreError> {
        let id = id.to_owned();
        self.read(move |transaction| {
            let sql = "SELECT 'with this id', session FROM sessions WHERE id = ?1";
            find_one(transaction, sql, [id], "the session")
        })
        .await
    }

    async fn remove_session(&self, id: &str) -> Result<(), StoreError> {
        let id = id.to_owned();
        self.write(move |transaction| {
            transaction.prepare_cached("DELETE FROM sessions WHERE id = ?1")?.execute([id])?;
            Ok(())
        })
        .await
    }
}

/// A message names the merchant: an e-mail address has no business in a log.
fn find_user(transaction: &Transaction<'_>, login: &Login) -> Result<Option<User>, Failure> {
    let sql = "SELECT merchant, user FROM users WHERE login = ?1";
    find_one(transaction, sql, [login.as_str()], "a user of")
}
