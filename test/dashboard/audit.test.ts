import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import type { Context } from 'aws-lambda';
import { recordSignIn } from '../../lambda/dashboard/auth/steps.ts';
import { operations as allOperations } from '../../lambda/dashboard/operations.ts';
import { auditEntry, openAuditLog } from '../../lambda/data/accounts/audit-log.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { auditActions } from '../../lambda/domain/accounts/audit.ts';
import type { PlanName } from '../../lambda/domain/billing/plans.ts';
import { DAY_MS } from '../../lambda/domain/calendar/units.ts';
import { newAccount } from '../data/new-account.ts';
import { apiEvent, invoke, silentLogger } from '../http/invoke.ts';
import { tableForTests } from '../table-for-tests.ts';
import { openDashboard } from './open-dashboard.ts';

const table = tableForTests();
const now = new Date('2026-11-20T12:00:00.000Z');

const handler = openDashboard(table, () => now);

/** An account with an entry for each of the given ages in days. */
const accountWith = async (agesInDays: readonly number[], plan: PlanName = 'PRO') => {
  const account = await newAccount(table, plan);
  for (const age of agesInDays) {
    const source = { actor: { userId: account.userId, name: account.email }, clientAddress: '192.0.2.7' };
    const fact = { action: 'key.created', subject: `key-${age}`, details: { name: '=1+1' } } as const;
    await openAuditLog(table).record(
      auditEntry(account.accountId, source, fact, new Date(now.getTime() - age * DAY_MS)),
    );
  }
  return account;
};

const list = (caller: { accountId: string; userId: string }, query: Record<string, string> = {}) =>
  invoke(handler, { method: 'GET', path: '/api/audit', caller, query });

describe('the audit log', () => {
  it('lists entries newest first, in pages', async () => {
    const account = await accountWith([1, 2, 3]);
    const first = await list(account, { limit: '2' });
    expect(first.body.items).toEqual([
      {
        id: expect.any(String),
        at: '2026-11-19T12:00:00.000Z',
        action: 'key.created',
        actor: { userId: account.userId, name: account.email },
        clientAddress: '192.0.2.7',
        subject: 'key-1',
        details: { name: '=1+1' },
        before: null,
      },
      expect.objectContaining({ subject: 'key-2' }),
    ]);
    const second = await list(account, { limit: '2', cursor: first.body.nextCursor });
    expect(second.body).toMatchObject({ items: [{ subject: 'key-3' }], nextCursor: null });
  });

  it('goes on from a cursor within whatever range is asked for now', async () => {
    const account = await accountWith([1, 2, 3, 4]);
    const { nextCursor: cursor } = (await list(account, { limit: '2' })).body;
    const subjects = async (query: Record<string, string>) =>
      (await list(account, { cursor, ...query })).body.items.map(({ subject }: { subject: string }) => subject);
    expect(await subjects({})).toEqual(['key-3', 'key-4']);
    expect(await subjects({ from: '2026-11-19' })).toEqual([]);
    expect(await subjects({ to: '2026-11-16' })).toEqual(['key-4']);
  });

  it('shows a range, and as many days as the plan keeps', async () => {
    const subjects = async (plan: PlanName, query: Record<string, string>) =>
      (await list(await accountWith([1, 29, 31, 89, 91], plan), query)).body.items.map(
        ({ subject }: { subject: string }) => subject,
      );
    expect(await subjects('PRO', {})).toEqual(['key-1', 'key-29']);
    expect(await subjects('PRO', { from: '2026-01-01' })).toEqual(['key-1', 'key-29', 'key-31', 'key-89', 'key-91']);
    expect(await subjects('STARTER', { from: '2026-01-01' })).toEqual(['key-1', 'key-29', 'key-31', 'key-89']);
    expect(await subjects('FREE', { from: '2026-01-01' })).toEqual(['key-1', 'key-29']);
    expect(await subjects('FREE', { from: '2026-01-01', to: '2026-02-01' })).toEqual([]);
    expect(await subjects('PRO', { from: '2026-10-20', to: '2026-10-22' })).toEqual(['key-29', 'key-31']);
  });

  it('shows what a change replaced, without what stayed; earlier entries do not know it', async () => {
    const account = await accountWith([]);
    const details = { name: 'New', channels: 'email' };
    const before = { name: 'Old', channels: 'email' };
    const audit = openAuditLog(table);
    const entry = auditEntry(account.accountId, {}, { action: 'budget.changed', details, before }, now);
    await audit.record(entry);
    const { before: _, ...earlier } = auditEntry(account.accountId, {}, { action: 'budget.changed', details }, now);
    await audit.record(earlier as typeof entry);
    const { items } = (await list(account, { to: '2026-11-21' })).body;
    expect(items.map((item: { details: object; before: object | null }) => [item.details, item.before])).toEqual([
      [details, null],
      [details, { name: 'Old' }],
    ]);
  });

  it('is exported as CSV that no spreadsheet runs', async () => {
    const account = await accountWith([2, 1]);
    const event = apiEvent({ method: 'GET', path: '/api/audit/export.csv', caller: account });
    const { statusCode, headers, body } = await handler(event, {} as Context);
    expect([statusCode, headers?.['Content-Type']]).toEqual([200, 'text/csv; charset=utf-8']);
    const [head, first, second, end] = (await text(body as Readable)).split('\r\n');
    expect(head).toBe('id,at,action,actor_id,actor_name,client_address,subject,details,before');
    expect(first).toContain(
      `,2026-11-19T12:00:00.000Z,key.created,${account.userId},${account.email},192.0.2.7,key-1,`,
    );
    expect(second).toContain(',key-2,"{""name"":""=1+1""}",');
    expect(end).toBe('');
  });

  it('has an entry of each kind from an operation, which says so, or from the service itself', () => {
    const declared = allOperations.flatMap(({ audits = [] }) => (typeof audits === 'string' ? [] : audits));
    expect([...new Set<string>(declared)].sort()).toEqual([...auditActions].sort());
  });

  it('expires', async () => {
    const entry = auditEntry('a', {}, { action: 'plan.changed' }, now);
    const sent: unknown[] = [];
    const call = async (command: string, input: unknown) => (command === 'GetItem' ? {} : sent.push(input));
    await openAuditLog({ name: 't', call } as never).record(entry);
    const until = now.getTime() / 1_000 + 400 * 86_400;
    expect(sent).toMatchObject([
      { TransactItems: [{ Put: { Item: { expiresAt: until, actor: null } } }, { Put: { Item: { last: { until } } } }] },
    ]);
  });

  it('has sign-ins, which do not fail with it', async () => {
    const account = await accountWith([]);
    const logger = silentLogger();
    const signIn = async (audit: ReturnType<typeof openAuditLog>) =>
      recordSignIn({ audit, users: openUsers(table), now: () => now, logger })(
        'user.signed_in',
        async (_: { clientAddress?: string }) => ({ userId: account.userId, token: 'secret-token' }),
      )({ clientAddress: '192.0.2.9' });
    await signIn(openAuditLog(table));
    const { items } = (await list(account, { to: '2026-11-21' })).body;
    expect(items).toMatchObject([
      { action: 'user.signed_in', clientAddress: '192.0.2.9', actor: { name: account.email } },
    ]);
    expect(JSON.stringify(items)).not.toContain('secret-token');
    const output = await signIn({
      ...openAuditLog(table),
      record: async () => {
        throw new Error('table down');
      },
    });
    expect(output.userId).toBe(account.userId);
    expect(logger.error).toHaveBeenCalledTimes(1);
  });
});
