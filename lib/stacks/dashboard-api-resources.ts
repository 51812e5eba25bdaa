import type { IUserPool, IUserPoolClient } from 'aws-cdk-lib/aws-cognito';
import type { Table } from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import type { AuthEnvironment, DashboardEnvironment } from '../../lambda/environment.ts';
import { grantActions } from '../constructs/grants.ts';
import { grantItems } from '../constructs/table-access.ts';
import type { DashboardResource } from './dashboard-api-routes.ts';
import { partitions } from './partitions.ts';

/** What the functions of the dashboard API may be given. */
export interface DashboardDependencies {
  readonly table: Table;
  readonly userPool: IUserPool;
  readonly userPoolClient: IUserPoolClient;
  readonly corsOrigins: readonly string[];
}

interface ResourceFunction {
  readonly description: string;
  readonly environment: (dependencies: DashboardDependencies) => Readonly<Record<string, string>>;
  /** All the function may do. */
  readonly grant: (grantee: IGrantable, dependencies: DashboardDependencies) => void;
}

const dashboardEnvironment = ({ table, corsOrigins }: DashboardDependencies) =>
  ({ TABLE_NAME: table.tableName, CORS_ORIGINS: corsOrigins.join(',') }) satisfies DashboardEnvironment;

const readAccounts = (grantee: IGrantable, { table }: DashboardDependencies) =>
  grantItems(grantee, table, { actions: ['GetItem', 'BatchGetItem', 'Query'], partitions: partitions.accounts });

/** The function behind each resource: what it is told and what it may do. */
export const resourceFunctions: Readonly<Record<DashboardResource, ResourceFunction>> = {
  auth: {
    description: 'Dashboard API: register, login, refresh, password reset, me',
    environment: (dependencies) =>
      ({
        ...dashboardEnvironment(dependencies),
        USER_POOL_ID: dependencies.userPool.userPoolId,
        USER_POOL_CLIENT_ID: dependencies.userPoolClient.userPoolClientId,
      }) satisfies AuthEnvironment,
    grant: (grantee, { table, userPool }) => {
      grantItems(
        grantee,
        table,
        { actions: ['GetItem', 'Query'], partitions: partitions.accounts },
        { actions: ['GetItem'], partitions: partitions.users },
        {
          // Account, key and user are made together, and taken back whole if any part fails.
          actions: ['PutItem', 'DeleteItem'],
          partitions: [...partitions.accounts, ...partitions.serviceKeys, ...partitions.users],
        },
      );
      grantActions(
        grantee,
        userPool.userPoolArn,
        'cognito-idp:AdminCreateUser',
        'cognito-idp:AdminSetUserPassword',
        'cognito-idp:AdminInitiateAuth',
        'cognito-idp:AdminGetUser',
        'cognito-idp:AdminDeleteUser',
      );
    },
  },
  spend: {
    description: 'Dashboard API: spend totals, series and export',
    environment: dashboardEnvironment,
    grant: readAccounts,
  },
  requests: {
    description: 'Dashboard API: the request log',
    environment: dashboardEnvironment,
    grant: readAccounts,
  },
};
