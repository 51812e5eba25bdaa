import * as z from 'zod/mini';
import type { RuleEvaluatorEnvironment } from '../environment.ts';
import { mailEnvironment } from '../integrations/mail.ts';

const text = z.string().check(z.minLength(1));

const schema: z.ZodMiniType<RuleEvaluatorEnvironment> = z.object({
  TABLE_NAME: text,
  POWERTOOLS_METRICS_NAMESPACE: text,
  JOB_QUEUE_URL: text,
  ...mailEnvironment.shape,
});

/** @throws $ZodError with the names of missing variables */
export const parseEvaluatorEnvironment = (
  variables: Readonly<Record<string, string | undefined>>,
): RuleEvaluatorEnvironment => schema.parse(variables);
