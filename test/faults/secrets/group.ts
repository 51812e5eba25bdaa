import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { ask } from '../../../fixtures/exchange.ts';
import { newAccountKey } from '../../../lambda/domain/accounts/issued-secret.ts';
import { newAccount } from '../../data/new-account.ts';
import { DELIVERY_MS, eventually } from '../eventually.ts';
import { assertNowhere, filesUnder, itemsOf, sizeOf } from '../harness/left-behind.ts';
import { FINGERPRINT_KEY, openProcessHarness, type ProcessHarness } from '../harness/process-harness.ts';
import { pathOf } from '../harness/provider.ts';
import { recordsOf } from '../harness/reconcile.ts';
import type { Scenario, ScenarioGroup } from '../scenario.ts';

/*
 * A run with every kind of credential in it, in health and in trouble; then all that it left behind is searched for them: what
 * the processes printed, the files of queue and table as bytes, the table's items with what is compressed in them undone, and
 * the bodies of all errors.
 */

const secret = (name: string): string => `${name}-${randomBytes(12).toString('hex')}`;

const newSecrets = () => ({
  bearer: secret('sk-bearer'),
  apiKey: secret('sk-ant-api'),
  googleKey: secret('AIza-google'),
  query: secret('AIza-query'),
  prompt: secret('private-prompt'),
  wrongKey: secret('svc_malformed'),
});

const nothingLeaves: Scenario<ProcessHarness> = {
  name: 'credentials in logs, events, table and error bodies',
  run: async (harness) => {
    const secrets = newSecrets();
    const { accountId, accountKey: serviceKey } = await newAccount(harness.table);
    const errors: string[] = [];
    let n = 0;
    const call = async (headers: Record<string, string>, { key = serviceKey, label = 'openai', query = '' } = {}) => {
      const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: secrets.prompt }] });
      const response = await ask({
        port: harness.gatewayPort(),
        method: 'POST',
        path: pathOf(n++) + query,
        headers: {
          Host: `${label}.gateway.test`,
          'X-Service-Key': key,
          'Content-Type': 'application/json',
          'Content-Length': String(Buffer.byteLength(body)),
          ...headers,
        },
        body,
      });
      if (response.status !== 200) errors.push(response.body.toString());
      return response.status;
    };
    const credentials = [
      { Authorization: `Bearer ${secrets.bearer}` },
      { 'x-api-key': secrets.apiKey },
      { 'x-goog-api-key': secrets.googleKey },
    ];
    const everyKind = async (): Promise<void> => {
      for (const headers of credentials) assert.equal(await call(headers, { query: `?key=${secrets.query}` }), 200);
    };

    const areOnRecord = (requests: number) => async (): Promise<boolean> =>
      (await recordsOf(harness.table, accountId)).length === requests;
    await everyKind();
    // A bypassed request may be lost with the process that is killed next.
    await eventually(areOnRecord(credentials.length), 'requests in health are on record', DELIVERY_MS);
    assert.equal(await call(credentials[0] ?? {}, { key: secrets.wrongKey }), 401);
    // Until the table responds in time, it passes.
    const strange = newAccountKey(randomBytes);
    await eventually(async () => (await call(credentials[1] ?? {}, { key: strange })) === 401, 'nobody has the key');
    assert.equal(await call(credentials[2] ?? {}, { label: 'nobody' }), 400);
    assert.equal(await call({}), 400);

    // The worst that can be: nothing takes the events, and the key is not known to the gateway.
    await harness.kill('gateway');
    await harness.start('gateway');
    await Promise.all([harness.kill('queue'), harness.kill('table')]);
    await everyKind();
    const lost = (): number => harness.output().split('usage event not delivered').length - 1;
    await eventually(() => lost() >= credentials.length, 'the gateway logs what it cannot deliver', DELIVERY_MS);
    await harness.start('table');
    await harness.start('queue');
    await eventually(areOnRecord(2 * credentials.length), 'all of it is on record in the end', DELIVERY_MS);
    await eventually(
      async () => (await harness.queues.pending()) === 0 && (await harness.waitingInOutbox()) === 0,
      'nothing waits any more',
      DELIVERY_MS,
    );

    const items = await itemsOf(harness.table);
    const places = [
      { name: 'what the processes printed', text: harness.output() },
      { name: 'error bodies', text: errors.join('\n') },
      { name: 'items of the table', text: items.join('\n') },
      ...(await filesUnder(harness.dataDir)),
    ];
    assertNowhere({ ...secrets, fingerprintKey: FINGERPRINT_KEY }, places);
    // The account key is in the account's own item, which the API shows its users. No other service key is stored at all.
    assert.ok(!harness.output().includes(serviceKey), 'a service key stands in a log');
    assert.ok(!errors.join('').includes(serviceKey), 'a service key stands in an error body');
    const holders = items.filter((item) => item.includes(serviceKey));
    assert.equal(holders.length, 1, 'the account key is in other items than its account');
    return `${Object.keys(secrets).length + 2} secrets, ${places.length} places, ${sizeOf(places)}: none found`;
  },
};

export const secretsGroup: ScenarioGroup<ProcessHarness> = {
  title: 'Secrets',
  open: () => openProcessHarness(),
  close: (harness) => harness.close(),
  scenarios: [nothingLeaves],
};
