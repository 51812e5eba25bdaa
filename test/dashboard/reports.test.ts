import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { settingsOf } from '../../fixtures/open-dashboard.ts';
import { failReport, makeReport } from '../../lambda/account-jobs/make-report.ts';
import { newRule } from '../../lambda/dashboard/limits/rule-changes.ts';
import { MAX_REPORTS } from '../../lambda/dashboard/reports/manage-reports.ts';
import { dueJobs } from '../../lambda/data/accounts/account-jobs.ts';
import { auditEntry } from '../../lambda/data/accounts/audit-log.ts';
import { openOwnPrices } from '../../lambda/data/accounts/own-prices.ts';
import { openUsers } from '../../lambda/data/accounts/users.ts';
import { openAlertDeliveries } from '../../lambda/data/alerts/alert-deliveries.ts';
import { openRules } from '../../lambda/data/alerts/rules.ts';
import { openContent } from '../../lambda/data/reports/open-content.ts';
import { openReports, type Reports } from '../../lambda/data/reports/reports.ts';
import { openSavingDecisions } from '../../lambda/data/reports/saving-decisions.ts';
import { openRequests } from '../../lambda/data/requests/requests.ts';
import { accountUserKey, UNDELIVERED_SHARDS } from '../../lambda/data/table/keys.ts';
import { MINUTE_MS } from '../../lambda/domain/calendar/units.ts';
import type { ReportContent } from '../../lambda/domain/reports/report-content.ts';
import { findingId } from '../../lambda/domain/savings/decision.ts';
import { MailError, type SendMail } from '../../lambda/integrations/mail.ts';
import { type PostJson, WebhookError } from '../../lambda/integrations/webhook.ts';
import { deliverAlert } from '../../lambda/rule-evaluator/deliver-alert.ts';
import { deliverPending } from '../../lambda/rule-evaluator/open-judge.ts';
import { openRecorder } from '../../lambda/usage-recorder/recorder.ts';
import { addSpend, costing } from '../data/add-spend.ts';
import { silentLogger } from '../http/invoke.ts';
import { closeEvent, priceOfTokens } from '../usage-recorder/events.ts';
import { dashboardForTests } from './open-dashboard.ts';

const DASHBOARD_URL = 'https://dashboard.example.com';
const SLACK = 'https://hooks.slack.com/services/T0/B0/abcdWXYZ';
const sendMail = jest.fn<SendMail>();
const postWebhook = jest.fn<PostJson>();

const webhookUrlProblem = async () => undefined;
const { table, clock, caller, call } = dashboardForTests({ webhookUrlProblem, sendMail, postWebhook });
const now = () => new Date(clock);
beforeEach(() => {
  jest.resetAllMocks();
});

const daily = { name: 'Daily spend', schedule: { every: 'daily', hour: 8 }, groupBy: ['model'] };
const create = async (body: object = {}) => {
  const response = await call('POST', '/reports', { ...daily, ...body });
  expect(response.status).toBe(201);
  return response.body as { id: string; nextAt: string };
};

const makeBy = (reports: Reports) =>
  makeReport({
    reports,
    readContent: openContent(
      table,
      openRequests(table, () => clock.getTime()),
      silentLogger(),
      now,
    ),
    now,
  });

/** What the account's job of each minute does. */
const runJobs = async () => {
  const make = makeBy(openReports(table));
  for await (const { accountId, sk, kind } of dueJobs(table, clock))
    if (kind === 'report' && accountId === caller.accountId) await make(accountId, sk.slice('REPORT#'.length));
};
const deliver = () =>
  deliverPending({
    deliveries: {
      undelivered: async function* (shard: number, at: Date) {
        for await (const each of openAlertDeliveries(table).undelivered(shard, at))
          if (each.outgoing.accountId === caller.accountId) yield each;
      },
    },
    deliver: deliverAlert({
      deliveries: openAlertDeliveries(table),
      rules: openRules(table),
      reports: openReports(table),
      users: openUsers(table),
      sendMail,
      postWebhook,
      dashboardUrl: DASHBOARD_URL,
      now,
    }),
    now,
    logger: silentLogger(),
  })(() => 300_000);
/** What is stored for delivery. */
const pending = async () => {
  const contents: ReportContent[] = [];
  for (let shard = 0; shard < UNDELIVERED_SHARDS; shard++)
    for await (const { outgoing } of openAlertDeliveries(table).undelivered(shard, clock))
      if (outgoing.accountId === caller.accountId && 'content' in outgoing) contents.push(outgoing.content);
  return contents.toSorted((a, b) => (a.period.from < b.period.from ? -1 : 1));
};
/** Runs everything that is due at an instant. */
const at = async (instant: string) => {
  clock.setTime(Date.parse(instant));
  await runJobs();
};
const sentPeriods = () => sendMail.mock.calls.map(([{ subject }]) => subject);

describe('/reports', () => {
  it('creates, lists, changes and deletes reports, and shows no secret', async () => {
    const { id } = await create({
      channels: ['email', 'slack'],
      targets: { slack: SLACK },
      recipients: [caller.userId],
    });
    const { body } = await call('GET', '/reports');
    expect(body).toMatchObject({
      items: [
        {
          ...{ id, name: 'Daily spend', schedule: { every: 'daily', hour: 8 }, groupBy: ['model'], isActive: true },
          ...{ channels: ['email', 'slack'], recipients: [caller.userId], nextAt: '2026-11-21T08:00:00.000Z' },
          targets: { slack: 'https://hooks.slack.com/…WXYZ' },
        },
      ],
      calendar: { timeZone: 'UTC', weekStartsOn: 'monday' },
    });
    // What was shown keeps the target.
    const change = {
      targets: { slack: 'https://hooks.slack.com/…WXYZ' },
      groupBy: ['model', 'project'],
      recipients: null,
    };
    expect(await call('PATCH', `/reports/${id}`, change)).toMatchObject({
      status: 200,
      body: { groupBy: ['model', 'project'] },
    });
    expect(await openReports(table).find(caller.accountId, id)).toMatchObject({
      targets: { slack: SLACK },
      revision: 2,
    });
    expect(await call('PATCH', `/reports/${id}`, { isActive: false })).toMatchObject({ body: { nextAt: null } });
    expect(await call('DELETE', `/reports/${id}`)).toMatchObject({ status: 204 });
    expect(await call('GET', `/reports/${id}`)).toMatchObject({ status: 404 });
  });

  it.each([
    ['an hour at which the day may not be over', { schedule: { every: 'daily', hour: 0 } }, 'schedule.hour'],
    ['an unknown dimension', { groupBy: ['dim:team'] }, 'groupBy'],
    ['a dimension twice', { groupBy: ['model', 'model'] }, 'groupBy'],
    ['no dimension', { groupBy: [] }, 'groupBy'],
    ['a stranger', { recipients: ['somebody'] }, 'recipients'],
    ['a channel without a target', { channels: ['teams'] }, 'targets.teams'],
  ])('rejects %s', async (_, body, path) => {
    expect(await call('POST', '/reports', { ...daily, ...body })).toMatchObject({
      ...{ status: 400, body: { error: { details: [{ path: expect.stringContaining(path) }] } } },
    });
  });

  it('has a limit', async () => {
    for (let i = 0; i < MAX_REPORTS; i++) await create();
    expect(await call('POST', '/reports', daily)).toMatchObject({ body: { error: { code: 'LIMIT_REACHED' } } });
  });

  it('moves what is due next to the calendar of the account', async () => {
    const { id } = await create();
    const calendar = { timeZone: 'America/New_York', weekStartsOn: 'sunday' };
    expect(await call('PUT', '/reports/calendar', calendar)).toMatchObject({ status: 200, body: calendar });
    expect(await call('GET', '/reports')).toMatchObject({
      body: { calendar, items: [{ id, nextAt: '2026-11-21T13:00:00.000Z' }] },
    });
    const wrong = { timeZone: 'Mars/Olympus', weekStartsOn: 'sunday' };
    expect(await call('PUT', '/reports/calendar', wrong)).toMatchObject({ status: 400 });
  });
});

describe('a scheduled report', () => {
  it('is sent once a period, however often jobs run, and again after the next', async () => {
    const { id } = await create();
    clock.setTime(Date.parse('2026-11-21T07:59:59.000Z'));
    await makeBy(openReports(table))(caller.accountId, id);
    expect(await pending()).toEqual([]);
    clock.setTime(Date.parse('2026-11-21T08:00:00.000Z'));
    await Promise.all([runJobs(), runJobs(), runJobs()]);
    await runJobs();
    await Promise.all([deliver(), deliver()]);
    await deliver();
    expect(sentPeriods()).toEqual(['AI spend report: 2026-11-20 (daily)']);
    // A schedule that changes does not bring a period back.
    await call('PATCH', `/reports/${id}`, { schedule: { every: 'daily', hour: 12 } });
    await at('2026-11-21T12:00:00.000Z');
    await deliver();
    expect(sentPeriods()).toHaveLength(1);
    await at('2026-11-22T12:00:00.000Z');
    await deliver();
    expect(sentPeriods()).toEqual(['AI spend report: 2026-11-20 (daily)', 'AI spend report: 2026-11-21 (daily)']);
    expect(await call('GET', `/reports/${id}`)).toMatchObject({
      body: {
        nextAt: '2026-11-23T12:00:00.000Z',
        runs: [
          { firstDay: '2026-11-21', deliveries: [{ channel: 'email', status: 'sent' }] },
          { firstDay: '2026-11-20', deliveries: [{ channel: 'email', status: 'sent' }] },
        ],
      },
    });
  });

  it.each([
    ['08:30', 7],
    ['08:30', 8],
    ['08:30', 12],
    ['07:30', 7],
  ])('of a period that ended is made where, before it was, at %s it moves to %i o’clock', async (time, hour) => {
    const { id } = await create();
    clock.setTime(Date.parse(`2026-11-21T${time}:00.000Z`));
    await call('PATCH', `/reports/${id}`, { name: 'Other', schedule: { every: 'daily', hour } });
    await at('2026-11-21T12:00:00.000Z');
    await deliver();
    expect(sentPeriods()).toEqual([expect.stringContaining('2026-11-20 (daily)')]);
  });

  it('catches up, each missed period once', async () => {
    await create();
    for (let run = 0; run < 6; run++) await at('2026-11-24T09:00:00.000Z');
    await deliver();
    expect(sentPeriods().sort()).toEqual(
      ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-23'].map((day) => `AI spend report: ${day} (daily)`),
    );
  });

  it('shows a period that could not be made in twelve attempts, and goes on with the next', async () => {
    const { id } = await create({ channels: ['email', 'slack'], targets: { slack: SLACK } });
    clock.setTime(Date.parse('2026-11-21T08:00:00Z'));
    const fail = failReport({ reports: openReports(table), now });
    for (let failures = 1; failures <= 12; failures++)
      expect(await fail(caller.accountId, id, () => now())).toBe(failures);
    const error = 'the report could not be made';
    const shown = {
      nextAt: '2026-11-22T08:00:00.000Z',
      runs: [
        {
          ...{ firstDay: '2026-11-20', createdAt: now().toISOString() },
          deliveries: ['email', 'slack'].map((channel) =>
            expect.objectContaining({ channel, status: 'failed', error }),
          ),
        },
      ],
    };
    expect((await call('GET', `/reports/${id}`)).body).toMatchObject(shown);
    await deliver();
    expect(sentPeriods()).toEqual([]);
    await at('2026-11-22T08:00:00Z');
    await deliver();
    expect(sentPeriods()).toEqual(['AI spend report: 2026-11-21 (daily)']);
  });

  it('tries a failed target again without sending to the others twice, and with the same numbers', async () => {
    await addSpend(table, caller.accountId, '2026-11-20T10:00:00.000Z', costing(1.5));
    const { id } = await create({ channels: ['email', 'slack'], targets: { slack: SLACK } });
    postWebhook.mockRejectedValueOnce(new WebhookError('it responded with 500', { status: 500 }));
    await at('2026-11-21T08:00:00.000Z');
    await deliver();
    await addSpend(table, caller.accountId, '2026-11-20T11:00:00.000Z', costing(7));
    clock.setTime(Date.parse('2026-11-21T08:05:00.000Z'));
    await deliver();
    await deliver();
    expect(sendMail).toHaveBeenCalledTimes(1);
    expect(postWebhook).toHaveBeenCalledTimes(2);
    const [first, second] = postWebhook.mock.calls.map(([, body]) => body);
    expect(second).toBe(first);
    expect(second).toContain('$1.50 was spent on 1 request');
    expect(await call('GET', `/reports/${id}`)).toMatchObject({
      body: {
        runs: [
          {
            deliveries: [
              { channel: 'email', attempts: 1 },
              { channel: 'slack', status: 'sent', attempts: 2 },
            ],
          },
        ],
      },
    });
  });

  it('goes to the members that it names, and to nobody where all of them left', async () => {
    const { id } = await create({ recipients: [caller.userId] });
    await at('2026-11-21T08:00:00.000Z');
    await deliver();
    expect(sendMail.mock.calls[0]?.[0].to).toEqual([caller.email]);
    await table.call('DeleteItem', {
      TableName: table.name,
      Key: { ...accountUserKey(caller.accountId, caller.userId) },
    });
    await at('2026-11-22T08:00:00.000Z');
    await deliver();
    expect(sendMail).toHaveBeenCalledTimes(1);
    expect(await call('GET', `/reports/${id}`)).toMatchObject({
      body: { runs: [{ deliveries: [{ status: 'failed', error: 'no member is left to get it' }] }, {}] },
    });
  });

  it('is not sent while it is switched off, nor after it was deleted', async () => {
    const { id } = await create();
    const { id: other } = await create();
    await call('PATCH', `/reports/${id}`, { isActive: false });
    await call('DELETE', `/reports/${other}`);
    await at('2026-11-22T08:00:00.000Z');
    await call('PATCH', `/reports/${id}`, { isActive: true });
    await runJobs();
    expect(await pending()).toEqual([]);
    expect(await call('GET', `/reports/${id}`)).toMatchObject({ body: { nextAt: '2026-11-23T08:00:00.000Z' } });
  });

  it('is sent where somebody switches it on while a job finds it off', async () => {
    const { id } = await create();
    await call('PATCH', `/reports/${id}`, { isActive: false });
    clock.setTime(Date.parse('2026-11-21T08:00:00.000Z'));
    const reports = openReports(table);
    const find: Reports['find'] = async (accountId, reportId) => {
      const found = await reports.find(accountId, reportId);
      await call('PATCH', `/reports/${id}`, { isActive: true });
      return found;
    };
    await makeBy({ ...reports, find })(caller.accountId, id);
    await at('2026-11-22T08:00:00.000Z');
    expect(await pending()).toHaveLength(1);
  });
});

describe('the numbers of a report', () => {
  const spendOf = async (by: string, range: { from: string; to: string }, granularity = 'hour') => {
    const { from, to } = range;
    const { status, body } = await call('GET', '/spend', undefined, {}, { groupBy: by, from, to, granularity });
    expect(status).toBe(200);
    return body as {
      totals: { costNanoUsd: number; requests: number; unpricedRequests: number };
      groups: ({ costNanoUsd: number | null } & Record<string, string | null>)[];
    };
  };

  it.each([
    ['daily', 'UTC', 4],
    ['weekly', 'America/New_York', 24],
    ['monthly', 'Europe/Berlin', 70],
    ['weekly', 'Asia/Kolkata', 24],
  ])('are those of GET /spend for the same period and the one before: %s, %s', async (every, timeZone, days) => {
    const names = ['gpt-4o', 'gpt-4o-mini', null];
    for (let hours = 0; hours < days * 24; hours += 7)
      await addSpend(
        table,
        caller.accountId,
        new Date(Date.parse('2026-12-01T09:00:00Z') - hours * 3_600_000).toISOString(),
        hours % 3 === 0 ? { unpricedRequests: 1 } : { costComputedNanoUsd: 1_000_003 * hours + 1 },
        {
          model: names[hours % names.length] ?? null,
          keyId: hours % 2 === 0 ? caller.keyId : null,
          tag: `t${hours % 5}`,
        },
      );
    await call('PUT', '/reports/calendar', { timeZone, weekStartsOn: 'wednesday' });
    const groupBy = ['project', 'model', 'tag'];
    await create({ schedule: { every, hour: 6 }, groupBy });
    await at('2026-12-01T12:00:00.000Z');
    for (let run = 0; run < 12; run++) await runJobs();
    const content = (await pending()).at(-1)!;
    const { period, before, totals, breakdowns } = content;
    expect(content).toMatchObject({ every, timeZone });
    expect(breakdowns.map(({ by }) => by)).toEqual(groupBy);
    for (const { by, groups } of breakdowns) {
      const [report, reportBefore] = await Promise.all([spendOf(by, period), spendOf(by, before)]);
      expect(totals).toMatchObject({
        costNanoUsd: report.totals.costNanoUsd,
        costBeforeNanoUsd: reportBefore.totals.costNanoUsd,
        costChangeNanoUsd: report.totals.costNanoUsd - reportBefore.totals.costNanoUsd,
        requests: report.totals.requests,
        unpricedRequests: report.totals.unpricedRequests,
        unpricedRequestsBefore: reportBefore.totals.unpricedRequests,
      });
      expect(totals.requests).toBeGreaterThan(0);
      expect(
        groups.flatMap(({ value, costNanoUsd, requests }) => (requests > 0 ? [[value, costNanoUsd]] : [])).sort(),
      ).toEqual(report.groups.map((group) => [group[by], group.costNanoUsd]).sort());
    }
  });

  it("are of a weekly one what is wasted in the 30 days until its end in the account's zone and currency", async () => {
    const { accountId, keyId } = caller;
    const given = (startedAt: string, n: number, tag: string) =>
      closeEvent({ ...{ accountId, keyId, startedAt, n, tag }, outcome: 'client_aborted', tokens: 1_000_000_000 });
    const price = () => ({ ...priceOfTokens(closeEvent()), costNanoUsd: 10e9 });
    // The week ends on Monday at midnight in New York, which is 05:00 UTC: $20 in 30 days.
    const recorded = () => Date.parse('2026-11-30T05:01:00.000Z');
    await openRecorder(table, { logger: silentLogger(), price, now: recorded })([
      given('2026-11-10T05:00:00.000Z', 1, 'chat'),
      given('2026-11-30T04:59:59.000Z', 2, 'chat'),
      given('2026-11-30T05:00:00.000Z', 3, 'chat'),
      given('2026-11-15T05:00:00.000Z', 4, 'dismissed <tag>'),
    ]);
    const audit = auditEntry(accountId, {}, { action: 'currency.changed' }, clock);
    const currency = { code: 'EUR', rates: [{ from: '2026-01-01', perUsd: '0.9' }] };
    await openOwnPrices(table).change(accountId, (own) => ({ own: { ...own, currency }, audit }));
    const kind = 'interrupted_responses';
    const decisions = { 'dismissed <tag>': 'dismissed', chat: 'watched' } as const;
    for (const [tag, decision] of Object.entries(decisions)) {
      const scope = { provider: 'openai', model: 'gpt-4o-2024-08-06', tag };
      const decided = { findingId: findingId(kind, scope), kind, scope, decision, reason: 'Known', by: 'Ada' } as const;
      await openSavingDecisions(table).save({ ...decided, at: clock.toISOString() }, audit);
    }
    await call('PUT', '/reports/calendar', { timeZone: 'America/New_York', weekStartsOn: 'monday' });
    await create({ schedule: { every: 'weekly', hour: 6 } });
    await create({ schedule: { every: 'daily', hour: 6 } });
    clock.setTime(Date.parse('2026-11-30T12:00:00.000Z'));
    for (let run = 0; run < 12; run++) await runJobs();
    const contents = await pending();
    const weekly = contents.filter(({ every }) => every === 'weekly').at(-1)!;
    expect(weekly.period.to).toBe('2026-11-30T05:00:00.000Z');
    expect(weekly.savings).toMatchObject({
      findings: [{ kind, scope: { tag: 'chat' }, nanoUsdPerMonth: 20e9, perMonth: '€18.00' }],
      ...{ furtherFindings: 0, isComplete: true },
    });
    expect(contents.find(({ every }) => every === 'daily')!.savings).toBeUndefined();
    await deliver();
    const mails = sendMail.mock.calls.map(([mail]) => mail);
    const mail = mails.find(({ subject }) => subject.includes('2026-11-23 to'));
    expect(mail!.text).toContain(
      '€18.00: Responses that nobody got whole (openai, gpt-4o-2024-08-06, tag chat). €18.00 for 2 responses',
    );
    expect(mail!.html).toContain('€18.00</td>');
    // One request before the week ended, of $10 at the rate of its day.
    expect(mail!.text).toContain('€9.00 was spent on 1 request');
    expect(mail!.text).toContain('gpt-4o-2024-08-06: €9.00 (+€9.00), 1 request\n');
    expect(`${mail!.text}${mail!.html}`).not.toContain('$');
    expect(`${mail!.text}${mail!.html}`).not.toContain('dismissed <tag>');
    expect(mail!.text).toContain(`${DASHBOARD_URL}/savings`);
    expect(mails.filter(({ subject }) => subject.includes('daily'))[0]!.text).not.toContain('wasted');
  });

  it('are budgets as GET /budgets has them, and say what is not known', async () => {
    await addSpend(table, caller.accountId, '2026-11-19T10:00:00.000Z', { unpricedRequests: 1 });
    await addSpend(table, caller.accountId, '2026-11-20T10:00:00.000Z', { unpricedRequests: 1, bypassedRequests: 1 });
    const config = {
      amount: 20,
      period: 'monthly' as const,
      notifyAt: [80 as number],
      block: null,
      unknownCost: 'ignore' as const,
      showRemaining: false,
    };
    const facts = {
      name: 'Team <b>',
      channels: ['email' as const],
      isActive: true,
      condition: { type: 'budget' as const, config },
    };
    const ofEach = { type: 'budget' as const, config: { ...config, each: 'key' as const } };
    // The amount of each value is no part of a report.
    for (const condition of [facts.condition, ofEach])
      await openRules(table).create(await newRule(settingsOf(table, now), caller.accountId, { ...facts, condition }));
    await create();
    await at('2026-11-21T08:00:00.000Z');
    const [content] = await pending();
    expect(content?.totals).toMatchObject({ costNanoUsd: null, costChangeNanoUsd: null, unpricedRequests: 1 });
    expect(content?.budgets).toMatchObject([
      { name: 'Team <b>', amountNanoUsd: 20e9, usedNanoUsd: 0, unpricedRequests: 2 },
    ]);
    await deliver();
    const { text, html } = sendMail.mock.calls[0]![0];
    expect(text).toContain('What was spent is unknown (1 request).');
    expect(text).toContain('Bypassed, and counted all the same: 1 request.');
    expect(`${text}${html}`).not.toContain('$0.00');
    expect(text).toContain('0% used: unknown of $20.00 (monthly), 2 requests of unknown cost');
    // The name with the requests that none of it includes, what is used, of how much, and no projection.
    const cells = /<tr>(<td[^>]*>Team &lt;b&gt;.*?)<\/tr>/.exec(html ?? '')?.[1]?.split('</td>');
    expect(cells?.map((cell) => cell.replace(/<[^>]*>/, ''))).toEqual([
      'Team &lt;b&gt; (2 requests of unknown cost)',
      '0%',
      'unknown of $20.00',
      '',
      '',
    ]);
    expect(html).not.toMatch(/<img|<script|url\(/);
  });
});

describe('POST /reports/{id}/send', () => {
  it('mails the caller the period that ended last, and leaves the schedule alone', async () => {
    const { id, nextAt } = await create({ channels: ['slack'], targets: { slack: SLACK } });
    expect(await call('POST', `/reports/${id}/send`, {})).toMatchObject({
      ...{ status: 200, body: { items: [{ channel: 'email', isDelivered: true, error: null }] } },
    });
    expect(sendMail.mock.calls.map(([mail]) => [mail])).toMatchObject([
      [{ to: [caller.email], subject: 'AI spend report: 2026-11-19 (daily)' }],
    ]);
    expect(postWebhook).not.toHaveBeenCalled();
    expect(await call('GET', `/reports/${id}`)).toMatchObject({ body: { nextAt, runs: [] } });
  });

  it('sends on all channels without making the caller wait, once, and again where a channel fails', async () => {
    const { id, nextAt } = await create({ channels: ['email', 'slack'], targets: { slack: SLACK } });
    // Mails to many members take longer than a response may.
    sendMail.mockReturnValue(new Promise(() => {}));
    const waiting = { isDelivered: false, isPending: true, error: null };
    expect(await call('POST', `/reports/${id}/send`, { to: 'all' })).toMatchObject({
      body: {
        items: [
          { channel: 'email', ...waiting },
          { channel: 'slack', ...waiting },
        ],
      },
    });
    sendMail.mockReset();
    sendMail.mockRejectedValueOnce(new MailError('mail was not accepted (Throttling)'));
    await Promise.all([deliver(), deliver()]);
    clock.setTime(clock.getTime() + 5 * MINUTE_MS);
    await deliver();
    await deliver();
    expect(sentPeriods()).toEqual(['AI spend report: 2026-11-19 (daily)', 'AI spend report: 2026-11-19 (daily)']);
    expect(postWebhook.mock.calls.map(([{ url }]) => url)).toEqual([SLACK]);
    expect(await call('GET', `/reports/${id}`)).toMatchObject({
      body: {
        nextAt,
        runs: [
          {
            firstDay: '2026-11-19',
            deliveries: [
              { channel: 'email', status: 'sent', attempts: 2 },
              { channel: 'slack', status: 'sent', attempts: 1 },
            ],
          },
        ],
      },
    });
  });

  it('neither replaces the scheduled report of the period nor another that was asked for', async () => {
    const { id } = await create();
    clock.setTime(Date.parse('2026-11-21T07:00:00.000Z'));
    const isPending = { body: { items: [{ channel: 'email', isPending: true }] } };
    expect(await call('POST', `/reports/${id}/send`, { to: 'all' })).toMatchObject(isPending);
    await at('2026-11-21T08:00:00.000Z');
    expect(await call('POST', `/reports/${id}/send`, { to: 'all' })).toMatchObject(isPending);
    await deliver();
    await deliver();
    expect(sentPeriods()).toEqual(Array.from({ length: 3 }, () => 'AI spend report: 2026-11-20 (daily)'));
    expect((await call('GET', `/reports/${id}`)).body).toMatchObject({ runs: [{}, {}, {}] });
  });

  it('needs all for a program, which has no address', async () => {
    const { id } = await create();
    const program = { ...caller, userId: 'token' };
    expect(await call('POST', `/reports/${id}/send`, {}, program)).toMatchObject({ status: 400 });
  });
});
