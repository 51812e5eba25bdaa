import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import {
  FUNCTION_OUTPUT,
  InvalidSettings,
  missingForDeploy,
  parseStageSettings,
  remarksForDeploy,
  type StageSettings,
} from '../lib/config.ts';
import { preflight } from './preflight.ts';
import { pruneVersions } from './prune-versions.ts';

/**
 * `npm run deploy -- --stage prod [options of cdk deploy]`: all stacks of one stage. Without --stage it is dev. What would fail
 * late or surprise is said first, before anything is synthesized.
 */

const exit = (message: string, code: number): never => {
  console.error(message);
  process.exit(code);
};

const cdkJson = z.object({ context: z.object({ stages: z.record(z.string(), z.unknown()).default({}) }) });

const settingsOf = (stage: string): StageSettings => {
  const { stages } = cdkJson.parse(JSON.parse(readFileSync('cdk.json', 'utf8'))).context;
  if (!(stage in stages)) exit(`stage: cdk.json has no stages.${stage}; it has ${Object.keys(stages).join(', ')}`, 1);
  try {
    return parseStageSettings(stage, stages[stage]);
  } catch (error) {
    return exit(error instanceof InvalidSettings ? error.message : String(error), 1);
  }
};

const outputsSchema = z.record(z.string(), z.record(z.string(), z.string()));

/** The names of the gateway's functions, from what the deployment printed. */
const gatewayFunctions = (outputsFile: string): string[] =>
  existsSync(outputsFile)
    ? Object.values(outputsSchema.parse(JSON.parse(readFileSync(outputsFile, 'utf8')))).flatMap((outputs) =>
        Object.entries(outputs).flatMap(([name, value]) => (name.endsWith(FUNCTION_OUTPUT) ? [value] : [])),
      )
    : [];

const argv = process.argv.slice(2);
const at = argv.indexOf('--stage');
const stage = (at === -1 ? 'dev' : argv[at + 1]) ?? '';
if (stage === '' || stage.startsWith('-')) exit('Name the stage: npm run deploy -- --stage prod', 2);
const passedOn = at === -1 ? argv : argv.toSpliced(at, 2);

const settings = settingsOf(stage);
const missing = missingForDeploy(settings);
if (missing.length > 0) exit([`Fill in cdk.json before deploying ${stage}:`, ...missing].join('\n'), 1);
const { refusals, remarks } = await preflight(settings);
for (const remark of [...remarksForDeploy(settings), ...remarks]) console.log(`Note: ${remark}`);
if (refusals.length > 0) exit(refusals.join('\n'), 1);

const folder = mkdtempSync(join(tmpdir(), 'deploy-'));
const outputsFile = join(folder, 'outputs.json');
const options = ['-c', `stage=${stage}`, '-c', 'deploy=true', '--outputs-file', outputsFile, ...passedOn];
const { status } = spawnSync('cdk', ['deploy', '**', ...options], { stdio: 'inherit' });
if (status === 0) {
  try {
    const deleted = await pruneVersions(settings.region ?? '', gatewayFunctions(outputsFile));
    if (deleted > 0) console.log(`Deleted ${deleted} old versions of the gateway's functions.`);
  } catch (error) {
    // The deployment is done. A version takes 70 KB of the 75 GB that a region has for code.
    console.log(`Note: old versions of the gateway's functions stay (${(error as Error).name}).`);
  }
}
rmSync(folder, { recursive: true });
process.exit(status ?? 1);
