import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { parseRequestItem, requestItem, sessionMark } from '../../../lambda/data/requests/request-item.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';
import { recordOfOpen } from '../../../lambda/usage-recorder/build-record.ts';
import { openEvent, recordOf } from '../../usage-recorder/events.ts';

const context = { revision: 1, overflowLevel: 0, recordedAt: '2026-11-20T10:00:00.000Z', expiresAt: 1_800_000_000 };
const lostRecord = (facts: Parameters<typeof openEvent>[0] = {}) =>
  recordOfOpen({ ...openEvent(facts), accountId: 'svc_a' }, context);

describe('the item of a request record', () => {
  it.each([
    ['as usual', {}],
    ['without a body', { requestBytes: 0, responseBytes: 0 }],
    ['of no time', { ttfbMs: 0, totalMs: 0 }],
    [
      'with metadata, client and session',
      {
        metadata: { team: 'search', 'cost centre': '0' },
        metadataTruncated: true,
        client: 'claude-code',
        session: { id: 'session-1', agentId: 'agent-2', parentAgentId: 'agent-1' },
      },
    ],
    ['that reached no provider', { status: null, ttfbMs: null, responseBytes: 0, outcome: 'unreachable' } as const],
  ])('restores a request %s: zero is not unknown', (_, facts) => {
    const record = recordOf(facts);
    expect(parseRequestItem(requestItem(record))).toEqual(record);
  });

  it('keeps metadata, client and session of both events', () => {
    const facts = { metadata: { team: '(other)' }, client: 'codex', session: { id: 'session-1' } };
    const expected = { ...facts, metadata: { team: '\\(other)' }, metadataTruncated: false };
    expect(lostRecord(facts)).toMatchObject(expected);
    expect(recordOf(facts)).toMatchObject(expected);
  });

  it('restores a request without a close event, and without measurements', () => {
    const record = lostRecord();
    expect(parseRequestItem(requestItem(record))).toEqual(record);
    expect(record.requestBytes).toBeNull();
  });

  it('restores a request whose reading is too large for the small deflate tables', () => {
    const text = Array.from({ length: 3_000 }, (_, n) => `${n}`).join();
    const record = recordOf({ reading: { usage: { tokens: 1, text } } });
    expect(record.readingTruncated).toBe(false);
    expect(parseRequestItem(requestItem(record))).toEqual(record);
  });

  it('keeps names and members of a later version as they are', () => {
    const usual = recordOf();
    const record = {
      ...usual,
      outcome: 'paused',
      provider: 'newcomer',
      provenance: 'guessed',
      route: 'detoured',
      usage: { ...usual.usage, units: { parsecs: 3 }, dreamTokens: 4 },
      reading: { ...usual.reading, dialect: 'newcomer-chat', usageSource: 'rumoured', mood: 'good' },
      listCostNanoUsd: 5,
    };
    const read = parseRequestItem(requestItem(record as unknown as RequestRecord));
    expect(read).toEqual(record);
    expect(parseRequestItem(requestItem(read))).toEqual(record);
  });

  it('has attributes only for the key, conditions and expiry', () => {
    const item = requestItem(recordOf());
    expect(Object.keys(item).sort()).toEqual(['details', 'expiresAt', 'pk', 'revision', 'sk']);
    expect(item).toMatchObject({ revision: 1, expiresAt: 1_800_000_000 });
    const marked = requestItem(recordOf({ session: { id: 'session-1' } }));
    expect(marked.s).toBe(sessionMark('session-1'));
    expect(sessionMark('session-1')).not.toBe(sessionMark('session-2'));
    expect(sessionMark('session-1')).toHaveLength(4);
  });

  it('is read in its earlier form too: one attribute for each member', () => {
    const record = recordOf({ requestBytes: 0 });
    const { pk, sk } = requestItem(record);
    const { accountId, requestId, reading, usage, lines, requestBytes, ...facts } = record;
    const attributes = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null));
    const details = deflateRawSync(JSON.stringify({ reading, usage, lines }));
    expect(parseRequestItem({ pk, sk, ...attributes, details })).toEqual(record);
    const lost = lostRecord();
    const { revision, startedAt, method, path, provider, outcome, provenance, reason, recordedAt, expiresAt } = lost;
    const ofLost = { revision, startedAt, method, path, provider, outcome, provenance, reason, recordedAt, expiresAt };
    const { keyId, providerKey, tag } = lost;
    const key = { pk: requestItem(lost).pk, sk: requestItem(lost).sk };
    expect(parseRequestItem({ ...key, ...ofLost, keyId, providerKey, tag })).toEqual(lost);
  });
});
