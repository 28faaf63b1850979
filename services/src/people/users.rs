//! Users of merchants, and the policies of their owners.

use quita_domain::identity::MerchantId;
use quita_domain::people::{Login, Mailing, MerchantPolicy, MerchantProfile, Role, User};
use quita_domain::secret::Secret;

use super::passwords_of::Reader;
use super::{Duty, People, PeopleError};

impl People {
    /// Creates a user with a generated password. It is returned, shown once, and changed at the first sign-in.
    ///
    /// # Errors
    /// [`PeopleError::Taken`], and if store, randomness or hasher fail.
    pub async fn create(
        &self,
        merchant: MerchantId,
        login: Login,
        role: Role,
    ) -> Result<Secret<String>, PeopleError> {
        self.insert(merchant, login, role, Reader::Another).await
    }

    /// Creates a user with a generated password that the user reads on this screen, and may keep for a day.
    ///
    /// # Errors
    /// As [`People::create`].
    pub async fn create_own(
        &self,
        merchant: MerchantId,
        login: Login,
        role: Role,
    ) -> Result<Secret<String>, PeopleError> {
        self.insert(merchant, login, role, Reader::Owner).await
    }

    async fn insert(
        &self,
        merchant: MerchantId,
        login: Login,
        role: Role,
        reader: Reader,
    ) -> Result<Secret<String>, PeopleError> {
        let (password, credentials) = self.new_credentials(reader).await?;
        let user = User {
            login,
            merchant,
            role,
            credentials,
            created_at: self.clock.now(),
            mailing: Mailing::default(),
            message_webhook: None,
        };
        if self.store.insert_user(&user).await? { Ok(password) } else { Err(PeopleError::Taken(user.login)) }
    }

    /// Returns the users of a merchant, by login.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn users(&self, merchant: &MerchantId) -> Result<Vec<User>, PeopleError> {
        Ok(self.store.users(merchant).await?)
    }

    /// Returns true if any merchant has a user.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn has_users(&self) -> Result<bool, PeopleError> {
        Ok(self.store.has_users().await?)
    }

    /// Gives a user a new password and ends all their sessions. The password is returned, shown once, and changed at
    /// the first sign-in.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and if store, randomness or hasher fail.
    pub async fn reset_password(
        &self,
        merchant: &MerchantId,
        login: &Login,
    ) -> Result<Secret<String>, PeopleError> {
        self.user(merchant, login).await?;
        self.give_password::<User>(login).await
    }

    /// Gives a user another role, and returns the previous one.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and if the store does not answer.
    pub async fn set_role(
        &self,
        merchant: &MerchantId,
        login: &Login,
        role: Role,
    ) -> Result<Role, PeopleError> {
        let change = |user: &mut User| {
            if user.merchant != *merchant {
                return Err(PeopleError::NoSuchUser(login.clone()));
            }
            user.role = role;
            Ok(())
        };
        let (before, _) = self.change(login, change).await?;
        Ok(before.role)
    }

    /// Removes a user, which ends their sessions.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and if the store does not answer.
    pub async fn remove(&self, merchant: &MerchantId, login: &Login) -> Result<(), PeopleError> {
        let user = self.user(merchant, login).await?;
        if self.store.remove_user(&user).await? {
            Ok(())
        } else {
            Err(PeopleError::NoSuchUser(login.clone()))
        }
    }

    /// Returns the user of this merchant.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`] for another merchant's too, and if the store does not answer.
    pub async fn user(&self, merchant: &MerchantId, login: &Login) -> Result<User, PeopleError> {
        let user = self.store.user(login).await?.filter(|user| user.merchant == *merchant);
        user.ok_or_else(|| PeopleError::NoSuchUser(login.clone()))
    }

    /// Returns a user of any merchant: for the command line, which may do everything.
    ///
    /// # Errors
    /// [`PeopleError::NoSuchUser`], and if the store does not answer.
    pub async fn find(&self, login: &Login) -> Result<User, PeopleError> {
        self.find_someone(login).await
    }

    /// Returns the policy that a merchant's owners set for its people.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn policy(&self, merchant: &MerchantId) -> Result<MerchantPolicy, PeopleError> {
        Ok(self.store.policy(merchant).await?)
    }

    /// Changes that policy.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn set_policy(
        &self,
        merchant: &MerchantId,
        policy: &MerchantPolicy,
    ) -> Result<(), PeopleError> {
        Ok(self.store.put_policy(merchant, policy).await?)
    }

    /// Returns the profile that a merchant's payers see.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn profile(&self, merchant: &MerchantId) -> Result<MerchantProfile, PeopleError> {
        Ok(self.store.profile(merchant).await?)
    }

    /// Changes that profile.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn set_profile(
        &self,
        merchant: &MerchantId,
        profile: &MerchantProfile,
    ) -> Result<(), PeopleError> {
        Ok(self.store.put_profile(merchant, profile).await?)
    }

    /// Returns the duty of a user. The password comes first, as for operators.
    ///
    /// # Errors
    /// Fails if the store does not answer.
    pub async fn duty(&self, user: &User) -> Result<Option<Duty>, PeopleError> {
        if self.must_change_password(&user.credentials) {
            return Ok(Some(Duty::ChangePassword));
        }
        let has_factor = user.credentials.second_factor.is_some();
        let is_missing = !has_factor && self.policy(&user.merchant).await?.second_factor_required;
        Ok(is_missing.then_some(Duty::SetUpFactor))
    }
}
