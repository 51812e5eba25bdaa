import * as z from 'zod/mini';
import type { RecorderEnvironment } from '../environment.ts';

const text = z.string().check(z.minLength(1));

const schema: z.ZodMiniType<RecorderEnvironment> = z.object({ TABLE_NAME: text, POWERTOOLS_METRICS_NAMESPACE: text });

/** @throws $ZodError with the names of missing variables */
export const parseRecorderEnvironment = (variables: Readonly<Record<string, string | undefined>>) => ({
  tableName: schema.parse(variables).TABLE_NAME,
});
