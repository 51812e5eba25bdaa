import { spawnSync } from 'node:child_process';

/**
 * `npm run deploy -- --stage prod [options of cdk deploy]`: all stacks of one stage. Without --stage it is dev.
 * Whether the stage's settings suffice is checked by the app, before anything is bundled.
 */
const argv = process.argv.slice(2);
const at = argv.indexOf('--stage');
const stage = at === -1 ? 'dev' : argv[at + 1];
if (stage === undefined || stage.startsWith('-')) {
  console.error('Name the stage: npm run deploy -- --stage prod');
  process.exit(2);
}
const passedOn = at === -1 ? argv : argv.toSpliced(at, 2);
const { status } = spawnSync('cdk', ['deploy', '**', '-c', `stage=${stage}`, '-c', 'deploy=true', ...passedOn], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
