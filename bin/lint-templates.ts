import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { readContext } from '../lib/config.ts';
import { readOptions } from '../ops/command.ts';
import { exampleContext } from './example-settings.ts';
import { brokenQuotas, type CloudFormationTemplate } from './template-quotas.ts';

const USAGE = `npm run lint:templates

Checks the templates of "npm run synth", of a stage with everything filled in, of one without domains, of one in containers, of the
pipeline and of GitHub's roles: by cfn-lint, a Python program that .cfnlintrc.yaml configures, and against AWS's quotas, which
cfn-lint does not know. Without cfn-lint nothing is checked; in CI it then exits 1.`;
readOptions({ usage: USAGE, schema: z.object({}) });

const APPS = {
  stage: { stage: 'prod' },
  try: { stage: 'try' },
  containers: { stage: 'containers' },
  pipeline: { app: 'pipeline' },
  github: { app: 'github' },
};
const INSTALL = 'python3 -m pip install -r requirements-ci.txt';

/** Synthesizes an app without functions' code and without CDK's own validation, which `npm run synth` has. */
const synthesize = (folder: string, context: object): boolean => {
  const settings = readContext();
  const stages = { ...settings.stages, ...exampleContext.stages };
  const { status } = spawnSync(process.execPath, ['bin/app.ts'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      CDK_VALIDATION: 'false',
      CDK_OUTDIR: folder,
      CDK_CONTEXT_JSON: JSON.stringify({
        ...settings,
        ...exampleContext,
        stages,
        ...context,
        'aws:cdk:bundling-stacks': [],
      }),
    },
  });
  return status === 0;
};

const SYNTHESIZED = 'cdk.out/**/*.template.json';

const lint = (): number => {
  if (globSync(SYNTHESIZED).length === 0) {
    console.error('cdk.out has no templates: run npm run synth first.');
    return 1;
  }
  const folder = mkdtempSync(join(tmpdir(), 'templates-'));
  try {
    for (const [name, context] of Object.entries(APPS)) if (!synthesize(join(folder, name), context)) return 1;
    const templates = [SYNTHESIZED, join(folder, '**/*.template.json')];
    const broken = globSync(templates).flatMap((path) => {
      const template = JSON.parse(readFileSync(path, 'utf8')) as CloudFormationTemplate;
      return brokenQuotas(template).map((sentence) => `${path.split('/').at(-1)}: ${sentence}`);
    });
    if (broken.length > 0) {
      console.error(broken.join('\n'));
      return 1;
    }
    return spawnSync('cfn-lint', ['--template', ...templates], { stdio: 'inherit' }).status ?? 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const isInstalled = spawnSync('cfn-lint', ['--version'], { stdio: 'ignore' }).status === 0;
if (isInstalled) {
  process.exitCode = lint();
  if (process.exitCode === 0) console.log('cfn-lint found nothing wrong with the templates.');
} else if (process.env['CI'] || process.env['CODEBUILD_BUILD_ID']) {
  console.error(`cfn-lint is not installed. Install it by ${INSTALL}`);
  process.exitCode = 1;
} else {
  console.log(`skipped: cfn-lint is not installed. Install it by ${INSTALL}`);
}
