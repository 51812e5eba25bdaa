import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { clearOfMidnight } from '../../clear-of-midnight.ts';
import { isPrometheusInstalled, type Prometheus, startPrometheus } from '../real-prometheus.ts';
import {
  callApi,
  eventually,
  registerAccount,
  type Session,
  STACK_TIMEOUT_MS,
  sendChat,
  startTestStack,
  type TestStack,
} from './stack.ts';

let running: TestStack;
let session: Session;
const dir = tmpdir();
let prometheus: Prometheus;
let apiToken: { readonly id: string; readonly token: string };

/** One job for each way of docs/integrations.md. */
const config = ({ host }: URL) => `
global: {scrape_interval: 5s}
scrape_configs:
  - job_name: bearer
    metrics_path: /api/machine/metrics
    authorization: {credentials_file: ${dir}/token}
    static_configs: [{targets: ['${host}']}]
  - job_name: oauth2
    metrics_path: /api/metrics
    oauth2:
      client_id: ${apiToken.id}
      client_secret_file: ${dir}/token
      token_url: http://${host}/api/auth/token
    static_configs: [{targets: ['${host}']}]
`;

const api = (path: string) => callApi(running.stack.url)('GET', path, { token: session.token });

const query = (text: string) => prometheus.query(text);
const numberFrom = async (text: string) => Number((await query(text))[0]?.value[1]);

if (isPrometheusInstalled) await clearOfMidnight();

beforeAll(async () => {
  if (!isPrometheusInstalled) return;
  running = await startTestStack();
  session = await registerAccount(running.stack.url);
  const post = (path: string, body: unknown) =>
    callApi(running.stack.url)('POST', path, { token: session.token, body });
  apiToken = (await post('/tokens', { name: 'prometheus', role: 'viewer' })).body;
  await callApi(running.stack.url)('PUT', '/prices/currency', {
    token: session.token,
    body: { currency: { code: 'EUR', rates: [{ from: '2020-01-01', perUsd: '0.9' }] } },
  });
  await post('/budgets', { name: 'Team "a"\\', amount: 0.001, period: 'monthly' });
  for (const tag of ['a', 'a', 'b']) await sendChat(running.stack.url, session.accountId, tag);
  await fetch(`${running.stack.url}/gateway/mistral/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-service-key': session.accountId, authorization: 'Bearer k' },
    body: JSON.stringify({ model: 'no "price"', messages: [{ role: 'user', content: 'Hello. [in 10, out 1]' }] }),
  });
  await eventually(
    async () => (await api('/spend')).body.totals,
    ({ requests, unfinishedRequests }) => requests === 4 && unfinishedRequests === 0,
    { scheduled: [] },
  );

  await writeFile(join(dir, 'token'), apiToken.token);
  await writeFile(join(dir, 'prometheus.yml'), config(new URL(running.stack.url)));
  prometheus = await startPrometheus(dir);
  await eventually(
    async () => {
      const up = await query('sum(up)').catch(() => []);
      return Number(up[0]?.value[1]);
    },
    (jobs) => jobs === 2,
    { scheduled: [] },
  );
}, STACK_TIMEOUT_MS);

afterAll(async () => {
  await prometheus?.stop();
  await running?.stop();
});

(isPrometheusInstalled ? describe : describe.skip)('a real Prometheus', () => {
  it.each(['bearer', 'oauth2'])('stores what the API says, scraping with %s', async (job) => {
    const month = (await api('/spend?groupBy=provider')).body;
    expect(month.totals).toMatchObject({ requests: 4, unpricedRequests: 1, costUsd: '0.00063' });
    const expected = month.groups.flatMap(
      (group: { provider: string; costUsd: string | null; costByProvenance: Record<string, { costUsd: string }> }) =>
        group.costUsd === null
          ? []
          : Object.entries(group.costByProvenance).map(([provenance, { costUsd }]) => [
              group.provider,
              provenance,
              Number(costUsd),
            ]),
    );
    for (const period of ['today', 'month']) {
      const stored = await query(`ai_spend_cost_usd{job="${job}",period="${period}"}`);
      expect(stored.map(({ metric, value }) => [metric['provider'], metric['provenance'], Number(value[1])])).toEqual(
        expect.arrayContaining(expected),
      );
      expect(stored).toHaveLength(expected.length);
    }
    expect(await numberFrom(`sum(ai_spend_requests_total{job="${job}"})`)).toBe(4);
    expect(await numberFrom(`ai_spend_tokens_total{job="${job}",provider="openai",kind="input"}`)).toBe(3_000);
    expect(await numberFrom(`ai_spend_unknown_cost_requests{job="${job}",provider="mistral",period="month"}`)).toBe(1);
    expect(await query(`ai_spend_cost_usd{job="${job}",provider="mistral"}`)).toEqual([]);
    const [budget] = (await api('/budgets')).body.items;
    const [used] = await query(`ai_spend_budget_used_usd{job="${job}"}`);
    expect(used?.metric).toMatchObject({ budget: 'Team "a"\\', budget_id: budget.id });
    expect(Number(used?.value[1])).toBe(budget.state.usedNanoUsd / 1e9);
  });

  it('finds nothing to complain about in the format', async () => {
    const text = await (
      await fetch(`${running.stack.url}/api/machine/metrics?groupBy=model,tag,key`, {
        headers: { authorization: `Bearer ${apiToken.token}` },
      })
    ).text();
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' });
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: '', stderr: '' });
  });

  it('runs every query of the Grafana dashboard', async () => {
    const { panels } = JSON.parse(await readFile('grafana/ai-spend.json', 'utf8'));
    const queries = panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr));
    expect(queries.length).toBeGreaterThan(10);
    for (const text of queries) {
      const filled = text
        .replaceAll('$__rate_interval', '1m')
        .replaceAll('$__range', '1m')
        .replaceAll('$account', '.*')
        .replaceAll('$by', 'model');
      // A rate needs two samples, which the first seconds of scrapes do not have.
      const series = await eventually(
        () => query(filled),
        (found) => found.length > 0,
        { scheduled: [] },
      );
      expect([text, series.length > 0]).toEqual([text, true]);
    }
  });
});
