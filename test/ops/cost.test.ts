import { describe, expect, it } from '@jest/globals';
import {
  breakEvenPerSecond,
  containerCostPerMillion,
  idleContainersPerMonth,
  lambdaCostPerMillion,
  monthlyCost,
  movedRecordUsd,
  requestsInFlight,
  storagePerMonth,
  type Traffic,
  tasksFor,
  totalOf,
} from '../../ops/cost/estimate.ts';
import { firstLimit, scaleRow } from '../../ops/cost/limits.ts';
import { runOps } from './run-command.ts';

const stream: Traffic = {
  name: 'stream',
  requestBytes: 0,
  responseBytes: 1_000,
  durationMs: 9_980,
  processorMs: 100,
};
const usual = { memoryMb: 512, retentionDays: 90 };
const withBytes = (responseBytes: number) => lambdaCostPerMillion({ ...stream, responseBytes }, 512);

describe('the cost of a million tracked requests on Lambda', () => {
  it('is what the price list makes of each component', () => {
    const cost = lambdaCostPerMillion(stream, 512);
    // Ten seconds at half a gigabyte, a million times: 5,000,000 GB-seconds, and a million requests.
    expect(cost['gateway function']).toBeCloseTo(5e6 * 0.0000133334 + 0.2, 6);
    expect(cost['API Gateway']).toBeCloseTo(3.5, 9);
    expect(cost['queue']).toBeCloseTo(2.4 * 0.4, 9);
    expect(cost['table']).toBeCloseTo(4 * 0.625 + 0.125, 9);
    expect(totalOf(cost)).toBeCloseTo(
      Object.values(cost).reduce((sum, usd) => sum + usd),
      9,
    );
  });

  it('counts a streamed response as a request for each 10 MB begun, and its bytes beyond the sixth megabyte', () => {
    const MB = 2 ** 20;
    expect(withBytes(0)['API Gateway']).toBeCloseTo(3.5, 9);
    expect(withBytes(10 * MB)['API Gateway']).toBeCloseTo(3.5, 9);
    expect(withBytes(10 * MB + 1)['API Gateway']).toBeCloseTo(7, 9);
    const more = (withBytes(7 * MB)['gateway function'] ?? 0) - (withBytes(6 * MB)['gateway function'] ?? 0);
    expect(more).toBeCloseTo(1e6 * (1 / 1_024) * 0.008, 6);
  });

  it('grows with memory and time, and with nothing else of the function', () => {
    const at = (memoryMb: number, durationMs: number) =>
      (lambdaCostPerMillion({ ...stream, durationMs }, memoryMb)['gateway function'] ?? 0) - 0.2;
    expect(at(1_024, 9_980)).toBeCloseTo(2 * at(512, 9_980), 6);
    expect(at(512, 19_980)).toBeCloseTo(2 * at(512, 9_980), 6);
  });
});

describe('containers', () => {
  it('hold as many requests as arrive in the time that one takes', () => {
    expect(requestsInFlight(100, 9_980)).toBeCloseTo(1_000, 9);
  });

  it('cost by the hour, whatever the length of a stream', () => {
    const short = containerCostPerMillion({ ...stream, durationMs: 1_000 }, 10);
    const long = containerCostPerMillion({ ...stream, durationMs: 10_000 }, 10);
    expect(short['containers']).toBeCloseTo((1e6 * 3 * (0.03238 + 2 * 0.00356 + 0.005)) / 36_000, 6);
    expect(long['containers']).toBe(short['containers']);
    expect(totalOf(long)).toBeLessThan(totalOf(lambdaCostPerMillion({ ...stream, durationMs: 10_000 }, 512)));
  });
});

describe('a fleet', () => {
  it('is of the fewest tasks, or as many as open requests or processor time need', () => {
    const tasks = (durationMs: number, processorMs: number, rate: number) =>
      tasksFor({ ...stream, durationMs, processorMs }, rate);
    expect(tasks(1_000, 1, 10)).toBe(3);
    // 4,000 requests in flight, 400 for each.
    expect(tasks(39_980, 1, 100)).toBe(10);
    // Six processors, 60 % of each.
    expect(tasks(1_000, 60, 100)).toBe(10);
  });

  it('costs less than Lambda from a rate on that is lower for longer requests', () => {
    const at = (durationMs: number) => breakEvenPerSecond({ ...stream, durationMs }, usual) ?? 0;
    expect(at(60_000)).toBeLessThan(at(2_000));
    for (const durationMs of [2_000, 60_000]) {
      const costs = (rate: number) =>
        (['containers', 'Lambda'] as const).map((engine) =>
          monthlyCost(engine, { ...stream, durationMs }, rate, usual),
        );
      const [above, below] = [costs(1.1 * at(durationMs)), costs(0.9 * at(durationMs))] as [number[], number[]];
      expect([above[0]! < above[1]!, below[0]! > below[1]!]).toEqual([true, true]);
    }
  });

  it('costs by the month without traffic: three tasks, a load balancer, six addresses', () => {
    expect(idleContainersPerMonth()).toBeCloseTo(730 * (3 * (0.03238 + 2 * 0.00356) + 0.0225 + 6 * 0.005), 3);
  });
});

describe('records', () => {
  it('cost their storage and its recovery for as long as they are kept', () => {
    const { gb, objectGb, usd } = storagePerMonth(10, 90);
    // 30 days, the day itself, and one until they are deleted.
    expect(gb).toBeCloseTo((10 * 86_400 * 32 * 1_100) / 2 ** 30, 6);
    const moved = 10 * 3_600 * 730 * movedRecordUsd;
    expect(usd).toBeCloseTo(gb * 0.45 + objectGb * 0.023 + moved, 6);
    // Records of the shortest plan never leave the table.
    const shortest = storagePerMonth(10, 30);
    expect(shortest.gb).toBeCloseTo((10 * 86_400 * 30 * 1_100) / 2 ** 30, 6);
    expect(shortest.usd).toBeCloseTo(shortest.gb * 0.45 + shortest.objectGb * 0.023, 6);
    const [short, long] = [30, 400].map((retentionDays) =>
      monthlyCost('Lambda', stream, 10, { memoryMb: 512, retentionDays }),
    ) as [number, number];
    expect(long - short).toBeCloseTo(storagePerMonth(10, 400).usd - storagePerMonth(10, 30).usd, 6);
    // Moving costs less than a month of the table.
    expect(1e6 * movedRecordUsd).toBeLessThan(1);
  });
});

describe('the first limit', () => {
  const seconds = (durationMs: number) => ({ ...stream, durationMs: durationMs - 20, processorMs: 4 });

  it('of Lambda is the concurrency for long requests, and API Gateway or the table for short ones', () => {
    expect(firstLimit('Lambda', seconds(60_000))).toMatchObject({ what: expect.stringContaining('concurrency') });
    expect(firstLimit('Lambda', seconds(60_000)).perSecond).toBeCloseTo(1_000 / 60, 6);
    expect(firstLimit('Lambda', seconds(100))).toEqual({
      what: 'write units of a new table, 4,000 a second',
      perSecond: 1_000,
    });
  });

  it('of containers is how many tasks the settings allow', () => {
    // Thirty tasks of 400.
    expect(firstLimit('containers', seconds(60_000)).perSecond).toBeCloseTo(200, 0);
  });

  it('is named in a row only where the rate exceeds it', () => {
    const limitAt = (rate: number) => scaleRow('Lambda', seconds(60_000), rate, usual).limit;
    expect([limitAt(16), limitAt(17)]).toEqual([undefined, 'concurrency of the account, 1,000 (from 17/s)']);
  });
});

describe('npm run cost', () => {
  it('prints tables and break-even points', async () => {
    const { code, stdout } = await runOps('cost', ['--memory', '1024', '--retention', '30']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/long stream: containers cost less than Lambda from [\d.]+ requests a second/);
    expect(stdout).toMatch(/containers.*long stream.*10000.*containers\.maxTasks/);
  });
});
