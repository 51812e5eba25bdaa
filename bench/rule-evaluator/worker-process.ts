/** A worker of the rule evaluator: judges the jobs that its parent sends, and says what each took. Started by bench/rule-evaluator.ts. */
import { tableAt } from '../../fixtures/emulated-table.ts';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import type { Job } from '../../lambda/rule-evaluator/job.ts';
import { openJudge } from '../../lambda/rule-evaluator/open-judge.ts';

/** What a job took. */
export interface Judged {
  readonly rules: number;
  readonly alerts: number;
  readonly reads: number;
  readonly writes: number;
  readonly cpuSeconds: number;
}

const [endpoint = '', name = '', at = ''] = process.argv.slice(2);
const reading: ReadonlySet<string> = new Set(['Query', 'GetItem', 'BatchGetItem']);
let [reads, writes] = [0, 0];
const table = interceptTable(tableAt(endpoint, name), ({ operation }, send) => {
  if (reading.has(operation)) reads++;
  else writes++;
  return send();
});
const judge = openJudge(table, {
  users: { recipients: async () => [{ userId: 'u', email: 'ada@example.com', firstName: 'Ada', role: 'owner' }] },
  sendMail: async () => {},
  postWebhook: async () => {},
  dashboardUrl: 'https://dashboard.example.com',
  send: async () => {},
  now: () => new Date(at),
  logger: console,
});

process.on('message', async (job: Job) => {
  const before = process.cpuUsage();
  [reads, writes] = [0, 0];
  const { rules, alerts, failures } = await judge(job, () => Number.POSITIVE_INFINITY);
  if (failures > 0) throw new Error(`${failures} failures`);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ rules, alerts, reads, writes, cpuSeconds: (user + system) / 1e6 } satisfies Judged);
});
