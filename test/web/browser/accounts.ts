import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { openUsers } from '../../../lambda/data/accounts/users.ts';
import type { Dashboard } from './dashboard.ts';

export const PASSWORD = 'Correct-Horse-7';

const sessionSchema = z.object({
  accountId: z.string(),
  userId: z.string(),
  token: z.string(),
  refreshToken: z.string(),
});
export type ApiSession = z.infer<typeof sessionSchema>;

export const newEmail = () => `ada.${randomUUID().slice(0, 8)}@example.com`;

const post = async (dashboard: Dashboard, path: string, body: object): Promise<ApiSession> => {
  const response = await fetch(`${dashboard.url}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return sessionSchema.parse(await response.json());
};

/** Registers an account through the API. */
export const register = (dashboard: Dashboard, email = newEmail()) =>
  post(dashboard, '/auth/register', { email, password: PASSWORD, firstName: 'Ada', lastName: 'Lovelace' });

/** As if the code in the mail had been entered. */
export const verifyAddress = async ({ stack }: Dashboard, { userId }: ApiSession): Promise<void> => {
  const users = openUsers(stack.table);
  const user = await users.find(userId);
  if (user === undefined) throw new Error('There is no such user.');
  await users.verifyEmail(user, user.email, new Date().toISOString());
};

export const logIn = (dashboard: Dashboard, email: string, password = PASSWORD) =>
  post(dashboard, '/auth/login', { email, password });

/** Stores a session where the pages keep it, as in a tab that signed in before a reload. */
export const restoreSession = async (page: Page, dashboard: Dashboard, session: ApiSession): Promise<void> => {
  await page.goto(`${dashboard.url}/first-paint.css`);
  await page.evaluate(`sessionStorage.setItem('refresh-token', ${JSON.stringify(session.refreshToken)})`);
};

/** Signs up with the form. */
export const signUp = async (page: Page, dashboard: Dashboard, email: string): Promise<void> => {
  await page.goto(`${dashboard.url}/sign-up`);
  await page.getByLabel('First name').fill('Ada');
  await page.getByLabel('Last name').fill('Lovelace');
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await page.getByRole('button', { name: 'Create account' }).click();
};

/** Fills in and submits the sign-in form that the page shows. */
export const signIn = async (page: Page, email: string, password = PASSWORD): Promise<void> => {
  await page.getByRole('textbox', { name: 'E-mail' }).fill(email);
  await page.getByLabel('Password', { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
};

/** Sends a request through the gateway. */
export const sendRequest = async (dashboard: Dashboard, { accountId }: ApiSession, headers: object = {}) => {
  const response = await fetch(`${dashboard.url}/gateway/openai/v1/chat/completions`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: 'Bearer any',
      'x-service-key': accountId,
      ...headers,
    },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Say hello.' }] }),
  });
  if (!response.ok) throw new Error(`The gateway responded with ${response.status}.`);
  await response.arrayBuffer();
};
