import * as z from 'zod/mini';
import type { DashboardEnvironment } from '../environment.ts';

/** What every function of the dashboard API is told. Parsed once, in the entry. */
export const dashboardEnvironment = z.object({
  TABLE_NAME: z.string().check(z.minLength(1)),
  CORS_ORIGINS: z.pipe(
    z.string(),
    z.transform((origins) => origins.split(',').filter((origin) => origin !== '')),
  ),
} satisfies Record<keyof DashboardEnvironment, z.ZodMiniType>);
