import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { listen, urlOf } from '../../fixtures/listen.ts';
import { authorize, type SignOnProvider, startSignOnProvider } from '../../fixtures/sign-on-provider.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { requestExport } from '../../lambda/data/exports/day-exports.ts';
import { openModelUse } from '../../lambda/data/prices/model-use.ts';
import { openPriceVersions } from '../../lambda/data/prices/price-versions.ts';
import { openDayFiles } from '../../lambda/data/requests/day-files.ts';
import { update } from '../../lambda/data/table/actions.ts';
import { dayFileIndexKey, dayFileKey, ROLLUP_MARK_SHARDS } from '../../lambda/data/table/keys.ts';
import { shardOf } from '../../lambda/data/table/table.ts';
import { write } from '../../lambda/data/table/write.ts';
import { HOUR_MS } from '../../lambda/domain/calendar/units.ts';
import { addDays, dayOf } from '../../lambda/domain/calendar/utc.ts';
import { bundledLists } from '../../lambda/domain/price/bundled-lists.ts';
import { providerLabels } from '../../lambda/domain/providers.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { buyPlan } from '../../local/seed/seed.ts';
import {
  callApi,
  eventually,
  PASSWORD,
  registerAccount,
  type Session,
  STACK_TIMEOUT_MS,
  sendChat,
  sessionOf,
  startTestStack,
  type TestStack,
  verifyEmail,
} from '../dashboard/over-http/stack.ts';
import { closeEvent } from '../usage-recorder/events.ts';
import { callEveryOperation } from './every-operation.ts';

/*
 * What the tests over HTTP do not reach. Each step here is for permissions: its results are other tests' matter. When the stack stops,
 * all calls are judged.
 */

// Each step waits for schedules and queues, on a busy machine for minutes.
jest.setTimeout(1_200_000);

let running: TestStack;
let signOn: SignOnProvider;
let session: Session;
let accountId: string;
const bills = createServer((_, response) => response.end('{"data": []}'));

const ask = (method: string, path: string, body?: unknown, token = session.token) =>
  callApi(running.stack.url)(method, path, { token, body });
const get = async (path: string) => (await ask('GET', path)).body;
const isThere = ({ items }: { readonly items: readonly { readonly id: string }[] }) => items.length > 0;

/** Waits until a function has made a call. @param caller `usage-Recorder` */
const untilCalled = (caller: string, operation: string) =>
  eventually(
    async () => running.calls.some((call) => call.caller.startsWith(caller) && call.operation === operation),
    (found) => found,
  );

/** Old enough that their records leave the table; prices of 35 days are changed by the feed. */
const daysAgo = (count: number) => addDays(dayOf(new Date().toISOString()), -count);
const days = { ownPrices: daysAgo(32), repriced: daysAgo(33), archived: daysAgo(36), over: daysAgo(37) };

beforeAll(async () => {
  await listen(bills);
  signOn = await startSignOnProvider('Acme');
  running = await startTestStack({
    environmentOf: ({ environment, withFeed }) => ({
      ...withFeed,
      UPSTREAM_ORIGINS: JSON.stringify({
        ...JSON.parse(environment.UPSTREAM_ORIGINS),
        openrouter: urlOf(bills),
      }),
      SIGN_ON_ORIGIN: signOn.origin,
      SIGN_ON_PROVIDERS: JSON.stringify({ Acme: { domains: ['example.com'], verifiesAddresses: false } }),
      WEBHOOK_TARGETS: JSON.stringify({ ports: [443], internalHosts: ['localhost'] }),
      DELETION_GRACE_SECONDS: '1',
      DELETION_PAUSE_SECONDS: '1',
    }),
  });
  session = await registerAccount(running.stack.url);
  accountId = (await openUsers(running.stack.table).find(session.userId))?.accountId ?? '';
  await verifyEmail(running, session);
  await buyPlan(running.stack.url, session.token);
}, STACK_TIMEOUT_MS);
afterAll(async () => {
  bills.close();
  await signOn.stop();
  await running?.stop();
});

describe('the rest of what functions may do', () => {
  it('every operation of the API', async () => {
    await sendChat(running.stack.url, session.accountId);
    await eventually(() => get('/requests'), isThere);
    await callEveryOperation(running, session, sessionOf(session.accountId));
  });

  it('the gateway on each host, with budgets that reserve, and while the queue is down', async () => {
    for (const label of providerLabels)
      await fetch(`${running.stack.url}/gateway/${label}/v1/chat/completions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-service-key': session.accountId, authorization: 'Bearer k' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi. [in 10, out 1]' }] }),
      }).then((response) => response.text());
    const budget = { name: 'b', amount: 1_000, period: 'monthly', block: { enforcement: 'reserved' } };
    expect((await ask('POST', '/budgets', budget)).status).toBe(201);
    expect((await ask('POST', '/budgets', { ...budget, each: 'member' })).status).toBe(201);
    const { key } = (await ask('POST', '/keys', { name: 'new' })).body;
    // The gateway knows a new limit after a minute at most, and then reads what its values have used.
    await eventually(
      () => sendChat(running.stack.url, key),
      () => running.calls.some((call) => call.caller.startsWith('gateway-') && call.operation === 'BatchGetItem'),
    );
    running.failWhere(({ operation, caller }) => operation.startsWith('SendMessage') && caller.startsWith('gateway-'));
    await sendChat(running.stack.url, key);
    await untilCalled('gateway-', 'PutItem');
    running.failWhere(() => false);
    await untilCalled('usage-Sweep', 'BatchWriteItem');
  });

  it('dead letters of the recorder', async () => {
    const text = readFileSync(running.stack.commandsFile, 'utf8');
    const variables = Object.fromEntries(
      [...text.matchAll(/^export (\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
    );
    const {
      USAGE_QUEUE_URL: QueueUrl,
      AWS_ENDPOINT_URL_SQS: endpoint,
      AWS_SECRET_ACCESS_KEY: secretAccessKey = '',
    } = variables;
    const sqs = new SQSClient({
      region: 'eu-central-1',
      credentials: { accessKeyId: 'local', secretAccessKey },
      ...(endpoint !== undefined && { endpoint }),
    });
    await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: 'no event' }));
    await eventually(
      async () =>
        running.calls.some(({ decisions }) => decisions.some(({ resource }) => resource.includes('DeadLetters'))),
      (found) => found,
    );
    sqs.destroy();
  });

  it('days that move to files, of which some are priced again, and one is over', async () => {
    const { table } = running.stack;
    const [{ id: keyId }] = (await get('/keys')).items;
    for (const day of Object.values(days)) {
      const usage = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };
      const reading = { usage, modelServed: 'gpt-4o-mini', billableItems: { 'response.id': day } };
      const event = closeEvent({ accountId, keyId, startedAt: `${day}T12:00:00.000Z`, reading });
      await openRecorder(table, { logger: console, now: () => Date.parse(`${day}T12:05:00.000Z`) })([event]);
      await write(table, requestExport(accountId, day, Date.now()));
    }
    const shard = shardOf(accountId, ROLLUP_MARK_SHARDS);
    const makeDue = (day: string, file?: object) => {
      const { gsi1sk: due } = dayFileIndexKey(shard, day, accountId, day);
      const change = file === undefined ? 'SET gsi1sk = :due' : 'SET gsi1sk = :due, #file = :file';
      return write(table, update(dayFileKey(accountId, day), change, null, { due, file }));
    };
    const files = openDayFiles(table);
    for (const day of Object.values(days)) {
      await eventually(
        () => files.find(accountId, day),
        (entry) => entry?.file !== undefined,
      );
      // A day later the records are deleted: that day is over at once.
      await makeDue(day);
    }
    await untilCalled('exports-Exporter', 'BatchWriteItem');
    const range = `from=${days.archived}&to=${days.archived}`;
    const { token } = (await ask('POST', '/tokens', { name: 'ci', role: 'viewer' })).body;
    await get(`/requests?${range}`);
    const asMachine = async (path: string) => (await ask('GET', `/machine${path}`, undefined, token)).body;
    const [{ requestId }] = (await asMachine(`/requests?${range}`)).items;
    expect(await asMachine(`/requests/${requestId}`)).toMatchObject({ requestId });
    await asMachine(`/requests/${await sendChat(running.stack.url, session.accountId)}`);
    const { items } = await eventually(
      () => asMachine(`/exports?${range}`),
      (exports) => exports.items.length > 0,
    );
    expect((await fetch(items[0].url)).status).toBe(200);

    const price = { name: 'n', from: days.ownPrices, terms: { kind: 'markup', percent: 5 } };
    expect((await ask('POST', '/prices', price)).status).toBe(201);
    // The job waits until every recorder knows the price.
    const ownPrices = openOwnPrices(table);
    const { version, own } = await ownPrices.read(accountId);
    const job = own.job && { ...own.job, startsAt: new Date().toISOString() };
    expect(await ownPrices.keepProgress(accountId, version, { ...own, job })).toBe(true);

    const versions = openPriceVersions(table);
    const feed = await versions.readFeed();
    const openai = bundledLists.genaiPrices['openai'];
    const models = (openai?.models ?? []).map((model) =>
      model.id === 'gpt-4o-mini' ? { ...model, prices: { input_mtok: 1, output_mtok: 2 } } : model,
    );
    const lists = { ...bundledLists, genaiPrices: { ...bundledLists.genaiPrices, openai: { ...openai, models } } };
    const acceptedAt = new Date(Date.now() - HOUR_MS).toISOString();
    expect(await versions.save(feed, { lists: lists as typeof bundledLists, changes: [], acceptedAt })).toBe(true);
    await openModelUse(table).note({ day: days.repriced, accountId, provider: 'openai', model: 'gpt-4o-mini' });
    for (const caller of ['usage-OwnPrices', 'usage-Repricing']) await untilCalled(caller, 'TransactWriteItems');

    const { file } = (await files.find(accountId, days.over)) ?? {};
    await makeDue(days.over, { ...file, expiresAt: Math.floor(Date.now() / 1_000) - 60 });
    await untilCalled('exports-Exporter', 'DeleteItem');
  });

  it('every tool of an agent', async () => {
    const { token } = (await ask('POST', '/tokens', { name: 'agent', role: 'admin' })).body;
    const mcp = async (method: string, params: object) =>
      (await ask('POST', '/mcp', { jsonrpc: '2.0', id: 1, method, params }, token)).body.result;
    const given: Record<string, object> = {
      reconciliation: { key: session.accountId, provider: 'openai', from: days.archived, to: days.archived },
    };
    const { tools } = await mcp('tools/list', {});
    for (const { name } of tools) await mcp('tools/call', { name, arguments: given[name] ?? {} });
  });

  it('reports, bills, archives, pauses, and feedback on mail', async () => {
    const report = { name: 'r', schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] };
    const { id } = (await ask('POST', '/reports', report)).body;
    expect((await ask('POST', `/reports/${id}/send`, { to: 'me' })).status).toBeLessThan(300);
    await ask('PUT', '/bills/openai', { csv: `day,amount\n${days.archived},1.5\n` });
    expect((await ask('PUT', '/bill-connections/openrouter', { credential: 'management' })).status).toBe(200);
    expect((await ask('PUT', '/bill-connections/openrouter', { credential: 'management-2' })).status).toBe(200);
    await untilCalled('account-jobs-', 'GetSecretValue');
    expect((await ask('DELETE', '/bill-connections/openrouter')).status).toBe(204);
    await eventually(
      () => ask('PUT', '/bill-connections/openrouter', { credential: 'management' }),
      ({ status }) => status === 200,
    );

    const archive = (await ask('POST', '/account/archives')).body;
    const { link } = await eventually(
      async () => ({ link: (await ask('POST', `/account/archives/${archive.id}/link`)).body }),
      ({ link: { url } }) => url !== undefined,
    );
    expect((await fetch(link.url)).status).toBe(200);

    const rule = { limit: 0.000001, each: 'key', filter: {}, pause: { minutes: 60 } };
    await ask('POST', '/alert-rules', { type: 'burn_rate', name: 'r', config: rule, isActive: true });
    await sendChat(running.stack.url, session.accountId);
    await eventually(() => get('/pauses'), isThere);
    const [alert] = (await eventually(() => get('/alerts'), isThere)).items;
    expect((await ask('GET', `/alerts/${alert?.id}`)).status).toBe(200);
    const bounce = { bounceType: 'Permanent', bouncedRecipients: [{ emailAddress: session.email }] };
    const feedback = { eventType: 'Bounce', mail: { tags: { accountId: [accountId] } }, bounce };
    await running.stack.invoke('Feedback', { Records: [{ Sns: { Message: JSON.stringify(feedback) } }] });
  });

  it('single sign-on, which connects a login', async () => {
    const { url, dataDir } = running.stack;
    const claims = JSON.parse(Buffer.from(session.token.split('.')[1] ?? '', 'base64url').toString());
    const clients = JSON.parse(readFileSync(join(dataDir, 'cognito', 'clients.json'), 'utf8'));
    const redirectUri = `${url}/sign-in/callback`;
    signOn.open({
      issuer: claims.iss,
      clientId: claims.aud,
      clientSecret: clients.Clients[claims.aud]?.ClientSecret,
      redirectUri,
      signingKey: readFileSync(join(dataDir, 'cognito-key.pem'), 'utf8'),
    });
    const change = { provider: 'Acme', defaultRole: 'viewer', password: PASSWORD };
    expect((await ask('PATCH', '/sign-on', change)).status).toBe(200);
    const codeVerifier = 'v'.repeat(43);
    const { authorizeUrl } = await get(`/auth/sign-on?email=${session.email}`);
    const at = new URL(authorizeUrl);
    at.searchParams.set('state', 's');
    at.searchParams.set('code_challenge', createHash('sha256').update(codeVerifier).digest('base64url'));
    at.searchParams.set('code_challenge_method', 'S256');
    const codeFor = async (email: string) => (await authorize(at.href, redirectUri, email)).get('code');
    const joined = await ask('POST', '/auth/sign-on', { code: await codeFor('grace@example.com'), codeVerifier });
    expect(joined.status).toBe(200);
    const { linkToken } = (await ask('POST', '/auth/sign-on', { code: await codeFor(session.email), codeVerifier }))
      .body;
    expect((await ask('POST', '/auth/sign-on/link', { linkToken, password: PASSWORD })).status).toBe(200);
  });

  it('the deletion of all that', async () => {
    expect((await ask('POST', '/account/deletion', { password: PASSWORD })).status).toBe(202);
    await eventually(
      async () =>
        running.calls.filter(
          ({ caller, operation }) => caller.startsWith('account-jobs-') && operation === 'DeleteSecret',
        ),
      (calls) => calls.length > 0,
    );
    await untilCalled('account-jobs-', 'AdminDeleteUser');
  });
});
