import { CfnOutput, Duration, Stack } from 'aws-cdk-lib';
import type { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { Construct } from 'constructs';
import { type FunctionName, operationsOf } from '../../lambda/dashboard/operations.ts';
import type { ApiRoute } from '../constructs/api-body.ts';
import { Firewall } from '../constructs/firewall.ts';
import { HandlerFunction, variablesOf } from '../constructs/handler-function.ts';
import { ImportedApi } from '../constructs/imported-api.ts';
import { countLogLines } from '../constructs/log-line-count.ts';
import { domainOfApi } from '../constructs/regional-domain.ts';
import { grantItems, type TableAccess } from '../constructs/table-access.ts';
import { type DashboardResources, dashboardFunctions, dashboardVariables } from './dashboard-functions.ts';
import { dashboardFirewall } from './firewall-rules.ts';
import { grantSendMail } from './mail.ts';
import { partitions } from './partitions.ts';

/** How long API Gateway waits for a response that is not streamed as it is made. */
const HANDLER_TIMEOUT = Duration.seconds(29);
/** How long API Gateway waits for a streamed response. */
const STREAM_TIMEOUT = Duration.minutes(5);

/** The owner of an API token is looked up, and the use noted. */
const useToken: TableAccess = { actions: ['GetItem', 'UpdateItem'], partitions: partitions.apiTokens };

/** The user of a checked token belongs to an account, which is looked up, and so are the keys of one who sees a part of it. */
const readCaller: readonly TableAccess[] = [
  { actions: ['GetItem'], partitions: partitions.users },
  { actions: ['Query'], partitions: partitions.accounts },
];

const countRequests: TableAccess = { actions: ['UpdateItem'], partitions: partitions.requestCounts };

/** `https://{dashboardDomain}/api`, or API Gateway's own address: functions behind a Cognito authorizer. */
export class DashboardApiStack extends Stack {
  readonly api: ImportedApi;
  readonly certificate: Certificate | undefined;
  readonly origin: string;
  /** Without a slash at its end. */
  readonly url: string;
  readonly handlers: readonly HandlerFunction[];

  constructor(scope: Construct, id: string, resources: DashboardResources) {
    super(scope, id);
    const { settings, table, userPool, mail } = resources;
    const { corsOrigins } = settings;
    const variables = dashboardVariables(resources);
    const routes: ApiRoute[] = [];
    this.handlers = (Object.keys(dashboardFunctions) as FunctionName[]).map((name) => {
      const { description, environment, items, mails, grant, failures } = dashboardFunctions[name];
      const operations = operationsOf(name);
      const streams = operations.some(({ success }) => success.streamed !== undefined);
      const handler = new HandlerFunction(this, `${capitalised(name)}Handler`, {
        entry: `lambda/dashboard/functions/${name}.ts`,
        description,
        environment: variablesOf(environment, variables),
        timeout: streams ? STREAM_TIMEOUT : HANDLER_TIMEOUT,
        memoryMb: settings.dashboard.memoryMb,
        retention: settings.retention,
      });
      const readsCaller = operations.some(({ access }) => access === 'authorizer');
      const isLimited = operations.some(({ rateLimits }) => rateLimits !== undefined);
      const takesTokens = operations.some(({ access }) => access === 'machine');
      grantItems(
        handler,
        table,
        ...items,
        ...(readsCaller ? readCaller : []),
        ...(takesTokens ? [useToken] : []),
        ...(isLimited ? [countRequests] : []),
      );
      if (mails) grantSendMail(handler, this, mail);
      grant?.(handler, resources, this);
      if (failures !== undefined)
        countLogLines(this, { stage: settings.name, metricName: failures }, [handler.logGroup], 'request failed');
      routes.push(
        ...operations.flatMap(({ method, path, access, success }) =>
          // Clients look for metadata at the root of the host: API Gateway renames the header that says where it is.
          [`/api${path}`, ...(path.startsWith('/.well-known/') ? [path] : [])].map((each) => ({
            method,
            path: each,
            handler,
            isSignedIn: access === 'authorizer',
            streams,
            timeout: success.streamed ? STREAM_TIMEOUT : HANDLER_TIMEOUT,
          })),
        ),
      );
      return handler;
    });
    const domain = domainOfApi(this, settings.dashboardDomain, settings);
    this.certificate = domain?.certificate;
    this.api = new ImportedApi(this, 'Api', {
      name: `ai-spend-${settings.name}-dashboard`,
      routes,
      userPool,
      domain,
      // Smaller ones would hardly shrink.
      compressedFromBytes: 1024,
      throttle: settings.dashboard.throttle,
      corsOrigins,
      firewall: settings.firewall.enabled
        ? new Firewall(this, 'Firewall', { ...dashboardFirewall(settings.firewall), corsOrigins })
        : undefined,
      retention: settings.retention,
    });
    this.origin = domain ? `https://${settings.dashboardDomain}` : this.api.ownOrigin;
    this.url = domain ? `${this.origin}/api` : this.api.urlForPath('/api');
    if (!domain) new CfnOutput(this, 'Url', { value: this.url, description: 'The dashboard API' });
  }
}

const capitalised = (name: string) => name.replace(/(^|-)(.)/g, (_, __, letter: string) => letter.toUpperCase());
