import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { ruleOf } from '../../../fixtures/rule-of.ts';
import { openRules } from '../../../lambda/data/alerts/rules.ts';
import { limitValueKey, reservedBudgetKey } from '../../../lambda/data/table/keys.ts';
import { periodAt } from '../../../lambda/domain/calendar/periods.ts';
import type { ReservedBudget } from '../../../lambda/domain/limits/block.ts';
import { periodId } from '../../../lambda/domain/limits/reservation.ts';
import type { CloseEvent } from '../../../lambda/domain/usage/usage-event.ts';
import { awsCaller, awsService, environmentCredentials } from '../../../lambda/gateway/aws/aws-json.ts';
import { nodeTransport } from '../../../lambda/gateway/aws/transport-node.ts';
import { openReserve } from '../../../lambda/gateway/relay/reserve.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { newAccount } from '../../data/new-account.ts';
import { closeEvent, priceOfTokens } from '../../usage-recorder/events.ts';
import { randomFrom } from '../random.ts';
import { conflictingTable } from './conflicting-table.ts';
import { SIMULATED } from './play-requests.ts';

const GATEWAYS = 4;
const RECORDERS = 2;
/** As SQS delivers it at most to one recorder, by usage-capacity.ts. */
const BATCH = 100;
const RATES_PER_SECOND = [50, 100, 200];
const LONGEST_RESPONSE_MS = 500;
const MAX_TOKENS = 1_000;
const BODY = Buffer.from(JSON.stringify({ max_tokens: MAX_TOKENS }));
const WORST_NANO_USD = BODY.length * 2_500 + MAX_TOKENS * 10_000;
const PRICE_NANO_USD = 7;
/** Of a limit for each of them, which half of them use up. */
const USERS = 20;

const budgetOf = (id: string, limitNanoUsd: number): ReservedBudget => ({
  id,
  name: id,
  scope: {},
  period: 'monthly',
  amountNanoUsd: limitNanoUsd,
  limitNanoUsd,
  unknownCost: 'pass',
  onUnavailable: 'pass',
});

/**
 * Requests of an account's budget, most of them also of a smaller one, and all of one limit for each user, over a table whose writes
 * conflict: four gateways reserve while two recorders replace reservations by costs.
 *
 * @param requests at each rate
 * @param timeoutMs what a request has for its reservations
 * @throws AssertionError where one passes without its reservations, a budget is overspent, or its item differs from what was spent
 */
export const playOverlapping = async (seed: number, requests: number, timeoutMs: number): Promise<string> => {
  const random = randomFrom(seed);
  const table = await conflictingTable(random);
  try {
    const { accountId } = await newAccount(table);
    const variables = { AWS_ENDPOINT_URL_DYNAMODB: table.endpoint, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    const reserves = Array.from({ length: GATEWAYS }, () => {
      const call = awsCaller(awsService('dynamodb', variables), environmentCredentials(variables), nodeTransport);
      return openReserve(call, table.name, timeoutMs);
    });
    const all = requests * RATES_PER_SECOND.length;
    const wide = budgetOf('wide', all * WORST_NANO_USD);
    // It is used up on the way.
    const narrow = budgetOf('narrow', (all / 4) * WORST_NANO_USD);
    const rule = ruleOf(accountId, {
      type: 'budget',
      config: { each: 'dim:user', amount: 1, period: 'monthly', block: { enforcement: 'reserved' } },
    });
    await openRules(table).create(rule);
    const ofUsers = Array.from({ length: USERS }, (_, n) => ({
      ...budgetOf(rule.ruleId, (all / USERS) * WORST_NANO_USD * (n % 2 === 0 ? 1 : 0.2)),
      of: { each: 'dim:user', value: `user-${n}`, askUrl: '' },
    }));
    const spent = new Map<ReservedBudget, number>([wide, narrow, ...ofUsers].map((budget) => [budget, 0]));
    const counts = { passed: 0, refused: 0, unreserved: 0, again: 0 };
    const toRecord: CloseEvent[] = [];
    /** Of all requests: the month may end meanwhile. */
    const startedAt = new Date().toISOString();

    const send = async (n: number): Promise<void> => {
      const ofUser = random.pick(ofUsers);
      const budgets = random.shuffled(random.below(4) === 0 ? [wide, ofUser] : [wide, narrow, ofUser]);
      const metadata = { user: ofUser.of.value };
      const tokens = random.below(WORST_NANO_USD / PRICE_NANO_USD);
      const result = await (reserves[n % GATEWAYS] as (typeof reserves)[number])(accountId, budgets, {
        ...SIMULATED,
        body: BODY,
        startedAt,
      });
      if (result.kind === 'refused') counts.refused += 1;
      else if (result.kind === 'unavailable') counts.unreserved += 1;
      else {
        counts.passed += 1;
        for (const each of budgets) spent.set(each, (spent.get(each) as number) + tokens * PRICE_NANO_USD);
        await sleep(random.below(LONGEST_RESPONSE_MS));
        toRecord.push(
          closeEvent({ accountId, n, startedAt, tokens, metadata, reservations: [...result.reservations] }),
        );
      }
    };

    let hasEnded = false;
    const record = async (): Promise<void> => {
      const recorder = openRecorder(table, { logger: { error: () => {} }, price: priceOfTokens });
      while (!hasEnded || toRecord.length > 0) {
        const batch = toRecord.splice(0, BATCH);
        const results = batch.length > 0 ? await recorder(batch) : [];
        const failed = batch.filter((_, index) => results[index]?.kind === 'failed');
        counts.again += failed.length;
        toRecord.push(...failed);
        await sleep(50);
      }
    };
    const recording = Promise.all(Array.from({ length: RECORDERS }, record));

    const sent: Promise<void>[] = [];
    for (const rate of RATES_PER_SECOND)
      for (let n = 0; n < requests; n++) {
        sent.push(send(sent.length));
        await sleep(1_000 / rate);
      }
    await Promise.all(sent);
    hasEnded = true;
    await recording;

    const period = periodId(periodAt('monthly', new Date(startedAt)));
    for (const [{ id, limitNanoUsd, of }, nanoUsd] of spent) {
      const key = of ? limitValueKey(accountId, id, period, of.value) : reservedBudgetKey(accountId, id, period);
      const { Item = {} } = await table.call('GetItem', { TableName: table.name, Key: { ...key } });
      const reserved = Object.entries(Item).filter(([name, amount]) => /^m\d+$/.test(name) && amount !== 0);
      assert.deepEqual(reserved, [], `${id}: something stays reserved`);
      const { finished, committed } = Item;
      assert.deepEqual({ finished, committed }, { finished: nanoUsd, committed: nanoUsd }, `${id} ${of?.value}`);
      assert.ok(nanoUsd <= limitNanoUsd, `${id} ${of?.value} is overspent`);
    }
    assert.equal(counts.unreserved, 0, `${counts.unreserved} of ${all} passed without a reservation`);
    const { transactions, writes } = table.conflicts;
    return `${all} requests at ${RATES_PER_SECOND.join(', ')} a second: ${counts.passed} passed, ${counts.refused} refused, none without its reservations, ${USERS} users of one limit for each among them; ${writes} writes and ${transactions} transactions conflicted, ${counts.again} events were delivered again; seed ${seed}`;
  } finally {
    await table.stop();
  }
};
