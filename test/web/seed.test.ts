import { describe, expect, it } from '@jest/globals';
import { priceRequest } from '../../fixtures/bundled-prices.ts';
import { closeEventSchema } from '../../lambda/domain/usage/usage-event.ts';
import { seedTraffic } from '../../local/seed/traffic.ts';

const account = { accountId: 'svc_one', keyId: 'key-1', batchKeyId: 'key-2' };
const now = new Date('2026-11-20T14:30:00Z');
const events = seedTraffic(account, now);

describe('seed data', () => {
  it('is the same for the same time', () => {
    expect(seedTraffic(account, now)).toEqual(events);
  });

  it('has valid close events, all in the past', () => {
    for (const event of events) closeEventSchema.parse(event);
    expect(events.every(({ startedAt, totalMs }) => Date.parse(startedAt) + totalMs <= now.getTime())).toBe(true);
    expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(events.length);
  });

  it('has every provenance, in this month and the last', () => {
    const provenances = new Set(events.map((event) => priceRequest(event).provenance));
    expect([...provenances].sort()).toEqual(['computed', 'estimated', 'free', 'provider', 'unknown']);
    expect(new Set(events.map(({ startedAt }) => startedAt.slice(0, 7)))).toContain('2026-10');
  });

  it('has sessions with agents, and clients', () => {
    const sessions = events.flatMap(({ session }) => session ?? []);
    expect(new Set(sessions.map(({ id }) => id)).size).toBeGreaterThan(20);
    expect(new Set(sessions.map(({ agentId }) => agentId))).toEqual(new Set([undefined, 'agent-1', 'agent-2']));
    expect(new Set(events.map(({ client }) => client)).size).toBeGreaterThan(3);
  });

  it('prices every model except the custom one', () => {
    const unpriced = events.filter(
      (event) => event.status === 200 && event.outcome === 'completed' && priceRequest(event).provenance === 'unknown',
    );
    expect([...new Set(unpriced.map(({ reading }) => reading.modelServed))]).toEqual([
      'accounts/acme/models/support-v2',
    ]);
  });
});
