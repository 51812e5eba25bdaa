import { hash } from 'node:crypto';
import { emulatedTable } from '../../../fixtures/emulated-table.ts';
import { cancelled, interceptTable, refusal } from '../../../fixtures/intercept-table.ts';
import { openRollupMarks } from '../../../lambda/data/ledger/rollup-marks.ts';
import { openRequests } from '../../../lambda/data/requests/requests.ts';
import { openRollup } from '../../../lambda/data/spend/rollup.ts';
import { update } from '../../../lambda/data/table/actions.ts';
import { accountKey } from '../../../lambda/data/table/keys.ts';
import type { Table, TableCommand } from '../../../lambda/data/table/table.ts';
import { write } from '../../../lambda/data/table/write.ts';
import { secretHash } from '../../../lambda/domain/accounts/issued-secret.ts';
import type { PlanName } from '../../../lambda/domain/billing/plans.ts';
import type { RequestRecord } from '../../../lambda/domain/spend/request-record.ts';
import type { PricedUsage } from '../../../lambda/domain/usage/usage.ts';
import type { CloseEvent, UsageEvent } from '../../../lambda/domain/usage/usage-event.ts';
import type { AccountCloseEvent } from '../../../lambda/usage-recorder/attribute-events.ts';
import { consumeMessages } from '../../../lambda/usage-recorder/consume-messages.ts';
import { openRecorder } from '../../../lambda/usage-recorder/recorder.ts';
import { openRepricer } from '../../../lambda/usage-recorder/reprice.ts';
import { rollUpDuePeriods } from '../../../lambda/usage-recorder/rollup/roll-up-due-periods.ts';
import { newAccount } from '../../data/new-account.ts';
import { closeEvent, openEvent, priceOfTokens } from '../../usage-recorder/events.ts';
import type { Random } from '../random.ts';
import { type PriceKind, type Request, TOKEN_NANO_USD, TOKENS_A_SECOND } from './model.ts';

/** What may happen to one call of an actor to the table, in thousandths. A conflict or a standstill is of transactions alone. */
export interface Chances {
  readonly throttled: number;
  /** Another transaction has the item. */
  readonly conflicts: number;
  /** It is done, and the response is lost. */
  readonly lost: number;
  /** The actor dies, before or after the call. */
  readonly killed: number;
  /** It stands still, past the next midnight and its rollup. */
  readonly held: number;
}

/** How often each happened. */
interface Counts {
  calls: number;
  throttled: number;
  lost: number;
  killed: number;
  held: number;
  events: number;
}

/** A message of the queue, and the request that it is about. */
export interface Message {
  readonly event: UsageEvent;
  readonly request: Request;
}

export type Account = Awaited<ReturnType<typeof newAccount>>;

const never = (): Promise<never> => new Promise(() => {});

/** How the table refuses a command. */
export const failed = (
  command: TableCommand,
  code: 'ThrottlingError' | 'TransactionConflict',
  random: Pick<Random, 'pick'>,
) => {
  if (command.operation !== 'TransactWriteItems') return refusal('ProvisionedThroughputExceededException');
  const actions = command.input.TransactItems ?? [];
  const failing = random.pick(actions);
  return cancelled(actions.map((action) => (action === failing ? code : 'None')));
};

const quiet = { error: () => {}, warn: () => {} };
const metrics = { addMetric: () => {} };
const HOUR_MS = 3_600_000;

/**
 * A table with a clock of its own, and actors that use it as the service's functions do: each over a table that may fail it, with a clock
 * that may be wrong.
 */
export const openWorld = async (startMs: number) => {
  const table = await emulatedTable();
  const counts: Counts = { calls: 0, throttled: 0, lost: 0, killed: 0, held: 0, events: 0 };
  let nowMs = startMs;
  let factor = 1;
  /** Actors at work, each with its calls that stand still. */
  const running = new Set<{ standing: number }>();
  let release = Promise.withResolvers<void>();
  let stillness = Promise.withResolvers<void>();
  const noteStillness = () => {
    if ([...running].every(({ standing }) => standing > 0)) stillness.resolve();
  };

  /** What a token costs depends on the price book of the moment. */
  const price = ({ reading }: Pick<AccountCloseEvent, 'reading'>): PricedUsage => {
    const { tokens, kind } = reading.usage as { tokens?: number; kind: PriceKind };
    const priced = priceOfTokens({ reading: { ...reading, usage: { tokens } } });
    if (tokens === undefined) return priced;
    const costNanoUsd = { unknown: null, free: 0 }[kind as string] ?? tokens * TOKEN_NANO_USD * factor;
    return {
      ...priced,
      usage: priced.usage && { ...priced.usage, units: { audioSeconds: tokens / TOKENS_A_SECOND } },
      provenance: kind,
      costNanoUsd: kind === 'unknown' ? null : costNanoUsd,
    };
  };

  /** A table whose calls fail by chance, for one actor: it dies when a call kills it. */
  const tableOf = (random: Random, chances: Chances) => {
    const calls = { standing: 0 };
    const death = Promise.withResolvers<'killed'>();
    let isDead = false;
    const die = () => {
      isDead = true;
      counts.killed += 1;
      death.resolve('killed');
      return never();
    };
    const faulty = interceptTable(table, async (command, send) => {
      if (isDead) return never();
      counts.calls += 1;
      let roll = random.below(1_000);
      const happens = (chance: number) => {
        roll -= chance;
        return roll < 0;
      };
      if (happens(chances.throttled)) {
        counts.throttled += 1;
        // DynamoDB returns the keys of a batch that it did not read.
        if (command.operation === 'BatchGetItem' && random.below(2) === 0)
          return { Responses: {}, UnprocessedKeys: command.input.RequestItems };
        throw failed(command, 'ThrottlingError', random);
      }
      if (happens(chances.conflicts) && command.operation === 'TransactWriteItems')
        throw failed(command, 'TransactionConflict', random);
      if (happens(chances.lost)) {
        await send();
        counts.lost += 1;
        throw Object.assign(new Error('socket hang up'), { name: 'TimeoutError' });
      }
      if (happens(chances.killed)) {
        if (random.below(2) === 0) await send();
        return die();
      }
      if (happens(chances.held) && command.operation === 'TransactWriteItems') {
        counts.held += 1;
        calls.standing += 1;
        noteStillness();
        await release.promise;
        calls.standing -= 1;
      }
      return send();
    });
    return { table: faulty, death: death.promise, calls };
  };

  /** Runs an actor until it is done or dead. */
  const act = async <T>(
    { random, chances, skewMs = 0 }: { random: Random; chances: Chances; skewMs?: number },
    work: (actor: { readonly table: Table; readonly now: () => number }) => Promise<T>,
  ): Promise<T | 'killed'> => {
    const actor = tableOf(random, chances);
    running.add(actor.calls);
    try {
      return await Promise.race([work({ table: actor.table, now: () => nowMs + skewMs }), actor.death]);
    } finally {
      running.delete(actor.calls);
      noteStillness();
    }
  };

  return {
    table,
    counts,
    price,
    now: () => nowMs,
    advance: (ms: number): void => {
      nowMs += ms;
    },
    factor: () => factor,
    setFactor: (next: number): void => {
      factor = next;
    },
    act,

    /** Resolves when every actor is done, or stands still. */
    quiescence: async (): Promise<void> => {
      stillness = Promise.withResolvers();
      noteStillness();
      await stillness.promise;
    },
    isBusy: () => running.size > 0,
    /** Those that stand still go on. */
    releaseHeld: (): void => {
      release.resolve();
      release = Promise.withResolvers();
    },

    /** A recorder that handles batches of messages. Returns those that the queue must deliver again. */
    recorder: (of: Table, now: () => number) => {
      const consume = consumeMessages({
        record: openRecorder(of, { logger: quiet, price, now }),
        giveUp: (text) => Promise.reject(new Error(`Nothing here is given up: ${text}`)),
        logger: quiet,
        metrics,
      });
      return async (batch: readonly Message[]): Promise<Message[]> => {
        counts.events += batch.length;
        const { batchItemFailures } = await consume({
          Records: batch.map(({ event }, index) => ({ messageId: String(index), body: JSON.stringify(event) })),
        } as unknown as Parameters<typeof consume>[0]);
        return batchItemFailures.map(({ itemIdentifier }) => batch[Number(itemIdentifier)] as Message);
      };
    },

    /** One run of the rollup. Returns how many periods failed. */
    rollUp: async (of: Table, now: () => number): Promise<number> => {
      let failures = 0;
      const countFailures = {
        addMetric: (name: string) => {
          failures += Number(name === 'RollupFailures');
        },
      };
      const parts = { marks: openRollupMarks(of, now), rollup: openRollup(of, now), logger: quiet };
      await rollUpDuePeriods({ ...parts, metrics: countFailures })(() => HOUR_MS);
      return failures;
    },

    /** Prices all records again. Returns how many could not be. */
    reprice: async (of: Table, accountId: string, range: { from: string; to: string }): Promise<number> => {
      const records: RequestRecord[] = [];
      for await (const record of openRequests(of).all(accountId, range)) records.push(record);
      return (await openRepricer(of, price)(records, { dryRun: false })).failed;
    },

    newAccount: (plan: PlanName): Promise<Account> => newAccount(table, plan),
    setPlan: (accountId: string, plan: PlanName): Promise<void> =>
      write(table, update(accountKey(accountId), 'SET #plan = :plan', null, { plan })),

    /**
     * Deletes expired items as the table does: each some time after it expires, so by chance. Records of a day go together.
     *
     * @returns ids of the requests whose records are gone
     */
    expire: async (salt: string): Promise<string[]> => {
      const gone: string[] = [];
      for (let start: Record<string, unknown> | undefined; ; ) {
        const page = await table.call('Scan', {
          TableName: table.name,
          FilterExpression: 'expiresAt <= :now',
          ExpressionAttributeValues: { ':now': nowMs / 1_000 },
          ExclusiveStartKey: start,
        });
        for (const { pk, sk } of page.Items ?? []) {
          const isRecord = String(pk).includes('#REQ#');
          // Those of a sharded month are in several partitions a day. Which request counts a response that is fetched again is chance.
          const together = isRecord ? String(pk).replace(/#\d\d$/, '') : `${pk}${sk}`;
          if (Number.parseInt(hash('sha256', `${salt}${together}`).slice(0, 2), 16) < 128) continue;
          await table.call('DeleteItem', { TableName: table.name, Key: { pk, sk } });
          if (isRecord) gone.push(sk);
        }
        start = page.LastEvaluatedKey;
        if (!start) return gone;
      }
    },

    stop: () => table.stop(),
  };
};

export type World = Awaited<ReturnType<typeof openWorld>>;

/** The events of a request. Some come from a gateway that could not look its key up. */
export const eventsOf = (
  { accountId, requestId, startedAt, names, end }: Request,
  unverifiedKey: string | null,
): { readonly open: UsageEvent; readonly close: CloseEvent } => {
  const facts = {
    requestId,
    startedAt,
    ...({ provider: names.provider, tag: names.tag, providerKey: names.providerKey, keyId: names.keyId } as {
      provider: 'openai';
      tag: string | null;
      providerKey: string | null;
      keyId: string | null;
    }),
    ...(names.client !== null && { client: names.client }),
    metadata: Object.fromEntries(
      (['team', 'env'] as const).flatMap((name) => {
        const value = names[`dim:${name}`];
        return value === null ? [] : [[name, value]];
      }),
    ),
    ...(end.responseId && { method: 'GET', path: `/v1/responses/${end.responseId}` }),
    ...(unverifiedKey === null
      ? { accountId }
      : { accountId: null, keyId: null, unverifiedKeyHash: secretHash(unverifiedKey) }),
  };
  return {
    open: openEvent(facts),
    close: closeEvent({
      ...facts,
      route: end.isBypassed ? 'bypassed' : 'governed',
      outcome: end.isRefused ? 'refused' : 'completed',
      totalMs: end.durationMs,
      status: end.isError ? 429 : 200,
      reading: {
        dialect: end.responseId ? 'openai-responses' : 'openai-chat',
        usage: { ...(end.tokens !== null && { tokens: end.tokens }), kind: end.priceKind },
        complete: !end.isPartial,
        modelRequested: end.model,
        modelServed: end.model,
        billableItems: end.responseId ? { 'response.id': end.responseId } : {},
      },
    }),
  };
};
