import * as z from 'zod/mini';
import type { RuleEvaluatorEnvironment } from '../environment.ts';

const text = z.string().check(z.minLength(1));

const schema: z.ZodMiniType<RuleEvaluatorEnvironment> = z.object({
  TABLE_NAME: text,
  POWERTOOLS_METRICS_NAMESPACE: text,
  JOB_QUEUE_URL: text,
  MAIL_FROM: z.string().check(z.minLength(3)),
  MAIL_CONFIGURATION_SET: text,
  DASHBOARD_URL: z.url(),
});

/** @throws $ZodError with the names of missing variables */
export const parseEvaluatorEnvironment = (
  variables: Readonly<Record<string, string | undefined>>,
): RuleEvaluatorEnvironment => schema.parse(variables);
