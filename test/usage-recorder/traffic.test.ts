import { Metrics } from '@aws-lambda-powertools/metrics';
import { describe, expect, it, jest } from '@jest/globals';
import type { CloseEvent, UsageEvent } from '../../lambda/domain/usage/usage-event.ts';
import type { AccountCloseEvent } from '../../lambda/usage-recorder/attribute-events.ts';
import { recordOfClose } from '../../lambda/usage-recorder/build-record.ts';
import { withObservers } from '../../lambda/usage-recorder/observers.ts';
import type { EventResult } from '../../lambda/usage-recorder/recorder.ts';
import { traffic } from '../../lambda/usage-recorder/traffic.ts';
import { closeEvent, openEvent, priceOfTokens } from './events.ts';

const recorded = (event: CloseEvent): EventResult => ({
  kind: 'recorded',
  record: recordOfClose(event as AccountCloseEvent, priceOfTokens(event), null, {
    revision: 1,
    overflowLevel: 0,
    recordedAt: event.startedAt,
    expiresAt: 0,
  }),
});

/** The documents that CloudWatch reads for a batch whose events have these results. */
const documentsOf = async (batch: readonly (readonly [UsageEvent, EventResult])[]) => {
  const written = jest.spyOn(process.stdout, 'write').mockReturnValue(true);
  const record = withObservers(
    async () => batch.map(([, result]) => result),
    [traffic(() => new Metrics({ namespace: 'AiSpendGateway', serviceName: 'gateway' }))],
    { error: (message) => expect(message).toBeUndefined() },
  );
  const results = await record(batch.map(([event]) => event));
  const lines = written.mock.calls.map(([line]) => String(line));
  written.mockRestore();
  expect(results).toEqual(batch.map(([, result]) => result));
  return lines.map((line) => JSON.parse(line));
};

const finished = (facts: Parameters<typeof closeEvent>[0]) => {
  const event = closeEvent(facts);
  return [event, recorded(event)] as const;
};

describe('traffic', () => {
  it('counts requests by provider, with bypassed and unpriced ones and latencies', async () => {
    const documents = await documentsOf([
      finished({ n: 1, overheadMs: 0.4, ttfbMs: 310 }),
      finished({ n: 2, overheadMs: 1.5, ttfbMs: 290, route: 'bypassed' }),
      finished({ n: 5, overheadMs: null, ttfbMs: null, route: 'bypassed', isConfirmedLate: true }),
      finished({ n: 3, overheadMs: null, ttfbMs: null, outcome: 'unreachable', reading: { usage: null } }),
      finished({ n: 4, provider: 'anthropic', overheadMs: 0.7, ttfbMs: 800 }),
    ]);
    expect(documents).toHaveLength(2);
    expect(documents[0]).toMatchObject({
      service: 'gateway',
      provider: 'openai',
      Requests: 4,
      BypassedRequests: 1,
      UnpricedRequests: 1,
      OverheadMs: [0.4, 1.5],
      TimeToFirstByteMs: [310, 290],
    });
    expect(documents[0]._aws.CloudWatchMetrics).toMatchObject([
      { Namespace: 'AiSpendGateway', Dimensions: [['service'], ['service', 'provider']] },
    ]);
    expect(documents[1]).toMatchObject({ provider: 'anthropic', Requests: 1, BypassedRequests: 0, OverheadMs: 0.7 });
  });

  it('counts a request once, and only in the batch that records its end', async () => {
    const [twice, result] = finished({ n: 1 });
    const open = openEvent({ n: 5 });
    expect(
      await documentsOf([
        [twice, result],
        [twice, result],
        [closeEvent({ n: 2 }), { kind: 'known' }],
        [closeEvent({ n: 3 }), { kind: 'failed', error: new Error(), permanent: false }],
        [closeEvent({ n: 4 }), { kind: 'unowned' }],
        [open, recorded(closeEvent({ n: 5 }))],
      ]),
    ).toEqual([expect.objectContaining({ Requests: 1 })]);
  });

  it('accepts events of an older gateway that does not report its overhead', async () => {
    const { overheadMs, ...event } = closeEvent({ n: 1 });
    expect(overheadMs).toBeUndefined();
    const [document] = await documentsOf([[event, recorded(event)]]);
    expect(document).not.toHaveProperty('OverheadMs');
    expect(document).toMatchObject({ Requests: 1, TimeToFirstByteMs: 10.5 });
  });

  it('keeps every value of a batch that is larger than one document may hold', async () => {
    const documents = await documentsOf(
      Array.from({ length: 230 }, (_, n) => finished({ n, overheadMs: n, ttfbMs: n })),
    );
    const values = documents.flatMap(({ OverheadMs = [] }) => OverheadMs);
    expect(values.sort((a, b) => a - b)).toEqual(Array.from({ length: 230 }, (_, n) => n));
    for (const { _aws } of documents)
      expect(_aws.CloudWatchMetrics[0].Dimensions).toEqual([['service'], ['service', 'provider']]);
    expect(documents.reduce((sum, { Requests = 0 }) => sum + Requests, 0)).toBe(230);
  });
});
