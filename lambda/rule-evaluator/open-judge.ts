import { uuidv7 } from 'uuidv7';
import { openServiceKeys } from '../data/accounts/service-keys.ts';
import { openAlerts } from '../data/alerts/alerts.ts';
import { openEvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import { openRules } from '../data/alerts/rules.ts';
import { openSpend } from '../data/spend/spend.ts';
import type { Table } from '../data/table/table.ts';
import { evaluateAccount } from './evaluate-account.ts';
import { type JudgeDependencies, judgeShards } from './judge-shards.ts';
import { type DeliveryOptions, openDelivery } from './open-delivery.ts';

/** Judges the rules of one table. The options say how what fires is sent, and where jobs go. */
export const openJudge = (table: Table, options: DeliveryOptions & Pick<JudgeDependencies, 'logger' | 'send'>) =>
  judgeShards({
    rules: openRules(table),
    progress: openEvaluationProgress(table),
    evaluate: evaluateAccount({
      readCounters: openSpend(table).read,
      alerts: openAlerts(table),
      keys: openServiceKeys(table),
      newAlertId: uuidv7,
    }),
    deliver: openDelivery(table, options),
    send: options.send,
    now: options.now,
    logger: options.logger,
  });
