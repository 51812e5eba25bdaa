import { expect, it } from '@jest/globals';
import { reportMail } from '../../../lambda/domain/reports/report-mail.ts';
import { sampleRun } from './sample-run.ts';

const mailOf = (name: string) => reportMail(sampleRun([name]), 'https://dashboard.example.com');

it('says in text and HTML how many requests the cost of a group leaves out', () => {
  const { text, html } = mailOf('search');
  expect(text).toContain('\n  search (3 requests of unknown cost): $1,234.56 (+$234.56), 12,345 requests\n');
  expect(html).toContain('>search (3 requests of unknown cost)</td>');
});

it('keeps figures in their order after a name that is written from right to left', () => {
  expect(mailOf('שלום').text).toContain('\n  \u2068שלום\u2069 (3 requests of unknown cost): $1,234.56');
});
