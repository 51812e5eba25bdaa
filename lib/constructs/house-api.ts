import { Validations } from 'aws-cdk-lib';
import {
  AccessLogFormat,
  type CorsOptions,
  EndpointType,
  LogGroupLogDestination,
  MethodLoggingLevel,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import type { Retention } from '../config.ts';
import { type ErrorMessages, overrideErrorResponses } from './error-responses.ts';
import type { Firewall } from './firewall.ts';
import { RegionalDomain, type Zone } from './regional-domain.ts';

export interface HouseApiProps {
  /** Metrics are filed under it: unique in account and region. */
  readonly name: string;
  readonly domainName: string;
  readonly certificate: Certificate;
  readonly hostedZone: Zone;
  readonly throttle: { readonly ratePerSecond: number; readonly burst: number };
  readonly corsOrigins: readonly string[];
  /** Where they differ from those of the other APIs. */
  readonly errorMessages?: ErrorMessages;
  readonly binaryMediaTypes?: string[];
  readonly preflight?: CorsOptions;
  /** None where the stage goes without. */
  readonly firewall: Firewall | undefined;
  readonly retention: Retention;
}

/** One line of JSON a request. No path, no query string, no header and no body is in it: credentials travel in all four. */
const ACCESS_LOG_FORMAT = AccessLogFormat.custom(
  JSON.stringify({
    requestId: '$context.requestId',
    requestTime: '$context.requestTime',
    domainName: '$context.domainName',
    httpMethod: '$context.httpMethod',
    resourcePath: '$context.resourcePath',
    protocol: '$context.protocol',
    status: '$context.status',
    sourceIp: '$context.identity.sourceIp',
    responseLength: '$context.responseLength',
    responseLatencyMs: '$context.responseLatency',
    integrationStatus: '$context.integration.integrationStatus',
    integrationLatencyMs: '$context.integration.latency',
    integrationRequestId: '$context.integration.requestId',
    errorResponseType: '$context.error.responseType',
    wafStatus: '$context.waf.status',
  }),
);

/**
 * A regional REST API behind its own domain: access logs without secrets, our errors also where API Gateway responds itself, a limit on
 * the rate, and no second way in by the execute-api host.
 */
export class HouseApi extends RestApi {
  constructor(scope: Construct, id: string, props: HouseApiProps) {
    const accessLogs = new LogGroup(scope, `${id}AccessLogs`, {
      retention: props.retention.logs,
      removalPolicy: props.retention.data,
    });
    super(scope, id, {
      restApiName: props.name,
      endpointTypes: [EndpointType.REGIONAL],
      disableExecuteApiEndpoint: true,
      cloudWatchRole: true,
      ...(props.binaryMediaTypes ? { binaryMediaTypes: props.binaryMediaTypes } : {}),
      ...(props.preflight ? { defaultCorsPreflightOptions: props.preflight } : {}),
      deployOptions: {
        stageName: 'live',
        throttlingRateLimit: props.throttle.ratePerSecond,
        throttlingBurstLimit: props.throttle.burst,
        // Metrics of each method cost by the month; those of the API, which alarms and dashboard read, are free.
        metricsEnabled: false,
        loggingLevel: MethodLoggingLevel.OFF,
        dataTraceEnabled: false,
        accessLogDestination: new LogGroupLogDestination(accessLogs),
        accessLogFormat: ACCESS_LOG_FORMAT,
      },
    });
    overrideErrorResponses(this, { corsOrigins: props.corsOrigins, messages: props.errorMessages });
    new RegionalDomain(this, 'Domain', {
      api: this,
      domainName: props.domainName,
      certificate: props.certificate,
      hostedZone: props.hostedZone,
    });
    if (props.firewall === undefined) {
      Validations.of(this).acknowledge({
        id: 'AwsSolutions-APIG3',
        reason: 'The settings of this stage say firewall.enabled false.',
      });
    } else {
      props.firewall.protect(this, this.deploymentStage.stageArn);
    }
    Validations.of(this).acknowledge(
      {
        id: 'AwsSolutions-APIG6',
        reason:
          'Execution logs hold headers and query strings, which carry credentials of our clients and of their providers. The access log has status, latency and error type of every request.',
      },
      {
        id: 'AwsSolutions-APIG2',
        reason:
          'Handlers parse every body with a zod schema and respond with the one error shape; a proxied body is the provider’s to judge.',
      },
      {
        id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
        reason:
          'API Gateway writes its logs with this AWS managed policy: the role is one for the whole account and region.',
      },
    );
  }
}
