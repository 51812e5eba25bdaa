import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from '@jest/globals';
import { interceptTable } from '../../../fixtures/intercept-table.ts';
import { openApiTokens, openApiTokenUse } from '../../../lambda/data/accounts/api-tokens.ts';
import { auditEntry } from '../../../lambda/data/accounts/audit-log.ts';
import { newApiToken, newCode, secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import { tableForTests } from '../../table-for-tests.ts';

const table = tableForTests();
const now = new Date();

it('a token that a program fetches while it is removed is removed', async () => {
  const [accountId, tokenId] = [randomUUID(), randomUUID()];
  const audit = auditEntry(accountId, {}, { action: 'token.created' }, now);
  const [code, token] = [newCode(randomBytes), newApiToken(randomBytes)];
  const validUntil = new Date(now.getTime() + 60_000).toISOString();
  const grant = { clientId: 'c', redirectUri: 'https://c', codeChallenge: 'x', validUntil };
  const facts = { tokenId, accountId, name: 'c', role: 'viewer' as const, userId: tokenId, validUntil, grant };
  const tokens = openApiTokens(table);
  await tokens.create(
    { ...facts, tokenHash: secretHash(code), maskedToken: '', createdBy: 'u', createdAt: now.toISOString() },
    'a@tokens.invalid',
    audit,
  );
  let isFetched = false;
  const raced = interceptTable(table, async ({ operation }, send) => {
    if (operation === 'TransactWriteItems' && !isFetched)
      isFetched = await tokens.redeem(facts, grant, { code, token }, audit);
    return send();
  });
  const { ownerOf } = openApiTokenUse(table, Date.now);
  expect((await openApiTokens(raced).remove(accountId, tokenId, audit)).tokenHash).toBe(secretHash(token));
  expect([isFetched, (await tokens.list(accountId)).items]).toEqual([true, []]);
  expect(await ownerOf(token)).toBeUndefined();
});
