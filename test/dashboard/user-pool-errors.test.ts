import { CognitoIdentityProviderClient } from '@aws-sdk/client-cognito-identity-provider';
import { expect, it, jest } from '@jest/globals';
import { userSessions } from '../../lambda/integrations/user-sessions.ts';
import { APP_CLIENT_ID, invoke } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { identityApi } from './open-identity.ts';

const table = tableForTests();

/** The API with a user pool that throws an exception at each call. */
const withPoolThat = (exception: string) => {
  const cognito = new CognitoIdentityProviderClient({ region: 'eu-west-1' });
  jest.spyOn(cognito, 'send').mockImplementation(async () => {
    throw Object.assign(new Error(exception), { name: exception });
  });
  const client = { id: APP_CLIENT_ID, secret: async () => 's', secretHash: async () => 'h' };
  const sessions = userSessions(cognito, 'eu-west-1_Local0001', client);
  return identityApi(table, { sessions, clock: { nowMs: () => 0, pause: async () => {} } });
};

// Only a user who exists gets no mail.
it.each([
  ['UserNotFoundException', 202],
  ['CodeDeliveryFailureException', 202],
  ['LimitExceededException', 202],
  ['TooManyRequestsException', 429],
])('a reset code does not tell whether there is a user: %s', async (exception, expected) => {
  const call = { method: 'POST', path: '/api/auth/forgot-password', body: { email: 'ada@example.com' } };
  const { status, headers } = await invoke(withPoolThat(exception), call);
  expect([status, headers['Retry-After']]).toEqual([expected, expected === 429 ? '10' : undefined]);
});

it.each(['/login', '/refresh'])('of a pool that limits calls, %s says when to come again', async (path) => {
  const body = path === '/login' ? { email: 'ada@example.com', password: 'p' } : { refreshToken: 'r' };
  const response = await invoke(withPoolThat('TooManyRequestsException'), {
    method: 'POST',
    path: `/api/auth${path}`,
    body,
  });
  expect([response.status, response.headers['Retry-After']]).toEqual([429, '10']);
});
