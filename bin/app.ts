import { App, Validations } from 'aws-cdk-lib';
import { FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT, STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { InvalidSettings, readStageSettings } from '../lib/config.ts';
import { deliveryAsked, readGithub, readPipeline } from '../lib/delivery.ts';
import { githubTrust } from '../lib/stacks/github-trust.ts';
import { PipelineStack } from '../lib/stacks/pipeline.ts';
import { SpendGatewayStage } from '../lib/stage.ts';

const app = new App({
  analyticsReporting: false,
  // The CLI would report findings of the requested stacks only; here every finding fails every synthesis.
  postCliContext: { [FAIL_SYNTH_ON_VALIDATION_ERRORS_CONTEXT]: true, [STRICT_CFN_VALIDATE_ERRORS]: true },
});
try {
  const asked = deliveryAsked(app.node);
  if (asked === 'pipeline') new PipelineStack(app, 'ai-spend-pipeline', readPipeline(app.node));
  else if (asked === 'github') githubTrust(app, readGithub(app.node));
  else new SpendGatewayStage(app, readStageSettings(app.node));
  // `cdk synth --no-validation`, and the local stack, which needs no findings.
  if (process.env['CDK_VALIDATION'] !== 'false') Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
} catch (error) {
  // CDK has printed the findings already, and a bundler why it failed.
  const isExplained = error instanceof Error && ['ValidationFailed', 'FailedToBundleAsset'].includes(error.name);
  if (!isExplained && !(error instanceof InvalidSettings)) throw error;
  console.error(error.message);
  process.exit(1);
}
