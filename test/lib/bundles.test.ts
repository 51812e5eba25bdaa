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
  'usage/Recorder': 530,
  'usage/Sweep': 457,
  'usage/Rollup': 335,
  'usage/OwnPrices': 618,
  'usage/PriceFeed': 318,
  'usage/Repricing': 617,
  'alerts/RuleEvaluator': 413,
  'alerts/RuleWorker': 469,
  'mail/Feedback': 270,
  'billing/Reconcile': 570,
  'dashboard-api/AuthHandler': 476,
  'dashboard-api/AccountHandler': 605,
  'dashboard-api/MembersHandler': 429,
  'dashboard-api/KeysHandler': 327,
  'dashboard-api/SignOnHandler': 363,
  'dashboard-api/TokensHandler': 363,
  'dashboard-api/SpendHandler': 343,
  'dashboard-api/SpendExportHandler': 337,
  'dashboard-api/MetricsHandler': 380,
  'dashboard-api/ReconciliationHandler': 447,
  'dashboard-api/DimensionsHandler': 329,
  'dashboard-api/RequestsHandler': 349,
  'dashboard-api/PricesHandler': 329,
  'dashboard-api/PriceChangesHandler': 315,
  'dashboard-api/SessionsHandler': 350,
  'dashboard-api/AlertRulesHandler': 399,
  'dashboard-api/BudgetsHandler': 409,
  'dashboard-api/AlertsHandler': 362,
  'dashboard-api/ReportsHandler': 458,
  'dashboard-api/McpHandler': 730,
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

  it.each([
    ['gateway/Proxy/Function', '#reserve', `typeof openReserve({}, '', 0).release`, 'function', 95],
    ['usage/Recorder', '#bundled-lists', 'bundledLists.genaiPrices.openai.id', 'openai', 265],
    ['dashboard-api/RequestsHandler', '#object-store', `typeof openObjectStore('bucket').getRange`, 'function', 320],
    ['dashboard-api/AuthHandler', '#password-guesser', `passwordGuesser.check('password').score`, '0', 500],
  ])('%s loads %s from a file next to its bundle', (bundle, name, expression, expected, maxKb) => {
    const own = bundles.find((each) => each.name === bundle)?.file ?? '';
    const script = join(dirname(own), 'load-lazy.js');
    const [member = ''] = /\w+(?=[.(])/.exec(expression.replace('typeof ', '')) ?? [];
    writeFileSync(script, `import('${name}').then(({ ${member} }) => console.log(${expression}))`);
    const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: `${expected}\n`, stderr: '' });
    expect(statSync(join(dirname(own), `${name.slice(1)}.js`)).size / 1_024).toBeLessThan(maxKb);
  });

  it.each(bundles)('$name loads with nothing but its own variables', ({ file, environment }) => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/cold/load.mjs', file], {
      env: { ...environmentToLoad(environment) },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
