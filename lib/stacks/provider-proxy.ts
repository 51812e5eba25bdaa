import { Duration } from 'aws-cdk-lib';
import type { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { Metric, Stats } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import type { Alias, IFunction } from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import type { GatewayEnvironment } from '../../lambda/gateway/environment.ts';
import type { StageSettings } from '../config.ts';
import { acknowledge } from '../constructs/acknowledge.ts';
import type { ErrorMessages } from '../constructs/error-responses.ts';
import type { Firewall } from '../constructs/firewall.ts';
import { HandlerFunction } from '../constructs/handler-function.ts';
import { ImportedApi } from '../constructs/imported-api.ts';
import { releaseAlarm } from '../constructs/runbook-alarms.ts';
import { MINUTE, share } from './metrics.ts';

/**
 * A new version of a function gets a tenth of the requests for five minutes, then all of them. If the alarm rings before, the
 * alias returns to the old version and the deployment fails.
 */
class CanaryRelease extends Construct {
  constructor(scope: Construct, id: string, alias: Alias, runbookUrl: string) {
    super(scope, id);
    // Counts the new version only: failures of a tenth of all requests would go unnoticed.
    const ofNewVersion = (metricName: string) =>
      new Metric({
        namespace: 'AWS/Lambda',
        metricName,
        dimensionsMap: {
          FunctionName: alias.lambda.functionName,
          Resource: `${alias.lambda.functionName}:${alias.aliasName}`,
          ExecutedVersion: alias.version.version,
        },
        statistic: Stats.SUM,
        period: MINUTE,
      });
    const failed = share('Errors of the new version, %', ofNewVersion('Errors'), ofNewVersion('Invocations'), MINUTE);
    const alarm = releaseAlarm(this, 'Errors', 'The new version fails: it is taken back.', failed, runbookUrl);
    const group = new LambdaDeploymentGroup(this, 'Group', {
      alias,
      deploymentConfig: LambdaDeploymentConfig.CANARY_10PERCENT_5MINUTES,
      alarms: [alarm],
      autoRollback: { failedDeployment: true, stoppedDeployment: true, deploymentInAlarm: true },
    });
    // The alarm must watch the new version, not the old one, before its first request.
    alias.node.addDependency(alarm);
    acknowledge(group, {
      'IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited]':
        'AWS maintains this policy: CodeDeploy may shift aliases with it and invoke nothing.',
    });
  }
}

/** The longest time a function may run and a streamed response may take. @see https://docs.aws.amazon.com/apigateway/latest/developerguide/response-transfer-mode.html */
const LONGEST_REQUEST = Duration.minutes(15);

/** Errors that API Gateway itself sends to clients of a provider. */
const errorMessages: ErrorMessages = {
  // Lambda takes 6 MB, and a body reaches it as base64. @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
  REQUEST_TOO_LARGE:
    'This gateway takes bodies of up to about 4.5 MB. Send less at once, or send large bodies to the provider itself. Its operator can run it as a container, which has no such limit: see docs/cost-and-scale.md.',
  INTEGRATION_TIMEOUT:
    'The provider sent nothing for five minutes, or not all within 15. Use streaming, or the provider’s batch or background mode.',
};

export interface ProviderProxyProps {
  readonly settings: StageSettings;
  /** `*`, or the label of one provider. */
  readonly label: string;
  readonly environment: GatewayEnvironment;
  readonly concurrency: {
    readonly reservedConcurrency: number | undefined;
    readonly provisionedConcurrency: number;
  };
  /** Undefined: API Gateway's own address serves. */
  readonly certificate: Certificate | undefined;
  readonly firewall: Firewall | undefined;
}

/** One path through the gateway: host, API, function. It serves all providers or one isolated provider. */
export class ProviderProxy extends Construct {
  readonly api: ImportedApi;
  readonly handler: HandlerFunction;
  readonly reservedConcurrency: number | undefined;

  constructor(scope: Construct, id: string, props: ProviderProxyProps) {
    super(scope, id);
    const { settings, label, concurrency } = props;
    this.reservedConcurrency = concurrency.reservedConcurrency;
    this.handler = new HandlerFunction(this, 'Function', {
      entry: 'lambda/gateway/hosts/handler.ts',
      description: `Streaming proxy in front of ${label === '*' ? 'the AI providers' : label}`,
      environment: { ...props.environment },
      timeout: LONGEST_REQUEST,
      memoryMb: settings.gateway.memoryMb,
      retention: settings.retention,
      reservedConcurrency: concurrency.reservedConcurrency,
    });
    const live = this.handler.addAlias('live', {
      ...(concurrency.provisionedConcurrency > 0
        ? { provisionedConcurrentExecutions: concurrency.provisionedConcurrency }
        : {}),
    });
    if (settings.gateway.canaryRelease) new CanaryRelease(this, 'Release', live, settings.runbookUrl);
    // The function checks X-Service-Key itself, in the order of the specification, and passes the provider’s Authorization on: an
    // authorizer would take that header for its own. The cast: aws-cdk-lib's classes and interfaces differ under exactOptionalPropertyTypes.
    const route = { method: 'ANY', handler: live as IFunction, streams: true, timeout: LONGEST_REQUEST } as const;
    this.api = new ImportedApi(this, 'Api', {
      routes: [
        { ...route, path: '/' },
        { ...route, path: '/{proxy+}' },
      ],
      name: `ai-spend-${settings.name}-gateway${label === '*' ? '' : `-${label}`}`,
      domain: props.certificate && {
        domainName: `${label}.${settings.gatewayDomain}`,
        certificate: props.certificate,
        hostedZone: settings.hostedZone,
      },
      throttle: settings.gateway.throttle,
      corsOrigins: settings.gateway.allowedOrigins,
      errorMessages,
      // Every body reaches the function as bytes: a character set would corrupt uploads.
      binaryMediaTypes: ['*/*'],
      firewall: props.firewall,
      retention: settings.retention,
    });
  }
}
