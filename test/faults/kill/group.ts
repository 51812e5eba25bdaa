import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAccount } from '../../data/new-account.ts';
import { SEED } from '../../seed.ts';
import { DELIVERY_MS, eventually } from '../eventually.ts';
import { assertNowhere, filesUnder, itemsOf, sizeOf } from '../harness/left-behind.ts';
import {
  FINGERPRINT_KEY,
  openProcessHarness,
  type PartName,
  type ProcessHarness,
  partNames,
} from '../harness/process-harness.ts';
import { reconcile, recordsOf } from '../harness/reconcile.ts';
import { drive, requestNumbers, TRAFFIC_CREDENTIAL, untilGoverned } from '../harness/traffic.ts';
import { randomFrom } from '../random.ts';
import type { Scale, Scenario, ScenarioGroup } from '../scenario.ts';

/** The parts that a kill takes: one of them, or all. */
type Victim = PartName | 'whole stack';
const victimsOf = (victim: Victim): readonly PartName[] => (victim === 'whole stack' ? partNames : [victim]);

interface Traffic {
  readonly name: string;
  readonly clients: number;
  readonly pauseMs: number;
  /** Each so often. test/local/kill.test.ts kills the whole local stack. */
  readonly victims: Record<Scale, readonly Victim[]>;
}

const usual: Traffic = {
  name: 'kill -9 in traffic',
  clients: 6,
  pauseMs: 10,
  victims: {
    quick: ['gateway', 'recorder', 'table'],
    full: Array.from({ length: 10 }, (): Victim[] => [...partNames, 'whole stack']).flat(),
  },
};
/** Enough clients for their events to share messages. */
const busy: Traffic = {
  name: 'kill -9 while events share messages',
  clients: 64,
  pauseMs: 0,
  victims: { quick: ['queue', 'recorder'], full: [...partNames, ...partNames, 'whole stack'] },
};

/** Traffic flows all the while; one part after the other is killed at some moment and comes back a while later. */
const killsIn = ({ name, clients, pauseMs, victims }: Traffic): Scenario<ProcessHarness> => ({
  name,
  run: async (harness, scale) => {
    const random = randomFrom(SEED);
    const { accountId, accountKey } = await newAccount(harness.table);
    const numbers = requestNumbers();
    const before = await untilGoverned({ port: harness.gatewayPort(), serviceKey: accountKey }, numbers);
    let going = true;
    const callers = [false, true].map((stream) => () => ({
      port: harness.gatewayPort(),
      serviceKey: accountKey,
      stream,
    }));
    const traffic = Promise.all(
      callers.map((caller) =>
        drive(
          clients / 2,
          caller,
          numbers.while(() => going),
          pauseMs,
        ),
      ),
    );
    const sharedBefore = harness.sharedMessages();
    const points = random.shuffled(victims[scale]);
    await sleep(300);
    for (const victim of points) {
      await sleep(random.below(600));
      const parts = victimsOf(victim);
      await Promise.all(parts.map((part) => harness.kill(part)));
      await sleep(random.below(300));
      // What they stand on first.
      for (const part of partNames.toReversed().filter((each) => parts.includes(each))) await harness.start(part);
    }
    await sleep(500);
    going = false;
    const sent = [...before, ...(await traffic).flat()];
    // It sends what it has not sent yet: nothing more comes while sums are compared.
    await harness.gateway().stop();
    await harness.start('gateway');
    const governed = sent.filter(({ route }) => route === 'governed');
    const isOnRecord = async (): Promise<boolean> => {
      const ids = new Set((await recordsOf(harness.table, accountId)).map(({ requestId }) => requestId));
      return governed.every(({ requestId }) => ids.has(requestId ?? ''));
    };
    await eventually(isOnRecord, 'every governed request is on record', DELIVERY_MS);
    await eventually(
      async () => (await harness.queues.pending()) === 0 && (await harness.waitingInOutbox()) === 0,
      'queue and outbox are empty',
      DELIVERY_MS,
    );
    const { records, bypassedLost } = await reconcile(harness.table, accountId, sent);
    const sharedMessages = harness.sharedMessages() - sharedBefore;
    if (clients === busy.clients) assert.ok(sharedMessages > 0, 'events share messages');
    const unknown = records.filter(({ outcome }) => outcome === 'unknown').length;
    const withoutResponse = sent.filter(({ status }) => status === null).length;
    const bypassed = sent.filter(({ route }) => route === 'bypassed').length;
    return `${points.length} kills; ${sent.length} sent: ${governed.length} governed, all on record once; ${bypassed} bypassed, ${bypassedLost} of them lost; ${withoutResponse} without a response; ${unknown} records without an end; ${sharedMessages} messages with several events; counters exact; seed ${SEED}`;
  },
});

/** What killed processes printed at their last, half-written files, events that were worked off twice. */
const nothingLeaves: Scenario<ProcessHarness> = {
  name: 'no credential in what all of this left behind',
  run: async (harness) => {
    const places = [
      { name: 'what the processes printed', text: harness.output() },
      { name: 'items of the table', text: (await itemsOf(harness.table)).join('\n') },
      ...(await filesUnder(harness.dataDir)),
    ];
    assertNowhere({ credential: TRAFFIC_CREDENTIAL, fingerprintKey: FINGERPRINT_KEY }, places);
    return `${places.length} places, ${sizeOf(places)}: none found`;
  },
};

export const killGroup: ScenarioGroup<ProcessHarness> = {
  title: 'Killed parts',
  open: () => openProcessHarness(),
  close: (harness) => harness.close(),
  scenarios: [killsIn(usual), killsIn(busy), nothingLeaves],
};
