import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { totpCode } from '../../../fixtures/totp.ts';
import { callApi, eventually, joinAccount, PASSWORD, sendChat, verifyEmail } from './stack.ts';
import { stackForTests } from './stack-for-tests.ts';

const running = stackForTests();

/** All items of the table, as JSON. */
const storedTexts = async (): Promise<string[]> => {
  const { table } = running.stack;
  const texts: string[] = [];
  let start: Record<string, unknown> | undefined;
  do {
    const page = await table.call('Scan', { TableName: table.name, ExclusiveStartKey: start });
    texts.push(...(page.Items ?? []).map((item) => JSON.stringify(item)));
    start = page.LastEvaluatedKey;
  } while (start);
  return texts;
};

/** By chance, a code of a few digits is a part of some longer number, id or hash. */
const has = (text: string, secret: string) =>
  /^\d+$/.test(secret) ? text.split(/[^\w.-]+/).includes(secret) : text.includes(secret);

const lettersTo = async (email: string) =>
  (await running.stack.inbox())
    .filter(({ destination }) => destination.to.includes(email))
    .map(({ body }) => body.text ?? '');

describe('the table', () => {
  it('has no secret that was issued, but the account key and what is sent to the targets of alerts', async () => {
    const { session, url } = running;
    const { email, token } = session;
    const post = async (path: string, body?: object) => (await callApi(url)('POST', path, { token, body })).body;
    const verificationCode = /^\d{4} \d{4}$/m.exec((await lettersTo(email)).join('\n'))?.[0].replace(' ', '') ?? '';
    await verifyEmail(running, session);
    const key = await post('/keys', { name: 'second' });
    const rotated = await post(`/keys/${key.id}/rotate`, {});
    const apiToken = await post('/tokens', { name: 'ci', role: 'viewer' });
    const rule = await post('/alert-rules', {
      type: 'cost_threshold',
      name: 'n',
      config: { threshold: 1, period: 'monthly' },
      channels: ['webhook'],
      // An address needs no name server. Nothing is sent to it: the rule does not fire.
      webhookUrl: 'https://1.1.1.1/hook?key=of-the-webhook',
    });
    await post('/invitations', { email: `invited-${email}`, role: 'viewer' });
    const [invitation = ''] = (await lettersTo(`invited-${email}`)).flatMap((text) => /#(\S+)/.exec(text)?.[1] ?? []);
    const member = await joinAccount(running, session, 'member');
    const { secret: totpSecret } = await post('/auth/totp', { email: member.email, password: PASSWORD });
    const totp = totpCode(totpSecret, Date.now());
    await post('/auth/totp/confirm', { email: member.email, password: PASSWORD, totp });
    await post('/auth/forgot-password', { email });
    const resetCode = await eventually(
      async () => /\b\d{6}\b/.exec((await lettersTo(email)).at(-1) ?? '')?.[0] ?? '',
      (code) => code !== '',
      { scheduled: [] },
    );
    await sendChat(url, rotated.key);
    await eventually(
      () => callApi(url)('GET', '/requests', { token }),
      ({ body }) => body.items.length > 0,
      { scheduled: [] },
    );

    const secrets = {
      accountKey: session.accountId,
      key: key.key,
      rotatedKey: rotated.key,
      apiToken: apiToken.token,
      webhookSecret: rule.webhookSecret,
      webhookUrl: 'of-the-webhook',
      invitation: invitation.split('.')[2],
      verificationCode,
      resetCode,
      totpSecret,
      password: PASSWORD,
      providerKey: 'sk-test',
      idToken: token,
      refreshToken: session.refreshToken,
    };
    expect(Object.values(secrets).filter((secret) => typeof secret !== 'string' || secret.length < 6)).toEqual([]);
    const stored = await storedTexts();
    const found = Object.entries(secrets).flatMap(([name, secret]) =>
      stored.filter((text) => has(text, secret)).map((text) => [name, JSON.parse(text).sk]),
    );
    // docs/security.md says so.
    const place = [...new Set(found.map(([name]) => name))];
    expect(place).toEqual(['accountKey', 'webhookSecret', 'webhookUrl']);
    expect(found.filter(([name]) => name === 'accountKey')).toHaveLength(1);
    // The search finds what is there: every key and token has its hash.
    for (const secret of [session.accountId, rotated.key, apiToken.token]) {
      const hash = createHash('sha256').update(secret).digest('base64url');
      expect(stored.some((text) => text.includes(hash))).toBe(true);
    }
  });
});
