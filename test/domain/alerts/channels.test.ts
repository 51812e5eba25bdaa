import { describe, expect, it } from '@jest/globals';
import type { Alert } from '../../../lambda/domain/alerts/alert.ts';
import { alertLinks, alertMessage } from '../../../lambda/domain/alerts/alert-text.ts';
import {
  channelTypes,
  maskTarget,
  pagerDutyEvent,
  shownWebhookUrl,
  slackMessage,
  teamsMessage,
} from '../../../lambda/domain/alerts/channels.ts';
import type { Message } from '../../../lambda/domain/alerts/message.ts';
import { reportMessage } from '../../../lambda/domain/reports/report-message.ts';
import { sampleRun } from '../reports/sample-run.ts';
import { sampleAlert } from './sample-alert.ts';

const alert = sampleAlert;
const links = alertLinks('https://dashboard.example.com', alert);
const KEY = 'R0123456789ABCDEFabcdef012345678';
const NOTE = 'The cost of 3 more requests in this period is unknown and not included.';
const TITLE = 'AI spend alert: Daily spend';
const FACTS = [
  'Spend is $12: it reached the threshold of $10.',
  'Period: 2026-11-20 (daily, UTC)',
  'By model: gpt-4o 75%, no model 25%',
  `Note: ${NOTE}`,
];
/** What users and clients may call things. */
const nasty = [
  '<!channel> & <https://evil.example|x>',
  '*bold* _it_ ~x~ `code`',
  '[x](https://evil.example) **b**',
  '名前 😀 é',
];
const named = (name: string): Alert => ({
  ...alert,
  ruleName: name,
  summary: `Spend of ${name} is $12.`,
  contributors: [{ dimension: 'tag', value: name, label: null, share: 1 }],
});
/** Messages with names as long as they get, in letters of three bytes and four. */
const longMessages = ['名', '😀', '&', '"'].flatMap((letter) => {
  const name = letter.repeat(512 / letter.length);
  const of = (by: 'tag' | 'model') => ({ dimension: by, value: name, label: null, share: 1 }) as const;
  const mayAlsoMatch = { requests: 4, costNanoUsd: 1, unpricedRequests: 0 };
  const long = { ...named(name), mayAlsoMatch, contributors: [of('tag'), of('model')] };
  const dim = Object.fromEntries(Array.from({ length: 5 }, (_, n) => [`d${n}`, name]));
  const config = { threshold: 1, period: 'daily', filter: { model: name, dim } } as const;
  const run = sampleRun(Array.from({ length: 10 }, () => name));
  const [breakdown] = run.content.breakdowns;
  const by = (['model', 'tag', 'project', 'member'] as const).map((each) => ({ ...breakdown!, by: each }));
  return [
    [
      `an alert of ${letter}`,
      alertMessage(long, alertLinks('https://d.example', alert, { type: 'cost_threshold', config } as never)),
    ],
    [
      `a report of ${letter}`,
      reportMessage({ ...run, content: { ...run.content, breakdowns: by } }, 'https://d.example'),
    ],
  ] as [string, Message][];
});
const unescapeSlack = (text: string) => text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');

describe('slackMessage', () => {
  it('has a text and blocks: title, facts, links', () => {
    const spend = 'https://dashboard.example.com/?range=custom&amp;from=2026-11-20&amp;to=2026-11-20';
    const footer = `<https://dashboard.example.com/alerts/alert-1|See and acknowledge it> · <${spend}|See the spend>`;
    expect(slackMessage(alertMessage(alert, links))).toEqual({
      text: `${TITLE}: ${FACTS[0]}`,
      blocks: [
        { type: 'header', text: { type: 'plain_text', text: TITLE, emoji: false } },
        { type: 'section', text: { type: 'plain_text', text: FACTS.join('\n'), emoji: false } },
        { type: 'section', text: { type: 'mrkdwn', text: footer } },
      ],
    });
  });

  it.each(nasty)('shows %s as it was written, where nothing is formatted', (name) => {
    const { text, blocks } = slackMessage(alertMessage(named(name), links));
    const [header, facts, footer] = blocks.map((block) => block.text);
    expect([header?.type, facts?.type]).toEqual(['plain_text', 'plain_text']);
    expect(unescapeSlack(facts?.text ?? '')).toContain(`By tag: ${name} 100%`);
    expect(`${text}${header?.text}${facts?.text}`).not.toMatch(/[<>]/);
    expect(footer).toEqual(slackMessage(alertMessage(alert, links)).blocks[2]?.text);
  });

  it('keeps the limits of blocks, whole characters, and the lines after a long name', () => {
    for (let length = 100; length < 160; length++) {
      const { text, blocks } = slackMessage(alertMessage(named(`${'x'.repeat(length)}${'&😀'.repeat(1_000)}`), links));
      const [header = '', facts = ''] = blocks.map((block) => block.text.text);
      expect(text.length).toBeLessThanOrEqual(3_000);
      expect(header.length).toBeLessThanOrEqual(150);
      expect(facts.length).toBeLessThanOrEqual(3_000);
      for (const each of [text, header, facts]) {
        expect(each.isWellFormed()).toBe(true);
        expect(each.replaceAll(/&(amp|lt|gt);/g, '')).not.toContain('&');
      }
    }
    const contributors = [{ dimension: 'tag', value: 'x'.repeat(5_000), label: null, share: 1 } as const];
    expect(slackMessage(alertMessage({ ...alert, contributors }, links)).blocks[1]?.text.text).toContain(NOTE);
  });

  it.each(longMessages)('shows every line and the page of %s', (_, message) => {
    const [, facts = '', footer = ''] = slackMessage(message).blocks.map((block) => block.text.text);
    expect(facts.length).toBeLessThanOrEqual(3_000);
    expect(facts.split('\n')).toHaveLength(1 + message.facts.length);
    expect(unescapeSlack(footer)).toContain(message.links[0].url);
    expect(footer.length).toBeLessThanOrEqual(3_000);
  });
});

describe('teamsMessage', () => {
  it('is a message with an Adaptive Card', () => {
    const { type, attachments } = teamsMessage(alertMessage(alert, links));
    expect(type).toBe('message');
    expect(attachments).toHaveLength(1);
    const actions = [links.alert, links.spend].map((url) => ({ type: 'Action.OpenUrl', url }));
    expect(attachments[0]).toMatchObject({
      contentType: 'application/vnd.microsoft.card.adaptive',
      contentUrl: null,
      content: { type: 'AdaptiveCard', version: '1.4', actions },
    });
    const lines = attachments[0]?.content.body.map(({ inlines }) => inlines.map((run) => Object(run).text).join(''));
    expect(lines).toEqual([TITLE, ...FACTS]);
  });

  it.each(nasty)('shows %s as it was written: every text is one without Markdown', (name) => {
    const body = teamsMessage(alertMessage(named(name), links)).attachments[0]?.content.body ?? [];
    for (const block of body) {
      expect(block.type).toBe('RichTextBlock');
      expect(block.inlines.every(({ type }) => type === 'TextRun')).toBe(true);
    }
    expect(JSON.stringify(body)).toContain(JSON.stringify(`${name} 100%`).slice(1, -1));
  });

  it.each(longMessages)('stays below 28 KB in UTF-8 and UTF-16, with every line: %s', (_, message) => {
    const sent = teamsMessage(message);
    const json = JSON.stringify(sent);
    expect(Math.max(Buffer.byteLength(json), Buffer.byteLength(json, 'utf16le'))).toBeLessThanOrEqual(28_000);
    expect(sent.attachments[0]?.content.body).toHaveLength(2 + message.facts.length);
    expect(sent.attachments[0]?.content.actions[0]?.url).toBe(message.links[0].url);
  });
});

describe('pagerDutyEvent', () => {
  it('triggers one incident for an alert, however often it is sent', () => {
    expect(pagerDutyEvent(alertMessage(alert, links), KEY)).toEqual({
      routing_key: KEY,
      event_action: 'trigger',
      dedup_key: 'alert-1',
      client: 'AI Spend Gateway',
      client_url: links.alert,
      links: [
        { href: links.alert, text: 'See and acknowledge it' },
        { href: links.spend, text: 'See the spend' },
      ],
      payload: {
        summary: `${TITLE}: ${FACTS[0]}`,
        source: 'ai-spend-gateway',
        severity: 'warning',
        timestamp: '2026-11-20T16:30:00.000Z',
        class: 'cost_threshold',
        custom_details: Object.fromEntries(FACTS.slice(1).map((fact) => fact.split(': '))),
      },
    });
  });

  it.each([
    [{ type: 'burn_rate' }, 'critical'],
    [{ type: 'budget', percent: 100 }, 'critical'],
    [{ type: 'budget', percent: 80 }, 'warning'],
  ] as const)('has for %j the severity %s', (facts, severity) => {
    expect(pagerDutyEvent(alertMessage({ ...alert, ...facts }, links), KEY).payload.severity).toBe(severity);
  });

  it('keeps the limit of a summary, and every note', () => {
    const long = { ...named('😀'.repeat(2_000)), mayAlsoMatch: { requests: 4, costNanoUsd: 1, unpricedRequests: 0 } };
    const { summary, custom_details: details } = pagerDutyEvent(alertMessage(long, links), KEY).payload;
    expect(summary.length).toBeLessThanOrEqual(1_024);
    expect(summary.isWellFormed()).toBe(true);
    expect(details['Note']).toMatch(/is unknown.*Up to 4 more/);
  });
});

describe('alertLinks', () => {
  it('lead to the spend of the period, of the filter, and of what the alert is about', () => {
    const config = { threshold: 1, period: 'daily', filter: { model: '42', dim: { team: 'a&b' } } } as const;
    const of = { dimension: 'key', value: 'k1', label: null } as const;
    const { spend } = alertLinks('https://d.example', { ...alert, of }, { type: 'cost_threshold', config } as never);
    expect(Object.fromEntries(new URL(spend).searchParams)).toEqual({
      ...{ range: 'custom', from: '2026-11-20', to: '2026-11-20' },
      ...{ model: '["42"]', 'dim:team': '["a&b"]', key: '["k1"]' },
    });
  });

  it('lead to the hour of an hourly period, not to its day', () => {
    const period = { name: 'hourly', start: '2026-11-20T16:00:00.000Z', end: '2026-11-20T17:00:00.000Z' } as const;
    const { searchParams } = new URL(alertLinks('https://d.example', { ...alert, period }).spend);
    expect([searchParams.get('from'), searchParams.get('to')]).toEqual([period.start, period.end]);
  });
});

describe('targets', () => {
  const slack = 'https://hooks.slack.com/services/T0/B0/abcdWXYZ';
  const teams =
    'https://default1.2.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/f/triggers/manual/paths/invoke?sig=s3cr';
  it.each([
    ['slack', slack, true],
    ['slack', 'https://hooks.slack.com.evil.example/services/T/B/x', false],
    ['slack', 'http://hooks.slack.com/services/T/B/x', false],
    ['slack', 'https://example.com/hook', false],
    ['teams', teams, true],
    ['teams', 'https://prod-1.westus.logic.azure.com:443/workflows/f/triggers/manual/paths/invoke?sig=x', true],
    ['teams', 'https://acme.webhook.office.com/webhookb2/x', false],
    ['teams', 'https://evil.example/workflows/f/triggers/manual', false],
    ['pagerduty', KEY, true],
    ['pagerduty', `eu:${KEY}`, true],
    ['pagerduty', KEY.slice(1), false],
    ['pagerduty', 'https://events.pagerduty.com/', false],
  ] as const)('%s: %s is one: %s', (channel, target, isTarget) => {
    expect(channelTypes[channel].targetProblem(target) === undefined).toBe(isTarget);
  });

  it('are shown by their host and end', () => {
    expect(maskTarget(slack)).toBe('https://hooks.slack.com/…WXYZ');
    expect(maskTarget(`eu:${KEY}`)).toBe('…5678');
    expect(shownWebhookUrl(slack)).toBe('https://hooks.slack.com/…WXYZ');
    expect(shownWebhookUrl('https://hooks.example.com/1')).toBe('https://hooks.example.com/1');
  });

  it("sends PagerDuty's events to the service region of the key", () => {
    expect(channelTypes.pagerduty.url(KEY)).toBe('https://events.pagerduty.com/v2/enqueue');
    expect(channelTypes.pagerduty.url(`eu:${KEY}`)).toBe('https://events.eu.pagerduty.com/v2/enqueue');
    expect(channelTypes.pagerduty.body(alertMessage(alert, links), `eu:${KEY}`)).toMatchObject({ routing_key: KEY });
  });
});
