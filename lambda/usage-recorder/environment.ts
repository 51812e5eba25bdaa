import * as z from 'zod';
import type { RecorderEnvironment } from '../environment.ts';

const schema: z.ZodType<RecorderEnvironment> = z.object({ TABLE_NAME: z.string().min(1) });

/** @throws ZodError naming what is missing */
export const parseRecorderEnvironment = (variables: Readonly<Record<string, string | undefined>>) => ({
  tableName: schema.parse(variables).TABLE_NAME,
});
