import { randomBytes } from 'node:crypto';
import { Logger } from '@aws-lambda-powertools/logger';
import { uuidv7 } from 'uuidv7';
import { openAccounts } from '../../data/accounts/accounts.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openTable } from '../../data/table/table.ts';
import { newAccountKey } from '../../domain/accounts/account-key.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { stackOptions } from '../stack-options.ts';
import { changeKey, createKey, listKeys, revokeKey, rotateKey } from './manage-keys.ts';
import { createProject, deleteProject, listProjects, renameProject } from './manage-projects.ts';
import * as operations from './operations.ts';

const environment = dashboardEnvironment.parse(process.env);
const table = openTable(environment.TABLE_NAME);
const dependencies = {
  keys: openServiceKeys(table),
  accounts: openAccounts(table),
  newAccountKey: () => newAccountKey(randomBytes),
  newKeyId: uuidv7,
  newProjectId: uuidv7,
  projects: openProjects(table),
  rules: openRules(table),
  now: () => new Date(),
};

/** Everything under /api/keys and /api/projects. */
export const handler = httpStack(
  [
    route(operations.listKeys, listKeys(dependencies)),
    route(operations.createKey, createKey(dependencies)),
    route(operations.changeKey, changeKey(dependencies)),
    route(operations.rotateKey, rotateKey(dependencies)),
    route(operations.revokeKey, revokeKey(dependencies)),
    route(operations.listProjects, listProjects(dependencies)),
    route(operations.createProject, createProject(dependencies)),
    route(operations.renameProject, renameProject(dependencies)),
    route(operations.deleteProject, deleteProject(dependencies)),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-keys' }), table, environment),
);
