import { describe, expect, it } from '@jest/globals';
import { App, Validations } from 'aws-cdk-lib';
import { BUNDLING_STACKS, DISABLE_ASSET_STAGING_CONTEXT, STRICT_CFN_VALIDATE_ERRORS } from 'aws-cdk-lib/cx-api';
import { AwsSolutionsChecks } from 'cdk-nag';
import { exampleContext } from '../../bin/example-settings.ts';
import { parseStageSettings } from '../../lib/config.ts';
import { readGithub, readPipeline } from '../../lib/delivery.ts';
import { DataStack } from '../../lib/stacks/data.ts';
import { githubTrust } from '../../lib/stacks/github-trust.ts';
import { PipelineStack } from '../../lib/stacks/pipeline.ts';
import { SpendGatewayStage } from '../../lib/stage.ts';
import { appWithoutValidation, cdkContext } from './synth-stage.ts';

const bare = { [BUNDLING_STACKS]: [], [DISABLE_ASSET_STAGING_CONTEXT]: true, [STRICT_CFN_VALIDATE_ERRORS]: true };

const synthesize = (app: App) => {
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  return app.synth();
};

/** `npm run synth` checks the stage it makes; settings can make others. */
describe('no finding without an explanation', () => {
  it('in anything that can be deployed', () => {
    // One app: rules take seconds to load, for each app anew.
    const context = { ...cdkContext, ...exampleContext, ...bare };
    const app = new App({ context, analyticsReporting: false });
    new SpendGatewayStage(app, parseStageSettings('filled-in', exampleContext.stages.prod));
    const thrownAway = { ...exampleContext.stages.containers, firewall: { enabled: false }, removalPolicy: 'destroy' };
    new SpendGatewayStage(app, parseStageSettings('containers', thrownAway));
    new PipelineStack(app, 'ai-spend-pipeline', readPipeline(app.node));
    expect(githubTrust(app, readGithub(app.node))).toHaveLength(2);
    expect(() => synthesize(app)).not.toThrow();
    // CDK validates some thirty templates in WebAssembly: 10 s of processor time.
  }, 180_000);

  it('and one with none fails the synthesis', () => {
    const app = appWithoutValidation(bare);
    const data = new DataStack(app, 'data', { settings: parseStageSettings('prod', {}) });
    const table = data.node.findChild('Table').node.defaultChild;
    Object.assign(table as object, { pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: false } });
    expect(() => synthesize(app)).toThrow(/Point-in-time Recovery/);
  });
});
