import { Logger } from '@aws-lambda-powertools/logger';
import * as z from 'zod/mini';
import { openBlockCopies } from '../../data/accounts/block-copies.ts';
import { openDeclaredDimensions } from '../../data/accounts/declared-dimensions.ts';
import { openProjects } from '../../data/accounts/projects.ts';
import { openServiceKeys } from '../../data/accounts/service-keys.ts';
import { openBlocks } from '../../data/alerts/blocks.ts';
import { openRules } from '../../data/alerts/rules.ts';
import { openSessions } from '../../data/spend/sessions.ts';
import { openSpend } from '../../data/spend/spend.ts';
import { openTable } from '../../data/table/table.ts';
import type { AlertRulesEnvironment } from '../../environment.ts';
import { dashboardEnvironment } from '../../http/dashboard-environment.ts';
import { httpStack } from '../../http/http-stack.ts';
import { route } from '../../http/operation.ts';
import { postWebhook } from '../../integrations/webhook.ts';
import { writePolicy } from '../limits/block-policy.ts';
import { createRule, deleteRule, getRule, listRules, previewRule, updateRule } from '../limits/manage-rules.ts';
import { ruleChanges } from '../limits/rule-changes.ts';
import * as operations from '../limits/rule-operations.ts';
import { testRule } from '../limits/test-rule.ts';
import { stackOptions } from '../stack-options.ts';

const environment = z
  .extend(dashboardEnvironment, {
    DASHBOARD_URL: z.url(),
  } satisfies Record<Exclude<keyof AlertRulesEnvironment, keyof typeof dashboardEnvironment.shape>, z.ZodMiniType>)
  .parse(process.env);
const table = openTable(environment.TABLE_NAME);
const rules = openRules(table);
const policy = { rules, blocks: openBlocks(table), blockCopies: openBlockCopies(table), now: ruleChanges.now };
const dependencies = {
  ...ruleChanges,
  rules,
  writePolicy: (accountId: string) => writePolicy(policy, accountId),
  findDeclared: openDeclaredDimensions(table).find,
  projects: openProjects(table),
  keys: openServiceKeys(table),
};

const previewing = {
  ...dependencies,
  readCounters: openSpend(table, { isTimed: true }).read,
  readSessions: openSessions(table).read,
};

/** Everything under /api/alert-rules. */
export const handler = httpStack(
  [
    route(operations.listRules, listRules(dependencies)),
    route(operations.getRule, getRule(dependencies)),
    route(operations.createRule, createRule(dependencies)),
    route(operations.previewRule, previewRule(previewing)),
    route(operations.updateRule, updateRule(dependencies)),
    route(operations.deleteRule, deleteRule(dependencies)),
    route(
      operations.testRule,
      testRule({ rules, postWebhook, dashboardUrl: environment.DASHBOARD_URL, now: ruleChanges.now }),
    ),
  ],
  stackOptions(new Logger({ serviceName: 'dashboard-alert-rules' }), table, environment),
);
