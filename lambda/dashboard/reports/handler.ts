import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openUsers } from '../../data/accounts/users.ts';
import { openContent } from '../../data/reports/open-content.ts';
import { openReports } from '../../data/reports/reports.ts';
import { openTable } from '../../data/table/table.ts';
import { mailEnvironment, type ReportsEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { openMail } from '../../integrations/mail.ts';
import { postWebhook } from '../../integrations/webhook.ts';
import { ruleChanges } from '../limits/rule-changes.ts';
import { stackOptions } from '../stack-options.ts';
import {
  changeReportCalendar,
  createReport,
  deleteReport,
  getReport,
  listReports,
  updateReport,
} from './manage-reports.ts';
import * as operations from './operations.ts';
import { sendReport } from './send-report.ts';

const environment = z
  .extend(dashboardEnvironment, {
    ...mailEnvironment.shape,
  } satisfies Record<Exclude<keyof ReportsEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  ...ruleChanges,
  reports: openReports(table),
  users: openUsers(table),
  findDeclared: openDeclaredDimensions(table).find,
};
const sending = {
  ...dependencies,
  readContent: openContent(table, ruleChanges.now),
  sendMail: openMail(environment),
  postWebhook,
  dashboardUrl: environment.DASHBOARD_URL,
};

/** Everything under /api/reports. */
export const handler = httpStack(
  [
    route(operations.listReports, listReports(dependencies)),
    route(operations.changeReportCalendar, changeReportCalendar(dependencies)),
    route(operations.getReport, getReport(dependencies)),
    route(operations.createReport, createReport(dependencies)),
    route(operations.updateReport, updateReport(dependencies)),
    route(operations.sendReport, sendReport(sending)),
    route(operations.deleteReport, deleteReport(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-reports' }), table, environment),
);
