/** Asks one question of an account and says what that took. Started by bench/at-limit.ts, as a process of its own: its memory is the question's. */
import { tableAt } from '../../fixtures/emulated-table.ts';
import { interceptTable } from '../../fixtures/intercept-table.ts';
import { settingsOf } from '../../fixtures/open-dashboard.ts';
import { manageRules } from '../../lambda/dashboard/limits/manage-rules.ts';
import { exportSpend, readSpend } from '../../lambda/dashboard/spend/read-spend.ts';
import { openDeclaredDimensions } from '../../lambda/data/accounts/declared-dimensions.ts';
import { openTrackingGaps } from '../../lambda/data/ledger/tracking-gaps.ts';
import { openSpend } from '../../lambda/data/spend/spend.ts';
import { ACCOUNT } from './account-at-limit.ts';
import { unitCounter } from './count-units.ts';

const [endpoint = '', name = '', at = '', question = ''] = process.argv.slice(2);
let calls = 0;
const units = unitCounter();
const table = units.countedTable(
  interceptTable(tableAt(endpoint, name), (_, send) => {
    calls++;
    return send();
  }),
);
const now = () => new Date(at);
const { read: readCounters } = openSpend(table);
const input = {
  caller: { accountId: ACCOUNT, userId: 'u', role: 'owner' as const, name: 'u' },
  authorization: '',
  requestId: 'r',
  params: undefined,
};
const { find: findDeclared } = openDeclaredDimensions(table);
const { previewRule: preview } = manageRules({ ...settingsOf(table, now), readCounters });
const spend = readSpend({ readCounters, readTrackingGaps: openTrackingGaps(table).gaps, findDeclared, now });
const exported = exportSpend({ readCounters, findDeclared, now });
const { kind, ...asked } = JSON.parse(question);

const ask: Record<string, () => Promise<unknown>> = {
  preview: () => preview({ ...input, query: undefined, body: asked }),
  spend: () => spend({ ...input, body: undefined, query: { limit: 100, groupBy: [], ...asked } }),
  export: async () => {
    let bytes = 0;
    const pieces = (await exported({
      ...input,
      body: undefined,
      query: { groupBy: [], ...asked },
    })) as AsyncIterable<string>;
    for await (const piece of pieces) bytes += piece.length;
    return { bytes };
  },
};

const cpuBefore = process.cpuUsage();
const startedMs = performance.now();
let error: string | undefined;
let response: unknown;
try {
  response = await ask[kind]?.();
} catch (thrown) {
  error = `${(thrown as Error).name}: ${(thrown as Error).message}`;
}
const ms = performance.now() - startedMs;
const { user, system } = process.cpuUsage(cpuBefore);
console.log(
  JSON.stringify({
    ms: Math.round(ms),
    cpuMs: Math.round((user + system) / 1_000),
    calls,
    readUnits: units.take(),
    peakMb: Math.round(process.resourceUsage().maxRSS / 1_024),
    responseKb: Math.round(JSON.stringify(response ?? '').length / 1_024),
    ...(error && { error }),
  }),
);
