import { type CfnElement, Duration, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { BuildSpec, ComputeType, LinuxBuildImage, PipelineProject } from 'aws-cdk-lib/aws-codebuild';
import { Artifact, ExecutionMode, Pipeline, PipelineType } from 'aws-cdk-lib/aws-codepipeline';
import {
  CodeBuildAction,
  CodeStarConnectionsSourceAction,
  ManualApprovalAction,
} from 'aws-cdk-lib/aws-codepipeline-actions';
import { ArnPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Secret } from 'aws-cdk-lib/aws-secretsmanager';
import type { Construct } from 'constructs';
import { acknowledge } from '../constructs/acknowledge.ts';
import { grantDeployments } from '../constructs/bootstrap-roles.ts';
import { grantActions } from '../constructs/grants.ts';
import type { DeliveredStage, Delivery, PipelineSettings } from '../delivery.ts';

const capitalised = (name: string) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * From a push to production: check and test, then stage by stage deploy and smoke test, every stage after the first behind an
 * approval. Each step is a script that people run by hand, too; .github/workflows/deliver.yml calls the same.
 */
export class PipelineStack extends Stack {
  constructor(scope: Construct, id: string, { settings, stages }: Delivery<PipelineSettings>) {
    super(scope, id, { env: { account: settings.account, region: settings.region } });

    const artifacts = new Bucket(this, 'Artifacts', {
      encryption: BucketEncryption.S3_MANAGED,
      blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
      enforceSSL: true,
      lifecycleRules: [{ expiration: Duration.days(30) }],
      removalPolicy: RemovalPolicy.DESTROY,
    });
    acknowledge(artifacts, { S1: 'It holds copies of the sources between two steps; only the pipeline reads them.' });
    const pipeline = new Pipeline(this, 'Pipeline', {
      pipelineType: PipelineType.V2,
      executionMode: ExecutionMode.QUEUED,
      // The cast: aws-cdk-lib's classes and interfaces differ under exactOptionalPropertyTypes.
      artifactBucket: artifacts as IBucket,
      crossAccountKeys: false,
    });

    const source = new Artifact('Source');
    const [owner = '', repo = ''] = settings.repository.split('/');
    const sourceRole = new Role(this, 'SourceRole', { assumedBy: new ArnPrincipal(pipeline.role.roleArn) });
    // CDK grants this only under the former name of the service.
    grantActions(sourceRole, settings.connectionArn, 'codeconnections:UseConnection');
    pipeline.addStage({
      stageName: 'Source',
      actions: [
        new CodeStarConnectionsSourceAction({
          actionName: 'Source',
          connectionArn: settings.connectionArn,
          owner,
          repo,
          branch: settings.branch,
          output: source,
          role: sourceRole,
        }),
      ],
    });
    const action = (project: PipelineProject, runOrder: number) =>
      new CodeBuildAction({ actionName: project.node.id, project, input: source, runOrder });

    pipeline.addStage({
      stageName: 'Check',
      actions: [action(this.#project('CheckAndTest', ['bash .ci/run']), 1)],
    });
    for (const [index, stage] of stages.entries()) {
      pipeline.addStage({
        stageName: capitalised(stage.name),
        actions: [
          ...(index === 0 ? [] : [new ManualApprovalAction({ actionName: `Approve${capitalised(stage.name)}` })]),
          action(this.#deployment(stage), 2),
          action(this.#smokeTest(stage, settings.canarySecrets[stage.name]), 3),
        ],
      });
    }
    const reason = 'CDK grants the pipeline and its steps what they need of its own artifacts, logs and reports.';
    acknowledge(this, {
      ...Object.fromEntries(this.#wildcards(artifacts).map((what) => [`IAM5[${what}]`, reason])),
      CB4: 'Artifacts are copies of the sources: encrypted by S3, without a key of our own that would cost by the month.',
    });
  }

  /** Under the names of cdk-nag: each needs its own reason. */
  #wildcards(artifacts: Bucket): string[] {
    const idOf = ({ node }: Construct) => this.getLogicalId(node.defaultChild as CfnElement);
    const projects = this.node.children.filter((child) => child instanceof PipelineProject);
    const logGroups = `arn:${this.partition}:logs:${this.region}:${this.account}:log-group:/aws/codebuild`;
    return [
      ...['GetObject', 'GetBucket', 'List', 'DeleteObject', 'Abort'].map((action) => `Action::s3:${action}*`),
      `Resource::<${idOf(artifacts)}.Arn>/*`,
      ...projects.map((project) => `Resource::${logGroups}/<${idOf(project)}>:*`),
    ];
  }

  #project(
    id: string,
    commands: readonly string[],
    {
      secrets,
      privileged = false,
    }: { readonly secrets?: BuildSecrets | undefined; readonly privileged?: boolean } = {},
  ): PipelineProject {
    return new PipelineProject(this, id, {
      environment: {
        // x64, because the emulator of the tests exists only for it.
        buildImage: LinuxBuildImage.AMAZON_LINUX_2023_5,
        computeType: ComputeType.LARGE,
        privileged,
      },
      grantReportGroupPermissions: false,
      buildSpec: BuildSpec.fromObject({
        version: '0.2',
        ...(secrets && { env: { 'secrets-manager': secrets } }),
        phases: {
          // The newest of the image; npm scripts run on the Node 24 in the packages.
          install: { 'runtime-versions': { nodejs: 22 }, commands: ['npm ci --no-audit --no-fund'] },
          build: { commands },
        },
      }),
    });
  }

  #deployment(stage: DeliveredStage): PipelineProject {
    const project = this.#project(
      `Deploy${capitalised(stage.name)}`,
      [`npm run deploy -- --stage ${stage.name} --require-approval never`],
      { privileged: stage.publishesImage },
    );
    if (stage.publishesImage)
      acknowledge(project, {
        CB3: 'Only a privileged project has the Docker that builds the image of a stage in containers.',
      });
    grantDeployments(project, this, stage);
    return project;
  }

  #smokeTest({ name }: DeliveredStage, secretName: string | undefined): PipelineProject {
    const secrets = secretName === undefined ? undefined : canaryVariables(secretName);
    const project = this.#project(`Smoke${capitalised(name)}`, [`npm run smoke -- --stage ${name}`], { secrets });
    if (secretName !== undefined)
      Secret.fromSecretNameV2(this, `Canary${capitalised(name)}`, secretName).grantRead(project);
    return project;
  }
}

type BuildSecrets = Readonly<Record<string, string>>;

const canaryVariables = (secretName: string): BuildSecrets => ({
  CANARY_SERVICE_KEY: `${secretName}:serviceKey`,
  CANARY_EMAIL: `${secretName}:email`,
  CANARY_PASSWORD: `${secretName}:password`,
});
