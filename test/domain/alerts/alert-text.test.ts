import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Alert } from '../../../lambda/domain/alerts/alert.ts';
import { alertMail, alertMessage } from '../../../lambda/domain/alerts/alert-text.ts';
import { webhookBody } from '../../../lambda/domain/alerts/channels.ts';
import { sampleAlert } from './sample-alert.ts';

const alert: Alert = {
  ...sampleAlert,
  accountId: 'svc_secret',
  contributors: [...sampleAlert.contributors, { dimension: 'key', value: 'key-1', label: 'batch', share: 1 }],
};
const url = 'https://dashboard.example.com/alerts/alert-1';
const links = { alert: url, spend: 'https://dashboard.example.com/?range=custom&from=2026-11-20' };
const webhookText = (changed: Alert) => JSON.stringify(webhookBody(alertMessage(changed, links)));

describe('alertMail', () => {
  it('says what fired, by how much, what drove it, and where to see more, in text and HTML', () => {
    const { subject, text, html } = alertMail(alert, links);
    expect(subject).toBe('AI spend alert: a cost threshold is reached, 2026-11-20 (daily, UTC)');
    expect(text).toBe(
      [
        'Spend is $12: it reached the threshold of $10.',
        '',
        'Rule: “Daily spend”',
        'Period: 2026-11-20 (daily, UTC)',
        'By model: gpt-4o 75%, no model 25%',
        'By key: batch (key-1) 100%',
        'Note: The cost of 3 more requests in this period is unknown and not included.',
        '',
        `See and acknowledge it: ${url}`,
        `See the spend: ${links.spend}`,
        '',
      ].join('\n'),
    );
    for (const part of ['Spend is $12', 'gpt-4o 75%', 'batch (key-1)', `href="${url}"`]) expect(html).toContain(part);
  });

  it('is a whole HTML document', () => {
    expect(alertMail({ ...alert, ruleName: 'A & "B"', contributors: [], unpricedRequests: 0 }, links).html).toBe(
      [
        '<!doctype html><html><head><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"></head><body style="font-family:sans-serif;overflow-wrap:anywhere">',
        '<h2>Spend is $12: it reached the threshold of $10.</h2>',
        '<table cellpadding="4">',
        '<tr><th align="left" nowrap>Rule</th><td>“A &amp; &quot;B&quot;”</td></tr>',
        '<tr><th align="left" nowrap>Period</th><td>2026-11-20 (daily, UTC)</td></tr>',
        '</table>',
        `<p><a href="${url}">See and acknowledge it</a> · <a href="${links.spend.replace('&', '&amp;')}">See the spend</a></p>`,
        '</body></html>',
      ].join('\n'),
    );
  });

  it.each([
    ['hourly', '2026-11-20T16:00:00.000Z', '2026-11-20T17:00:00.000Z', '2026-11-20 16:00 to 17:00 (hourly, UTC)'],
    ['weekly', '2026-11-16T00:00:00.000Z', '2026-11-23T00:00:00.000Z', 'the week from 2026-11-16 (weekly, UTC)'],
    ['monthly', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z', '2026-11 (monthly, UTC)'],
  ] as const)('names the period of a rule that is %s', (name, start, end, period) => {
    expect(alertMail({ ...alert, period: { name, start, end } }, links).text).toContain(`\nPeriod: ${period}\n`);
  });

  it('has a note on what the filter may match as well', () => {
    const noteOf = (costNanoUsd: number | null, unpricedRequests: number, requests = 4) =>
      alertMail({ ...alert, mayAlsoMatch: { requests, costNanoUsd, unpricedRequests } }, links).text;
    expect(noteOf(2_500_000_000, 0)).toContain(
      "Note: Up to 4 more requests for $2.5 may match the rule's filter: they were counted under (other), or have no known value, from before the rule or the dimension.",
    );
    expect(noteOf(2_500_000_000, 3)).toContain(
      'Note: Up to 4 more requests for $2.5 and the unknown cost of 3 may match',
    );
    expect(noteOf(2_500_000_000, 0, 1)).toContain('Note: Up to 1 more request for $2.5 may match');
    expect(noteOf(null, 1200, 1200)).toContain('Note: Up to 1,200 more requests of unknown cost may match');
    expect(noteOf(null, 4)).toContain('Note: Up to 4 more requests of unknown cost may match');
  });

  it('has a note on unknown costs only with amounts that leave some out', () => {
    for (const facts of [{ unpricedRequests: 0 }, { unit: 'requests' }, { unit: 'percent' }] as const) {
      expect(alertMail({ ...alert, ...facts }, links).text).not.toContain('Note');
      expect(webhookText({ ...alert, ...facts })).not.toContain('is unknown');
    }
    expect(webhookText(alert)).toContain('The cost of 3 more requests in');
    expect(webhookText({ ...alert, unpricedRequests: 1 })).toContain('The cost of 1 more request in');
  });

  it('has no text of users or clients in the subject, and quotes it in the body as one line', () => {
    const ruleName = '\n Your account is closed:\r\ncall +1 555 0100 ';
    const contributors = [{ dimension: 'tag', value: 'closed', label: 'closed', share: 1 } as const];
    const { subject, text } = alertMail({ ...alert, ruleName, contributors }, links);
    expect(subject).toBe(alertMail(alert, links).subject);
    expect(text).toContain('\nRule: “Your account is closed: call +1 555 0100”\n');
    expect(alertMail({ ...alert, ruleId: null, type: 'plan_usage' }, links).text).not.toContain('Rule:');
  });

  it('gives mail programs nothing of users or clients to make a link of', () => {
    const names = ['https://evil.example/login', 'www.evil.example', 'evil.example', 'help@evil.example'];
    /** What mail programs make links of: schemes, host names and addresses. */
    const linkable = /\w+:\/\/|[\p{L}\d-]+\.\p{L}{2,}|\S@\p{L}/gu;
    for (const name of names) {
      expect(name).toMatch(linkable);
      const contributors = [{ dimension: 'tag', value: name, label: name, share: 1 } as const];
      const summary = `The tag ${name} has $7.5 within an hour.`;
      const { text, html } = alertMail({ ...alert, ruleName: name, summary, contributors }, { alert: url, spend: url });
      for (const body of [text, html]) expect(body.replaceAll(url, '')).not.toMatch(linkable);
    }
    expect(alertMail({ ...alert, ruleName: 'gpt-4.1 at $2.50' }, links).text).toContain('“gpt-4.1 at $2.50”');
  });

  it('does not say that a small contributor is nothing', () => {
    const of = (value: string, share: number) => ({ dimension: 'tag', value, label: null, share }) as const;
    const contributors = [of('a', 0.996), of('b', 0.0039), of('c', 0)];
    const mail = alertMail({ ...alert, contributors }, links);
    expect(mail.text).toContain('By tag: a 100%, b <1%, c 0%');
    expect(mail.html).toContain('b &lt;1%');
  });

  it('keeps client values on one line, so that they cannot pass for our text', () => {
    const contributors = [
      { dimension: 'model', value: 'm\n\nYour account\u2028is closed', label: null, share: 1 } as const,
    ];
    const { text } = alertMail({ ...alert, summary: 'user a\nb has used 80%.', contributors }, links);
    expect(text).toMatch(/^user a b has used 80%\.\n/);
    expect(text).toContain('By model: m Your account is closed 100%');
    const slack = webhookBody(alertMessage({ ...alert, contributors }, links)).blocks[1]?.text.text;
    expect(slack).toContain('By model: m Your account is closed 100%');
  });

  it('never lets what users and clients wrote become markup or a header', () => {
    const nasty = fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", '\r', '\n', 'a', ':'), minLength: 1 });
    fc.assert(
      fc.property(nasty, nasty, (name, tag) => {
        const { subject, html } = alertMail(
          { ...alert, ruleName: name, contributors: [{ dimension: 'tag', value: tag, label: null, share: 1 }] },
          links,
        );
        expect(subject).not.toMatch(/[\r\n]/);
        const tags = html.match(/<\/?[a-z!][^>]*>/gi) ?? [];
        expect(tags).toEqual(
          alertMail(
            { ...alert, contributors: [{ dimension: 'tag', value: 'x', label: null, share: 1 }] },
            links,
          ).html.match(/<\/?[a-z!][^>]*>/gi),
        );
      }),
    );
  });
});

describe('webhookBody', () => {
  it('is a message for Slack with the alert as data, and without the account key', () => {
    const body = webhookBody(alertMessage(alert, links));
    expect(JSON.stringify(body)).not.toContain('svc_secret');
    expect(body).toMatchObject({
      text: 'AI spend alert: Daily spend: Spend is $12: it reached the threshold of $10.',
      metadata: {
        event_type: 'ai_spend_alert',
        event_payload: { id: 'alert-1', figure: 12_000_000_000, alertUrl: url, spendUrl: links.spend },
      },
    });
  });
});
