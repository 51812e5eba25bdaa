import { spawnSync } from 'node:child_process';
import {
  InvalidSettings,
  missingForDeploy,
  readContext,
  remarksForDeploy,
  type StageSettings,
  settingsOf,
} from '../lib/config.ts';
import { credentialsOwner, preflight } from './preflight.ts';

const USAGE = `npm run deploy -- [--stage STAGE] [options of cdk deploy]

Deploys all stacks of one stage of cdk.json (default: dev). It first reads the settings and the AWS account, and refuses what would
fail late. Region and credentials come from the AWS environment.`;

const exit = (message: string, code: number): never => {
  console.error(message);
  process.exit(code);
};

const settingsOrExit = (stage: string): StageSettings => {
  try {
    return settingsOf(stage, readContext().stages);
  } catch (error) {
    return exit(error instanceof InvalidSettings ? error.message : String(error), 1);
  }
};

/** A stage without an account is for the one of the credentials, in their region. */
const onWhoseBehalf = async (settings: StageSettings): Promise<StageSettings> => {
  if (settings.account !== undefined && settings.region !== undefined) return settings;
  const { account, region } = await credentialsOwner();
  return { ...settings, account: settings.account ?? account, region: settings.region ?? region };
};

const argv = process.argv.slice(2).flatMap((word) => (word.startsWith('--stage=') ? word.split('=') : [word]));
if (argv.includes('--help') || argv.includes('-h')) {
  console.log(USAGE);
  process.exit(0);
}
const at = argv.indexOf('--stage');
const stage = (at === -1 ? 'dev' : argv[at + 1]) ?? '';
// npm takes an option that stands before `--` for its own, and leaves its value.
if (stage === '' || stage.startsWith('-') || /^[^-]/.test(argv[0] ?? ''))
  exit('Name the stage: npm run deploy -- --stage prod', 2);
// cdk ignores what it does not know, and npm takes what stands before `--`: it would be done for real.
if (argv.some((word) => word.startsWith('--dry-run')) || process.env['npm_config_dry_run'] === 'true')
  exit(`There is no --dry-run here: npx cdk diff '**' -c stage=${stage} shows what would change.`, 2);
const passedOn = at === -1 ? argv : argv.toSpliced(at, 2);

const settings = await onWhoseBehalf(settingsOrExit(stage));
const missing = missingForDeploy(settings);
if (missing.length > 0) {
  const isLoggedOut = settings.account === undefined;
  const logIn =
    'Without an account it is that of your AWS credentials, and there are none that AWS accepts: aws login.';
  exit([`Fill in cdk.json before deploying ${stage}:`, ...missing, ...(isLoggedOut ? [logIn] : [])].join('\n'), 1);
}
const { refusals, remarks } = await preflight(settings);
for (const remark of [...remarksForDeploy(settings), ...remarks]) console.log(`Note: ${remark}`);
if (refusals.length > 0) exit(refusals.join('\n'), 1);

const context = { stage, account: settings.account, region: settings.region };
const options = Object.entries(context).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
const { status } = spawnSync('cdk', ['deploy', '**', ...options, ...passedOn], { stdio: 'inherit' });
process.exit(status ?? 1);
