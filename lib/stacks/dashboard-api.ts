import { Duration, Stack, type StackProps } from 'aws-cdk-lib';
import type { Construct } from 'constructs';
import { operationsOf, type ResourceName } from '../../lambda/dashboard/operations.ts';
import type { StageSettings } from '../config.ts';
import type { ApiRoute } from '../constructs/api-body.ts';
import { Firewall } from '../constructs/firewall.ts';
import { HandlerFunction } from '../constructs/handler-function.ts';
import { HouseApi } from '../constructs/house-api.ts';
import { countLogLines } from '../constructs/log-line-count.ts';
import { dnsCertificate } from '../constructs/regional-domain.ts';
import { grantItems, type TableAccess } from '../constructs/table-access.ts';
import { type DashboardDependencies, dashboardResources } from './dashboard-api-resources.ts';
import { dashboardFirewall } from './firewall-rules.ts';
import { grantSendMail } from './mail.ts';
import { partitions } from './partitions.ts';

interface DashboardApiStackProps
  extends StackProps,
    Omit<DashboardDependencies, 'stack' | 'settings' | 'corsOrigins' | 'dashboardUrl' | 'registration'> {
  readonly settings: StageSettings;
}

/** How long API Gateway waits for a function that does not stream. */
const HANDLER_TIMEOUT = Duration.seconds(29);
/** How long it waits for a function that streams. */
const STREAM_TIMEOUT = Duration.minutes(5);

/** The user of a checked token belongs to an account, which is looked up. */
/** The owner of an API token is looked up, and the use noted. */
const useToken: TableAccess = { actions: ['GetItem', 'UpdateItem'], partitions: partitions.apiTokens };

const readCaller: TableAccess = { actions: ['GetItem'], partitions: partitions.users };

const countRequests: TableAccess = { actions: ['UpdateItem'], partitions: partitions.requestCounts };

/** `https://{dashboardDomain}/api`: one function per resource behind a Cognito authorizer. */
export class DashboardApiStack extends Stack {
  readonly api: HouseApi;
  readonly handlers: readonly HandlerFunction[];

  constructor(
    scope: Construct,
    id: string,
    { settings, table, objects, userPool, userPoolClient, signOn, stripe, mail, ...props }: DashboardApiStackProps,
  ) {
    super(scope, id, props);
    // Not chosen: nobody gets in. A deployment must choose, and one machine is open.
    const { corsOrigins, registration = 'closed' } = settings;
    const dashboardUrl = settings.dashboardUrl ?? `https://${settings.dashboardDomain}`;
    const dependencies = {
      stack: this,
      settings,
      table,
      objects,
      userPool,
      userPoolClient,
      signOn,
      stripe,
      mail,
      corsOrigins,
      dashboardUrl,
      registration,
    };

    const routes: ApiRoute[] = [];
    this.handlers = (Object.keys(dashboardResources) as ResourceName[]).map((name) => {
      const resource = dashboardResources[name];
      const operations = operationsOf(name);
      const streams = operations.some(({ success }) => success.streamed !== undefined);
      const handler = new HandlerFunction(this, `${capitalised(name)}Handler`, {
        entry: `lambda/dashboard/${name}/handler.ts`,
        description: resource.description,
        environment: resource.environment(dependencies),
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
        ...resource.items,
        ...(readsCaller ? [readCaller] : []),
        ...(takesTokens ? [useToken] : []),
        ...(isLimited ? [countRequests] : []),
      );
      if (resource.mails) grantSendMail(handler, this, mail);
      resource.grant?.(handler, dependencies);
      if (resource.failures !== undefined)
        countLogLines(
          this,
          { stage: settings.name, metricName: resource.failures },
          [handler.logGroup],
          'request failed',
        );
      routes.push(
        ...operations.map(({ method, path, access }) => ({
          method,
          path: `/api${path}`,
          handler,
          isSignedIn: access === 'authorizer',
          streams,
          timeout: streams ? STREAM_TIMEOUT : HANDLER_TIMEOUT,
        })),
      );
      return handler;
    });
    this.api = new HouseApi(this, 'Api', {
      name: `ai-spend-${settings.name}-dashboard`,
      routes,
      userPool,
      domainName: settings.dashboardDomain,
      certificate: dnsCertificate(this, 'Certificate', settings.dashboardDomain, settings.hostedZone),
      hostedZone: settings.hostedZone,
      throttle: settings.dashboard.throttle,
      corsOrigins,
      firewall: settings.firewall.enabled
        ? new Firewall(this, 'Firewall', dashboardFirewall(settings.firewall))
        : undefined,
      retention: settings.retention,
    });
  }
}

const capitalised = (name: string) => name.replace(/(^|-)(.)/g, (_, __, letter: string) => letter.toUpperCase());
