// Makes the replica set of compose.yaml and its two users. Run it again at any time: it does what is missing.
//
//     MEMBERS=HOST:PORT,… SECRETS=DIRECTORY mongosh 'mongodb://127.0.0.1:27017/admin?directConnection=true' mongo_init.js
const { readFileSync } = require('fs');
const secret = (name) => readFileSync(`${process.env.SECRETS}/${name}`, 'utf8').trim();
const admin = db.getSiblingDB('admin');
const adminPassword = secret('mongo-admin-password');

function signIn() {
  try {
    return admin.auth('admin', adminPassword).ok === 1;
  } catch (error) {
    if (error.codeName === 'AuthenticationFailed' || error.codeName === 'UserNotFound') return false;
    throw error;
  }
}

function waitForPrimary() {
  for (let second = 0; second < 60; second += 1) {
    if (admin.hello().isWritablePrimary) return;
    sleep(1000);
  }
  throw new Error('mongo-1 did not become the primary within a minute');
}

if (!signIn()) {
  // The first member gets the users, so it must be the primary.
  const members = process.env.MEMBERS.split(',').map((host, index) => ({ _id: index, host, priority: index === 0 ? 2 : 1 }));
  try {
    rs.initiate({ _id: 'rs0', members });
  } catch (error) {
    if (error.codeName !== 'AlreadyInitialized') throw error;
  }
  waitForPrimary();
  admin.createUser({ user: 'admin', pwd: adminPassword, roles: ['root'] });
  signIn();
}
waitForPrimary();
const roles = [{ role: 'readWrite', db: 'quita' }, { role: 'clusterMonitor', db: 'admin' }];
const pwd = secret('mongo-quita-password');
if (admin.getUser('quita')) admin.updateUser('quita', { pwd, roles });
else admin.createUser({ user: 'quita', pwd, roles });
print('the replica set and its users are there');
