import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { z } from 'zod';
import { environmentToLoad } from '../../bench/cold/fakes.ts';
import { BUNDLE_FILE, bundleOptions } from '../../lib/constructs/function-bundle.ts';
import { readAssembly, resourcesOf } from '../../local/host/template/assembly.ts';
import { currentAssembly } from '../../local/synth.ts';

/**
 * Kilobytes (1,024 bytes) that a bundle may take, up to a tenth more than it does. What makes one larger makes each of its cold starts
 * longer: bench/cold.ts says by how much. Most often it is a package that came in whole, as zod does by `zod` or a value of `z.core`
 * where `zod/mini` was meant: look for that before you raise a budget.
 */
const BUDGETS_KB: Readonly<Record<string, number>> = {
  'gateway/Proxy/Function': 113,
  'usage/Recorder': 520,
  'usage/Sweep': 520,
  'usage/Rollup': 364,
  'usage/OwnPrices': 609,
  'usage/PriceFeed': 320,
  'usage/Repricing': 583,
  'alerts/RuleEvaluator': 389,
  'alerts/RuleWorker': 443,
  'mail/Feedback': 268,
  'billing/Reconcile': 589,
  'dashboard-api/IdentityHandler': 471,
  'dashboard-api/ReadingHandler': 553,
  'dashboard-api/SettingsHandler': 540,
  'dashboard-api/FilesHandler': 453,
  'dashboard-api/MachineHandler': 646,
  'dashboard-api/BillingHandler': 642,
  'dashboard-api/StripeWebhookHandler': 593,
  'exports/Exporter': 594,
  'account-jobs/AccountJobs': 975,
};

const propertiesSchema = z.object({
  Code: z.object({ S3Key: z.string().default('') }),
  Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }).optional(),
});

/** The functions of `npm run synth` that have a bundle: CDK's own have another kind of code. */
const stacks = readAssembly(await currentAssembly(join(import.meta.dirname, '../..'), () => {}));
const bundles = resourcesOf(stacks, 'AWS::Lambda::Function').flatMap(({ stack, path, properties }) => {
  const { Code, Environment } = propertiesSchema.parse(properties);
  const file = join(stack.assets.get(Code.S3Key) ?? '', BUNDLE_FILE);
  const variables = Object.entries(Environment?.Variables ?? {});
  const environment = Object.fromEntries(
    variables.map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
  );
  // Without the stage and the resource.
  const name = path.split('/').slice(1, -1).join('/');
  return stack.assets.has(Code.S3Key) && existsSync(file) ? [{ name, file, environment }] : [];
});

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
  it.each([
    ['gateway/Proxy/Function', 'lambda/gateway/hosts/handler.ts'],
    ['usage/Recorder', 'lambda/usage-recorder/handler.ts'],
    ['dashboard-api/FilesHandler', 'lambda/dashboard/functions/files.ts'],
  ])('%s, made with all others, is what it is by itself, which stack-trace counts on', async (name, entry) => {
    const { outputFiles } = await build({ ...bundleOptions(entry, '.'), write: false });
    const file = bundles.find((bundle) => bundle.name === name)?.file ?? '';
    expect(Buffer.from(outputFiles[0]?.contents ?? []).equals(readFileSync(file))).toBe(true);
  });

  it.each([
    ['gateway/Proxy/Function', '#reserve', `typeof openReserve({}, '', 0).release`, 'function', 119],
    ['usage/Recorder', '#bundled-lists', 'bundledLists.genaiPrices.openai.id', 'openai', 315],
    ['dashboard-api/ReadingHandler', '#object-store', `typeof openObjectStore('bucket').getRange`, 'function', 320],
    ['alerts/RuleWorker', '#mail-sender', `typeof openMailSender({}).call`, 'function', 245],
    ['dashboard-api/MachineHandler', '#mcp-sdk', 'typeof Server.prototype.connect', 'function', 330],
    ['dashboard-api/SettingsHandler', '#savings', `typeof openSavings({}, {}, {}).readFindings`, 'function', 500],
    ['dashboard-api/IdentityHandler', '#password-guesser', `passwordGuesser.check('password').score`, '0', 500],
  ])('%s loads %s from a file next to its bundle', (bundle, name, expression, expected, maxKb) => {
    const cwd = dirname(bundles.find((each) => each.name === bundle)?.file ?? '');
    const [member = ''] = /\w+(?=[.(])/.exec(expression.replace('typeof ', '')) ?? [];
    const script = `import('${name}').then(({ ${member} }) => console.log(${expression}))`;
    const { stdout, stderr } = spawnSync(process.execPath, ['--eval', script], { cwd, encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: `${expected}\n`, stderr: '' });
    expect(statSync(join(cwd, `${name.slice(1)}.js`)).size / 1_024).toBeLessThan(maxKb);
  });

  it.each(bundles)('$name has every file that it or one of these loads later', ({ file }) => {
    const folder = dirname(file);
    const { imports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const loaded = readdirSync(folder)
      .filter((name) => name.endsWith('.js'))
      .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/(?:import|require)\("(#[\w-]+)"/g)])
      .map(([, name]) => name);
    expect(Object.keys(imports).sort()).toEqual([...new Set(loaded)].sort());
    for (const path of Object.values<string>(imports)) expect(existsSync(join(folder, path))).toBe(true);
  });

  it.each(bundles)('$name loads with nothing but its own variables', ({ file, environment }) => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/cold/load.mjs', file], {
      env: { ...environmentToLoad(environment) },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
