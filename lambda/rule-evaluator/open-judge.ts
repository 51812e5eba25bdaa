import type * as z from 'zod/mini';
import { openEvaluationProgress } from '../data/alerts/evaluation-progress.ts';
import { openMeasures } from '../data/alerts/measures.ts';
import { openRules } from '../data/alerts/rules.ts';
import type { Table } from '../data/table/table.ts';
import { evaluateAccount } from './evaluate-account.ts';
import { evaluationDependencies } from './evaluation-dependencies.ts';
import type { jobSchema } from './job.ts';
import { judgeAccount } from './judge-account.ts';
import type { JudgeReport } from './judge-rules.ts';
import { type JudgeDependencies, judgeShards } from './judge-shards.ts';
import { type DeliveryOptions, openDelivery } from './open-delivery.ts';

/** Judges the rules of one table, by jobs of both kinds. The options say how what fires is sent, and where jobs go. */
export const openJudge = (table: Table, options: DeliveryOptions & Pick<JudgeDependencies, 'logger' | 'send'>) => {
  const shared = {
    rules: openRules(table),
    progress: openEvaluationProgress(table),
    measures: openMeasures(table),
    evaluate: evaluateAccount(evaluationDependencies(table)),
    deliver: openDelivery(table, options),
    now: options.now,
    logger: options.logger,
  };
  const ofShards = judgeShards({ ...shared, send: options.send });
  const ofAccount = judgeAccount(shared);
  return (job: z.infer<typeof jobSchema>, remainingMs: () => number): Promise<JudgeReport> =>
    'accountId' in job ? ofAccount(job) : ofShards(job, remainingMs);
};
