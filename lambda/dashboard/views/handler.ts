import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import { openSavedViews } from '../../data/accounts/saved-views.ts';
import { openTable } from '../../data/table/table.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import { changeView, createView, deleteView, listViews } from './manage-views.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = { views: openSavedViews(table), newViewId: uuidv7, now: () => new Date() };

/** Everything under /api/views. */
export const handler = httpStack(
  [
    route(operations.listViews, listViews(dependencies)),
    route(operations.createView, createView(dependencies)),
    route(operations.changeView, changeView(dependencies)),
    route(operations.deleteView, deleteView(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-views' }), table, environment),
);
