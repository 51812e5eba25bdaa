import * as z from 'zod/mini';
import type { DashboardEnvironment, ObjectsEnvironment } from '../environment.ts';

/** Environment variables of every dashboard API function. Parsed once, in the entry. */
export const dashboardEnvironment = z.object({
  TABLE_NAME: z.string().check(z.minLength(1)),
  CORS_ORIGINS: z.pipe(
    z.string(),
    z.transform((origins) => origins.split(',').filter((origin) => origin !== '')),
  ),
  USER_POOL_CLIENT_ID: z.string().check(z.minLength(1)),
} satisfies Record<keyof DashboardEnvironment, z.ZodMiniType>);

/** The same for functions that read objects. */
export const objectsEnvironment = z.extend(dashboardEnvironment, {
  OBJECT_BUCKET: z.string().check(z.minLength(1)),
} satisfies Record<Exclude<keyof ObjectsEnvironment, keyof DashboardEnvironment>, z.ZodMiniType>);
