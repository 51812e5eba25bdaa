import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { environmentToLoad } from '../../bench/cold/fakes.ts';
import { bundleFunctions } from '../../lib/bundled-functions.ts';
import { bundleOptions } from '../../lib/constructs/function-bundle.ts';

/**
 * Kilobytes (1,024 bytes) that a bundle may take, a tenth more than it does. What makes one larger makes each of its cold starts
 * longer: bench/cold.ts says by how much. Most often it is a package that came in whole, as zod does by `zod` or a value of `z.core`
 * where `zod/mini` was meant; raise a budget for nothing less.
 */
const BUDGETS_KB: Readonly<Record<string, number>> = {
  'gateway/Proxy/Function': 93,
  'usage/Recorder': 1_000,
  'usage/Sweep': 935,
  'usage/Rollup': 335,
  'usage/OwnPrices': 1_120,
  'usage/PriceFeed': 960,
  'usage/Repricing': 1_120,
  'alerts/RuleEvaluator': 413,
  'alerts/RuleWorker': 469,
  'mail/Feedback': 270,
  'billing/Reconcile': 570,
  'dashboard-api/AuthHandler': 930,
  'dashboard-api/AccountHandler': 605,
  'dashboard-api/MembersHandler': 429,
  'dashboard-api/KeysHandler': 327,
  'dashboard-api/SignOnHandler': 363,
  'dashboard-api/TokensHandler': 363,
  'dashboard-api/SpendHandler': 343,
  'dashboard-api/SpendExportHandler': 337,
  'dashboard-api/MetricsHandler': 380,
  'dashboard-api/ReconciliationHandler': 990,
  'dashboard-api/DimensionsHandler': 329,
  'dashboard-api/RequestsHandler': 500,
  'dashboard-api/PricesHandler': 329,
  'dashboard-api/PriceChangesHandler': 315,
  'dashboard-api/SessionsHandler': 505,
  'dashboard-api/AlertRulesHandler': 399,
  'dashboard-api/BudgetsHandler': 409,
  'dashboard-api/AlertsHandler': 362,
  'dashboard-api/ReportsHandler': 458,
  'dashboard-api/McpHandler': 860,
  'dashboard-api/BillingHandler': 585,
  'dashboard-api/AuditHandler': 315,
  'dashboard-api/AuditExportHandler': 314,
  'dashboard-api/StripeWebhookHandler': 570,
  'dashboard-api/OpenapiHandler': 475,
  'dashboard-api/ExportsHandler': 514,
  'exports/Exporter': 577,
  'account-jobs/AccountJobs': 915,
};

const folder = mkdtempSync(join(tmpdir(), 'bundles-'));
const bundles = bundleFunctions(folder);
afterAll(() => rmSync(folder, { recursive: true }));

describe('bundles', () => {
  it('have a budget each', () => {
    expect(bundles.map(({ name }) => name).sort()).toEqual(Object.keys(BUDGETS_KB).sort());
  });

  it.each(bundles)('$name is within its budget', ({ name, file }) => {
    const kB = statSync(file).size / 1_024;
    expect(kB).toBeLessThan(BUDGETS_KB[name] ?? 0);
    // A budget far too large guards nothing.
    expect(kB).toBeGreaterThan(0.7 * (BUDGETS_KB[name] ?? 0));
  });

  // One with code of its own that it loads later, the largest, and a small one.
  const compared = ['gateway/Proxy/Function', 'usage/Recorder', 'dashboard-api/AlertsHandler'];
  it.each(bundles.filter(({ name }) => compared.includes(name)))(
    '$name, made with all others, is what it is by itself, which stack-trace counts on',
    async ({ entry, file }) => {
      const { outputFiles } = await build({ ...bundleOptions(entry, folder), write: false });
      expect(Buffer.from(outputFiles[0]?.contents ?? []).equals(readFileSync(file))).toBe(true);
    },
  );

  it('loads what reserves from budgets from a file next to the gateway’s bundle', () => {
    const gateway = bundles.find(({ name }) => name.startsWith('gateway/'))?.file ?? '';
    const script = `import('#reserve').then(({ openReserve }) => console.log(typeof openReserve({}, '', 0).release))`;
    const folderOfGateway = dirname(gateway);
    writeFileSync(join(folderOfGateway, 'load-reserve.js'), script);
    const { stdout, stderr } = spawnSync(process.execPath, [join(folderOfGateway, 'load-reserve.js')], {
      encoding: 'utf8',
    });
    expect({ stdout, stderr }).toEqual({ stdout: 'function\n', stderr: '' });
    expect(statSync(join(folderOfGateway, 'reserve.js')).size / 1_024).toBeLessThan(95);
  });

  it.each(bundles)('$name loads with nothing but its own variables', ({ file, environment }) => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/cold/load.mjs', file], {
      env: { ...environmentToLoad(environment) },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
