import { spawnSync } from 'node:child_process';

/** `npm run lint:templates`, after `npm run synth`: cfn-lint, which is a Python program, where it is installed. .cfnlintrc.yaml configures it. */
const { status: version } = spawnSync('cfn-lint', ['--version'], { stdio: 'ignore' });
if (version === 0) {
  const { status } = spawnSync('cfn-lint', { stdio: 'inherit' });
  if (status === 0) console.log('cfn-lint: nothing to say about the templates');
  process.exitCode = status ?? 1;
} else {
  console.log('skipped: cfn-lint is not installed (pip install cfn-lint)');
}
