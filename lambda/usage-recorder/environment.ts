import * as z from 'zod/mini';
import type { RecorderEnvironment } from '../environment.ts';

const schema: z.ZodMiniType<RecorderEnvironment> = z.object({ TABLE_NAME: z.string().check(z.minLength(1)) });

/** @throws $ZodError with the names of missing variables */
export const parseRecorderEnvironment = (variables: Readonly<Record<string, string | undefined>>) => ({
  tableName: schema.parse(variables).TABLE_NAME,
});
